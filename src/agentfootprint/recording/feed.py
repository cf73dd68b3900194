"""Which events a journal holds: those that were recorded, and those that its commits imply, in the wire's order.

A composed slot is recorded once, as a commit; its `context.injected` and `context.slot_composed` events follow from it
(01b s.5). The native form announces the rows that are new since the slot's last pass, the wire form all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

from agentfootprint.events import (
    Carried,
    ContextBudgetPressure,
    ContextInjected,
    ContextSlotComposed,
    Event,
    MetaMarks,
    Payload,
    RunFacts,
    Token,
)
from agentfootprint.recording.derived import SLOT_ROWS, MessageRows, Rows, fresh_rows, remembering_rows
from agentfootprint.recording.native.decode_events import read_payload
from agentfootprint.recording.native.held import SpilledRows
from agentfootprint.trace import Execution, Journal, Value, as_list, as_object

__all__ = ["EventFeed", "Form", "join_tokens"]

Form: TypeAlias = Literal["native", "wire"]

_COMPOSE: Final = "compose"
_SLOTS: Final = frozenset(("sf-system-prompt", "sf-messages", "sf-tools"))
_ROW_KEYS: Final = frozenset(SLOT_ROWS.values())


class EventFeed:
    """The events of a journal, taken as they come to be there.

    Args:
        journal: The rows; it may still grow.
        facts: The facts of the run.
        form: Which form of the implied events.
    """

    def __init__(self, journal: Journal, facts: RunFacts, form: Form = "native") -> None:
        self._journal = journal
        self.facts = facts
        """What is the same for all events of the run."""
        self._form = form
        self._told_of = journal.shown().told
        """What an implied event may say, where something is kept out."""
        self._position = 0
        rows: Any = journal.rows
        self._is_spilled = isinstance(rows, SpilledRows)
        """Whether early rows are read back from a file."""
        if self._is_spilled:
            rows.hold(self)
        self._open: set[int] = set()
        """Compose steps that have begun and not committed."""
        self._passes: dict[tuple[str, ...], tuple[Rows, Execution]] = {}
        """The last pass of each slot, by the mounts it stands in: its rows, and the step that composed them."""
        self._typed: dict[int, tuple[Value, list[ContextInjected]]] = {}
        self._memory: dict[tuple[int, int, bool], tuple[Any, ContextInjected]] = {}

    @property
    def position(self) -> int:
        """The row that comes next."""
        return self._position

    def is_behind(self) -> bool:
        """Whether rows were added since the last `take`."""
        return self._position < len(self._journal.rows)

    def take(self) -> list[Event[Any]]:
        """The events of the rows that were added since, up to those that are there now."""
        with remembering_rows(self._memory):
            return list(self._take())

    def _take(self) -> Iterator[Event[Any]]:
        rows = self._journal.shown().rows
        end = len(rows)
        while self._position < end:
            row = rows[self._position]
            self._position += 1
            if isinstance(row, Event):
                yield row
            elif isinstance(row, Execution) and row.info.local_id == _COMPOSE and row.info.path[-1:]:
                yield from self._composed(row)

    def _composed(self, row: Execution) -> Iterator[Event[Any]]:
        if row.info.path[-1] not in _SLOTS:
            return
        if row.index not in self._open:
            self._open.add(row.index)
            return
        self._open.discard(row.index)
        kept: MetaMarks | None = None
        for key, value in row.writes.items():
            if key in _ROW_KEYS:
                rows = self._rows(value)
                told, kept = self._told(row, rows)
                yield from (self._event(each, row) for each in told)
            elif key == "slotCompositions":
                composed = self._typed_one(value, ContextSlotComposed)
                if composed is not None:
                    yield self._event(composed, row, kept)
            elif key == "slotBudgetPressures":
                for each in as_list(value) or ():
                    pressure = self._typed_one(each, ContextBudgetPressure)
                    if pressure is not None:
                        yield self._event(pressure, row)

    def _told(self, row: Execution, rows: Rows) -> tuple[list[ContextInjected], MetaMarks | None]:
        last = self._passes.get(row.info.path)
        self._passes[row.info.path] = rows, row
        if self._form == "wire":
            return fresh_rows(None, rows), None
        if last is None:
            return fresh_rows(None, rows), None
        told = fresh_rows(self._alike(last[0], rows) if self._is_spilled else last[0], rows)
        count = len(rows) - len(told)
        if not count:
            return told, None
        return told, MetaMarks(carried=Carried(count=count, from_=last[1].runtime_stage_id))

    @staticmethod
    def _alike(last: Rows, rows: Rows) -> Rows:
        """The rows of the last pass; read back from a file they are told to be the same by what they say."""
        if not isinstance(last, MessageRows) or not isinstance(rows, MessageRows) or rows.of.starts_with(last.of):
            return last
        known = [*last]
        is_more = len(known) <= len(rows) and all(
            one.content_hash == other.content_hash for one, other in zip(known, rows, strict=False)
        )
        return known if is_more else last

    def _event(self, payload: Payload, row: Execution, marks: MetaMarks | None = None) -> Event[Any]:
        event = Event(payload, row, row.dt, self.facts, marks)
        told = self._told_of
        return event if told is None else told(event)

    def _rows(self, value: Value) -> Rows:
        """The rows of a slot as records; those of a file are made records once."""
        if isinstance(value, MessageRows):
            return value
        known = self._typed.get(id(value))
        if known is None:
            found = (self._typed_one(each, ContextInjected) for each in as_list(value) or ())
            known = self._typed[id(value)] = value, [each for each in found if each is not None]
        return known[1]

    def _typed_one(self, value: Value, kind: type[Any]) -> Any:  # noqa: ANN401  a payload of that kind
        if isinstance(value, kind):
            return value
        fields = as_object(value)
        found = None if fields is None else read_payload(kind.type, fields)
        return found if isinstance(found, kind) else None


def join_tokens(events: Sequence[Event[Any]]) -> list[Event[Any]]:
    """Neighbouring tokens of one call as one token each, which has the index and the time of the first (DEC-27)."""
    joined: list[Event[Any]] = []
    texts: list[str] = []

    def close() -> None:
        if len(texts) > 1:
            first = joined[-1]
            payload = first.payload
            token = Token(iteration=payload.iteration, token_index=payload.token_index, content="".join(texts))
            joined[-1] = Event(token, first.execution, first.dt, first.facts)
        texts.clear()

    for event in events:
        payload = event.payload
        if type(payload) is not Token:
            close()
            joined.append(event)
        elif texts and joined[-1].execution is event.execution:
            texts.append(payload.content)
        else:
            close()
            joined.append(event)
            texts.append(payload.content)
    close()
    return joined
