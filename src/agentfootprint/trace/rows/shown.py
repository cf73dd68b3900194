"""A journal as it may be shown: the same rows, with placeholders where the run's redaction hides a value.

The one place where a run's record is redacted. The rows themselves keep real values, because a resume and later
stages need them; whatever leaves (logs, trees, mirrors, files) is read off this journal. It has a row for each row
of the other one, at the same position, and follows it while it grows. Replaying its commits gives its states.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from agentfootprint.trace.bundle import CommitBundle, TraceEntry
from agentfootprint.trace.ids import PATH_DELIMITER
from agentfootprint.trace.redacting import REDACTED
from agentfootprint.trace.replay import apply_smart_merge
from agentfootprint.trace.rows.fold import Commit, Fold
from agentfootprint.trace.rows.journal import Detail, EmittedRow, Execution, Journal, MappedRow, NotedRow, Op, SeededRow
from agentfootprint.trace.rows.projection import implied_ops, payloads_of
from agentfootprint.trace.rows.veil import Policy, Veil
from agentfootprint.trace.values import ABSENT, FrozenDict, Value, freeze

__all__ = ["cover", "redacted_journal"]

_NO_VALUES: Final[Mapping[str, Value]] = {}


def cover(journal: Journal, policy: Policy | None, names: Iterable[str] = ()) -> Veil:
    """Let a journal be redacted from now on; everything that is read off it is.

    Args:
        journal: A journal that has no veil yet.
        policy: What is redacted from the start.
        names: Keys that an earlier part of the run redacted.

    Returns:
        The veil for the run to ask. It is the journal's too.
    """
    veil = Veil(policy, names)
    journal.veil = veil
    journal.shadow = _Shadow(journal, Veil(policy, names)).followed
    return veil


def redacted_journal(journal: Journal) -> Journal:
    """The journal that may be shown: this one when nothing is redacted in it; costs what was added since last time."""
    return journal.shown()


class _Shadow:
    """Makes the rows of a shown journal, one for each row of the live one."""

    def __init__(self, journal: Journal, veil: Veil) -> None:
        self._live = live = weakref.proxy(journal)  # which holds this: a finished run is in no cycle
        self._veil = veil
        self._fold = Fold(live)
        self._shown = Journal(journal.stages, dials=journal.dials)
        self._mirror = Fold(self._shown)
        self._steps: dict[int, Execution] = {}
        self._hazy: dict[int, set[str]] = {}
        """Top-level keys whose shown value is not the real one, by runtime."""

    def followed(self) -> Journal:
        """The shown journal, with the rows added since."""
        live, shown = self._live, self._shown
        if self._fold.position == 0:  # a resume sets these after the journal was made
            self._begin()
        shown.stages = live.stages
        for position in range(self._fold.position, len(live.rows)):
            row = live.rows[position]
            commits = self._fold.commits(position)
            shown.append(self._row(row, next(commits, None)))
            for _ in commits:  # a row is one commit at most, and is applied when the next one is asked for
                pass
            self._mirror.run()
        return shown

    def _begin(self) -> None:
        live, shown = self._live, self._shown
        self._fold = Fold(live)
        shown.first_index, shown.run_ids = live.first_index, live.run_ids
        shown.started_at, shown.t0 = live.started_at, live.t0
        shown.base_state = self._veil.mirror(live.base_state)
        self._hazy = {-1: {key for key, value in shown.base_state.items() if value is not live.base_state[key]}}
        self._mirror = Fold(shown)

    def _row(self, row: Any, commit: Commit | None) -> Any:  # noqa: ANN401  rows of upper rooms may be anything
        if isinstance(row, Execution):
            return self._appeared(row, commit)
        if isinstance(row, MappedRow):
            mount = row.mount
            self._veil.leave(mount.index, row.execution.mount, mount.info.out_map, self._state(mount.index))
            writes, ops = (row.writes, row.ops) if commit is None else self._covered(commit)
            step, inner = self._steps[row.execution.index], self._steps[mount.index]
            return msgspec.structs.replace(row, execution=step, mount=inner, writes=writes, ops=ops)
        if isinstance(row, SeededRow):
            writes, ops = (row.writes, row.ops) if commit is None else self._covered(commit)
            return msgspec.structs.replace(row, execution=self._steps[row.execution.index], writes=writes, ops=ops)
        return self._said(row)

    def _said(self, row: Any) -> Any:  # noqa: ANN401  rows of upper rooms may be anything
        """A row that says what no commit implies: what it quotes was covered when it was made, mostly."""
        execution = getattr(row, "execution", None)
        step = self._steps.get(execution.index) if isinstance(execution, Execution) else None
        if step is None or not isinstance(row, msgspec.Struct):
            return row
        changes: dict[str, Any] = {"execution": step}
        if isinstance(row, EmittedRow):
            changes["payload"] = self._veil.emitted(row.name, row.payload, step.mount)
        elif isinstance(row, NotedRow):
            changes["value"] = self._veil.noted(row.key, row.value, step.mount)
        return msgspec.structs.replace(row, **changes)

    def _appeared(self, row: Execution, commit: Commit | None) -> Execution:
        step = self._steps.get(row.index)
        if step is None:
            step = Execution(row.info, row.index, row.parent, row.link, row.mount, row.dt, (), {})
            self._steps[row.index] = step
            if row.info.kind == "mount":
                self._entered(row, step, commit)
        elif commit is not None and commit.kind == "stage":
            self._committed(row, step, commit)
        return step

    def _entered(self, row: Execution, step: Execution, commit: Commit | None) -> None:
        self._veil.enter(row.index, row.mount, row.info.in_map, ever=bool(row.info.namespace))
        restored = self._live.base_states.get(row.index)
        if restored is not None:
            mirror = self._veil.mirror(restored, row.index)
            self._shown.base_states[row.index] = mirror
            self._hazy[row.index] = {key for key, value in mirror.items() if value is not restored[key]}
        elif commit is not None:
            writes, ops = self._covered(commit)
            self._shown.seeds[row.index] = SeededRow(step, writes, ops=ops)

    def _committed(self, row: Execution, step: Execution, commit: Commit) -> None:
        veil, mount, ever = self._veil, row.mount, bool(row.info.namespace)
        hidden = None if row.detail is None else row.detail.hidden
        for key in hidden or ():
            if not veil.hides(key, mount, ever=ever):
                veil.hide(key, mount)
        step.reads, step.untracked = row.reads, row.untracked
        step.detail = self._detail(row, commit)
        for key in row.writes:
            if row.info.kind == "foreach":
                veil.gather(key)
            if hidden is not None and key not in hidden and not ever:  # deleted and written again in one stage
                veil.forget(key, mount)
        step.writes, step.ops = self._covered(commit)
        for key, value in row.writes.items():
            if value is ABSENT:
                veil.forget(key, mount)

    def _detail(self, row: Execution, commit: Commit) -> Detail:
        """What a stage read and wrote as it may be shown: as it was told, or as it would have been."""
        detail = row.detail
        if detail is None:  # a native stage: what it read is what was there
            reads = {key: commit.before.get(key, ABSENT) for key in row.reads}
            tracked = {key: (value, "set") for key, value in row.writes.items()}
        else:
            reads, tracked = detail.read_values, detail.tracked
        if detail is None or detail.hidden is None:  # it asked no veil
            shown_reads = _changed(reads, self._veil.state(reads, row.mount))
            shown_writes = _changed(row.writes, self._veil.state(row.writes, row.mount))
        else:
            shown_reads, shown_writes = detail.shown_reads or {}, detail.shown_writes or {}
        return Detail(
            {key: shown_reads.get(key, value) for key, value in reads.items()},
            {key: (shown_writes.get(key, value), verb) for key, (value, verb) in tracked.items()},
            () if detail is None else detail.said,
            None if detail is None else detail.hidden,
            shown_reads,
            shown_writes,
        )

    def _state(self, mount: int) -> Mapping[str, Value]:
        return self._fold.states.get(mount, _NO_VALUES)

    def _covered(self, commit: Commit) -> tuple[dict[str, Value], tuple[Op, ...] | None]:
        """A commit's writes and trace as they may be shown."""
        before = self._mirror.states.get(commit.mount, {})
        hazy = self._hazy.setdefault(commit.mount, set())
        given = commit.ops if commit.ops is not None else tuple(implied_ops(commit, self._live.dials.values))
        ops, changed = self._ops(given, commit.mount)
        for root in [key for key in commit.writes if key in hazy and key not in changed]:
            if before.get(root) == REDACTED and commit.writes[root] is not ABSENT:  # hidden before, and not now
                ops = [op for op in ops if _root(op.path) != root]
                ops.append(Op(root, "set", commit.writes[root]))
                changed.add(root)
        if not changed and hazy.isdisjoint(commit.writes):
            return dict(commit.writes), commit.ops
        after = apply_smart_merge(FrozenDict(dict(before)), _bundle(ops))  # pyright: ignore[reportArgumentType]  a frozen state
        writes: dict[str, Value] = {}
        for key, value in commit.writes.items():
            writes[key] = after.get(key, ABSENT) if key in changed or key in hazy else value
            if writes[key] is value:
                hazy.discard(key)
            else:
                hazy.add(key)
        return writes, tuple(ops)

    def _ops(self, given: tuple[Op, ...], mount: int) -> tuple[list[Op], set[str]]:
        """The trace with what is hidden replaced, and the top-level keys that this changed."""
        ops: list[Op] = []
        changed: set[str] = set()
        for op in given:
            path = tuple(op.path.split(PATH_DELIMITER))
            shown = self._veil.covered(path, op.value, mount, REDACTED)
            if not shown.hidden:
                ops.append(op)
                continue
            changed.add(path[0])
            if shown.path == path:
                ops.append(Op(op.path, op.verb, shown.value, op.read_keys, shown.hidden))
                continue
            at = PATH_DELIMITER.join(shown.path)  # not the place below it: there is nothing it could be in
            if ops and ops[-1].path == at and ops[-1].verb == "set" and ops[-1].hidden:
                del ops[-1]
            ops.append(Op(at, "set", shown.value, op.read_keys, shown.hidden))
        return ops, changed


def _changed(values: Mapping[str, Value], shown: Mapping[str, Value]) -> dict[str, Value]:
    return {key: value for key, value in shown.items() if value is not values[key]}


def _root(path: str) -> str:
    return path.partition(PATH_DELIMITER)[0]


def _bundle(ops: list[Op]) -> CommitBundle:
    """Operations as a nameless bundle with frozen payloads, for replay."""
    overwrite, updates = payloads_of(ops)
    trace = tuple(TraceEntry(op.path, op.verb, op.read_keys) for op in ops)
    return CommitBundle(0, "", "", "", trace, freeze(overwrite), freeze(updates), ())
