"""What the state is after a commit: the one primitive under live state, redacted mirror and time travel.

Nothing given to these functions is changed; results share whatever did not change. Replaying costs the total of the
changes, not the number of commits times the state (FLOW-MEM-26). Frozen values stay frozen, plain JSON stays plain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from agentfootprint.trace.bundle import (
    AnyBundle,
    CommitBundle,
    TraceEntry,
    as_bundle,
    as_list,
    as_object,
    payload_of,
)
from agentfootprint.trace.ids import INERT_SEGMENTS, PATH_DELIMITER
from agentfootprint.trace.values import ABSENT, FrozenDict, FrozenList, JsonObject, Value

__all__ = ["Workspace", "apply_smart_merge", "deep_smart_merge", "materialise", "scalar_identity", "update_value"]


def apply_smart_merge(state: JsonObject, bundle: AnyBundle) -> dict[str, Any]:
    """The state after one commit bundle (FLOW-MEM-26).

    `set` replaces and makes parents (a parent that is no container becomes `{}`), `append` concatenates two lists
    and otherwise sets the recorded tail, `delete` removes, `merge` merges deeply.

    Args:
        state: The state before; not changed, and shared with the result where the bundle did not write.
        bundle: A commit bundle, as wire JSON or as `CommitBundle`.

    Returns:
        The state after. Costs what the bundle changed plus the width of the objects on its paths.

    Raises:
        MalformedBundleError: The bundle has not the shape of one.

    Example:
        >>> bundle = {"idx": 0, "stage": "Ask", "stageId": "ask", "runtimeStageId": "ask#0", "updates": {},
        ...           "overwrite": {"history": ["hello"]}, "trace": [{"path": "history", "verb": "append"}]}
        >>> apply_smart_merge({"history": ["hi"]}, bundle)
        {'history': ['hi', 'hello']}
    """
    workspace = Workspace(state)
    workspace.apply(as_bundle(bundle))
    return workspace.state


def materialise(log: Sequence[AnyBundle], upto: int, base: JsonObject) -> dict[str, Any]:
    """The state after the first `upto` bundles of a log over the initial state `base` (FLOW-ELM-5)."""
    workspace = Workspace(base)
    for position in range(min(upto, len(log))):
        workspace.apply(as_bundle(log[position], position))
    return workspace.state


def deep_smart_merge(dst: Value, src: Value) -> Value:
    """Merge `src` into `dst` as an `update` does (FLOW-MEM-12); neither is changed.

    Objects merge key by key; two lists become their union in order of appearance; an empty list clears; anything
    else replaces. Scalars of a union are compared by kind and value (`1` is not `True`); containers are each their
    own: what replay gives must not depend on which of them happen to be shared in memory.
    """
    return _merged(dst, src, again=False)


def _merged(dst: Value, src: Value, *, again: bool) -> Value:
    """Merge; `again` when this very `src` was merged in before, so that its containers are not added twice."""
    fields = as_object(src)
    if fields is not None:
        return _merge_objects(dst, src, fields, again=again)
    items = as_list(src)
    if items is None or not len(items):
        return src
    base = as_list(dst)
    if base is None:
        return src
    union = _union(base, items, again=again)
    return union if _is_plain(dst) or _is_plain(src) else FrozenList(union, len(union))


def _merge_objects(dst: Value, src: Value, fields: Mapping[str, Any], *, again: bool) -> Value:
    base = as_object(dst)
    if base is None:
        items = as_list(dst)
        if items is None:
            return src
        base = {str(index): item for index, item in enumerate(items)}
    changed: dict[str, Any] = {}
    for key, item in fields.items():
        before = base.get(key, ABSENT)
        after = item if before is ABSENT else _merged(before, item, again=again)
        if after is not before:
            changed[key] = after
    if not changed and as_object(dst) is not None:
        return dst
    merged = {**base, **changed}
    return merged if _is_plain(dst) or _is_plain(src) else FrozenDict(merged)


def _union(base: Sequence[Any], more: Sequence[Any], *, again: bool) -> list[Any]:
    seen: set[tuple[str, Any]] = set()
    union: list[Any] = []
    there = {id(item) for item in base} if again else set[int]()
    for source in (base, more):
        for item in source:
            identity = scalar_identity(item)
            if identity is not None:
                if identity in seen:
                    continue
                seen.add(identity)
            elif source is more and id(item) in there:
                continue
            union.append(item)
    return union


def scalar_identity(value: Value) -> tuple[str, Any] | None:
    """What two scalars that count as one have in common (SameValueZero); `None` for containers."""
    if value is None or value is ABSENT:
        return ("null" if value is None else "absent", 0)
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, (int, float)):
        return ("nan", 0) if math.isnan(value) else ("number", value)
    return ("text", value) if isinstance(value, str) else None


def _is_plain(value: Value) -> bool:
    return isinstance(value, (dict, list))


def update_value(target: dict[str, Any], key: str, value: Value) -> None:
    """Write into a diagnostic bag, in place (FLOW-MEM-13).

    A list that is not empty is added to a list there, an object that is not empty is laid over an object there, key
    by key and no deeper; anything else replaces.
    """
    before = target.get(key)
    items, fields = as_list(value), as_object(value)
    there_list, there_object = as_list(before), as_object(before)
    if items is not None and len(items) and there_list is not None:
        target[key] = [*there_list, *items]
    elif fields is not None and len(fields) and there_object is not None:
        target[key] = {**there_object, **fields}
    else:
        target[key] = value


_Inner: TypeAlias = "dict[str, Any] | list[Any]"


class Workspace:
    """A state that is being replayed: what it made itself it changes in place, what it was given it copies first.

    `state` is the result. It may hold containers that the next `apply` changes: take it once, at the end.
    """

    def __init__(self, state: JsonObject) -> None:
        self.state: dict[str, Any] = dict(state.items())
        self._own: dict[int, _Inner] = {id(self.state): self.state}
        """The storage of containers made here, by identity; held, so that no identity is used again."""
        self._bundle: CommitBundle | None = None
        self._merged: set[str] = set()
        """Paths merged by the latest bundle and not written otherwise since: its delta is in there (FLOW-MEM-24)."""

    def apply(self, bundle: CommitBundle) -> None:
        """Replay all entries of a bundle, in order."""
        for entry in bundle.trace:
            self.apply_entry(bundle, entry)

    def apply_entry(self, bundle: CommitBundle, entry: TraceEntry) -> None:
        """Replay one entry of a bundle."""
        segments = entry.path.split(PATH_DELIMITER)
        if not INERT_SEGMENTS.isdisjoint(segments):
            return
        empty: Value = {} if isinstance(bundle.overwrite, dict) else FrozenDict({})
        payload = payload_of(bundle, entry)
        removes = entry.verb == "delete" or (entry.verb == "set" and payload is ABSENT)
        parent = self._parent(segments[:-1], None if entry.verb == "delete" else empty)
        if parent is None or (payload is ABSENT and not removes):
            return
        last = segments[-1]
        again = self._merges_again(bundle, entry)
        if removes:
            _drop(parent, last)
        elif entry.verb == "set":
            _put(parent, last, payload)
        elif entry.verb == "append":
            _put(parent, last, self._appended(_take(parent, last), payload))
        else:
            before = _take(parent, last)
            _put(parent, last, _merged(before if _is_container(before) else empty, payload, again=again))

    def _merges_again(self, bundle: CommitBundle, entry: TraceEntry) -> bool:
        """Whether an entry merges the delta that an earlier one of its bundle merged at the same path."""
        if self._bundle is not bundle:
            self._bundle = bundle
            self._merged.clear()
        if entry.verb != "merge":
            self._merged = {path for path in self._merged if not _overlap(path, entry.path)}
            return False
        again = entry.path in self._merged
        self._merged.add(entry.path)
        return again

    def _appended(self, before: Value, tail: Value) -> Value:
        old, new = as_list(before), as_list(tail)
        if old is None or new is None:
            return tail
        if isinstance(before, FrozenList) and not _is_plain(tail):
            if self._owns(before.buf) and len(before.buf) == before.n:
                return before.extend(new) if before.n else tail
            items = [*before, *new]
            self._own[id(items)] = items
            return FrozenList(items, len(items))
        if isinstance(before, list) and self._owns(cast("list[Any]", before)):
            cast("list[Any]", before).extend(new)
            return cast("list[Any]", before)
        joined = [*old, *new]
        self._own[id(joined)] = joined
        return joined

    def _parent(self, segments: Sequence[str], empty: Value) -> _Inner | None:
        """The storage of the container at a place, made ours on the way; `empty` stands in for one that is missing."""
        inner: _Inner = self.state
        for segment in segments:
            child = _take(inner, segment)
            if not _is_container(child):
                if empty is None:
                    return None
                child = empty
            mine, storage = self._mine(child)
            _put(inner, segment, mine)
            if _take(inner, segment) is not mine:  # a list has no such place
                return None
            inner = storage
        return inner

    def _mine(self, container: Value) -> tuple[Value, _Inner]:
        storage = cast("Value", container.data if isinstance(container, FrozenDict) else container)
        if self._owns(storage):
            return container, storage
        fields = as_object(container)
        if fields is not None:
            copied = dict(fields.items())
            self._own[id(copied)] = copied
            return (copied if isinstance(container, dict) else FrozenDict(copied)), copied
        items = list(as_list(container) or ())
        self._own[id(items)] = items
        return (items if isinstance(container, list) else FrozenList(items, len(items))), items

    def _owns(self, storage: _Inner) -> bool:
        return self._own.get(id(storage)) is storage


def _overlap(one: str, other: str) -> bool:
    """Whether one trace path contains the other."""
    return f"{one}{PATH_DELIMITER}".startswith(f"{other}{PATH_DELIMITER}") or f"{other}{PATH_DELIMITER}".startswith(
        f"{one}{PATH_DELIMITER}"
    )


def _is_container(value: Value) -> bool:
    return as_object(value) is not None or as_list(value) is not None


def _take(inner: _Inner, segment: str) -> Value:
    if isinstance(inner, dict):
        return inner.get(segment, ABSENT)
    return inner[int(segment)] if segment.isdigit() and int(segment) < len(inner) else ABSENT


def _put(inner: _Inner, segment: str, value: Value) -> None:
    """Write a member; a place that a list doesn't have is passed over."""
    if isinstance(inner, dict):
        inner[segment] = value
    elif segment.isdigit() and int(segment) < len(inner):
        inner[int(segment)] = value


def _drop(inner: _Inner, segment: str) -> None:
    if isinstance(inner, dict):
        inner.pop(segment, None)
    else:
        _put(inner, segment, None)
