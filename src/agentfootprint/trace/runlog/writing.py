"""How do the rows of a journal become lines of a run log while the run goes on?

A line is a JSON array whose first member says what it is; each thing is written once, and a value that is on record is
referred to, so a line costs what is new in it (01b LIN-10, 11). Lines are handed over in one piece a stage boundary.
What is written is the journal that may be shown: redacted values never reach the file (LIN-37).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from agentfootprint.trace.rows.journal import (
    BrokeRow,
    DecidedRow,
    EmittedRow,
    Execution,
    FailedRow,
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
)
from agentfootprint.trace.rows.references import ValueWriter
from agentfootprint.trace.rows.stages import stage_to_wire
from agentfootprint.trace.text import compact_json
from agentfootprint.trace.values import ABSENT, Value, freeze

__all__ = ["FORMAT", "LineWriter", "header_line"]

FORMAT: Final = "agentfootprint.flowlog/1"
"""Of the header; a reader that does not know it refuses the file."""

Line: TypeAlias = "list[Any]"


def header_line(journal: Journal) -> dict[str, Any]:
    """The first line: whose run it is, of which chart, with which state it began."""
    stages = [stage_to_wire(stage) for stage in journal.stages]
    apart = ValueWriter().write_apart
    found: dict[str, Any] = {
        "format": FORMAT,
        "implementation": "python",
        "runId": journal.run_id,
        "startedAt": journal.started_at,
        "chart": {"fingerprint": hashlib.sha256(compact_json(freeze(stages)).encode()).hexdigest()[:16]},
        "dials": msgspec.to_builtins(journal.dials),
    }
    found["chart"]["stages"] = stages
    if journal.first_index:
        found["firstIndex"] = journal.first_index
    if journal.base_state:
        found["state"] = {key: apart(value) for key, value in journal.base_state.items()}
    return found


class LineWriter:
    """Turns rows into lines; it remembers what is on record and where.

    Args:
        journal: Whose rows they are: the shown journal of the run. Give another one when something is redacted now
            and nothing was before.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._values = ValueWriter()
        self._number = 1
        """Of the next line; the header is line 0."""
        self._begun: set[int] = set()
        self._committed: set[int] = set()
        self._encode = msgspec.json.Encoder().encode

    def lines(self, rows: Iterable[Any]) -> bytes:
        """The lines of rows that were added, each ended by a line break."""
        out = bytearray()
        begun: tuple[Execution, Line] | None = None
        for row in rows:
            if begun is not None and row is begun[0] and row.info.kind != "mount":
                line = ["s", *begun[1][1:6], *self._commit(row)]
                begun = None
            else:
                if begun is not None:
                    self._put(out, begun[1])
                    begun = None
                line = self._line(row)
                if line is not None and line[0] == "x":
                    begun, line = (row, line), None
            if line is not None:
                self._put(out, line)
        if begun is not None:
            self._put(out, begun[1])
        return bytes(out)

    def _put(self, out: bytearray, line: Line) -> None:
        out += self._encode(line)
        out += b"\n"
        self._number += 1

    def end(self, outcome: str) -> bytes:
        """The line that says how the run ended; where it lacks, the run was cut off or goes on."""
        self._number += 1
        return self._encode(["z", outcome]) + b"\n"

    def resumed(self, run_id: str) -> bytes:
        """The line that says under which id the run goes on."""
        self._number += 1
        return self._encode(["id", run_id]) + b"\n"

    def _line(self, row: Any) -> Line | None:  # noqa: ANN401, C901, PLR0911, PLR0912  one case a kind of row
        apart = self._values.write_apart
        match row:
            case Execution():
                return self._execution(row)
            case MappedRow(execution=step, mount=mount, writes=writes, ops=ops, reads=reads, outer_reads=outer):
                return ["m", step.index, mount.index, *self._changes(writes, ops, step.mount), reads, outer]
            case SeededRow(execution=step, writes=writes, reads=reads, ops=ops):
                return ["i", step.index, *self._changes(writes, ops, step.index), reads]
            case DecidedRow(execution=step, chosen=chosen, returned=returned, matched=matched, evidence=evidence):
                return ["d", step.index, chosen, returned, matched, apart(evidence)]
            case SelectedRow(execution=step, chosen=chosen, evidence=evidence):
                return ["l", step.index, chosen, apart(evidence)]
            case BrokeRow(execution=step, reason=reason, from_subflow=source):
                return ["b", step.index, reason, source]
            case PausedRow(execution=step, dt=dt, data=data):
                return ["p", step.index, dt, apart(data)]
            case ResumedRow(execution=step, dt=dt, stage=stage, has_input=has_input):
                return ["r", _index(step), dt, stage, has_input]
            case RetriedRow(execution=step):
                return ["t", step.index, *msgspec.structs.astuple(row)[1:]]
            case FailedRow(execution=step, dt=dt, where=where, name=name, message=message):
                return ["f", _index(step), dt, where, name, message]
            case NotedRow(execution=step, bag=bag, key=key, value=value):
                return ["n", step.index, bag, key, apart(value)]
            case EmittedRow(execution=step, dt=dt, name=name, payload=payload):
                return ["u", step.index, dt, name, apart(payload)]
            case GrewRow(execution=step, stages=stages):
                return ["g", _index(step), [[stage.number, stage_to_wire(stage)] for stage in stages]]
            case _:
                return None  # of an upper room: what it says is kept where it is understood

    def _execution(self, row: Execution) -> Line:
        index = row.index
        if index not in self._begun:
            self._begun.add(index)
            line: Line = ["x", row.info.number, row.link, row.parent, row.mount, row.dt]
            extra = self._restored(row)
            return [*line, extra] if extra else line
        if index in self._committed or row.info.kind == "mount":
            return ["e", index]
        return ["c", index, *self._commit(row)]

    def _commit(self, row: Execution) -> Line:
        """What a step changed and read."""
        self._committed.add(row.index)
        untracked = [row.untracked] if row.untracked else []
        return [*self._changes(row.writes, row.ops, row.mount), row.reads, *untracked]

    def _restored(self, mount: Execution) -> dict[str, Any]:
        """What a mount began with, where its declared map does not imply it."""
        extra: dict[str, Any] = {}
        restored = self.journal.base_states.get(mount.index)
        if restored is not None:
            extra["state"] = {key: self._values.write_apart(value) for key, value in restored.items()}
        seed = self.journal.seeds.get(mount.index)
        if seed is not None:
            extra["seed"] = self._changes(seed.writes, seed.ops, mount.index, apart=True)
        return extra

    def _changes(
        self, writes: Mapping[str, Value], ops: tuple[Op, ...] | None, mount: int, *, apart: bool = False
    ) -> Line:
        """Keys, their values (an absent key has none), and the trace where the values don't imply it.

        A value's address is its line and its number among the line's values; `apart` gives it none.
        """
        keys: list[Any] = []
        values: list[Any] = []
        for key, value in writes.items():
            if value is ABSENT:
                keys.append([key])
                continue
            keys.append(key)
            values.append(self._value(value, len(values), apart=apart))
            if mount == -1 and not apart:
                self._values.pin(key, value, (self._number, len(values) - 1))
        if ops is None:
            return [keys, values, None]
        trace: list[Any] = []
        for op in ops:
            trace.append([op.path, op.verb, op.value is not ABSENT, op.read_keys, op.hidden])
            if op.value is not ABSENT:
                values.append(self._value(op.value, len(values), apart=apart))
        return [keys, values, trace]

    def _value(self, value: Value, n: int, *, apart: bool) -> Any:  # noqa: ANN401  JSON
        return self._values.write_apart(value) if apart else self._values.write(value, (self._number, n))


def _index(step: Execution | None) -> int | None:
    return None if step is None else step.index
