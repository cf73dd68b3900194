"""Where everything stands in a run log that was read: executions, commits of the top, the events that questions use.

Reading costs one pass that only counts; no value is decoded before somebody asks for it. The lines stay in memory as
they are in the file, so that an open recording costs its size and a little more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, TypeAlias, cast

import msgspec

from agentfootprint.errors import AgentFootprintError
from agentfootprint.events import RunFacts
from agentfootprint.recording.damage import BROKEN, guarded
from agentfootprint.recording.native.header import Header
from agentfootprint.recording.native.resolve import Resolver
from agentfootprint.recording.native.shapes import (
    APPEND,
    DELETE,
    FIELDS,
    Definition,
    EventShape,
    StepShape,
    definition_of,
)
from agentfootprint.recording.native.toplog import MARKED, Mark, TopLog
from agentfootprint.trace import (
    ABSENT,
    NEXT,
    Commit,
    CommitBundle,
    Execution,
    FrozenList,
    Journal,
    Op,
    Value,
    as_bundle_of,
)

__all__ = ["DamagedLineError", "Raw", "RowLog"]

Raw: TypeAlias = "list[Any]"

_RECENT: Final = 512
_PLACES: Final = frozenset((int, str, type(None)))
_NO_STEP: Final = StepShape(-1)


class DamagedLineError(Exception):
    """A line is no row of a run log; `number` counts from 0. Never leaves this room."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _Plan:
    """What the one pass needs of a definition, worked out once."""

    __slots__ = ("event", "is_mapped", "is_open", "is_top", "keys", "splits", "stage", "then", "trace")

    def __init__(self, definition: Definition, is_top: Sequence[bool]) -> None:
        step = definition if isinstance(definition, StepShape) else _NO_STEP
        event = definition.event if isinstance(definition, EventShape) else None
        self.event: str | None = event if event in MARKED else None
        self.stage: int = step.stage
        self.is_open: bool = step.open
        self.is_mapped: bool = step.of >= 0
        self.is_top: bool = step.stage >= 0 and is_top[step.stage]
        self.keys: tuple[str, ...] = tuple(key for key, _ in step.ops)
        self.splits: bool = step.trace is None and any(verb == FIELDS for _, verb in step.ops)
        self.trace: tuple[str, ...] | None = None if step.trace is None else tuple(entry.path for entry in step.trace)
        self.then: tuple[int, ...] = tuple(stage for stage in step.then if is_top[stage])
        """Stages of the top that commit an empty bundle right after."""


class RowLog:
    """A run log that was read; `scan` its lines once before anything is asked of it.

    Args:
        header: Its first line.
        lines: All lines as bytes, the header's included.
    """

    def __init__(self, header: Header, lines: Sequence[bytes]) -> None:
        self.header = header
        self.definitions: list[Definition] = []
        self.began: list[int] = []
        """The line in which each execution began, in order of index."""
        self.steps: list[int] = []
        """The number of the stage of each execution."""
        self.committed: list[int] = []
        """The line in which each execution committed; -1 when it did not."""
        self.marks: list[Mark] = []
        self.ended: tuple[str, Mapping[str, Any]] | None = None
        self.top = TopLog(self.bundle_at, self.step_of, lambda: None)
        self.values = Resolver(self, header.base_state)
        self._lines = lines
        self._first = header.first_index
        self._latest: dict[int, int] = {}
        self._bare = Journal(header.stages)
        self._is_top = [stage.mount < 0 for stage in header.stages]
        self._plans: list[_Plan] = []
        self._recent: dict[int, Raw] = {}

    def mark(self, words: tuple[str, ...]) -> None:
        """Say which words stand for what is kept out."""
        self._bare.words = words

    def row(self, number: int) -> Raw:
        """A line, decoded; the latest ones are kept."""
        found = self._recent.get(number)
        if found is None:
            if len(self._recent) >= _RECENT:
                self._recent.clear()
            found = self._recent[number] = msgspec.json.decode(self._lines[number])
        return found

    def is_open_in(self, row: Raw) -> bool:
        """Whether a line is of an event in a step that did not commit."""
        return row[0] == "e" and type(row[2]) is int and self.knows(row[2]) and self.commit_of(row[2]) < 0

    def forget(self, lost: AbstractSet[int]) -> None:
        """Take lines for lost: their events are no longer there."""
        self.marks[:] = [mark for mark in self.marks if mark.row not in lost]
        self._recent.clear()

    def __len__(self) -> int:
        return len(self._lines)

    # the one pass

    def scan(self, rows: Sequence[Raw]) -> None:
        """Count the lines; they are not kept.

        Args:
            rows: The lines, decoded.

        Raises:
            DamagedLineError: A line is no row of a run log.
        """
        plans, latest, marks = self._plans, self._latest, self.marks
        began, steps, committed = self.began, self.steps, self.committed
        executions = self.top.executions
        index = self._first
        number = 0
        try:
            for number in range(1, len(rows)):
                row = rows[number]
                kind = row[0]
                if kind == "x":
                    which: int = row[1]
                    plan = plans[which]
                    latest[plan.stage] = index
                    began.append(number)
                    steps.append(plan.stage)
                    if plan.is_open:
                        committed.append(-1)
                    else:
                        committed.append(number)
                        if plan.is_top:
                            self._committed(number, plan, index)
                        elif plan.then:
                            self._ended(plan)
                    index += 1
                elif kind == "e":
                    which = row[1]
                    event = plans[which].event
                    if event is not None:
                        marks.append(Mark(event, _place(row[2]), number, len(executions)))
                else:
                    self._other(number, row)
        except AgentFootprintError:
            raise
        except BROKEN as broken:
            raise DamagedLineError(number) from broken

    def _other(self, number: int, row: Raw) -> None:
        kind = row[0]
        if kind == "c":
            index = row[1] if type(row[1]) is int else row[1][0]
            if len(row) == 2:  # noqa: PLR2004  an empty bundle
                if self._is_top[self.steps[index - self._first]]:
                    self.top.add(index, -1)
                return
            which: int = row[2]
            plan = self._plans[which]
            if not plan.is_mapped:
                self.committed[index - self._first] = number
            if plan.is_top:
                self._committed(number, plan, index)
            else:
                self._ended(plan)
        elif kind == "s":
            which = row[2]
            self._ended(self._plans[which])
        elif kind == "d":
            self.definitions.append(definition_of(row[1]))
            self._plans.append(_Plan(self.definitions[-1], self._is_top))
        elif kind == "z":
            self.ended = row[1], row[2]

    def _committed(self, number: int, plan: _Plan, index: int) -> None:
        top = self.top
        position = len(top.executions)
        top.executions.append(index)
        top.rows.append(number)
        for key in plan.keys:
            found = top.keys.get(key)
            if found is None:
                top.keys[key] = [position]
            else:
                found.append(position)
        if plan.trace is not None:
            paths = plan.trace
        elif plan.splits:
            paths = tuple(entry.path for entry in self.bundle_at(position).trace)
        else:
            paths = plan.keys
        for path in paths:
            top.wrote(path, position)
        if plan.then:
            self._ended(plan)

    def _ended(self, plan: _Plan) -> None:
        top = self.top
        for stage in plan.then:
            top.executions.append(self._latest[stage])
            top.rows.append(-1)

    # executions

    def step_of(self, index: int) -> str:
        """The runtime stage id of an execution."""
        return f"{self.header.stages[self.steps[index - self._first]].id}#{index}"

    def knows(self, index: int) -> bool:
        """Whether an execution with this index is in the log."""
        return 0 <= index - self._first < len(self.steps)

    def commit_of(self, index: int) -> int:
        """The line in which an execution committed; -1 when it did not."""
        return self.committed[index - self._first]

    def reads_of(self, index: int) -> tuple[str, ...]:
        """The keys an execution read, in order of first read."""
        line = self.commit_of(index)
        return () if line < 0 else self.shape_of(self.row(line)).reads

    def keys_written(self, index: int) -> tuple[str, ...]:
        """The keys whose value an execution changed, in order of last touch."""
        line = self.commit_of(index)
        return () if line < 0 else tuple(key for key, _ in self.shape_of(self.row(line)).ops)

    def shape_of(self, row: Raw) -> StepShape:
        """The definition of a line of kind `x`, `c` or `s`."""
        return cast("StepShape", self.definitions[row[1 if row[0] == "x" else 2]])

    # values and bundles

    def value_at(self, key: str, position: int) -> Value:
        """What a key of the top holds after so many commits; `ABSENT` when nothing."""
        version = self.top.version(key, position)
        if version is None:
            return self.values.base(key)
        line = self.top.rows[version]
        shape = self.shape_of(self.row(line))
        n = shape.place_of(key)
        return ABSENT if shape.ops[n][1] == DELETE else self.values.value(line, n)

    def appended_at(self, key: str, position: int) -> FrozenList | None:
        """What the commit at a position added to a list; `None` when it did not write it as growth."""
        line = self.top.rows[position]
        if line < 0:
            return None
        shape = self.shape_of(self.row(line))
        if (key, APPEND) not in shape.ops:
            return None
        return self.values.tail(line, shape.place_of(key))

    @guarded
    def bundle_at(self, position: int) -> CommitBundle:
        """The commit bundle at a position of the top's log."""
        index, line = self.top.executions[position], self.top.rows[position]
        if line < 0:
            commit = Commit(0, "empty", -1, self.execution(index), {}, {}, None)
            return as_bundle_of(self._bare, commit, position, "delta")
        row = self.row(line)
        shape = self.shape_of(row)
        writes = self.writes_of(line, shape)
        before = {key: self.value_at(key, position) for key in writes}
        execution = self.execution(index, marks=shape.marks)
        kind = "mapped" if shape.of >= 0 else "stage"
        commit = Commit(line, kind, -1, execution, _present(before), writes, self.trace_of(line, shape))
        return as_bundle_of(self._bare, commit, position, "delta")

    def writes_of(self, line: int, shape: StepShape) -> dict[str, Value]:
        """The keys that a line gave another value, and the values."""
        return {
            key: ABSENT if verb == DELETE else self.values.value(line, n) for n, (key, verb) in enumerate(shape.ops)
        }

    def trace_of(self, line: int, shape: StepShape) -> tuple[Op, ...] | None:
        """The explicit trace of a line, if it has one."""
        if shape.trace is None:
            return None
        ops: list[Op] = []
        n = len(shape.ops)
        for entry in shape.trace:
            value = ABSENT if entry.absent else self.values.value(line, n)
            n += not entry.absent
            ops.append(Op(entry.path, entry.verb, value, entry.reads))
        return tuple(ops)

    def execution(self, index: int, *, marks: tuple[str, ...] = ()) -> Execution:
        """An execution as far as its address and names go."""
        row = self.row(self.began[index - self._first])
        link = row[3][0] if self.shape_of(row).link else NEXT
        return Execution(
            self.header.stages[self.steps[index - self._first]], index, -1, link, -1, 0, (), {}, None, marks
        )

    # events

    def event_fields(self, line: int) -> tuple[EventShape, dict[str, Value]]:
        """What an event line of one event says: its definition, and the stored payload keys with their values."""
        shape = self.event_shape(self.row(line))
        return shape, {key: self.values.value(line, n) for n, key in enumerate(shape.keys)}

    def event_shape(self, row: Raw) -> EventShape:
        """The definition of a line of kind `e`."""
        return cast("EventShape", self.definitions[row[1]])

    def facts_of(self, shape: EventShape) -> RunFacts:
        """The facts of the run that an event belongs to."""
        return self.header.facts if shape.facts < 0 else cast("RunFacts", self.definitions[shape.facts])


def _place(where: Any) -> int | str | None:  # noqa: ANN401  JSON
    """Where an event happened, when it can be a place."""
    if type(where) not in _PLACES:
        raise TypeError("an event happens in an execution or at an address")
    return where


def _present(values: Mapping[str, Value]) -> dict[str, Value]:
    return {key: value for key, value in values.items() if value is not ABSENT}
