"""Which commit brought each element of a list into it.

A fold over the writes of one key (FLOW-ELM-2). What it can't know it says: `whole-value` is a list that was replaced
as a whole. Elements of a native log that survive a cut are the same objects before and after, and keep their birth as
`carried` (01b LIN-35).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

from agentfootprint.trace.bundle import AnyBundle, CommitBundle, as_list, dig, payload_of
from agentfootprint.trace.ids import INERT_SEGMENTS, path_of, split_path
from agentfootprint.trace.log import LogIndex, detached, index_of
from agentfootprint.trace.replay import Workspace
from agentfootprint.trace.values import ABSENT, FrozenDict, FrozenList, Record, Value, deep_equal

__all__ = ["ArrayProvenance", "ElementBirth", "array_provenance", "element_provenance"]

Basis: TypeAlias = Literal["append-verb", "prefix-inference", "whole-value", "carried"]
Missing: TypeAlias = Literal["empty-log", "never-written", "not-an-array"]


class ElementBirth(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Where one element came from. To slice there, ask before `commit_idx + 1`."""

    index: int
    """Its place in the list now."""
    commit_idx: int
    runtime_stage_id: str
    stage_id: str
    stage_name: str
    verb: str
    """The verb of the write."""
    basis: Basis
    """How it is known."""
    value: Value


class ArrayProvenance(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Where the elements of a list came from, or why that can't be said."""

    key: str
    """The key as a trace path."""
    missing: Missing | None = None
    at_idx: int | None = None
    length: int | None = None
    births: tuple[ElementBirth, ...] | None = None


def array_provenance(log: Sequence[AnyBundle], key: str | Sequence[str], *, at: int | None = None) -> ArrayProvenance:
    """The births of all elements of a list (FLOW-ELM-1).

    Args:
        log: A commit log or a `LogIndex` of it.
        key: A top-level key, or the segments of a nested place.
        at: Position of the last bundle to look at, inclusive; the end when not given.

    Returns:
        One birth an element. An unwritten key, an empty log and a value that is no list are answers, not errors.
    """
    index, path = index_of(log), path_of(key)
    if not len(index):
        return ArrayProvenance(path, "empty-log")
    at_idx = len(index) - 1 if at is None else min(at, len(index) - 1)
    positions = list(index.touches(path, at_idx))[::-1]
    if not positions or not INERT_SEGMENTS.isdisjoint(split_path(path)):
        return ArrayProvenance(path, "never-written")
    births = _Births(index, path)
    for position in positions:
        births.replay(position)
    items = births.items
    if items is None:
        return ArrayProvenance(path, "not-an-array")
    told = tuple(
        ElementBirth(i, position, bundle.runtime_stage_id, bundle.stage_id, bundle.stage, verb, basis, detached(item))
        for i, (item, (position, bundle, verb, basis)) in enumerate(zip(items, births.births, strict=True))
    )
    return ArrayProvenance(path, None, at_idx, len(told), told)


def element_provenance(
    log: Sequence[AnyBundle], key: str | Sequence[str], index: int, *, at: int | None = None
) -> ElementBirth | None:
    """The birth of one element, counted from 0; `None` when the list has no such element (FLOW-ELM-3)."""
    births = array_provenance(log, key, at=at).births
    return births[index] if births is not None and 0 <= index < len(births) else None


_Birth: TypeAlias = tuple[int, CommitBundle, str, Basis]
_SHARED: Final = (FrozenDict, FrozenList, Record)


class _Births:
    """The value of one key while its writes are replayed, with the birth of each element."""

    def __init__(self, index: LogIndex, path: str) -> None:
        self._index = index
        self._path = path
        self._segments = split_path(path)
        self._related = frozenset(index.related(path))
        self._workspace = Workspace({})
        self._value: Value = ABSENT
        self.items: list[Any] | None = None
        self.births: list[_Birth] = []

    def replay(self, position: int) -> None:
        """Apply the writes of one bundle to the key."""
        bundle = self._index[position]
        for entry in bundle.trace:
            if entry.path not in self._related:
                continue
            tail = payload_of(bundle, entry) if entry.path == self._path and entry.verb == "append" else None
            onto = self.items if self.items is not None or self._value is not ABSENT else []
            self._workspace.apply_entry(bundle, entry)
            self._value = dig(self._workspace.state, self._segments)
            added = as_list(tail)
            if added is None or onto is None or as_list(self._value) is None:  # the last: there is no such place
                self._replaced((position, bundle, entry.verb, "whole-value"))
            else:
                grown: _Birth = (position, bundle, "append", "append-verb")
                self.items = onto
                self.items.extend(added)
                self.births.extend([grown] * len(added))

    def _replaced(self, birth: _Birth) -> None:
        before, born, after = self.items, self.births, as_list(self._value)
        if after is None:
            self.items, self.births = None, []
            return
        self.items = list(after)
        if before is None:
            self.births = [birth] * len(after)
        elif len(before) <= len(after) and all(map(_same, before, after)):
            inferred: _Birth = (*birth[:3], "prefix-inference")
            self.births = born + [inferred] * (len(after) - len(before))
        else:
            self.births = _carried(before, born, self.items, birth)


def _same(a: Value, b: Value) -> bool:
    return a is b or deep_equal(a, b)


def _carried(before: list[Any], born: list[_Birth], after: list[Any], fresh: _Birth) -> list[_Birth]:
    """Births after a cut: an element that is the same frozen object as before keeps its own."""
    known: dict[int, list[_Birth]] = {}
    for item, birth in zip(reversed(before), reversed(born), strict=True):
        if isinstance(item, _SHARED):
            known.setdefault(id(item), []).append(birth)
    births: list[_Birth] = []
    for item in after:
        old = known.get(id(item))
        carried: _Birth | None = (*old.pop()[:3], "carried") if old else None
        births.append(carried or fresh)
    return births
