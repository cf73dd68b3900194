"""How do the lines of a run log become the rows of a journal again?

Lines are read in order and may come later; a value that refers to an earlier line shares what is there. What a line
can't be is refused by the caller with the line's number: everything here simply fails on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgspec

from agentfootprint.trace.rows.journal import (
    BrokeRow,
    DecidedRow,
    Dials,
    EmittedRow,
    Execution,
    FailedRow,
    Journal,
    MappedRow,
    NotedRow,
    Op,
    PausedRow,
    ResumedRow,
    RetriedRow,
    SeededRow,
    SelectedRow,
    StageInfo,
)
from agentfootprint.trace.rows.stages import check_links, stage_from_wire
from agentfootprint.trace.values import ABSENT, FrozenDict, FrozenList, Value

__all__ = ["RowReader", "journal_of"]

_Line = list[Any]


def journal_of(header: Mapping[str, Any]) -> Journal:
    """The empty journal that a header describes."""
    stages = tuple(stage_from_wire(number, found) for number, found in enumerate(header["chart"]["stages"]))
    check_links(stages)
    read = _Values().read
    journal = Journal(
        stages,
        dials=msgspec.convert(header["dials"], Dials),
        run_id=msgspec.convert(header["runId"], str),
        first_index=msgspec.convert(header.get("firstIndex", 0), int),
        base_state={key: read(value) for key, value in header.get("state", {}).items()},
    )
    journal.started_at = msgspec.convert(header["startedAt"], int)
    return journal


class _Values:
    """The values on record, by line."""

    def __init__(self) -> None:
        self.lines: list[list[Value]] = [[]]
        """The values of each line; line 0 is the header."""

    def read(self, found: Any) -> Value:  # noqa: ANN401  JSON
        """A value from its JSON."""
        if type(found) is list:
            items = [self.read(item) for item in cast("list[Any]", found)]
            return FrozenList(items, len(items))
        if type(found) is not dict:
            return found
        fields = cast("dict[str, Any]", found)
        if len(fields) == 1:
            for name, inner in fields.items():
                if name == "$at":
                    return self._at(inner)
                if name == "$cat":
                    return self._joined(inner)
                if name == "$lit":
                    return self._object(inner)
        return self._object(fields)

    def _object(self, fields: Mapping[str, Any]) -> FrozenDict:
        return FrozenDict({key: self.read(value) for key, value in fields.items()})

    def _at(self, address: Sequence[Any]) -> Value:
        line, n, *segments = address
        if line < 1 or n < 0:
            raise IndexError(address)
        value = self.lines[line][n]
        for segment in segments:
            value = value[segment]
        return value

    def _joined(self, pieces: Sequence[Any]) -> FrozenList:
        whole: FrozenList | None = None
        for piece in pieces:
            part = self._piece(piece)
            whole = part if whole is None else whole.extend(part)
        return FrozenList([], 0) if whole is None else whole

    def _piece(self, piece: Any) -> FrozenList:  # noqa: ANN401  JSON
        if type(piece) is list:
            return self.read(piece)
        part = cast("FrozenList", self._at(piece["of"]))
        if type(part) is not FrozenList:
            raise TypeError(piece)
        if "cut" not in piece:
            return part
        start, stop = piece["cut"]
        return part[start:stop]


class RowReader:
    """Adds the rows of lines to a journal.

    Args:
        journal: Made from the header.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.ended: str | None = None
        """How the run ended, when it says so."""
        self._values = _Values()
        self._steps: list[Execution] = []
        self._how: dict[str, Callable[[_Line], None]] = {
            "s": self._step,
            "x": self._began,
            "c": self._committed,
            "e": self._empty,
            "m": self._mapped,
            "i": self._seeded,
            "d": self._decided,
            "l": self._selected,
            "b": self._broke,
            "p": self._paused,
            "r": self._resumed,
            "t": self._retried,
            "f": self._failed,
            "n": self._noted,
            "u": self._emitted,
            "g": self._grew,
            "z": self._ended,
            "id": self._named,
        }

    def read(self, line: _Line) -> None:
        """One line.

        Raises:
            LookupError: And `TypeError`, `ValueError` or `AttributeError`: it is no line of a run log.
        """
        self._values.lines.append([])
        how = self._how.get(line[0])
        if how is None:
            if type(line[0]) is not str:
                raise TypeError(line[0])
            return  # a kind of a later version, which no question here needs
        how(line)

    def open_steps(self) -> list[Execution]:
        """Steps that began and did not commit, as a cut-off run leaves them."""
        closed: set[int] = set()
        seen: set[int] = set()
        for row in self.journal.rows:
            if isinstance(row, Execution):
                (closed if row.index in seen else seen).add(row.index)
        return [step for step in self._steps if step.index not in closed]

    def _at(self, index: int) -> Execution:
        place = index - self.journal.first_index
        if place < 0:
            raise IndexError(index)
        return self._steps[place]

    def _maybe(self, index: int | None) -> Execution | None:
        return None if index is None else self._at(index)

    def _began(self, line: _Line) -> None:
        _, stage, link, parent, mount, dt, *extra = line
        if not type(stage) is type(link) is type(parent) is type(mount) is type(dt) is int or stage < 0:
            raise TypeError(line)
        journal = self.journal
        if mount >= 0 and self._at(mount).info.kind != "mount":
            raise ValueError(mount)
        index = journal.first_index + len(self._steps)
        info = cast("StageInfo", journal.stages[stage])
        step = Execution(info, index, parent, link, mount, dt, (), {})
        self._steps.append(step)
        for found in extra:
            if "state" in found:
                journal.base_states[index] = {key: self._values.read(value) for key, value in found["state"].items()}
            if "seed" in found:
                writes, ops = self._changes(*found["seed"])
                journal.seeds[index] = SeededRow(step, writes, None, ops)
        journal.append(step)

    def _step(self, line: _Line) -> None:
        self._began(line[:6])
        self._committed(["c", self._steps[-1].index, *line[6:]])

    def _committed(self, line: _Line) -> None:
        _, index, keys, values, trace, reads, *untracked = line
        step = self._at(index)
        step.writes, step.ops = self._changes(keys, values, trace)
        step.reads = _texts(reads)
        step.untracked = _texts(untracked[0]) if untracked else ()
        self.journal.append(step)

    def _empty(self, line: _Line) -> None:
        self.journal.append(self._at(line[1]))

    def _mapped(self, line: _Line) -> None:
        _, index, mount, keys, values, trace, reads, outer = line
        writes, ops = self._changes(keys, values, trace)
        noticed = None if reads is None else _texts(reads)
        self.journal.append(MappedRow(self._at(index), self._at(mount), writes, ops, noticed, _texts(outer)))

    def _seeded(self, line: _Line) -> None:
        _, index, keys, values, trace, reads = line
        writes, ops = self._changes(keys, values, trace)
        self.journal.append(SeededRow(self._at(index), writes, None if reads is None else _texts(reads), ops))

    def _changes(
        self, keys: Sequence[Any], values: Sequence[Any], trace: Sequence[Any] | None
    ) -> tuple[dict[str, Value], tuple[Op, ...] | None]:
        kept = self._values.lines[-1]
        for found in values:
            kept.append(self._values.read(found))
        given = iter(kept)
        writes = {key if type(key) is str else key[0]: next(given) if type(key) is str else ABSENT for key in keys}
        if trace is None:
            return writes, None
        ops = tuple(
            Op(path, verb, next(given) if there else ABSENT, None if reads is None else _texts(reads), _texts(hidden))
            for path, verb, there, reads, hidden in trace
        )
        return writes, ops

    def _decided(self, line: _Line) -> None:
        _, index, chosen, returned, matched, evidence = line
        self._stage(chosen)
        self.journal.append(DecidedRow(self._at(index), chosen, returned, matched, self._values.read(evidence)))

    def _selected(self, line: _Line) -> None:
        _, index, chosen, evidence = line
        for number in chosen:
            self._stage(number)
        self.journal.append(SelectedRow(self._at(index), tuple(chosen), self._values.read(evidence)))

    def _stage(self, number: int) -> None:
        if not 0 <= number < len(self.journal.stages):
            raise IndexError(number)

    def _broke(self, line: _Line) -> None:
        _, index, reason, source = line
        self.journal.append(BrokeRow(self._at(index), reason, source))

    def _paused(self, line: _Line) -> None:
        _, index, dt, data = line
        self.journal.append(PausedRow(self._at(index), dt, self._values.read(data)))

    def _resumed(self, line: _Line) -> None:
        _, index, dt, stage, has_input = line
        self._stage(stage)
        self.ended = None
        self.journal.append(ResumedRow(self._maybe(index), dt, stage, has_input))

    def _retried(self, line: _Line) -> None:
        _, index, *facts = line
        self.journal.append(RetriedRow(self._at(index), *facts))

    def _failed(self, line: _Line) -> None:
        _, index, dt, where, name, message = line
        self.journal.append(FailedRow(self._maybe(index), dt, where, name, message))

    def _noted(self, line: _Line) -> None:
        _, index, bag, key, value = line
        self.journal.append(NotedRow(self._at(index), bag, key, self._values.read(value)))

    def _emitted(self, line: _Line) -> None:
        _, index, dt, name, payload = line
        self.journal.append(EmittedRow(self._at(index), dt, name, self._values.read(payload)))

    def _grew(self, line: _Line) -> None:
        _, index, stages = line
        self.journal.grow(self._maybe(index), [stage_from_wire(number, found) for number, found in stages])
        check_links(self.journal.stages)

    def _ended(self, line: _Line) -> None:
        self.ended = msgspec.convert(line[1], str)

    def _named(self, line: _Line) -> None:
        self.ended = None
        self.journal.run_ids.append(msgspec.convert(line[1], str))


def _texts(found: Sequence[Any]) -> tuple[str, ...]:
    if not all(type(each) is str for each in found):
        raise TypeError(found)
    return tuple(found)
