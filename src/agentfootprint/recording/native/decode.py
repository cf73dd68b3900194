"""How a run log becomes a journal again, so that every projection of a running process works on a file too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from agentfootprint.errors import AgentFootprintError
from agentfootprint.events import Event, MetaMarks, Origin, RunFacts, Token, event_from_wire
from agentfootprint.recording.damage import BROKEN, damaged
from agentfootprint.recording.native.decode_events import Memo, event_of
from agentfootprint.recording.native.encode_events import implied
from agentfootprint.recording.native.rowlog import Raw, RowLog
from agentfootprint.recording.native.shapes import EventShape, StepShape
from agentfootprint.recording.native.spine import Spine
from agentfootprint.trace import (
    ABSENT,
    BrokeRow,
    DecidedRow,
    Detail,
    EmittedRow,
    Execution,
    FailedRow,
    FrozenDict,
    GrewRow,
    Journal,
    MappedRow,
    NotedRow,
    PausedRow,
    ResumedRow,
    RetriedRow,
    SeededRow,
    SelectedRow,
    Value,
    freeze,
    thaw,
)

__all__ = ["journal_of"]

_US: Final = 1000
_PLACES: Final = (Execution, str, type(None))
_MARK_KEYS: Final = frozenset(("toolOrdinal", "carried", "turnIndex", "iterIndex", "resumedRunId"))


def journal_of(log: RowLog) -> Journal:
    """The journal that a run log was written from: the same rows, values shared; times in whole microseconds."""
    return _Decoder(log).decode()


class _Decoder:
    def __init__(self, log: RowLog) -> None:
        self._log = log
        header = log.header
        base = {key: log.values.base(key) for key in header.base_state}
        self._journal = Journal(
            header.stages,
            dials=header.dials,
            run_id=header.run_ids[0],
            first_index=header.first_index,
            base_state=base,
        )
        self._journal.run_ids = list(header.run_ids)
        self._journal.started_at = header.started_at
        self._journal.base_states = {int(index): freeze(state).data for index, state in header.base_states.items()}
        self._spine = Spine(header.stages)
        self._executions: list[Execution] = []
        self._state: dict[str, Value] = dict(base)
        self._clock = 0
        self._memo: Memo = {}

    def decode(self) -> Journal:
        readers = {"x": self._begin, "c": self._commit, "s": self._seed, "f": self._control, "e": self._event}
        number = 0
        try:
            for number in range(1, len(self._log)):
                row = self._log.row(number)
                reader = readers.get(row[0])
                if reader is not None:
                    reader(number, row)
        except AgentFootprintError:
            raise
        except BROKEN as broken:
            raise damaged(number + 1) from broken
        return self._journal

    def _now(self, delta: int) -> int:
        self._clock += delta
        return self._clock * _US

    def _at(self, index: int) -> Execution:
        return self._executions[index - self._journal.first_index]

    def _begin(self, number: int, row: Raw) -> None:
        shape = cast("StepShape", self._log.definitions[row[1]])
        info = self._journal.stages[shape.stage]
        link, parent, mount = row[3] if shape.link else self._spine.usual(info)
        if not type(link) is type(parent) is type(mount) is int:
            raise TypeError(row[3])
        index = self._journal.first_index + len(self._executions)
        self._spine.begin(info, index, link, mount)
        execution = Execution(info, index, parent, link, mount, self._now(row[2]), (), {})
        self._executions.append(execution)
        self._journal.append(execution)
        if not shape.open:
            self._committed(number, shape, row, execution)

    def _commit(self, number: int, row: Raw) -> None:
        index = row[1]
        if len(row) == 2:  # noqa: PLR2004  an empty bundle
            self._journal.append(self._at(index))
            return
        shape = cast("StepShape", self._log.definitions[row[2]])
        if shape.of < 0:
            self._committed(number, shape, row, self._at(index))
            return
        mount = self._spine.latest[shape.of]
        if type(index) is list:
            index, mount = cast("list[int]", index)
        writes = self._log.writes_of(number, shape)
        execution = self._at(index)
        reads = shape.reads if shape.noticed else None
        trace = self._log.trace_of(number, shape)
        self._journal.append(MappedRow(execution, self._at(mount), writes, trace, reads, shape.outer))
        self._applied(execution, writes, shape)

    def _committed(self, number: int, shape: StepShape, row: Raw, execution: Execution) -> None:
        log = self._log
        execution.reads = shape.reads
        execution.untracked = shape.marks
        execution.writes = log.writes_of(number, shape)
        execution.ops = log.trace_of(number, shape)
        if shape.detail:
            execution.detail = self._detail(*row[-2:])
        self._journal.append(execution)
        self._applied(execution, execution.writes, shape)

    def _applied(self, execution: Execution, writes: Mapping[str, Value], shape: StepShape) -> None:
        if execution.mount < 0:
            for key, value in writes.items():
                if value is ABSENT:
                    self._state.pop(key, None)
                else:
                    self._state[key] = value
        self._ended(shape)

    def _ended(self, shape: StepShape) -> None:
        for stage in shape.then:
            self._journal.append(self._at(self._spine.latest[stage]))

    def _seed(self, number: int, row: Raw) -> None:
        shape = cast("StepShape", self._log.definitions[row[2]])
        reads = shape.reads if shape.noticed else None
        self._journal.append(SeededRow(self._at(row[1]), self._log.writes_of(number, shape), reads))
        self._ended(shape)

    def _detail(self, reads: list[Any], tracked: list[Any]) -> Detail:
        read = self._log.values.apart
        return Detail(
            {key: read(value[0]) if value else ABSENT for key, *value in reads},
            {path: (read(value[0]) if value else ABSENT, op) for path, op, *value in tracked},
        )

    def _control(self, _: int, row: Raw) -> None:  # noqa: C901  one case a kind of row
        append, read = self._journal.append, self._log.values.apart
        where = None if row[2] is None else self._at(row[2])
        at = cast("Execution", where)
        match row[1], row[3:]:
            case "decided", [int(chosen)]:
                append(DecidedRow(at, chosen, self._journal.stages[chosen].branch_id, matched=True))
            case "decided", [chosen, returned, matched, evidence]:
                _check_stages([chosen], self._journal)
                append(DecidedRow(at, chosen, returned, matched, read(evidence)))
            case "selected", [chosen, *evidence]:
                _check_stages(chosen, self._journal)
                append(SelectedRow(at, tuple(chosen), read(evidence[0]) if evidence else None))
            case "broke", [reason, from_subflow]:
                append(BrokeRow(at, reason, from_subflow))
            case "paused", [delta, data]:
                append(PausedRow(at, self._now(delta), read(data)))
            case "resumed", [delta, stage, has_input]:
                append(ResumedRow(where, self._now(delta), stage, has_input))
            case "retried", [delta, *facts]:
                append(RetriedRow(at, self._now(delta), *facts))
            case "failed", [delta, scope, name, message]:
                append(FailedRow(where, self._now(delta), scope, name, message))
            case "noted", [bag, key, value]:
                append(NotedRow(at, bag, key, read(value)))
            case "grew", [numbers]:
                _check_stages(numbers, self._journal)
                append(GrewRow(where, tuple(map(self._journal.stages.__getitem__, cast("list[int]", numbers)))))
            case "emitted", [delta, name, payload]:
                append(EmittedRow(at, self._now(delta), name, read(payload)))
            case _:
                pass  # a kind of a later version: the row stays in the file, and no projection here needs it

    def _event(self, number: int, row: Raw) -> None:
        shape = cast("EventShape", self._log.definitions[row[1]])
        facts = self._log.facts_of(shape)
        where: Origin = self._at(row[2]) if type(row[2]) is int else row[2]
        if not isinstance(where, _PLACES):
            raise TypeError("an event happens in an execution or at an address")
        if shape.joined:
            self._tokens(row, where, facts)
            return
        dt = self._now(row[3])
        _, fields = self._log.event_fields(number)
        for key in shape.implied:
            fields[key] = implied(key, self._state)
        payload: Value = self._log.values.value(number, 0) if shape.whole else FrozenDict(fields)
        values = row[len(row) - len(shape.marks) :]
        marks = dict(zip(shape.marks, values, strict=True))
        if "meta" in marks:
            self._journal.append(
                event_from_wire({"type": shape.event, "payload": thaw(payload), "meta": marks["meta"]})
            )
            return
        known = {key: value for key, value in marks.items() if key in _MARK_KEYS}
        added = msgspec.convert(known, MetaMarks) if known else None
        event = event_of(shape.event, payload, where, dt, facts, added, is_app=shape.app, memo=self._memo)
        self._journal.append(event)

    def _tokens(self, row: Raw, where: Origin, facts: RunFacts) -> None:
        _, _, _, start, texts, later, *first = row
        iteration = first[1] if len(first) > 1 else implied("iteration", self._state)
        index = first[0] if first else 0
        for text, delta in zip(texts, (start, *later), strict=True):
            token = Token(iteration=iteration, token_index=index, content=text)
            self._journal.append(Event(token, where, self._now(delta), facts))
            index += 1


def _check_stages(chosen: list[Any], journal: Journal) -> None:
    """Refuse numbers that are no stage's."""
    for number in chosen:
        if type(number) is not int or not -1 <= number < len(journal.stages):
            raise IndexError(number)
