"""What a journal looks like as commit logs, states, read sets and versions of a key.

Pure functions of the rows: nothing here runs or changes anything. The records and states returned share their values
with the journal. Costs are linear in the rows looked at.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from agentfootprint.trace.bundle import CommitBundle, TraceEntry, as_list, as_object
from agentfootprint.trace.ids import INERT_SEGMENTS, PATH_DELIMITER
from agentfootprint.trace.questions.sources import ControlDeps
from agentfootprint.trace.rows.fold import Commit, Fold
from agentfootprint.trace.rows.journal import DecidedRow, Execution, Journal, Op, SelectedRow
from agentfootprint.trace.values import ABSENT, FrozenList, JsonObject, Value, View, deep_equal

__all__ = [
    "JournalIndex",
    "Version",
    "as_bundle_of",
    "fits_by_field",
    "is_strict_prefix",
    "note_decision",
    "project_commit_log",
    "project_commit_logs",
    "project_control_deps",
    "project_reads",
    "project_state",
    "rule_label",
]

Values: TypeAlias = Literal["full", "delta"]


def project_commit_log(journal: Journal, mount: int = -1, values: Values | None = None) -> list[CommitBundle]:
    """The commit log of one runtime (2.2).

    Args:
        journal: The rows.
        mount: Index of the mount execution whose runtime is asked for; -1 for the top.
        values: How growth is written where the rows leave it open; None for the journal's own dial.

    Returns:
        Bundles with their position as `idx`; `to_wire()` makes plain JSON of each.
    """
    return project_commit_logs(journal, values).get(mount, [])


def project_commit_logs(journal: Journal, values: Values | None = None) -> dict[int, list[CommitBundle]]:
    """The commit logs of all runtimes, by the index of their mount (-1 at the top), in one pass."""
    logs: dict[int, list[CommitBundle]] = {-1: []}
    journal = journal.shown()
    for commit in Fold(journal).commits():
        log = logs.setdefault(commit.mount, [])
        log.append(as_bundle_of(journal, commit, len(log), values))
    return logs


def project_state(journal: Journal, mount: int = -1, upto: int | None = None) -> dict[str, Value]:
    """The committed state of one runtime, with its real values: for whom it is shown, give `journal.shown()`.

    Args:
        journal: The rows.
        mount: Index of the mount execution; -1 for the top.
        upto: Number of the last row that counts; None for all.
    """
    fold = Fold(journal)
    fold.run(upto)
    return fold.states.get(mount, {})


def project_reads(journal: Journal) -> dict[str, tuple[str, ...]]:
    """Keys read under tracking by each execution, by its runtime stage id; those that read nothing are left out."""
    return {
        execution.runtime_stage_id: tuple(execution.reads)
        for execution in journal.executions().values()
        if execution.reads
    }


def project_control_deps(journal: Journal) -> ControlDeps:
    """Which decision let which step run (FLOW-SLC-40); its `lookup` goes into a slice as `control_deps`."""
    deps = ControlDeps()
    begun: set[int] = set()
    for row in journal.rows:
        if isinstance(row, Execution):
            if row.index not in begun:
                begun.add(row.index)
                parent = journal.execution(row.parent)
                deps.executed(row.runtime_stage_id, None if parent is None else parent.runtime_stage_id)
        elif isinstance(row, (DecidedRow, SelectedRow)):
            note_decision(deps, journal, row)
    return deps


def note_decision(deps: ControlDeps, journal: Journal, row: DecidedRow | SelectedRow) -> None:
    """Tell which branches a decider or selector chose, and by which rules."""
    numbers = (row.chosen,) if isinstance(row, DecidedRow) else row.chosen
    evidence = as_object(row.evidence)
    chosen = [
        (stage.branch_id, rule_label(evidence, stage.branch_id)) for stage in map(journal.stages.__getitem__, numbers)
    ]
    deps.decided(row.execution.runtime_stage_id, chosen, evidence)


def rule_label(evidence: JsonObject | None, branch: str) -> str | None:
    """The label of the rule that chose a branch, by the evidence of a choice."""
    for raw in as_list((evidence or {}).get("rules")) or ():
        rule = as_object(raw) or {}
        if rule.get("matched") and rule.get("branch") == branch:
            return rule.get("label")
    return None


def as_bundle_of(journal: Journal, commit: Commit, idx: int, values: Values | None = None) -> CommitBundle:
    """The bundle of one commit, at position `idx` of its log."""
    mode = values or journal.dials.values
    ops = commit.ops if commit.ops is not None else tuple(implied_ops(commit, mode))
    overwrite, updates = payloads_of(ops)
    execution = commit.execution
    if commit.kind == "seed":
        first = journal.stages[execution.info.entry]
        name, stage_id, runtime_stage_id = first.name, first.id, ""
    else:
        name, stage_id, runtime_stage_id = execution.context_name, execution.info.id, execution.runtime_stage_id
    return CommitBundle(
        idx,
        name,
        stage_id,
        runtime_stage_id,
        tuple(TraceEntry(op.path, op.verb, op.read_keys) for op in ops),
        overwrite,
        updates,
        tuple(dict.fromkeys(path for op in ops for path in _hidden_in(op, journal.words))),
        execution.untracked if commit.kind == "stage" else (),
    )


def _hidden_in(op: Op, words: tuple[str, ...]) -> tuple[str, ...]:
    """The paths of an operation whose value, or part of it, is kept out."""
    return op.hidden or ((op.path,) if words and _holds_word(op.value, words) else ())


def _holds_word(value: Value, words: tuple[str, ...]) -> bool:
    if isinstance(value, str):
        return value in words
    fields = as_object(value)
    inside = as_list(value) if fields is None else fields.values()
    return inside is not None and not isinstance(value, View) and any(_holds_word(item, words) for item in inside)


def payloads_of(ops: Iterable[Op]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What operations wrote, nested along their paths: `overwrite` and `updates`."""
    overwrite: dict[str, Any] = {}
    updates: dict[str, Any] = {}
    for op in ops:
        if op.value is not ABSENT:
            _place(updates if op.verb == "merge" else overwrite, op.path, op.value)
    return overwrite, updates


def implied_ops(commit: Commit, mode: Values) -> Iterator[Op]:
    """The trace that follows from the values before and after."""
    split = commit.kind in ("seed", "mapped")
    for key, value in commit.writes.items():
        before = commit.before.get(key, ABSENT)
        fields = as_object(value) if split else None
        if fields and fits_by_field(before, fields):
            yield from _implied_fields(key, fields, as_object(before) or {}, mode)
        else:
            yield _implied_op(key, before, value, mode)


def fits_by_field(before: Value, after: Mapping[str, Value]) -> bool:
    """Whether an object can be written field by field over what is there, so that replaying the paths gives it.

    A list has no places of such names, and some names are no segment of a path that is replayed.
    """
    if as_list(before) is not None:
        return False
    names = (*(as_object(before) or ()), *after)
    return INERT_SEGMENTS.isdisjoint(names) and not any(PATH_DELIMITER in name for name in names)


def _implied_fields(key: str, after: Mapping[str, Value], before: Mapping[str, Value], mode: Values) -> Iterator[Op]:
    """What crosses a mount is written per nested key, so that is how its trace reads (FLOW-EXE-24)."""
    for name in before:
        if name not in after:
            yield _implied_op(f"{key}{PATH_DELIMITER}{name}", before[name], ABSENT, mode)
    for name, value in after.items():
        old = before.get(name, ABSENT)
        if old is ABSENT or not deep_equal(old, value):
            yield _implied_op(f"{key}{PATH_DELIMITER}{name}", old, value, mode)


def _implied_op(path: str, before: Value, after: Value, mode: Values) -> Op:
    if mode == "full":
        return Op(path, "set", after)
    if after is ABSENT:
        return Op(path, "delete", ABSENT)
    if is_strict_prefix(before, after):
        return Op(path, "append", after.tail(len(before)))
    return Op(path, "set", after)


def is_strict_prefix(before: Value, after: Value) -> bool:
    """Whether a list became a longer one that begins with it (FLOW-MEM-22); O(1) for lists that grew by appending."""
    if type(before) is not FrozenList or type(after) is not FrozenList or after.n <= before.n:
        return False
    return after.starts_with(before) or all(
        old is new or deep_equal(old, new) for old, new in zip(before.buf[: before.n], after.buf, strict=False)
    )


def _place(payload: dict[str, Any], path: str, value: Value) -> None:
    """Put a value at its place in a nested payload; what is there already belongs to the payload or is replaced."""
    *parents, last = path.split(PATH_DELIMITER)
    for segment in parents:
        below = payload.get(segment)
        fields = as_object(below)
        inner: dict[str, Any] = {} if fields is None else dict(fields)
        payload[segment] = inner
        payload = inner
    payload[last] = value


class Version(msgspec.Struct, frozen=True, gc=False):
    """One value a key had, and from when."""

    row: int
    """The row that made it so."""
    value: Value
    execution: Execution
    """Whose commit it was; for a seed the mount's."""


class JournalIndex:
    """Every version of every key as it may be shown, found in O(log n); follows the journal while it grows.

    Args:
        journal: The rows.
    """

    def __init__(self, journal: Journal) -> None:
        self._live = journal
        self._fold = Fold(journal.shown())
        self._versions: dict[tuple[int, str], list[Version]] = {}

    def versions(self, key: str, mount: int = -1) -> list[Version]:
        """All versions of a key in one runtime, oldest first, without the one it began with (`Journal.base_state`)."""
        shown = self._live.shown()
        if shown is not self._fold.journal:  # from now on something is redacted
            self._fold = Fold(shown)
            self._versions.clear()
        for commit in self._fold.commits():
            for name, value in commit.writes.items():
                found = self._versions.setdefault((commit.mount, name), [])
                found.append(Version(commit.row, value, commit.execution))
        return self._versions.get((mount, key), [])

    def version_at(self, key: str, row: int, mount: int = -1) -> Version | None:
        """The version in force after row `row`; None before the first write."""
        versions = self.versions(key, mount)
        place = bisect_right(versions, row, key=_row_of)
        return versions[place - 1] if place else None

    def value_at(self, key: str, row: int, mount: int = -1) -> Value:
        """The value of a key after row `row`; `ABSENT` when there was none."""
        version = self.version_at(key, row, mount)
        if version is not None:
            return version.value
        return self._fold.journal.base_state.get(key, ABSENT) if mount == -1 else ABSENT


def _row_of(version: Version) -> int:
    return version.row
