"""Reading members of a checkpoint that may have been stored, cut off or edited: each is refused by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from agentfootprint.flow.errors import CheckpointError
from agentfootprint.trace import FrozenDict, Value, ValueRefusedError, as_list, freeze

__all__ = [
    "Members",
    "count_at",
    "frozen_at",
    "list_at",
    "malformed",
    "object_at",
    "objects_at",
    "text_at",
    "texts_at",
]

Members: TypeAlias = "Mapping[str, Any] | FrozenDict"
"""An object as it came, or made unchangeable."""


def malformed(name: str, shape: str) -> CheckpointError:
    """The error for a member that is not what it must be."""
    return CheckpointError(
        name,
        f"The checkpoint's {name!r} is not {shape}.",
        fix="Give the checkpoint as the paused run returned it, or as its `to_wire()` was stored.",
    )


def frozen_at(wire: Members, key: str, at: str = "") -> Value:
    """Any JSON value, made unchangeable; None when it is missing. `at` is the way to the object, with its dot."""
    try:
        return freeze(wire.get(key))
    except ValueRefusedError as refused:
        raise CheckpointError(
            at + key,
            f"The checkpoint's {at + key!r} can't be recorded: {refused.problem}",
            fix="Use JSON values in it.",
        ) from refused
    except RecursionError:
        raise malformed(at + key, "something that can be read: it is nested too deep") from None


def object_at(wire: Members, key: str, at: str = "", *, default: Value = None) -> FrozenDict:
    """An object."""
    value = wire.get(key, default)
    if not isinstance(value, Mapping):
        raise malformed(at + key, "an object")
    return frozen_at({key: dict(cast("Mapping[str, Any]", value))}, key, at)


def objects_at(wire: Members, key: str, at: str = "") -> dict[str, FrozenDict]:
    """An object of objects; empty when it is missing."""
    found = object_at(wire, key, at, default={})
    return {name: object_at(found, name, f"{at}{key}.") for name in found}


def list_at(wire: Members, key: str, at: str = "") -> tuple[Value, ...]:
    """A list; empty when it is missing."""
    value = wire.get(key)
    items = () if value is None else as_list(value)
    if items is None:
        raise malformed(at + key, "a list")
    return tuple(items)


def texts_at(wire: Members, key: str) -> tuple[str, ...]:
    """A list of texts; it must be there."""
    items = as_list(wire.get(key))
    if items is None or not all(isinstance(item, str) for item in items):
        raise malformed(key, "a list of texts")
    return tuple(items)


def count_at(wire: Members, key: str, at: str = "") -> int:
    """A whole number from 0; 0 when it is missing."""
    value = wire.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise malformed(at + key, "a whole number from 0")
    return value


def text_at(wire: Members, key: str, at: str = "") -> str | None:
    """A text that is not empty, or None when it is missing."""
    value = wire.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise malformed(at + key, "a text that is not empty")
    return value
