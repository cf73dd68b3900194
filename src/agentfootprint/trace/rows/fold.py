"""What a journal's rows come to: every commit of every runtime, with the state just before it.

One pass over the rows is enough for all projections. Nothing is copied: states hold the values that the rows hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from agentfootprint.trace.bundle import as_object
from agentfootprint.trace.rows.journal import Execution, Journal, MappedRow, Op, SeededRow
from agentfootprint.trace.values import ABSENT, Value

__all__ = ["Commit", "Fold", "seed_of"]


class Commit(msgspec.Struct, frozen=True, gc=False, eq=False):
    """One bundle-to-be, in the runtime it belongs to."""

    row: int
    """Position of the row in the journal."""
    kind: Literal["seed", "stage", "mapped", "empty"]
    mount: int
    """Index of the mount execution whose runtime it belongs to; -1 at the top."""
    execution: Execution
    """Whose commit it is; for a seed the mount's."""
    before: dict[str, Value]
    """State before it: the fold's own dict, which changes when the next commit is asked for."""
    writes: Mapping[str, Value]
    ops: tuple[Op, ...] | None


class Fold:
    """A pass over a journal that can go on when the journal has grown.

    Args:
        journal: The rows.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.states: dict[int, dict[str, Value]] = {-1: dict(journal.base_state)}
        """State of each runtime by the index of its mount, -1 at the top."""
        self.position = 0
        """The row that comes next."""
        self._seen: dict[int, int] = {}

    def commits(self, upto: int | None = None) -> Iterator[Commit]:
        """Every commit of the rows not seen yet, in order, each applied to its state when the next one is asked for.

        Args:
            upto: Number of the last row to look at; None for all there are.
        """
        rows = self.journal.rows
        end = len(rows) if upto is None else min(len(rows), upto + 1)
        while self.position < end:
            position = self.position
            self.position += 1
            row = rows[position]
            commit: Commit | None = None
            if isinstance(row, Execution):
                commit = self._appearance(position, row)
            elif isinstance(row, MappedRow):
                mount = row.execution.mount
                commit = Commit(position, "mapped", mount, row.execution, self.states[mount], row.writes, row.ops)
            elif isinstance(row, SeededRow):
                commit = self._seed(position, row.execution, row.writes, row.ops)
            if commit is not None:
                yield commit
                _apply(commit.before, commit.writes)

    def run(self, upto: int | None = None) -> None:
        """Apply the rows not seen yet, up to and with row `upto`."""
        for _ in self.commits(upto):
            pass

    def _appearance(self, position: int, row: Execution) -> Commit | None:
        seen = self._seen.get(row.index, 0)
        self._seen[row.index] = seen + 1
        is_mount = row.info.kind == "mount"
        if seen == 0:
            return self._entered(position, row) if is_mount else None
        before = self.states[row.mount]
        if is_mount or seen > 1:
            return Commit(position, "empty", row.mount, row, before, {}, None)
        return Commit(position, "stage", row.mount, row, before, row.writes, row.ops)

    def _entered(self, position: int, mount: Execution) -> Commit | None:
        restored = self.journal.base_states.get(mount.index)
        if restored is not None:
            self.states[mount.index] = dict(restored)
            return None
        if mount.info.entry < 0:  # a lazy mount whose chart could not be made: it was never entered
            self.states[mount.index] = {}
            return None
        given = self.journal.seeds.get(mount.index)
        if given is not None:
            return self._seed(position, mount, given.writes, given.ops)
        return self._seed(position, mount, seed_of(mount, self.states.get(mount.mount, {})))

    def _seed(
        self, position: int, mount: Execution, writes: Mapping[str, Value], ops: tuple[Op, ...] | None = None
    ) -> Commit | None:
        state = self.states[mount.index] = {}
        return Commit(position, "seed", mount.index, mount, state, writes, ops) if writes else None


def seed_of(mount: Execution, parent: Mapping[str, Value]) -> dict[str, Value]:
    """What a mount's declared input map takes from its parent's state (FLOW-EXE-21, 24).

    An absent source maps nothing. A source is looked up under the namespace of the mount first (FLOW-MEM-9). An empty
    object is dropped, as splitting it into its keys leaves nothing, unless the mount maps values whole.
    """
    info = mount.info
    pairs = info.in_map or ()
    own: Mapping[str, Value] = {}
    if info.namespace and "runs" in parent:
        scopes = as_object(parent.get("runs")) or {}
        own = as_object(scopes.get(info.namespace)) or {}
    keep_empty = info.array_merge == "replace-all"
    if keep_empty and not own:
        return {target: parent[source] for target, source in pairs if source in parent}
    seed: dict[str, Value] = {}
    for target, source in pairs:
        value = own.get(source, ABSENT)
        if value is ABSENT:
            value = parent.get(source, ABSENT)
        if value is ABSENT or (not keep_empty and not value and as_object(value) is not None):
            continue
        seed[target] = value
    return seed


def _apply(state: dict[str, Value], writes: Mapping[str, Value]) -> None:
    for key, value in writes.items():
        if value is ABSENT:
            state.pop(key, None)
        else:
            state[key] = value
