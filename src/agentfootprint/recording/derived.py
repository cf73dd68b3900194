"""Values that follow from other recorded values, and are stored as just that (01b s.4.2).

The names are a closed, versioned vocabulary: a changed definition is a new number, old numbers stay readable.
"""

from __future__ import annotations

import copy
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeAlias, cast

import msgspec

from agentfootprint.events import ContextInjected, ContextSlotComposed
from agentfootprint.trace import FrozenDict, FrozenList, View, deep_equal, fnv1a, truncate_utf16, utf16_length

__all__ = [
    "COMMITTED",
    "JOINED_TOKENS",
    "SLOT_ROWS",
    "SLOT_TOTALS",
    "SOURCE_BY_ROLE",
    "HiddenRows",
    "MessageRows",
    "Rows",
    "Totals",
    "carried_over",
    "composed_slot",
    "field_of",
    "fresh_rows",
    "message_row",
    "remembering_rows",
    "source_of_message",
]

_SUMMARY_LENGTH: Final = 80
SOURCE_BY_ROLE: Final = MappingProxyType(
    {"user": "user", "tool": "tool-result", "assistant": "assistant", "system": "base"}
)
COMMITTED: Final = "committed/1"
"""In an event: what a key holds once the step it happened in has committed."""
JOINED_TOKENS: Final = "joined-tokens/1"
"""The text that the tokens of a row come to."""
SLOT_TOTALS: Final = "slot-totals/1"
"""The record of a composed slot, from its rows, its cap, the iteration, and the slot's name where there are no rows."""
SLOT_ROWS: Final = MappingProxyType(
    {
        "system-prompt": "systemPromptInjections",
        "messages": "messagesInjections",
        "tools": "toolsInjections",
    }
)
"""Where the rows of each slot stand in the state."""
_REMEMBERED: Final = 64
_BUDGET: Final = ("cap", "used", "headroomChars")
_ORDERING: Final = MappingProxyType({"messages": "history-order", "tools": "registry+injections"})


Rows: TypeAlias = "Sequence[ContextInjected] | FrozenList | View"
"""The rows of a slot in any form; what is frozen is a sequence at run time only."""
RowMemory: TypeAlias = "dict[tuple[int, int, bool], tuple[Any, ContextInjected]]"
"""Rows by message, place and whether the message is the last; the message is kept, so that its id stays its own."""

_MEMORY: ContextVar[RowMemory | None] = ContextVar("agentfootprint_message_rows", default=None)


@contextmanager
def remembering_rows(memory: RowMemory | None = None) -> Generator[None]:
    """Make each row of a message once while a recording is written out, which repeats every row in every iteration.

    Args:
        memory: Rows made before; kept by the caller and added to.
    """
    token = _MEMORY.set({} if memory is None else memory)
    try:
        yield
    finally:
        _MEMORY.reset(token)


def field_of(item: Any, name: str, key: str) -> Any:  # noqa: ANN401  a record, or an object of a file
    """A field of a record, or of the same thing as a JSON object; `None` when it is absent."""
    if isinstance(item, Mapping):
        return cast("Mapping[str, Any]", item).get(key)
    return getattr(item, name, None)


def message_row(messages: FrozenList, index: int) -> ContextInjected:
    """The row of message `index` in the messages slot (SLOT-3, SLOT-10, SLOT-11b).

    Args:
        messages: The whole window, as the model is sent it.
        index: Position in it, from 0.
    """
    message, is_last = messages[index], index == len(messages) - 1
    memory = _MEMORY.get()
    if memory is None:
        return _message_row(message, index, is_last=is_last)
    key = (id(message), index, is_last)
    known = memory.get(key)
    if known is None:
        known = memory[key] = message, _message_row(message, index, is_last=is_last)
    return known[1]


def source_of_message(message: Any) -> str:  # noqa: ANN401  a record or an object
    """What kind of thing put a message into the window: a piece's flavor, else what its role stands for (SLOT-3)."""
    injected = field_of(message, "injected_by", "injectedBy")
    if injected is not None:
        flavor = field_of(injected, "flavor", "flavor")
        if isinstance(flavor, str):
            return flavor
    role, _ = _said_by(message)
    return SOURCE_BY_ROLE.get(role, role)


def _said_by(message: Any) -> tuple[str, str]:  # noqa: ANN401  a record or an object
    """Role and text of a message; what a file holds in their place is no reason to stop (NEW-66)."""
    role, content = field_of(message, "role", "role"), field_of(message, "content", "content")
    return role if isinstance(role, str) else "user", content if isinstance(content, str) else ""


def _message_row(message: Any, index: int, *, is_last: bool) -> ContextInjected:  # noqa: ANN401  a record or an object
    role, content = _said_by(message)
    injected = field_of(message, "injected_by", "injectedBy")
    source, reason = SOURCE_BY_ROLE.get(role, role), f"conversation history [{index}]"
    source_id = field_of(message, "tool_call_id", "toolCallId")
    if injected is not None:
        source = field_of(injected, "flavor", "flavor")
        source_id = field_of(injected, "injection_id", "injectionId")
        reason = f"delivered by {source} '{source_id}'"
    return ContextInjected(
        content_summary=truncate_utf16(content, _SUMMARY_LENGTH),
        content_hash=fnv1a(f"{role}:{index}:{content}"),
        slot="messages",
        source=source,
        source_id=source_id,
        reason=reason,
        raw_content=content,
        as_role=role,
        as_recency="latest" if is_last else "earlier",
        position=index,
    )


class MessageRows(View, frozen=True, gc=False, eq=False):
    """The rows of the messages slot, computed from the window when they are read."""

    fn: ClassVar[str] = "message-rows/1"

    of: FrozenList
    """The window."""

    def __len__(self) -> int:
        return len(self.of)

    def item(self, index: int) -> ContextInjected:
        """The row of message `index`."""
        return message_row(self.of, index)


class HiddenRows(MessageRows, frozen=True, gc=False, eq=False):
    """The same of a run in which some of what a row says is kept out."""

    fn: ClassVar[str] = "hidden-message-rows/1"

    names: tuple[str, ...]
    """Keys on the wire."""
    word: str
    """What stands for them."""

    def item(self, index: int) -> ContextInjected:
        """The row of message `index`, without what is kept out."""
        row = copy.copy(message_row(self.of, index))
        for name, key in zip(row.__struct_fields__, row.__struct_encode_fields__, strict=True):
            if key in self.names and getattr(row, name) is not None:
                msgspec.structs.force_setattr(row, name, self.word)
        return row


class Totals:
    """Characters and counts of slots by source (SLOT-8), each row and message counted once however often it is asked.

    The sums over a window that grew go on from those of the window before.
    """

    def __init__(self) -> None:
        self._window = FrozenList([], 0)
        self._used = 0
        self._sources: dict[str, tuple[int, int]] = {}
        self._known: dict[int, tuple[Rows, tuple[int, FrozenDict]]] = {}
        self._agreed: dict[int, tuple[Rows, object]] = {}

    def of(self, rows: Rows) -> tuple[int, FrozenDict]:
        """Characters used by the rows, and `{source: {chars, count}}` in order of first appearance."""
        if isinstance(rows, MessageRows):
            return self._messages(rows.of)
        known = self._known.get(id(rows))
        if known is None:
            used, sources = 0, dict[str, tuple[int, int]]()
            for row in rows:
                text = field_of(row, "raw_content", "rawContent")
                if not isinstance(text, str):
                    text = field_of(row, "content_summary", "contentSummary")
                used += _count(sources, field_of(row, "source", "source"), text)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[id(rows)] = rows, (used, _breakdown(sources))
        return known[1]

    def explain(self, rows: Rows, composed: ContextSlotComposed) -> bool:
        """Whether the record that closed a slot's pass is what its rows come to, so that it need not be written."""
        used, sources = self.of(rows)
        budget, stated = composed.budget, composed.source_breakdown
        cap, told = field_of(budget, "cap", "cap"), field_of(budget, "used", "used")
        return (
            told == used
            and type(cap) is int
            and field_of(budget, "headroom_chars", "headroomChars") == max(0, cap - used)
            and (not isinstance(budget, Mapping) or len(budget) == len(_BUDGET))
            and composed.ordering_strategy == _ORDERING.get(composed.slot)
            and composed.dropped_count == 0
            and not len(composed.dropped_summaries)
            and (self._agree(rows, stated) or deep_equal(sources, stated))
        )

    def _agree(self, rows: Rows, stated: Any) -> bool:  # noqa: ANN401  an object in any form
        """Whether a breakdown that was given before for the same rows is given again."""
        known = self._agreed.get(id(rows))
        if known is not None and known[1] is stated:
            return True
        if not isinstance(rows, MessageRows) and deep_equal(self.of(rows)[1], stated):
            if len(self._agreed) >= _REMEMBERED:
                self._agreed.clear()
            self._agreed[id(rows)] = rows, stated
            return True
        return False

    def _messages(self, window: FrozenList) -> tuple[int, FrozenDict]:
        if not window.starts_with(self._window):
            self._window, self._used, self._sources = FrozenList([], 0), 0, {}
        for message in window.tail(len(self._window)):
            _, content = _said_by(message)
            self._used += _count(self._sources, source_of_message(message), content)
        self._window = window
        return self._used, _breakdown(self._sources)


def _count(sources: dict[str, tuple[int, int]], source: str, text: str) -> int:
    length = utf16_length(text)
    chars, count = sources.get(source, (0, 0))
    sources[source] = (chars + length, count + 1)
    return length


def _breakdown(sources: Mapping[str, tuple[int, int]]) -> FrozenDict:
    return FrozenDict(
        {source: FrozenDict({"chars": chars, "count": count}) for source, (chars, count) in sources.items()}
    )


def composed_slot(slot: str, totals: tuple[int, FrozenDict], cap: int, iteration: int) -> ContextSlotComposed:
    """The record that closes a slot's pass when nothing was dropped (SLOT-8)."""
    used, sources = totals
    return ContextSlotComposed(
        slot=cast("Any", slot),
        iteration=iteration,
        budget=FrozenDict({"cap": cap, "used": used, "headroomChars": max(0, cap - used)}),  # pyright: ignore[reportArgumentType]  the same object, as JSON
        source_breakdown=sources,
        ordering_strategy=_ORDERING.get(slot),
        dropped_count=0,
        dropped_summaries=(),
    )


def fresh_rows(last: Rows | None, rows: Rows) -> list[ContextInjected]:
    """The rows of a slot that its last pass did not have, in order, each content once (01b s.5).

    Args:
        last: The rows of the slot's last pass; `None` on the first.
        rows: The rows of this pass.
    """
    if last is rows:
        return []
    start = 0
    if isinstance(last, MessageRows) and isinstance(rows, MessageRows):
        if not rows.of.starts_with(last.of):
            last = None
        else:
            start = len(last)
    known = set[str]() if last is None or start else {row.content_hash for row in last}
    fresh: list[ContextInjected] = []
    for index in range(start, len(rows)):
        row = rows[index]
        if row.content_hash not in known:
            known.add(row.content_hash)
            fresh.append(row)
    return fresh


def carried_over(last: Rows | None, rows: Rows, step: object) -> tuple[int, object] | None:
    """How many rows of a pass stood in the pass before, and where that was composed (LIN-20); `None` if none did."""
    if last is None:
        return None
    count = len(rows) - len(fresh_rows(last, rows))
    return (count, step) if count else None
