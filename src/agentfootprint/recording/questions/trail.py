"""One way to ask, wherever a recording is: in a running process, in a native file, or in a file of the wire form.

A trail gives the log of the top with its index, the events that questions are answered from, and values by commit.
The readers of calls, tools and evaluations know trails and nothing below them (01b LIN-36).
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from agentfootprint.errors import AgentFootprintError
from agentfootprint.events import Event, Payload
from agentfootprint.recording.damage import BROKEN, damaged, guarded
from agentfootprint.recording.native.decode_events import read_payload
from agentfootprint.recording.native.encode_events import implied
from agentfootprint.recording.native.rowlog import RowLog
from agentfootprint.recording.native.toplog import MARKED, Mark, NativeLog, TopLog
from agentfootprint.trace import (
    ABSENT,
    Commit,
    CommitBundle,
    Execution,
    FrozenList,
    Journal,
    LogIndex,
    MappedRow,
    Value,
    as_bundle_of,
    as_object,
)

__all__ = ["GROUP", "JournalTrail", "RowTrail", "Trail"]

GROUP: Final = "sf-llm-call"
"""The mount that a turn of the loop stands in, where an agent groups it."""


class Trail(ABC):
    """What the questions to a recording are answered from."""

    log: LogIndex
    """The commit log of the top; growth is written as `append`."""
    marks: list[Mark]
    """The events of `MARKED` types, in order."""
    above: str = ""
    """What stands in every address before the steps of the log: where that is the log of a part of a run."""

    def refresh(self) -> None:  # noqa: B027  a file does not grow
        """Look at what was added since."""

    @abstractmethod
    def payload(self, mark: Mark) -> Any:  # noqa: ANN401  a payload of the mark's type
        """The typed payload of an event; `None` when it does not have its type's shape."""

    @abstractmethod
    def ordinal(self, mark: Mark) -> int | None:
        """The place of a tool event's call in its batch, when the event says so (EVT-30)."""

    @abstractmethod
    def step(self, mark: Mark) -> str:
        """The address an event happened at."""

    @abstractmethod
    def value_at(self, key: str, position: int) -> Value:
        """What a key of the state holds after so many commits; `ABSENT` when nothing."""

    @abstractmethod
    def appended(self, key: str, position: int) -> Sequence[Any] | FrozenList | None:
        """What the commit at a position added to a list; `None` when it did not write it as growth."""

    @abstractmethod
    def reads_of(self, step: str) -> tuple[str, ...]:
        """The keys that a step read, in order of first read; empty for a step that is not known."""

    @abstractmethod
    def writes_of(self, step: str) -> tuple[str, ...] | None:
        """The keys whose value a step changed in its runtime's state; `None` for a step that is not known."""

    @abstractmethod
    def commit_of(self, mark: Mark) -> int | None:
        """The position of the commit of the step that an event happened in; `None` when it did not commit."""

    def step_at(self, position: int) -> str:
        """The step that a commit of the log is of."""
        return self.log[position].runtime_stage_id

    def came_out(self, mark: Mark) -> int | None:
        """The position of the commit that hands on what an event's mount came to; `None` outside of a grouped turn.

        Where a turn of the loop stands in one mount (AGT-37), the top knows what the model was given from then on.
        """
        group = f"{self.above}{GROUP}"
        if not self.step(mark).startswith(f"{group}/") or mark.position >= len(self.log):
            return None
        return mark.position if self.step_at(mark.position).partition("#")[0] == group else None

    def version(self, key: str, position: int) -> int | None:
        """The last commit before a position that gave a key of the state another value."""
        found = [self.log.last_write_before(path, position) for path in self.log.related(key)]
        return max((place for place in found if place is not None), default=None)


class JournalTrail(Trail):
    """The trail of a run in this process, which may still go on.

    Args:
        journal: Its rows.
        home: The execution of a mount, where the log is to be that of what ran in it, and not of the top.
        among: The numbers of the rows that all of it is among, where that is known.
    """

    def __init__(self, journal: Journal, home: Execution | None = None, *, among: range | None = None) -> None:
        self._live = journal
        self._journal = shown = journal.shown()
        self._home = -1 if home is None else home.index
        self._base = shown.base_state if home is None else shown.base_states.get(home.index, {})
        if home is not None:
            self.above = f"{home.info.id}/"
        self._scanned = 0 if among is None else among.start
        self._until = sys.maxsize if among is None else among.stop
        self._seen: dict[int, int] = {}
        self.marks: list[Mark] = []
        self.top = TopLog(self._bundle_at, self._step_of, self.refresh)
        self.log = NativeLog(self.top)

    def refresh(self) -> None:
        """Look at the rows that were added since the last look."""
        rows = self._live.shown().rows
        until = min(len(rows), self._until)
        while self._scanned < until:
            number = self._scanned
            self._scanned += 1
            row = rows[number]
            if isinstance(row, Execution):
                if row.mount == self._home:
                    self._appeared(number, row)
            elif isinstance(row, Event):
                if row.type in MARKED and self._is_inside(row.execution):
                    where = row.execution
                    place = where.index if isinstance(where, Execution) else where if isinstance(where, str) else None
                    self.marks.append(Mark(row.type, place, number, len(self.top.executions)))
            elif isinstance(row, MappedRow) and row.execution.mount == self._home:
                self._committed(number, row.execution.index, row)

    def _is_inside(self, where: object) -> bool:
        """Whether something happened in what this is the trail of."""
        if self._home < 0:
            return True
        while isinstance(where, Execution) and where.mount != self._home:
            where = self._journal.execution(where.mount)
        return isinstance(where, Execution)

    def _appeared(self, number: int, row: Execution) -> None:
        seen = self._seen.get(row.index, 0)
        self._seen[row.index] = seen + 1
        if seen == 1 and row.info.kind != "mount":
            self._committed(number, row.index, row)
        elif seen:
            self.top.add(row.index, -1)

    def _committed(self, number: int, index: int, row: Execution | MappedRow) -> None:
        top = self.top
        position = top.add(index, number)
        is_mapped = isinstance(row, MappedRow)
        splits = False
        for key, value in row.writes.items():
            top.keys.setdefault(key, []).append(position)
            if is_mapped and as_object(value):
                splits = True
            elif row.ops is None:
                top.wrote(key, position)
        if row.ops is not None:
            for op in row.ops:
                top.wrote(op.path, position)
        elif splits:
            for entry in self._bundle_at(position).trace:
                top.wrote(entry.path, position)

    def _step_of(self, index: int) -> str:
        execution = self._journal.execution(index)
        return "" if execution is None else execution.runtime_stage_id

    def _bundle_at(self, position: int) -> CommitBundle:
        index, number = self.top.executions[position], self.top.rows[position]
        if number < 0:
            execution = self._journal.execution(index)
            assert execution is not None  # noqa: S101  it stands in the rows
            return as_bundle_of(self._journal, Commit(number, "empty", -1, execution, {}, {}, None), position, "delta")
        row: Execution | MappedRow = self._journal.rows[number]
        before = {key: self._held(key, position) for key in row.writes}
        known = {key: value for key, value in before.items() if value is not ABSENT}
        execution, kind = (row.execution, "mapped") if isinstance(row, MappedRow) else (row, "stage")
        commit = Commit(number, kind, -1, execution, known, row.writes, row.ops)
        return as_bundle_of(self._journal, commit, position, "delta")

    def _held(self, key: str, position: int) -> Value:
        version = self.top.version(key, position)
        if version is None:
            return self._base.get(key, ABSENT)
        return self._journal.rows[self.top.rows[version]].writes[key]

    def payload(self, mark: Mark) -> Payload | None:
        """The payload as the run made it; one that is kept out as a whole has no shape."""
        payload: object = self._journal.rows[mark.row].payload
        return payload if isinstance(payload, Payload) else None

    def ordinal(self, mark: Mark) -> int | None:
        """As the event's meta says."""
        return self._journal.rows[mark.row].meta.tool_ordinal

    def step(self, mark: Mark) -> str:
        """The execution's id, or the address."""
        return self._step_of(mark.where) if isinstance(mark.where, int) else mark.where or ""

    def value_at(self, key: str, position: int) -> Value:
        """By the index of the key's versions: O(log n)."""
        self.refresh()
        return self._held(key, position)

    def appended(self, key: str, position: int) -> FrozenList | None:
        """Told by the lists themselves: one that grew shares its storage with the one before."""
        self.refresh()
        before, after = self._held(key, position), self._held(key, position + 1)
        if type(before) is not FrozenList or type(after) is not FrozenList or not after.starts_with(before):
            return None
        return after.tail(len(before))

    def version(self, key: str, position: int) -> int | None:
        """By the index of the key's versions: O(log n)."""
        self.refresh()
        return self.top.version(key, position)

    def reads_of(self, step: str) -> tuple[str, ...]:
        """As the execution's row says."""
        execution = self._execution(step)
        return () if execution is None else tuple(execution.reads)

    def writes_of(self, step: str) -> tuple[str, ...] | None:
        """As the execution's row says."""
        execution = self._execution(step)
        return None if execution is None else tuple(execution.writes)

    def _execution(self, step: str) -> Execution | None:
        index = step.rpartition("#")[2]
        execution = self._journal.execution(int(index)) if index.isascii() and index.isdigit() else None
        return execution if execution is not None and execution.runtime_stage_id == step else None

    def commit_of(self, mark: Mark) -> int | None:
        """The first commit of the execution."""
        self.refresh()
        return self.top.first(mark.where) if isinstance(mark.where, int) else None

    def step_at(self, position: int) -> str:
        """Without making the bundle."""
        return self._step_of(self.top.executions[position])


class RowTrail(Trail):
    """The trail of a native file.

    Args:
        rows: The file, read.
    """

    def __init__(self, rows: RowLog) -> None:
        self._rows = rows
        self.marks = rows.marks
        self.top = rows.top
        self.log = NativeLog(rows.top)

    def payload(self, mark: Mark) -> Any:  # noqa: ANN401  a payload of the mark's type
        """Decoded from the line."""
        try:
            shape, fields = self._rows.event_fields(mark.row)
            for key in shape.implied:
                fields[key] = self._implied(key, mark.position)
            return None if shape.whole or shape.app else read_payload(shape.event, fields, is_exact=False)
        except AgentFootprintError:
            raise
        except BROKEN as broken:
            raise damaged(mark.row + 1) from broken

    def _implied(self, key: str, position: int) -> Value:
        source = "turnNumber" if key == "turnIndex" else "iteration"
        value = self._rows.value_at(source, position)
        return implied(key, {} if value is ABSENT else {source: value})

    @guarded
    def ordinal(self, mark: Mark) -> int | None:
        """As the line says."""
        row = self._rows.row(mark.row)
        shape = self._rows.event_shape(row)
        if "toolOrdinal" not in shape.marks:
            return None
        return row[len(row) - len(shape.marks) + shape.marks.index("toolOrdinal")]

    @guarded
    def step(self, mark: Mark) -> str:
        """The execution's id, or the address."""
        return self._rows.step_of(mark.where) if isinstance(mark.where, int) else mark.where or ""

    @guarded
    def value_at(self, key: str, position: int) -> Value:
        """By the index of the key's versions: O(log n) and the making of the value."""
        return self._rows.value_at(key, position)

    @guarded
    def appended(self, key: str, position: int) -> FrozenList | None:
        """As the line says; the list itself is not made."""
        return self._rows.appended_at(key, position)

    @guarded
    def version(self, key: str, position: int) -> int | None:
        """By the index of the key's versions: O(log n)."""
        return self.top.version(key, position)

    @guarded
    def reads_of(self, step: str) -> tuple[str, ...]:
        """As the line of its commit says."""
        index = self._index(step)
        return () if index is None else self._rows.reads_of(index)

    @guarded
    def writes_of(self, step: str) -> tuple[str, ...] | None:
        """As the line of its commit says."""
        index = self._index(step)
        return None if index is None else self._rows.keys_written(index)

    def _index(self, step: str) -> int | None:
        index = step.rpartition("#")[2]
        if not (index.isascii() and index.isdigit()) or not self._rows.knows(int(index)):
            return None
        return int(index) if self._rows.step_of(int(index)) == step else None

    @guarded
    def commit_of(self, mark: Mark) -> int | None:
        """The first commit of the execution."""
        return self.top.first(mark.where) if isinstance(mark.where, int) else None

    @guarded
    def step_at(self, position: int) -> str:
        """Without making the bundle."""
        return self._rows.step_of(self.top.executions[position])
