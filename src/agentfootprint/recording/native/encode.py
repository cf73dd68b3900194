"""How the rows of a journal become the lines of a run log: each thing once, what follows from the chart not at all.

One pass in order of happening; what a row costs depends on what it says, never on how long the run is (01b LIN-3).
A row is held back until the next one is known, so that a begin and its commit, and a commit and the empty bundles
behind it, are one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias, cast

from agentfootprint.events import ContextSlotComposed, Event, RunFacts
from agentfootprint.recording.derived import SLOT_ROWS, SLOT_TOTALS, Totals, field_of
from agentfootprint.recording.native.encode_events import EventWriter
from agentfootprint.recording.native.header import restored_to_wire
from agentfootprint.recording.native.references import ValueWriter, is_plain
from agentfootprint.recording.native.shapes import (
    APPEND,
    DELETE,
    FIELDS,
    SET,
    Definition,
    StepShape,
    TraceShape,
    constant_of,
)
from agentfootprint.recording.native.spine import Spine
from agentfootprint.trace import (
    ABSENT,
    BrokeRow,
    DecidedRow,
    Detail,
    EmittedRow,
    Execution,
    FailedRow,
    FrozenList,
    GrewRow,
    Journal,
    MappedRow,
    NotedRow,
    Op,
    PausedRow,
    ResumedRow,
    RetriedRow,
    SeededRow,
    SelectedRow,
    Value,
    as_object,
    stage_to_wire,
)

__all__ = ["Lines", "RowEncoder"]

_US: Final = 1000
_SPLITS: Final = (SeededRow, MappedRow)

Committing: TypeAlias = "Execution | MappedRow | SeededRow"


class Lines:
    """The lines of a run log as they are written, with the definitions they use and the clock they share.

    Args:
        first: Number of the first line; the header is line 0.
    """

    def __init__(self, first: int = 1) -> None:
        self.rows: list[list[Any]] = []
        self.values = ValueWriter()
        self._first = first
        self._definitions: dict[Definition, int] = {}
        self._clock = 0

    @property
    def next(self) -> int:
        """Number of the next line."""
        return self._first + len(self.rows)

    def define(self, definition: Definition) -> int:
        """The number of a definition, which gets a line of its own the first time."""
        number = self._definitions.get(definition)
        if number is None:
            number = self._definitions[definition] = len(self._definitions)
            self.rows.append(["d", constant_of(definition)])
        return number

    def since(self, dt: int) -> int:
        """Whole microseconds from the last line that has a time to `dt` nanoseconds after the start."""
        now = dt // _US
        delta = now - self._clock
        self._clock = now
        return delta

    def append(self, *row: Any) -> None:  # noqa: ANN401  JSON
        """Write a line."""
        self.rows.append([*row])

    def take(self) -> list[list[Any]]:
        """The lines that were not taken yet; they are not kept."""
        taken, self.rows = self.rows, []
        self._first += len(taken)
        return taken


class _Held:
    """A commit that may still get empty bundles behind it."""

    __slots__ = ("link", "row", "then")

    def __init__(self, row: Committing, link: tuple[int, ...] | None) -> None:
        self.row = row
        self.link = link
        """When its begin stands in the same line: what is unusual about how control came, or `()`."""
        self.then: tuple[int, ...] = ()


class RowEncoder:
    """Writes the rows of one run; feed it rows in order, then `finish`.

    Args:
        journal: Whose rows they are.
        facts: The facts of the run; events of other facts name theirs.
        as_it_happens: Whether the header is written already, so that stages that come to be later stand in the rows.
    """

    def __init__(self, journal: Journal, facts: RunFacts, *, as_it_happens: bool = False) -> None:
        self.lines = Lines()
        self._spine = Spine(journal.stages)
        self._journal = journal
        self._stages = journal.stages
        self._as_it_happens = as_it_happens
        self._highest = -1
        """Index of the latest execution that began; they begin in the order of their indexes."""
        self._open: set[int] = set()
        """Executions that have begun and not ended."""
        self._state: dict[str, Value] = dict(journal.base_state)
        self._events = EventWriter(self.lines, self._state, facts)
        self._totals = Totals()
        self._shapes: dict[tuple[Any, ...], int] = {}
        self._begun: tuple[Execution, tuple[int, ...]] | None = None
        self._held: _Held | None = None
        for key, value in journal.base_state.items():
            self.lines.values.pin(key, value, (0, key))

    def feed(self, rows: Iterable[Any]) -> None:
        """Write more rows."""
        for row in rows:
            if isinstance(row, Execution):
                self._execution(row)
            elif isinstance(row, _SPLITS):
                self._flush()
                self._held = _Held(row, None)
            elif isinstance(row, Event):
                self._event(cast("Event[Any]", row))
            else:
                self._flush()
                self._control(row)

    def finish(self) -> list[list[Any]]:
        """Write what was held back; gives all lines but the header."""
        self._flush()
        return self.lines.rows

    def take(self, *, tokens: bool = True) -> list[list[Any]]:
        """The lines since the last call, with what was held back; nothing of a run that goes on is kept for them.

        Args:
            tokens: Whether the tokens that may get more behind them are written too.
        """
        if tokens or not self._events.tokens:
            self._flush()
        return self.lines.take()

    @property
    def pending_tokens(self) -> int:
        """How many tokens are held back."""
        return len(self._events.tokens)

    def restored(self, journal: Journal, known: int) -> int:
        """Write what was there before the first row, where the header did not know it; gives how many mounts had some.

        Args:
            journal: With the states that a resume restored.
            known: How many mounts had some when this was asked last; -1 the first time.
        """
        states = journal.base_states
        if known < 0:
            if journal.first_index or journal.base_state:
                self.lines.append("r", restored_to_wire(journal.first_index, journal.base_state, states))
        elif len(states) > known:
            self.lines.append("r", restored_to_wire(journal.first_index, {}, states))
        return len(states)

    def _event(self, event: Event[Any]) -> None:
        if not self._events.joins(event):
            self._flush()
        where = event.execution
        is_open = isinstance(where, Execution) and where.index in self._open
        self._events.write(event, is_open=is_open)

    def _execution(self, row: Execution) -> None:
        index, is_mount = row.index, row.info.kind == "mount"
        if index > self._highest:
            self._highest = index
            self._open.add(index)
            self._flush()
            self._begun = row, self._begin(row)
            return
        is_open = index in self._open
        self._open.discard(index)
        if is_mount:
            self._spine.leave(index)
        if is_open and not is_mount:
            begun, self._begun = self._begun, None
            if begun is not None and begun[0] is not row:
                self._begun, begun = begun, None
            self._flush()
            self._held = _Held(row, None if begun is None else begun[1])
        elif self._held is not None and self._is_latest(row):
            self._held.then = (*self._held.then, row.info.number)
        else:
            self._flush()
            self.lines.append("c", row.index)

    def _begin(self, execution: Execution) -> tuple[int, ...]:
        usual = self._spine.usual(execution.info)
        found = (execution.link, execution.parent, execution.mount)
        self._spine.begin(execution.info, execution.index, execution.link, execution.mount)
        return () if usual == found else found

    def _is_latest(self, execution: Execution) -> bool:
        return self._spine.latest.get(execution.info.number) == execution.index

    def _flush(self) -> None:
        if self._events.tokens:
            self._events.flush()
        begun, held = self._begun, self._held
        if begun is not None:
            self._begun = None
            execution, link = begun
            shape = self.lines.define(StepShape(execution.info.number, open=True, link=bool(link)))
            self.lines.append("x", shape, self.lines.since(execution.dt), *([link] if link else []))
        if held is not None:
            self._held = None
            self._commit(held)

    def _commit(self, held: _Held) -> None:
        row, link = held.row, held.link
        if isinstance(row, Execution):
            self._step(row, link, held.then)
            return
        execution, writes = row.execution, row.writes
        is_top = execution.mount < 0 and isinstance(row, MappedRow)
        ops = tuple(self._verbs(writes, is_top=is_top, splits=True)) if writes else ()
        if isinstance(row, SeededRow):
            looked = row.reads is not None, ()
            number = self._shape(execution.info.number, ops, reads=row.reads or (), looked=looked, then=held.then)
            values = self._values(writes, ops, self.lines.next)
            self.lines.append("s", execution.index, number, *values)
            return
        looked = row.reads is not None, row.outer_reads
        mount = row.mount.info.number
        self._open.discard(row.mount.index)
        self._spine.leave(row.mount.index)
        number = self._shape(
            execution.info.number, ops, row.ops, reads=row.reads or (), looked=looked, of=mount, then=held.then
        )
        values = self._values(writes, ops, self.lines.next)
        if row.ops is not None:
            values += self._payloads(row.ops, len(values))
        place = execution.index if self._is_latest(row.mount) else (execution.index, row.mount.index)
        self.lines.append("c", place, number, *values)
        if is_top and writes:
            self._apply(writes)

    def _step(self, row: Execution, link: tuple[int, ...] | None, then: tuple[int, ...]) -> None:
        """The own commit of an execution, and its begin when that stands in the same line."""
        writes: Mapping[str, Value] = row.writes
        is_top = row.mount < 0
        ops = tuple(self._verbs(writes, is_top=is_top, splits=False)) if writes else ()
        number = self._shape(
            row.info.number,
            ops,
            row.ops,
            reads=tuple(row.reads),
            marks=row.untracked,
            link=bool(link),
            then=then,
            detail=row.detail is not None,
        )
        values = self._values(writes, ops, self.lines.next) if writes else []
        if row.ops is not None:
            values += self._payloads(row.ops, len(values))
        if row.detail is not None:
            values += self._detail(row.detail)
        if link is None:
            self.lines.append("c", row.index, number, *values)
        else:
            self.lines.append("x", number, self.lines.since(row.dt), *([link] if link else ()), *values)
        if is_top and writes:
            self._apply(writes)

    def _shape(
        self,
        stage: int,
        ops: tuple[tuple[str, str], ...],
        trace: tuple[Op, ...] | None = None,
        *,
        reads: tuple[str, ...] = (),
        marks: tuple[str, ...] = (),
        link: bool = False,
        of: int = -1,
        then: tuple[int, ...] = (),
        detail: bool = False,
        looked: tuple[bool, tuple[str, ...]] = (False, ()),
    ) -> int:
        """The number of a definition; the usual ones are found without making it."""
        key = (stage, ops, reads, marks, link, of, then, detail, looked)
        number = self._shapes.get(key) if trace is None else None
        if number is None:
            explicit = None if trace is None else tuple(map(_trace_shape, trace))
            shape = StepShape(
                stage,
                ops,
                reads,
                marks,
                link=link,
                of=of,
                then=then,
                trace=explicit,
                detail=detail,
                noticed=looked[0],
                outer=looked[1],
            )
            number = self.lines.define(shape)
            if trace is None:
                self._shapes[key] = number
        return number

    def _verbs(self, writes: Mapping[str, Value], *, is_top: bool, splits: bool) -> Iterable[tuple[str, str]]:
        """How each value is written. Only the top's lists are written as growth: there what was before is at hand."""
        for key, value in writes.items():
            if value is ABSENT:
                yield key, DELETE
            elif splits and as_object(value):
                yield key, FIELDS
            elif is_top and self._grows(key, value):
                yield key, APPEND
            else:
                yield key, SET

    def _grows(self, key: str, value: Value) -> bool:
        before = self._state.get(key)
        return (
            type(value) is FrozenList
            and type(before) is FrozenList
            and 0 < before.n < value.n
            and value.starts_with(before)
            and self.lines.values.find(value) is None
        )

    def _values(self, writes: Mapping[str, Value], ops: tuple[tuple[str, str], ...], row: int) -> list[Any]:
        writer = self.lines.values
        found: list[Any] = []
        for n, (key, verb) in enumerate(ops):
            value = writes[key]
            if is_plain(value):
                found.append(None if value is ABSENT else value)
                continue
            before = self._state.get(key)
            if verb == APPEND:
                assert type(before) is FrozenList  # noqa: S101  that is what makes it an append
                found.append(writer.write_tail(value, before.n, (row, n)))
            elif key == "slotCompositions" and (totals := self._composition(writes, value, row)) is not None:
                found.append(totals)
            elif type(value) is FrozenList and type(before) is FrozenList and before.n:
                found.append(writer.write_cut(value, before, (row, n)))
            else:
                found.append(writer.write(value, (row, n)))
        return found

    def _composition(self, writes: Mapping[str, Value], value: Value, row: int) -> dict[str, Any] | None:
        """The closing record of a slot's pass, when it is what the rows of the same commit come to."""
        if not isinstance(value, ContextSlotComposed):
            return None
        key = SLOT_ROWS.get(value.slot, "")
        keys = [*writes]
        if key not in writes or isinstance(writes[key], str) or keys.index(key) > keys.index("slotCompositions"):
            return None
        if not self._totals.explain(writes[key], value):
            return None
        slotless = () if len(writes[key]) else (value.slot,)
        of = [{"$at": (row, keys.index(key))}, field_of(value.budget, "cap", "cap"), value.iteration, *slotless]
        return {"$fn": SLOT_TOTALS, "of": of}

    def _payloads(self, ops: Iterable[Op], start: int) -> list[Any]:
        recorded = [op.value for op in ops if op.value is not ABSENT]
        row = self.lines.next
        return [self.lines.values.write(value, (row, start + n)) for n, value in enumerate(recorded)]

    def _detail(self, detail: Detail) -> list[Any]:
        apart = self.lines.values.write_apart
        reads = [(key,) if value is ABSENT else (key, apart(value)) for key, value in detail.read_values.items()]
        tracked = [
            (path, op) if value is ABSENT else (path, op, apart(value)) for path, (value, op) in detail.tracked.items()
        ]
        return [reads, tracked]

    def _apply(self, writes: Mapping[str, Value]) -> None:
        row = self.lines.next - 1
        for n, (key, value) in enumerate(writes.items()):
            if value is ABSENT:
                self._state.pop(key, None)
            else:
                self._state[key] = value
                self.lines.values.pin(key, value, (row, n))

    def _control(self, row: Any) -> None:  # noqa: ANN401, C901  one case a kind of row
        index = None if row.execution is None else row.execution.index
        apart, since = self.lines.values.write_apart, self.lines.since
        match row:
            case DecidedRow(chosen=chosen, returned=returned, matched=matched, evidence=evidence):
                said = matched and evidence is None and returned == self._stages[chosen].branch_id
                self.lines.append(
                    "f", "decided", index, chosen, *(() if said else (returned, matched, apart(evidence)))
                )
            case SelectedRow(chosen=chosen, evidence=evidence):
                self.lines.append("f", "selected", index, chosen, *(() if evidence is None else (apart(evidence),)))
            case BrokeRow(reason=reason, from_subflow=from_subflow):
                self.lines.append("f", "broke", index, reason, from_subflow)
            case PausedRow(dt=dt, data=data):
                self.lines.append("f", "paused", index, since(dt), apart(data))
            case ResumedRow(dt=dt, stage=stage, has_input=has_input):
                self.lines.append("f", "resumed", index, since(dt), stage, has_input)
            case RetriedRow(dt=dt, attempt=attempt, attempts=attempts, delay_ms=delay, name=name, message=message):
                self.lines.append("f", "retried", index, since(dt), attempt, attempts, delay, name, message)
            case FailedRow(dt=dt, where=where, name=name, message=message):
                self.lines.append("f", "failed", index, since(dt), where, name, message)
            case NotedRow(bag=bag, key=key, value=value):
                self.lines.append("f", "noted", index, bag, key, apart(value))
            case GrewRow(stages=stages):  # in a whole file they stand in the header with the chart's own
                self._stages = self._journal.stages
                grown = self._as_it_happens
                self.lines.append(
                    "f", "grew", index, [(one.number, stage_to_wire(one)) if grown else one.number for one in stages]
                )
            case EmittedRow(dt=dt, name=name, payload=payload):
                self.lines.append("f", "emitted", index, since(dt), name, apart(payload))
            case _:
                raise TypeError(f"A row of type {type(row).__name__} has no line of its own in a run log.")


def _trace_shape(op: Op) -> TraceShape:
    return TraceShape(op.path, op.verb, op.read_keys, absent=op.value is ABSENT)
