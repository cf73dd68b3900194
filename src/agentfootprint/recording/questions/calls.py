"""What did the model see and say in one call? The request as it was composed, piece by piece, and the reply.

A call is a view: nothing of it is worked out before it is read, and its texts and messages are the recorded ones. The
span of a piece counts characters of `system_text` as Python does, `start` included and `end` not; printed for people,
the last character is `end - 1`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, cast, overload

import msgspec

from agentfootprint.events import LLMEnd, LLMStart, OfferedTool
from agentfootprint.llm import InvalidMessageError, LLMMessage, ToolCall, Usage, message_from_wire
from agentfootprint.recording.derived import field_of
from agentfootprint.recording.native.toplog import Mark
from agentfootprint.recording.questions.trail import Trail
from agentfootprint.trace import (
    ABSENT,
    Value,
    ValueRefusedError,
    as_list,
    as_object,
    compact_json,
    freeze,
    thaw,
)

__all__ = ["ModelCall", "PromptPiece", "SentMessages", "call_marks", "iteration_of"]

_PAUSE = "\n\n"
"""What stands between two pieces of a system prompt (AGT-40)."""


class PromptPiece(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One piece of a system prompt, and where it came from."""

    id: str | None
    """Id of the declared piece; `None` for the base prompt."""
    source: str
    """What kind of thing supplied it: `base`, `fact`, `steering`, `instructions`, `skill`, `memory`, ..."""
    reason: str
    """Why it was let in, in the words of its row."""
    text: str
    """The text as the model read it; a summary where the recording has no more."""
    start: int | None
    """Where it begins in `system_text`; `None` when its place is not recorded."""
    end: int | None
    """Where it ends, exclusive."""
    landed_step: str | None
    """The step that wrote this piece, with this text, into the state; it has stood there since."""
    first_iteration: int | None
    """The iteration in which that was."""


class SentMessages(Sequence[LLMMessage]):
    """The messages of a request as a view on the recorded history, without the library's own bookkeeping."""

    __slots__ = ("_history", "_made")

    def __init__(self, history: Sequence[Any]) -> None:
        self._history = history
        self._made: dict[int, LLMMessage] = {}

    def __len__(self) -> int:
        return len(self._history)

    @overload
    def __getitem__(self, index: int) -> LLMMessage: ...
    @overload
    def __getitem__(self, index: slice) -> list[LLMMessage]: ...
    def __getitem__(self, index: int | slice) -> LLMMessage | list[LLMMessage]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        made = self._made.get(place)
        if made is None:
            made = self._made[place] = _bare(read_message(self._history[index]))
        return made

    def __iter__(self) -> Iterator[LLMMessage]:
        return map(self.__getitem__, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        that = cast("Sequence[object]", other)
        return len(self) == len(that) and all(a == b for a, b in zip(self, that, strict=True))

    __hash__ = None  # type: ignore[assignment]  # compared by content, so not a key

    def __repr__(self) -> str:
        return repr(list(self))


def read_message(found: Any) -> LLMMessage:  # noqa: ANN401  a message, or what a file holds in its place
    """A recorded message; what an older writer recorded in another form is kept as its text (NEW-66)."""
    try:
        return message_from_wire(found)
    except (InvalidMessageError, ValueRefusedError):
        role, content = field_of(found, "role", "role"), field_of(found, "content", "content")
        known = role if role in ("system", "user", "assistant", "tool") else "user"
        text = content if isinstance(content, str) else "" if content is None else compact_json(freeze(content))
        return LLMMessage(known, text)


def _bare(message: LLMMessage) -> LLMMessage:
    if message.injected_by is None and message.not_dispatched is None:
        return message
    return msgspec.structs.replace(message, injected_by=None, not_dispatched=None)


class ModelCall:
    """One call of the model, as it is on record."""

    def __init__(self, trail: Trail, index: int, start: Mark, end: Mark | None) -> None:
        self._trail = trail
        self._mark = start
        self._end_mark = end
        self.index = index
        """Its number among the calls of the recording, from 0 (the epoch)."""

    @cached_property
    def step(self) -> str:
        """The runtime stage id of the step that made it: `call-llm#40`."""
        return self._trail.step(self._mark)

    @cached_property
    def position(self) -> int:
        """How many commits of the top tell what the call saw: `recording.bundles[:position]`.

        In a mount of its own what it saw is told when that ends (AGT-37); before that, and else, when it begins.
        """
        out = self._trail.came_out(self._mark)
        return self.begun_at if out is None else out + 1

    @property
    def begun_at(self) -> int:
        """How many commits of the top stood before it."""
        return self._mark.position

    @property
    def finished(self) -> bool:
        """Whether the model answered; a call that failed, or that a crash cut, did not."""
        return self._end_mark is not None

    @cached_property
    def _start(self) -> LLMStart | None:
        return self._trail.payload(self._mark)

    @cached_property
    def _end(self) -> LLMEnd | None:
        return None if self._end_mark is None else self._trail.payload(self._end_mark)

    @property
    def iteration(self) -> int:
        """The iteration, from 1."""
        return self.index + 1 if self._start is None else self._start.iteration

    @property
    def model(self) -> str:
        """The model that was asked; `""` when that is not recorded."""
        return "" if self._start is None else self._start.model

    @property
    def provider(self) -> str:
        """The provider that was asked; `""` when that is not recorded."""
        return "" if self._start is None else self._start.provider

    @property
    def tools(self) -> Sequence[OfferedTool]:
        """The tools that were offered, by name and description."""
        offered = None if self._start is None else self._start.tools
        return cast("Sequence[OfferedTool]", as_list(offered) or ())

    @cached_property
    def _rows(self) -> Sequence[Any]:
        return self._list("systemPromptInjections")

    @cached_property
    def system_text(self) -> str:
        """The system prompt, word for word; put together from summaries where the recording has only those."""
        stated = None if self._start is None else self._start.system_prompt_text
        if stated is not None:
            return stated
        return _PAUSE.join(text for text in map(_text, self._rows) if text)

    @cached_property
    def pieces(self) -> tuple[PromptPiece, ...]:
        """The pieces of the system prompt, in order."""
        whole = self.system_text
        place = 0
        found: list[PromptPiece] = []
        for row in self._rows:
            text = _text(row)
            start = whole.find(text, place) if text and _is_whole(row) else -1
            if start >= 0:
                place = start + len(text)
            landed = self._landed(row)
            found.append(
                PromptPiece(
                    id=field_of(row, "source_id", "sourceId"),
                    source=field_of(row, "source", "source") or "",
                    reason=field_of(row, "reason", "reason") or "",
                    text=text,
                    start=None if start < 0 else start,
                    end=None if start < 0 else place,
                    landed_step=None if landed is None else self._trail.step_at(landed),
                    first_iteration=None if landed is None else self._iteration_at(landed),
                )
            )
        return tuple(found)

    @cached_property
    def messages(self) -> Sequence[LLMMessage]:
        """The messages that were sent: a view."""
        return SentMessages(self._list("history"))

    @property
    def content(self) -> str:
        """What the model said; `""` when it only asked for tools, or did not answer."""
        return "" if self._end is None else self._end.content

    @cached_property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls it asked for."""
        out = self._trail.came_out(self._mark)
        position = self._trail.commit_of(self._mark) if out is None else out
        if position is None or self._end is None or not self._end.tool_call_count:
            return ()
        calls = as_list(self._trail.value_at("llmLatestToolCalls", position + 1)) or ()
        return tuple(call if isinstance(call, ToolCall) else _tool_call(as_object(call) or {}) for call in calls)

    @property
    def stop_reason(self) -> str | None:
        """Why it stopped, as normalised; `None` when it did not answer."""
        return None if self._end is None else self._end.stop_reason

    @cached_property
    def usage(self) -> Usage | None:
        """What it took, in the vendor's own numbers; `None` when it did not answer."""
        stated = None if self._end is None else as_object(self._end.usage)
        return None if stated is None else Usage.from_wire(thaw(stated))

    @property
    def duration_ms(self) -> float | None:
        """How long it took; `None` when it did not answer."""
        return None if self._end is None else self._end.duration_ms

    def __repr__(self) -> str:
        return f"ModelCall({self.step}, iteration {self.iteration})"

    def _list(self, key: str) -> Sequence[Any]:
        value = self._trail.value_at(key, self.position)
        return () if value is ABSENT else as_list(value) or ()

    def _landed(self, row: Value) -> int | None:
        """The commit since which a row has stood in the slot without a break."""
        landed: int | None = None
        position = self.position
        while True:
            version = self._trail.version("systemPromptInjections", position)
            if version is None:
                return landed
            rows = as_list(self._trail.value_at("systemPromptInjections", version + 1)) or ()
            if not any(each is row or _same(each, row) for each in rows):
                return landed
            landed = position = version

    def _iteration_at(self, position: int) -> int | None:
        value = self._trail.value_at("iteration", position)
        return value if type(value) is int else None


def _text(row: Any) -> str:  # noqa: ANN401  a record, or an object of a file
    raw = field_of(row, "raw_content", "rawContent")
    return raw if isinstance(raw, str) else field_of(row, "content_summary", "contentSummary") or ""


def _is_whole(row: Any) -> bool:  # noqa: ANN401  a record, or an object of a file
    return isinstance(field_of(row, "raw_content", "rawContent"), str)


def _same(a: Any, b: Any) -> bool:  # noqa: ANN401  records, or objects of a file
    return all(
        field_of(a, name, key) == field_of(b, name, key)
        for name, key in (("source_id", "sourceId"), ("source", "source"))
    ) and _text(a) == _text(b)


def _tool_call(found: Mapping[str, Any]) -> ToolCall:
    args = found.get("args")
    return ToolCall(str(found.get("id", "")), str(found.get("name", "")), as_object(args) or {})


def iteration_of(payload: Any) -> int | None:  # noqa: ANN401  a payload that may say it
    """The iteration a payload speaks of."""
    value = getattr(payload, "iteration", None)
    return value if type(value) is int else None


def call_marks(marks: Sequence[Mark]) -> list[tuple[Mark, Mark | None]]:
    """The starts of model calls, each with its end when there is one."""
    pairs: list[tuple[Mark, Mark | None]] = []
    waiting: dict[Any, int] = {}
    for mark in marks:
        if mark.type == LLMStart.type:
            waiting[mark.where] = len(pairs)
            pairs.append((mark, None))
        elif mark.type == LLMEnd.type:
            place = waiting.pop(mark.where, None)
            if place is not None:
                pairs[place] = pairs[place][0], mark
    return pairs
