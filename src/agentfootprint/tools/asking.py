"""How does a tool ask a person, and how does that unwind its call?

The question is no failure: what a tool catches with `except Exception` does not hold it up (AGT-69). Whoever runs the
call decides what becomes of it; nothing of it is kept on the tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from agentfootprint.errors import ConfigError
from agentfootprint.trace import FrozenDict, JsonObject, Value, freeze

if TYPE_CHECKING:
    from agentfootprint.tools.boundaries import CoverageReading
    from agentfootprint.tools.teardown import Teardown

__all__ = ["PersonAsked", "ask_human", "asked_in"]

_RESERVED: Final = ("toolCallId", "toolName", "checkIn", "ask", "authorization", "awaitingInput")
"""Keys by which a reader tells kinds of questions apart: a tool can't make its question look like a consent gate."""


class PersonAsked(BaseException):
    """Unwinds a call that needs a person; the run pauses with its data.

    Args:
        data: What is asked: an object, or any JSON value; frozen here.
        state: What the run must remember for the answer, by state key.
    """

    def __init__(self, data: Value, *, state: Mapping[str, Value] | None = None) -> None:
        super().__init__("A person is asked; the run pauses until the answer is there.")
        self.data = freeze(data)
        self.state: Mapping[str, Value] = {} if state is None else state
        self.teardown: Teardown | None = None
        """Cleanups of the call, which stay undone until the answer is there."""
        self.coverage: CoverageReading | None = None
        """What the call says it looked for and did not find (NEW-8)."""


def ask_human(question: str, *, reason: str | None = None, data: JsonObject | None = None) -> NoReturn:
    """Ask a person from inside a tool: the run pauses, and the answer becomes the result of this call.

    The tool is not run again, so do what must be done before the question before it, and nothing after it.

    Args:
        question: What the person reads.
        reason: Why it is asked.
        data: More for whoever shows the question; a JSON object, whose keys stand beside `question`.

    Raises:
        ConfigError: The question is blank, or a key of `data` is one that tells kinds of questions apart.
        ValueRefusedError: `data` holds what can't be recorded.

    Example:
        >>> try:
        ...     ask_human("Refund 480?", reason="high amount")
        ... except PersonAsked as asked:
        ...     asked.data["question"]
        'Refund 480?'
    """
    if not isinstance(question, str) or not question.strip():  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
        raise ConfigError("question", "ask_human was given no question.", fix="Give the text that the person reads.")
    if reason is not None and not isinstance(reason, str):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
        raise ConfigError("reason", f"The reason is a {type(reason).__name__}.", fix="Give a text, or leave it out.")
    told: dict[str, Any] = {"question": question}
    if reason is not None:
        told["reason"] = reason
    if data is not None:
        more = freeze(data)
        if not isinstance(more, FrozenDict):
            raise ConfigError("data", f"The data of a question is a {type(data).__name__}.", fix="Give an object.")
        taken = next((key for key in more if key in _RESERVED or key in told), None)
        if taken is not None:
            raise ConfigError("data", f"The data of a question has the key {taken!r}.", fix="Give it another name.")
        told |= more.items()
    raise PersonAsked(told)


def asked_in(error: BaseException) -> PersonAsked | None:
    """The question in what a call raised: alone, or from a group of tasks of the tool's own; else `None`."""
    if isinstance(error, PersonAsked):
        return error
    if isinstance(error, BaseExceptionGroup):
        asked, rest = cast("BaseExceptionGroup[BaseException]", error).split(PersonAsked)
        if asked is not None and rest is None:
            return _first(asked)
    return None


def _first(group: BaseExceptionGroup[BaseException]) -> PersonAsked:
    for inner in group.exceptions:
        if isinstance(inner, PersonAsked):
            return inner
    return _first(cast("BaseExceptionGroup[BaseException]", group.exceptions[0]))
