"""Which rows of a run may leave: the same rows, one for each, with placeholders where the run's policy hides a value.

The rows themselves keep real values, because the loop, a resume and a checkpoint need them. Whatever is kept or served
(listeners, streams, recordings, files, readers) is read off the journal that is made here, once for all of them, when
somebody asks and up to where the run is then. It costs what was added since: nothing is folded, no state is kept.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from agentfootprint.events import Event
from agentfootprint.recording.redacting.covering import Cover
from agentfootprint.trace import (
    PATH_DELIMITER,
    REDACTED,
    DecidedRow,
    Detail,
    EmittedRow,
    Execution,
    Journal,
    MappedRow,
    NotedRow,
    Op,
    PausedRow,
    Policy,
    SeededRow,
    SelectedRow,
    Value,
    Veil,
)

__all__ = ["Served", "serve_covered"]


def serve_covered(journal: Journal, policy: Policy) -> Cover:
    """Have a run's journal shown to others without what a policy names; call it before the first row.

    Args:
        journal: The run's.
        policy: What is hidden.

    Returns:
        What covers single values in the same way.
    """
    journal.veil = Veil(policy)
    cover = Cover(journal.veil)
    journal.shadow = Served(journal, Veil(policy), cover).followed
    return cover


class Served:
    """Makes the rows of the shown journal."""

    def __init__(self, journal: Journal, veil: Veil, cover: Cover) -> None:
        self._live: Journal = weakref.proxy(journal)  # which holds this: a finished run is in no cycle
        self._veil = veil
        self._cover = cover
        self._shown = Journal(journal.stages, dials=journal.dials)
        self._shown.veil = journal.veil
        self._shown.words = (REDACTED, cover.word)
        self._shown.told = cover.implied
        self._position = 0
        self._steps = cover.steps
        self._open: set[int] = set()
        """Executions that have begun and not ended."""
        self._highest = -1
        """Index of the latest execution that began; they begin in the order of their indexes."""
        self._keys: dict[int, set[str]] = {}
        """The keys that a runtime's state has, by the index of its mount."""

    def followed(self) -> Journal:
        """The shown journal, with the rows added since."""
        live, shown = self._live, self._shown
        rows = live.rows
        if not self._steps:  # a resume sets these after its first event
            self._begin()
        shown.stages = live.stages
        while self._position < len(rows):
            row = rows[self._position]
            self._position += 1
            shown.append(self._row(row))
        return shown

    def _begin(self) -> None:
        live, shown = self._live, self._shown
        shown.first_index, shown.run_ids = live.first_index, live.run_ids
        shown.started_at, shown.t0 = live.started_at, live.t0
        shown.base_state = self._state(live.base_state, -1)
        self._keys = {-1: set(live.base_state)}

    def _state(self, values: Mapping[str, Value], mount: int) -> dict[str, Value]:
        veil, held = self._veil, self._cover.held
        return {key: held(value, veil.of_key(key, mount)) for key, value in values.items()}

    def _row(self, row: Any) -> Any:  # noqa: ANN401  rows of any room
        if isinstance(row, Event):
            event = cast("Event[Any]", row)
            where = event.execution
            return self._cover.event(event, self._step(where) if isinstance(where, Execution) else where)
        if isinstance(row, Execution):
            return self._appeared(row)
        if isinstance(row, MappedRow):
            return self._mapped(row)
        if isinstance(row, SeededRow):
            mount = row.execution.index
            self._wrote(mount, row.writes)
            step = self._step(row.execution)
            return msgspec.structs.replace(
                row, execution=step, writes=self._state(row.writes, mount), ops=self._ops(row.ops, mount)
            )
        return self._said(row)

    def _said(self, row: Any) -> Any:  # noqa: ANN401  rows of any room
        """A row that says what no commit implies: what it quotes was covered when it was made, mostly."""
        execution = getattr(row, "execution", None)
        step = self._step(execution) if isinstance(execution, Execution) else None
        if step is None or not isinstance(row, msgspec.Struct):
            return row
        changes: dict[str, Any] = {"execution": step}
        if isinstance(row, EmittedRow):
            changes["payload"] = self._cover.of(self._cover.policy.emitted(row.name, row.payload))
        elif isinstance(row, PausedRow):
            changes["data"] = self._cover.member("pauseData", row.data)
        elif isinstance(row, (DecidedRow, SelectedRow)):
            changes["evidence"] = self._cover.of(row.evidence)
        elif isinstance(row, NotedRow):
            changes["value"] = self._cover.member(row.key, row.value)
        return msgspec.structs.replace(row, **changes)

    def _appeared(self, row: Execution) -> Execution:
        step = self._step(row)
        if row.index > self._highest:
            self._highest = row.index
            self._steps[row.index] = step
            self._open.add(row.index)
            if row.info.kind == "mount":
                self._entered(row)
            return step
        self._open.discard(row.index)
        if row.info.kind != "mount":
            step.reads, step.untracked = row.reads, row.untracked
            step.writes, step.ops = self._state(row.writes, row.mount), self._ops(row.ops, row.mount)
            step.detail = None if row.detail is None else self._detail(row.detail, row.mount)
            self._wrote(row.mount, row.writes)
        return step

    def _step(self, row: Execution) -> Execution:
        """What is shown of an execution; of one that was let go of, which it is."""
        step = self._steps.get(row.index)
        if step is None:
            step = Execution(row.info, row.index, row.parent, row.link, row.mount, row.dt, (), {})
        return step

    def let_go(self, first: int) -> None:
        """Forget the executions before an index that have ended; their rows are kept in a file."""
        for index in [index for index in self._steps if index < first and index not in self._open]:
            del self._steps[index]
            if self._keys.pop(index, None) is not None:
                self._veil.gone(index)
                if self._live.veil is not None:
                    self._live.veil.gone(index)

    def _entered(self, row: Execution) -> None:
        """A mount begins; what it is seeded with follows from its declared map, also in what is shown."""
        live, mount = self._live, row.index
        self._veil.enter(mount, row.mount, row.info.in_map, ever=bool(row.info.namespace))
        restored = live.base_states.get(mount)
        if restored is not None:
            self._shown.base_states[mount] = self._state(restored, mount)
            self._keys[mount] = set(restored)
            return
        there = self._keys.get(row.mount, ())
        self._keys[mount] = {target for target, source in row.info.in_map or () if source in there}

    def _mapped(self, row: MappedRow) -> MappedRow:
        mount, target = row.mount.index, row.execution.mount
        inside = dict.fromkeys(self._keys.get(mount, ()))
        self._veil.leave(mount, target, row.mount.info.out_map, inside)
        self._wrote(target, row.writes)
        return msgspec.structs.replace(
            row,
            execution=self._step(row.execution),
            mount=self._step(row.mount),
            writes=self._state(row.writes, target),
            ops=self._ops(row.ops, target),
        )

    def _wrote(self, mount: int, writes: Mapping[str, Value]) -> None:
        self._keys.setdefault(mount, set()).update(writes)

    def _ops(self, ops: tuple[Op, ...] | None, mount: int) -> tuple[Op, ...] | None:
        """A trace that the values do not imply; the way to a write ends where something is hidden as a whole."""
        if ops is None:
            return None
        shown: list[Op] = []
        for op in ops:
            path = op.path.split(PATH_DELIMITER)
            hiding = self._veil.of_key(path[0], mount)
            depth = 1 if hiding is True else 0
            if not depth:
                inner = enumerate(path[1:], 2)
                depth = next((place for place, key in inner if self._cover.policy.hides(key)), 0)
            if depth:
                at = PATH_DELIMITER.join(path[:depth])
                word = REDACTED if depth == 1 else self._cover.word
                shown.append(Op(at, "set", word, op.read_keys, (at,)))
            else:
                below = hiding if len(path) == 1 else ()
                shown.append(msgspec.structs.replace(op, value=self._cover.held(op.value, below)))
        return tuple(shown)

    def _detail(self, detail: Detail, mount: int) -> Detail:
        tracked = {
            path: (self._cover.held(value, self._veil.of_key(path.partition(".")[0], mount)), verb)
            for path, (value, verb) in detail.tracked.items()
        }
        return Detail(self._state(detail.read_values, mount), tracked)
