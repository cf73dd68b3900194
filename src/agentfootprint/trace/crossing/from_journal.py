"""The runtimes of a run, read off its journal: everything that crosses a boundary is on record there, or follows.

One pass over the rows, which can go on when the journal has grown. A bundle is made for each commit; it shares its
values with the rows. What is handed to the runtimes as a function knows the tables, never the reader: together they
are freed with the last who asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentfootprint.trace.bundle import CommitBundle
from agentfootprint.trace.crossing.runtimes import UNKNOWN, MappedOut, Runtime, Runtimes, Sources, returned
from agentfootprint.trace.log import LogIndex
from agentfootprint.trace.questions.sources import ControlDeps, KeysReadSource, ReadsCoverage, ReadsLookup
from agentfootprint.trace.rows.fold import Commit, Fold
from agentfootprint.trace.rows.journal import DecidedRow, Execution, Journal, MappedRow, SeededRow, SelectedRow
from agentfootprint.trace.rows.projection import as_bundle_of, note_decision

__all__ = ["JournalRuntimes"]


class JournalRuntimes:
    """Reads the runtimes of a journal; `runtimes` is what it has read so far.

    Args:
        journal: The rows.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._fold = Fold(journal)
        self._row = 0
        self._logs: list[list[CommitBundle]] = []
        self._number: dict[int, int] = {}
        """Index of a mount's execution -> number of its runtime."""
        self._latest: dict[int, int] = {}
        """Number of a mount's stage -> number of its latest runtime."""
        self._noticed: dict[int, tuple[str, ...] | None] = {}
        self._ended: dict[int, str] = {}
        self._begun: dict[int, Execution] = {}
        self._with_reads: set[int] = set()
        self._items: dict[int, list[int]] = {}
        """Index of a for-each -> numbers of the runtimes it made for its items."""
        self._deps = ControlDeps()
        self.rows_of: dict[tuple[int, int], int] = {}
        """The row of a commit, by runtime and position."""
        self._reads = _reads_in(self._begun)
        self.runtimes = Runtimes(
            [], KeysReadSource("map", self._reads), self._deps.lookup, {}, last_step=self._ended.get
        )
        self._open(Runtime(LogIndex([])), -1)
        self.runtimes.every[0].restored = frozenset(journal.base_state) if journal.first_index else frozenset()
        self.refresh()

    def refresh(self) -> None:
        """Read the rows that were added since."""
        rows = self.journal.rows
        for commit in self._fold.commits():
            self._look(rows, commit.row + 1)
            self._committed(commit, rows[commit.row])
        self._look(rows, len(rows))
        self.runtimes.reads = KeysReadSource("map", self._reads, ReadsCoverage(len(self._begun), len(self._with_reads)))

    def _look(self, rows: list[Any], end: int) -> None:
        """What rows say besides their commits: beginnings, decisions, what a map looked at."""
        begun = self._begun
        for position in range(self._row, end):
            row = rows[position]
            if isinstance(row, Execution):
                if row.index not in begun:
                    self._began(row)
            elif isinstance(row, SeededRow):
                self._noticed[row.execution.index] = row.reads
            elif isinstance(row, (DecidedRow, SelectedRow)):
                note_decision(self._deps, self.journal, row)
        self._row = max(self._row, end)

    def _open(self, runtime: Runtime, mount: int) -> None:
        number = len(self.runtimes.every)
        self._number[mount] = number
        log: list[CommitBundle] = []
        self._logs.append(log)
        runtime.log = LogIndex(log)
        self.runtimes.every.append(runtime)

    def _began(self, execution: Execution) -> None:
        runtimes, info, step = self.runtimes, execution.info, execution.runtime_stage_id
        self._begun[execution.index] = execution
        above = self._number[execution.mount]
        runtimes.number_of[step] = above
        runtimes.began[step] = len(self._logs[above])
        if info.namespace:
            assert isinstance(runtimes.namespaces, dict)  # noqa: S101  this is who fills it
            runtimes.namespaces[step] = info.namespace
        parent = self._begun.get(execution.parent)
        self._deps.executed(step, None if parent is None else parent.runtime_stage_id)
        if info.kind != "mount":
            return
        restored = self.journal.base_states.get(execution.index)
        continues = self._latest.get(info.number, -1) if restored is not None else -1
        runtime = Runtime(
            LogIndex([]),
            step,
            above,
            len(self._logs[above]),
            info.namespace,
            _seeded(execution, self._noticed, self._begun),
            continues,
            frozenset(restored or ()),
        )
        self._latest[info.number] = len(runtimes.every)
        if parent is not None and parent.info.kind == "foreach":
            self._items.setdefault(parent.index, []).append(len(runtimes.every))
        self._open(runtime, execution.index)

    def _committed(self, commit: Commit, row: object) -> None:
        number = self._number[commit.mount]
        log = self._logs[number]
        place = len(log)
        log.append(as_bundle_of(self.journal, commit, place))
        self.rows_of[number, place] = commit.row
        step = commit.execution.runtime_stage_id
        if commit.kind == "stage":
            self.runtimes.own[step] = place
            self._ended[number] = step
            if commit.execution.reads:
                self._with_reads.add(commit.execution.index)
            items = self._items.get(commit.execution.index)
            if items and commit.writes:
                reads = tuple(commit.execution.reads)
                self.runtimes.mapped[number, place] = tuple(
                    MappedOut(inner, returned, reads, adds=False) for inner in items
                )
        elif commit.kind == "mapped" and isinstance(row, MappedRow):
            inner = self._number.get(row.mount.index)
            if inner is not None:
                adds = row.mount.info.array_merge == "concat"
                self.runtimes.mapped[number, place] = (MappedOut(inner, _given(row), row.outer_reads, adds),)


def _reads_in(begun: Mapping[int, Execution]) -> ReadsLookup:
    """What steps read, by what they say in their execution's record."""

    def reads_of(step: str) -> tuple[str, ...]:
        index = step.rpartition("#")[2]
        execution = begun.get(int(index)) if index.isascii() and index.isdigit() else None
        return tuple(execution.reads) if execution is not None and execution.runtime_stage_id == step else ()

    return reads_of


def _seeded(
    mount: Execution, looked_at: Mapping[int, tuple[str, ...] | None], begun: Mapping[int, Execution]
) -> Callable[[str], Sources]:
    """What a key of a mount's first state was made from."""
    declared = mount.info.in_map

    def sources(key: str) -> Sources:
        if declared is not None:
            return Sources(tuple(source for target, source in declared if target == key), "declared")
        noticed = looked_at.get(mount.index)
        gatherer = begun.get(mount.parent)
        if noticed is not None and gatherer is not None and gatherer.info.kind == "foreach":
            noticed = (*gatherer.reads, *noticed)
        return UNKNOWN if noticed is None else Sources(noticed, "noticed")

    return sources


def _given(row: MappedRow) -> Callable[[str], Sources]:
    declared = row.mount.info.out_map

    def sources(key: str) -> Sources:
        if declared is not None:
            return Sources(tuple(source for target, source in declared if target == key), "declared")
        return returned(key) if row.reads is None else Sources(row.reads, "noticed")

    return sources
