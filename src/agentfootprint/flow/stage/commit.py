"""What a stage changed: the operations it staged, and what is left of them when it ends.

A buffer never changes the state it looks at. Reading from it sees its own writes (FLOW-MEM-7); what it hands over at
the end holds net changes only (FLOW-MEM-20), in the form the run's log is kept in. Replaying either form gives the
same state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from agentfootprint.trace import (
    ABSENT,
    INERT_SEGMENTS,
    PATH_DELIMITER,
    CommitBundle,
    FrozenDict,
    FrozenList,
    Op,
    TraceEntry,
    Value,
    apply_smart_merge,
    as_list,
    as_object,
    deep_equal,
    deep_smart_merge,
    dig,
    is_strict_prefix,
)

__all__ = ["Staged", "TransactionBuffer", "bundle_of_ops", "same_value", "with_value"]

Path: TypeAlias = "tuple[str, ...]"
Values: TypeAlias = Literal["full", "delta"]

_EMPTY: Final = FrozenDict({})


class Staged(msgspec.Struct, frozen=True, gc=False):
    """One operation of a stage, as it was asked for."""

    verb: Literal["set", "merge", "delete"]
    path: Path
    value: Value
    read_keys: tuple[str, ...] | None = None
    """Keys the stage had read before it, when that is recorded (FLOW-MEM-41)."""
    redact: bool = False
    """Whether what it writes is redacted: its entry says so, the payload stays real (FLOW-MEM-25)."""


class TransactionBuffer:
    """The staged operations of one stage execution over one view of the state.

    Args:
        base: The state as the stage first saw it: frozen values under top-level keys. Not changed.
    """

    __slots__ = ("_view", "base", "plain", "staged")

    def __init__(self, base: Mapping[str, Value]) -> None:
        self.base = base
        self.staged: list[Staged] = []
        self.plain = True
        """Whether every operation so far sets or deletes a top-level key: then the last one of each key says it all."""
        self._view: dict[str, Value] = {}

    def value(self, path: Path) -> Value:
        """The value at a path with the staged operations applied; `ABSENT` when there is none."""
        if not INERT_SEGMENTS.isdisjoint(path):
            return ABSENT
        key = path[0]
        root = self._view[key] if key in self._view else self.base.get(key, ABSENT)
        return root if len(path) == 1 else dig(root, path[1:])

    def wrote(self, key: str) -> bool:
        """Whether an operation touched this top-level key."""
        return key in self._view

    def stage(self, operation: Staged) -> None:
        """Add an operation; one on an inert path does nothing (FLOW-MEM-3)."""
        path, value = operation.path, operation.value
        key, below = path[0], path[1:]
        if not INERT_SEGMENTS.isdisjoint(path):
            return
        self.staged.append(operation)
        if operation.verb == "merge":
            self.plain = False
            before = self.value(path)
            value = deep_smart_merge(before if _is_container(before) else _EMPTY, value)
        elif below:
            self.plain = False
        self._view[key] = with_value(self.value((key,)), below, value) if below else value

    def changes(self, values: Values) -> tuple[Op, ...]:
        """The net change as trace entries with their payloads (FLOW-MEM-20 to 24).

        Args:
            values: `full` gives an entry for each surviving operation, in order; `delta` one for each surviving
                path, in the order of last touch.
        """
        kept = {path for path in {operation.path for operation in self.staged} if self._changed(path)}
        if not kept:
            return ()
        full = self._full(kept)
        ops = full if values == "full" else self._delta(kept, full)
        hidden = self._hidden()
        if hidden:
            ops = [
                msgspec.structs.replace(op, hidden=(op.path,)) if (op.path, op.verb == "merge") in hidden else op
                for op in ops
            ]
        return tuple(ops)

    def _hidden(self) -> set[tuple[str, bool]]:
        """Paths that a redacted write left, each with whether it is the merged delta that is meant, or the value."""
        hidden: set[tuple[str, bool]] = set()
        for operation in self.staged:
            if operation.redact:
                hidden.add((PATH_DELIMITER.join(operation.path), operation.verb == "merge"))
            elif operation.verb == "delete" and hidden:  # the delta stays: it is merged again at each entry
                hidden.discard((PATH_DELIMITER.join(operation.path), False))
        return hidden

    def merged(self, key: str) -> bool:
        """Whether something was merged into this top-level key."""
        return any(operation.verb == "merge" and operation.path[0] == key for operation in self.staged)

    def _changed(self, path: Path) -> bool:
        before = self.base.get(path[0], ABSENT)
        return not same_value(before if len(path) == 1 else dig(before, path[1:]), self.value(path))

    def _full(self, kept: set[Path]) -> list[Op]:
        overwrite: Value = _EMPTY
        updates: Value = _EMPTY
        merged: set[Path] = set()
        for operation in self.staged:
            path = operation.path
            if operation.verb == "merge":
                before = dig(updates, path)
                delta = operation.value if before is ABSENT else deep_smart_merge(before, operation.value)
                updates = with_value(updates, path, delta)
                merged.add(path)
                continue
            overwrite = with_value(overwrite, path, operation.value)
            if any(path[:length] in merged for length in range(1, len(path))):
                updates = with_value(updates, path, ABSENT)  # else what it replaced is merged again (FLOW-MEM-24)
        ops: list[Op] = []
        for operation in self.staged:
            if operation.path in kept:
                is_merge = operation.verb == "merge"
                payload = dig(updates if is_merge else overwrite, operation.path)
                verb = "merge" if is_merge else "set"
                ops.append(Op(PATH_DELIMITER.join(operation.path), verb, payload, operation.read_keys))
        return ops

    def _delta(self, kept: set[Path], full: list[Op]) -> list[Op]:
        operations = [operation for operation in self.staged if operation.path in kept]
        last = {operation.path: number for number, operation in enumerate(operations)}
        roots = {path: _root_of(path, kept) for path in kept}
        families: dict[Path, list[Path]] = {}
        for path, root in roots.items():
            families.setdefault(root, []).append(path)
        order: dict[Path, float] = {path: number for path, number in last.items()}  # noqa: C416  widened to float
        for root, members in families.items():
            if len(members) > 1:  # the root comes after every member, so that it has the last word (FLOW-MEM-23)
                order[root] = max(last[path] for path in members) + 0.5
        out: list[Op] = []
        for path in sorted(kept, key=lambda path: order[path]):
            members = families[roots[path]]
            mine = [op for op, operation in zip(full, operations, strict=True) if operation.path in members]
            read_keys = operations[last[path]].read_keys
            if len(members) > 1:
                value = dig(self._replayed(mine), path)
                out.append(Op(PATH_DELIMITER.join(path), "set", value, read_keys))
            else:
                out.append(self._alone(path, mine, operations[last[path]]))
        return out

    def _alone(self, path: Path, mine: list[Op], last: Staged) -> Op:
        """The one entry of a path that no other surviving path contains."""
        name = mine[-1].path
        if all(op.verb == "merge" for op in mine):
            once = len(mine) == 1 or same_value(dig(self._replayed(mine[-1:]), path), dig(self._replayed(mine), path))
            if once:  # else merging again and again, as the full form does, comes to something else
                return Op(name, "merge", mine[-1].value, last.read_keys)
        before = self.base.get(path[0], ABSENT)
        if last.verb == "delete" and self.value(path) is ABSENT:
            holder = _EMPTY if len(path) == 1 else dig(before, path[1:-1])
            if _is_container(holder):
                return Op(name, "delete", ABSENT, last.read_keys)
        after = dig(self._replayed(mine), path)
        old = before if len(path) == 1 else dig(before, path[1:])
        if is_strict_prefix(old, after):
            return Op(name, "append", after.tail(len(old)), last.read_keys)
        return Op(name, "set", after, last.read_keys)

    def _replayed(self, ops: Sequence[Op]) -> FrozenDict:
        return FrozenDict(apply_smart_merge(FrozenDict(dict(self.base)), bundle_of_ops(ops)))  # pyright: ignore[reportArgumentType]  a bundle in either form

    def plain_changes(self) -> dict[str, Value]:
        """The changed keys and their last values, `ABSENT` for a deleted one, in the order of last touch.

        Only where `plain` holds, so that the trace follows from the values before and after.
        """
        last: dict[str, Value] = {}
        for operation in self.staged:
            key = operation.path[0]
            last.pop(key, None)
            last[key] = operation.value
        base = self.base
        return {key: value for key, value in last.items() if not same_value(base.get(key, ABSENT), value)}

    def says_more_than_values(self) -> bool:
        """Whether the full form has entries that the values before and after don't imply."""
        keys = [operation.path[0] for operation in self.staged]
        return not self.plain or len(set(keys)) != len(keys)


def same_value(before: Value, after: Value) -> bool:
    """Whether nothing changed (FLOW-MEM-2); absent is only like absent."""
    if before is after:
        return True
    if before is ABSENT:
        return False
    kind: type[object] = type(after)  # pyright: ignore[reportUnknownVariableType]  a cast is a call
    if (kind is str or kind is int) and kind is type(before):
        return before == after
    return after is not ABSENT and deep_equal(before, after)


def bundle_of_ops(ops: Sequence[Op]) -> CommitBundle:
    """Operations as a nameless bundle, for replay."""
    overwrite: Value = _EMPTY
    updates: Value = _EMPTY
    for op in ops:
        path = tuple(op.path.split(PATH_DELIMITER))
        if op.verb == "merge":
            updates = with_value(updates, path, op.value)
        elif op.value is not ABSENT:
            overwrite = with_value(overwrite, path, op.value)
    trace = tuple(TraceEntry(op.path, op.verb, op.read_keys) for op in ops)
    hidden = tuple(dict.fromkeys(path for op in ops for path in op.hidden))
    return CommitBundle(0, "", "", "", trace, overwrite, updates, hidden)


def _root_of(path: Path, kept: set[Path]) -> Path:
    """The shortest surviving path that contains this one, or the path itself."""
    for length in range(1, len(path)):
        if path[:length] in kept:
            return path[:length]
    return path


def with_value(container: Value, path: Path, value: Value) -> Value:
    """A container with another value at a path, sharing everything else; what is no container becomes `{}`."""
    head, rest = path[0], path[1:]
    items = as_list(container)
    if items is not None:
        if not head.isdigit() or int(head) >= len(items):
            return container  # a list has no such place, as replay sees it
        buf = list(items)
        place = int(head)
        inner = buf[place]
        buf[place] = with_value(inner, rest, value) if rest else None if value is ABSENT else value
        return FrozenList(buf, len(buf))
    fields = as_object(container)
    data: dict[str, Any] = {} if fields is None else dict(fields)
    if rest:
        if value is ABSENT and not _is_container(data.get(head)):
            return container  # nothing to delete from
        data[head] = with_value(data.get(head), rest, value)
    elif value is ABSENT:
        if head not in data:
            return container  # nothing to delete
        del data[head]
    else:
        data[head] = value
    return FrozenDict(data)


def _is_container(value: Value) -> bool:
    return as_object(value) is not None or as_list(value) is not None
