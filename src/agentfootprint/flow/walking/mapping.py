"""What crosses a mount: the state it begins with, and what is written back when it ends.

A map declared as data needs no row for the seed: readers work it out with the same function the run uses (`seed_of`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from agentfootprint.flow.errors import SubflowMappingError
from agentfootprint.flow.plan.node import Node
from agentfootprint.flow.stage.commit import Staged, TransactionBuffer, bundle_of_ops, same_value
from agentfootprint.flow.stage.home import Home
from agentfootprint.flow.stage.noticed import Noticed
from agentfootprint.flow.watch.failure import name_of
from agentfootprint.trace import (
    ABSENT,
    PATH_DELIMITER,
    Dials,
    Execution,
    FrozenDict,
    FrozenList,
    MappedRow,
    Op,
    Value,
    ValueRefusedError,
    apply_smart_merge,
    as_list,
    as_object,
    fits_by_field,
    freeze,
    seed_of,
)

__all__ = ["map_in", "map_out", "replaced"]


def map_in(home: Home, node: Node, execution: Execution) -> tuple[dict[str, Value], tuple[str, ...]]:
    """The state a mount begins with, and the keys that a map written as a function looked at.

    Raises:
        SubflowMappingError: Its input map raised, or gave something else than a mapping of JSON values.
    """
    state = home.state
    if node.in_pairs is not None and "runs" not in state:
        return {target: state[source] for target, source in node.in_pairs if source in state}, ()
    if node.in_fn is None:
        return seed_of(execution, state), ()
    parent = Noticed(home.share())
    try:
        mapped = freeze(node.in_fn(parent))
    except ValueRefusedError as refused:
        raise SubflowMappingError(node.info.id, "input", f"it gave what can't be kept: {refused.problem}") from refused
    except Exception as error:  # the map is the user's code
        raise SubflowMappingError(node.info.id, "input", f"it raised {name_of(error)}.") from error
    fields = _mapping(node, "input", mapped)
    if node.info.array_merge == "replace-all":
        return dict(fields), parent.keys_read
    return {key: value for key, value in fields.items() if not _is_empty_object(value)}, parent.keys_read


def map_out(home: Home, inner: Home, node: Node, target: Execution, mount: Execution, value: Value) -> MappedRow:
    """Write back what a mount's output map gives, into `target`'s runtime.

    Args:
        home: The parent's state.
        inner: The mount's state, at its end.
        node: The mount.
        target: What the write is booked on: the mount, or what dispatched it as a branch (FLOW-EXE-25).
        mount: The mount's execution.
        value: What the mount's last stage returned.

    Returns:
        The row to append; its changes are visible already.

    Raises:
        SubflowMappingError: The map raised, or gave something else than a mapping of JSON values.
    """
    dials = home.run.journal.dials
    if node.out_pairs is not None and dials.provenance == "off":
        return replaced(home, node.out_pairs, inner.state, target, mount)
    info = node.info
    reads: tuple[str, ...] | None = None
    outer: tuple[str, ...] = ()
    if info.out_map is not None:
        state = inner.state
        mapped: Mapping[str, Value] = {key: state[source] for key, source in info.out_map if source in state}
    else:
        mapped, reads, outer = _asked(home, inner, node, value)
    if info.array_merge == "replace-all" and dials.provenance == "off":
        row = replaced(home, tuple((key, key) for key in mapped), mapped, target, mount)
        return MappedRow(row.execution, row.mount, row.writes, row.ops, reads, outer)
    ops = _merged(home, mapped, info.array_merge, dials)
    after = apply_smart_merge(FrozenDict(home.state), bundle_of_ops(ops))  # pyright: ignore[reportArgumentType]  a bundle in either form
    roots = dict.fromkeys(op.path.partition(PATH_DELIMITER)[0] for op in ops)
    writes = {key: after.get(key, ABSENT) for key in roots}
    if writes:
        home.apply(writes)
    return MappedRow(target, mount, writes, ops, reads, outer)


def replaced(
    home: Home, pairs: Iterable[tuple[str, str]], values: Mapping[str, Value], target: Execution, mount: Execution
) -> MappedRow:
    """Write values as they are; what did not change is left out."""
    state = home.state
    writes: dict[str, Value] = {}
    for key, source in pairs:
        if source in values:
            new = values[source]
            before = state.get(key, ABSENT)
            if before is not new and (before is ABSENT or not same_value(before, new)):
                writes[key] = new
    if writes:
        if home.shared:
            home.state = state = dict(state)
            home.shared = False
        state.update(writes)
    return MappedRow(target, mount, writes, None)


def _asked(
    home: Home, inner: Home, node: Node, value: Value
) -> tuple[Mapping[str, Value], tuple[str, ...] | None, tuple[str, ...]]:
    """What an output map gives, and the keys of the mount's and of the parent's state that it looked at."""
    if node.out_fn is None:
        return {}, None, ()
    state, parent = Noticed(inner.share()), Noticed(home.share())
    try:
        mapped = freeze(node.out_fn(state if value is None else value, parent))
    except ValueRefusedError as refused:
        raise SubflowMappingError(node.info.id, "output", f"it gave what can't be kept: {refused.problem}") from refused
    except Exception as error:  # the map is the user's code
        raise SubflowMappingError(node.info.id, "output", f"it raised {name_of(error)}.") from error
    return _mapping(node, "output", mapped), state.keys_read if value is None else None, parent.keys_read


def _mapping(node: Node, side: str, mapped: Value) -> Mapping[str, Value]:
    if mapped is None:
        return {}
    fields = as_object(mapped)
    if fields is None:
        raise SubflowMappingError(node.info.id, side, f"it gave a {type(mapped).__name__}, not a mapping.")
    if any(PATH_DELIMITER in key for key in fields):
        raise SubflowMappingError(node.info.id, side, "a key of it holds U+001F, which separates the keys of a path.")
    return fields


def _merged(home: Home, mapped: Mapping[str, Value], array_merge: str, dials: Dials) -> tuple[Op, ...]:
    """How mapped values meet what is there (FLOW-EXE-24), as the trace of one commit."""
    buffer = TransactionBuffer(home.state)
    reads = () if dials.provenance != "off" else None
    for key, value in mapped.items():
        fields = as_object(value)
        if array_merge == "replace-all" and not (fields and fits_by_field(buffer.value((key,)), fields)):
            buffer.stage(Staged("set", (key,), value, reads))
        elif fields is not None:
            before = as_object(buffer.value((key,))) or {}
            if array_merge == "replace-all":
                for name in before:
                    if name not in fields:
                        buffer.stage(Staged("delete", (key, name), ABSENT, reads))
            new = {
                name: item if array_merge == "replace-all" else _met(before.get(name), item)
                for name, item in fields.items()
            }
            if any(PATH_DELIMITER in name for name in new):  # no paths can be made of them
                buffer.stage(Staged("set", (key,), FrozenDict({**before, **new}), reads))
                continue
            for name, item in new.items():
                buffer.stage(Staged("set", (key, name), item, reads))
        elif array_merge == "concat":
            buffer.stage(Staged("set", (key,), _joined(buffer.value((key,)), value), reads))
        else:
            buffer.stage(Staged("set", (key,), value, reads))
    return buffer.changes(dials.values)


def _met(before: Value, value: Value) -> Value:
    """A nested value over the one there: lists are appended and objects laid over, whatever `array_merge` says."""
    fields, there = as_object(value), as_object(before)
    if fields is not None and there is not None:
        return FrozenDict({**there, **fields})
    return _joined(before, value)


def _joined(before: Value, value: Value) -> Value:
    if type(before) is not FrozenList or as_list(value) is None:
        return value
    return before.extend(cast("FrozenList", value)) if len(value) else before


def _is_empty_object(value: Value) -> bool:
    return as_object(value) is not None and not value
