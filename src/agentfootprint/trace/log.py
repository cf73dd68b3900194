"""Which bundle wrote a key, and what the key's value was at a step.

A log is a sequence of bundles, records or wire JSON. `LogIndex` is such a log that remembers where each path was
written: build it once, ask often. The functions take either and build an index for one question when given a log.
Paths match exactly, except for values: what was written above or below a place is part of its value there.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import groupby
from typing import Any, Final, cast, overload

from agentfootprint.trace.bundle import AnyBundle, CommitBundle, TraceEntry, as_bundle, as_list, dig, payload_of
from agentfootprint.trace.errors import MalformedBundleError
from agentfootprint.trace.ids import INERT_SEGMENTS, PATH_DELIMITER, path_of, split_path
from agentfootprint.trace.replay import Workspace
from agentfootprint.trace.values import ABSENT, FrozenList, JsonObject, Value, freeze, thaw

__all__ = ["LogIndex", "detached", "find_commit", "find_commits", "find_last_writer", "index_of", "value_at"]

_ANCHORS: Final = ("set", "delete")
_SPAN: Final = 8
"""How many writes are folded for one question; behind more than these the versions are kept."""


class LogIndex(Sequence[CommitBundle]):
    """A commit log with an index by path and by stage execution.

    The index is built on the first question and extended when the log has grown since; the log must only grow.
    Building costs one pass over the trace entries, a lookup O(log n).
    """

    def __init__(self, log: Sequence[AnyBundle]) -> None:
        self._log = log
        self._seen = 0
        self._writes: dict[str, list[int]] = {}
        self._last: dict[str, int] = {}
        self._below: dict[str, list[str]] = {}
        """Written paths below a path; nested paths are rare."""
        self._made: dict[int, CommitBundle] = {}
        """Bundles that were asked for, by position."""
        self._versions: dict[str, Versions] = {}

    def __len__(self) -> int:
        return len(self._log)

    @overload
    def __getitem__(self, index: int) -> CommitBundle: ...
    @overload
    def __getitem__(self, index: slice) -> list[CommitBundle]: ...
    def __getitem__(self, index: int | slice) -> CommitBundle | list[CommitBundle]:
        if type(index) is int and index in self._made:
            return self._made[index]
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError("commit log index out of range")
        position = index % len(self)
        raw = self._log[position]
        bundle = raw if type(raw) is CommitBundle else as_bundle(raw, position)
        self._made[position] = bundle
        return bundle

    def __iter__(self) -> Iterator[CommitBundle]:
        return map(self.__getitem__, range(len(self)))

    def _refresh(self) -> None:
        total = len(self._log)
        if total == self._seen:
            return
        for position in range(self._seen, total):
            self._add(position, self._log[position])
        self._seen = total

    def _add(self, position: int, bundle: AnyBundle) -> None:
        if type(bundle) is CommitBundle:
            step, paths = bundle.runtime_stage_id, [entry.path for entry in bundle.trace]
        else:
            wire = cast("JsonObject", bundle)
            try:
                step, paths = wire["runtimeStageId"], [entry["path"] for entry in wire["trace"]]
            except (KeyError, TypeError, AttributeError) as unlike:
                raise MalformedBundleError(position, "runtimeStageId or trace") from unlike
        self._last[step] = position
        for path in paths:
            positions = self._writes.get(path)
            if positions is None:
                self._writes[path] = [position]
                self._note_ancestors(path)
            elif positions[-1] != position:
                positions.append(position)

    def _note_ancestors(self, path: str) -> None:
        for above in _ancestors(path):
            self._below.setdefault(above, []).append(path)

    @property
    def paths(self) -> list[str]:
        """Every path that was written, in order of first write."""
        self._refresh()
        return list(self._writes)

    def writes(self, path: str) -> Sequence[int]:
        """Positions of the bundles whose trace has exactly this path, ascending."""
        self._refresh()
        return self._writes.get(path, ())

    def last_position(self, runtime_stage_id: str) -> int | None:
        """The last bundle of a stage execution, which may have several (FLOW-MEM-30)."""
        self._refresh()
        return self._last.get(runtime_stage_id)

    def last_write_before(self, path: str, position: int) -> int | None:
        """The last bundle before a position whose trace has exactly this path."""
        if len(self._log) != self._seen:
            self._refresh()
        positions = self._writes.get(path)
        if positions is None:
            return None
        found = bisect_left(positions, position)
        return positions[found - 1] if found else None

    def next_write_after(self, path: str, position: int) -> int | None:
        """The first bundle after a position whose trace has exactly this path."""
        positions = self.writes(path)
        found = bisect_right(positions, position)
        return positions[found] if found < len(positions) else None

    def versions(self, path: str) -> Versions:
        """The values that a path had, made once and extended when the log has grown."""
        found = self._versions.get(path)
        if found is None:
            found = self._versions[path] = Versions(path)
        found.follow(self)
        return found

    def is_plain(self, position: int) -> bool:
        """Whether the log has plain JSON at a position, which whoever asks may change; else its values are frozen."""
        return type(self._log[position]) is not CommitBundle

    def is_flat(self, path: str) -> bool:
        """Whether a path is a root key below which nothing was written on its own."""
        self._refresh()
        return path not in self._below and PATH_DELIMITER not in path

    def related(self, path: str) -> list[str]:
        """The written paths that share state with a path: those above it, topmost first, itself, those below it."""
        self._refresh()
        candidates = (*_ancestors(path), path, *self._below.get(path, ()))
        return [candidate for candidate in candidates if candidate in self._writes]

    def touches(self, path: str, upto: int, after: int = -1) -> Iterator[int]:
        """Positions after `after` up to `upto`, inclusive, of bundles that wrote any related path, the latest first."""
        trails = [_backwards(self._writes[each], upto, after) for each in self.related(path)]
        return trails[0] if len(trails) == 1 else (position for position, _ in groupby(merge(*trails, reverse=True)))


class Versions:
    """Every value that one path had, by the bundle that made it so; values share what did not change.

    Costs one pass over the writes of the path, then O(log n) a question. The values are frozen.

    Args:
        path: A trace path without an inert segment.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._segments = split_path(path)
        self._positions: list[int] = []
        self._values: list[Value] = []
        self._whole: dict[str, Any] = {}
        self._related: frozenset[str] = frozenset()
        self._seen = -1

    def follow(self, index: LogIndex) -> None:
        """Add the versions of the bundles that were not seen yet."""
        last = len(index) - 1
        if last == self._seen:
            return
        self._related = frozenset(index.related(self._path))
        for position in [*index.touches(self._path, last, after=self._seen)][::-1]:
            bundle = index[position]
            for entry in bundle.trace:
                if entry.path in self._related:
                    self._apply(bundle, entry)
            self._positions.append(position)
            self._values.append(dig(self._whole, self._segments))
        self._seen = last

    def _apply(self, bundle: CommitBundle, entry: TraceEntry) -> None:
        root = self._segments[0]
        if entry.path == root:
            payload = payload_of(bundle, entry)
            if entry.verb == "append":
                before, tail = self._whole.get(root), as_list(payload)
                if type(before) is FrozenList and tail is not None:  # grows by sharing: O(added)
                    self._whole[root] = before.extend(freeze(item) for item in tail)
                    return
            if entry.verb in ("set", "append") and payload is not ABSENT:
                self._whole[root] = freeze(payload)
                return
        workspace = Workspace(self._whole)
        workspace.apply_entry(bundle, entry)
        self._whole = {key: freeze(value) for key, value in workspace.state.items()}

    def value(self, position: int) -> Value:
        """The value after the bundle at a position; `ABSENT` before the first write."""
        place = bisect_right(self._positions, position)
        return self._values[place - 1] if place else ABSENT


def _backwards(positions: list[int], upto: int, after: int) -> Iterator[int]:
    first = bisect_right(positions, after) if after >= 0 else 0
    return map(positions.__getitem__, range(bisect_right(positions, upto) - 1, first - 1, -1))


def index_of(log: Sequence[AnyBundle]) -> LogIndex:
    """The log as an index: itself when it is one."""
    return log if isinstance(log, LogIndex) else LogIndex(log)


def _ancestors(path: str) -> list[str]:
    segments = path.split(PATH_DELIMITER)
    return [PATH_DELIMITER.join(segments[:length]) for length in range(1, len(segments))]


def value_at(log: Sequence[AnyBundle], idx: int, key: str | Sequence[str]) -> Value:
    """The value of a key after bundle `idx` (FLOW-ELM-4).

    Args:
        log: A commit log, or a `LogIndex` of it, with which a question costs O(log n) after one pass over the writes
            of the key, and O(size of the value) where the log holds plain JSON.
        idx: Inclusive; beyond the end it means the end, below 0 before everything.
        key: A top-level key, or the segments of a nested place.

    Returns:
        The value, which nobody else can change, or `ABSENT`: never written so far, deleted, or inert (FLOW-MEM-3).
        The initial state is not in the log. A redacted value stays its placeholder.
    """
    index, path = index_of(log), path_of(key)
    segments = split_path(path)
    if not INERT_SEGMENTS.isdisjoint(segments):
        return ABSENT
    related = index.related(path)
    top = related[0] if related and len(related[0]) <= len(path) else None  # what stands below never replaces it all
    trail: list[int] = []
    for position in index.touches(path, idx):
        trail.append(position)
        if index is log and len(trail) > _SPAN:
            value = index.versions(path).value(idx)
            return thaw(value) if index.is_plain(position) else value
        if any(entry.path == top and entry.verb in _ANCHORS for entry in index[position].trace):
            break  # the topmost place was replaced: nothing earlier can matter
    workspace = Workspace({})
    for position in reversed(trail):
        bundle = index[position]
        for entry in bundle.trace:
            if entry.path in related:
                workspace.apply_entry(bundle, entry)
    return detached(dig(workspace.state, segments))


def detached(value: Value) -> Value:
    """The value as nobody else can change it: plain JSON is copied, what is frozen is shared."""
    return thaw(value) if isinstance(value, (dict, list)) else value


def find_last_writer(log: Sequence[AnyBundle], key: str | Sequence[str], before: int | None = None) -> int | None:
    """Position of the last bundle that wrote exactly this key before position `before`, exclusive (FLOW-ELM-5)."""
    index = index_of(log)
    return index.last_write_before(path_of(key), len(index) if before is None else before)


def find_commit(log: Sequence[AnyBundle], stage_id: str, key: str | Sequence[str] | None = None) -> int | None:
    """Position of the first bundle of a stage, by its full id, that wrote `key` when one is given."""
    found = find_commits(log, stage_id, key)
    return found[0] if found else None


def find_commits(log: Sequence[AnyBundle], stage_id: str, key: str | Sequence[str] | None = None) -> list[int]:
    """Positions of all bundles of a stage, by its full id, that wrote `key` when one is given."""
    index = index_of(log)
    positions = range(len(index)) if key is None else index.writes(path_of(key))
    return [position for position in positions if index[position].stage_id == stage_id]
