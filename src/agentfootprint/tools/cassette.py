"""Tool results for a re-run: from a recording, from a stub, or from the tool itself.

A cassette is in force for the code inside `with replaying(cassette)` and everything that code awaits or starts; a run
outside it never sees one. A call that is not on record never runs its tool by default: it may change things.
"""

from __future__ import annotations

import contextvars
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from agentfootprint.trace import JsonObject, Value, compact_json, freeze

if TYPE_CHECKING:
    from agentfootprint.tools.boundaries import CoverageReading
    from agentfootprint.tools.results import Executed, ToolStatus

__all__ = ["Cassette", "Replayed", "UnrecordedToolCall", "current_cassette", "questions_are_answered", "replaying"]

_STUB: Final = "(no result: tools are stubbed in this re-run)"


class UnrecordedToolCall(BaseException):
    """A re-run asked for a call that has no recorded result; ends the run, and is no failure of it.

    A `BaseException`, so that nothing between the tool and the one who re-runs takes it for a tool's error.
    """

    def __init__(self, tool: str) -> None:
        super().__init__(tool)
        self.tool = tool


class Replayed:
    """A result from a cassette.

    Args:
        text: What the model reads.
        value: The result itself.
        is_error: Whether it is a failure.
        is_raw: Whether it is as the tool gave it, so that the rules about results have yet to see it.
        read: What else the tool's result says.
        began: Whether the call began at all; one beside a question may not have.
    """

    __slots__ = ("began", "coverage", "is_error", "is_raw", "status", "text", "value")

    def __init__(
        self,
        text: str,
        value: Value,
        *,
        is_error: bool,
        is_raw: bool = False,
        read: Executed | None = None,
        began: bool = True,
    ) -> None:
        self.began = began
        self.text = text
        self.value = value
        self.is_error = is_error
        self.is_raw = is_raw
        self.status: ToolStatus | None = None if read is None else read.status
        self.coverage: CoverageReading | None = None if read is None else read.coverage


class Cassette:
    """The recorded results of a run, by tool and arguments, in the order they were given.

    Args:
        calls: Tool name, arguments, the text the model read, the value, and whether it was an error, of each call.
        policy: What answers a call: the record, a stub, or the tool.
        live: Tools that may really run when the record has no result.
    """

    answers_questions: ClassVar[bool] = True
    """Whether the answers that people gave stand in its results, so that nobody is asked again."""

    def __init__(
        self,
        calls: Iterable[tuple[str, JsonObject, str, Any, bool]],
        *,
        policy: Literal["replay", "stub", "live"] = "replay",
        live: frozenset[str] = frozenset(),
    ) -> None:
        self.policy: Literal["replay", "stub", "live"] = policy
        self.live = live
        self._results: dict[tuple[str, str], list[Replayed]] = {}
        self._given: dict[tuple[str, str], int] = {}
        for name, args, text, value, is_error in calls:
            self._results.setdefault(_key(name, args), []).append(Replayed(text, value, is_error=is_error))

    def rewound(self) -> Cassette:
        """The same cassette from its beginning, for one more run."""
        fresh = Cassette((), policy=self.policy, live=self.live)
        fresh._results = self._results
        return fresh

    async def turn(self) -> None:
        """Wait until the call that runs now may be answered; here it may be at once."""

    def answer(self, name: str, args: JsonObject) -> Replayed | None:
        """The result of a call, or `None` when the tool itself is to be called.

        A call that is repeated more often than it was recorded gets the last result again.

        Raises:
            UnrecordedToolCall: The call is not on record and may not be made.
        """
        if self.policy == "live":
            return None
        if self.policy == "stub":
            return Replayed(_STUB, _STUB, is_error=False)
        key = _key(name, args)
        found = self._results.get(key)
        if not found:
            if name in self.live:
                return None
            raise UnrecordedToolCall(name)
        place = self._given.get(key, 0)
        self._given[key] = place + 1
        return found[min(place, len(found) - 1)]


def _key(name: str, args: JsonObject) -> tuple[str, str]:
    return name, compact_json(freeze(args), sort_keys=True)


_current: contextvars.ContextVar[Cassette | None] = contextvars.ContextVar("agentfootprint_cassette", default=None)


def current_cassette() -> Cassette | None:
    """The cassette in force here, if any."""
    return _current.get()


def questions_are_answered() -> bool:
    """Whether a cassette in force here holds what people answered already."""
    cassette = _current.get()
    return cassette is not None and cassette.answers_questions


@contextmanager
def replaying(cassette: Cassette) -> Generator[None]:
    """Answer the tool calls of runs started inside from a cassette."""
    token = _current.set(cassette)
    try:
        yield
    finally:
        _current.reset(token)
