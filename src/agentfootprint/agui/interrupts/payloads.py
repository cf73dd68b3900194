"""Does an answer fit the schema that its question came with?

Only what questions declare is judged: types, required members, choices, lists of one kind. What is found is named by
its path, never by its value (AGU-73).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from agentfootprint.trace import deep_equal, freeze

__all__ = ["check_payload"]

_DEEPEST: Final = 16


def check_payload(schema: Mapping[str, Any], payload: object, *, path: str = "payload") -> tuple[str, str] | None:
    """Judge an answer.

    Args:
        schema: The question's `responseSchema`.
        payload: The answer.
        path: Where it stands.

    Returns:
        The field at fault and what is wrong with it; `None` when it fits.
    """
    return _check(schema, payload, path, _DEEPEST)


def _check(schema: Mapping[str, Any], value: object, path: str, depth: int) -> tuple[str, str] | None:
    kind: object = schema.get("type")
    if isinstance(kind, str) and not _is_kind(kind, value):
        return path, f"is no {kind}"
    choices: object = schema.get("enum")
    if isinstance(choices, Sequence) and not any(deep_equal(freeze(value), freeze(each)) for each in choices):  # pyright: ignore[reportUnknownVariableType]  JSON
        return path, "is none of its choices"
    if depth == 0:
        return None
    if isinstance(value, Mapping):
        return _check_members(schema, cast("Mapping[str, object]", value), path, depth)
    items: object = schema.get("items")
    if isinstance(value, list) and isinstance(items, Mapping):
        for place, each in enumerate(cast("list[object]", value)):
            fault = _check(cast("Mapping[str, Any]", items), each, f"{path}[{place}]", depth - 1)
            if fault is not None:
                return fault
    return None


def _check_members(
    schema: Mapping[str, Any], value: Mapping[str, object], path: str, depth: int
) -> tuple[str, str] | None:
    required: Any = schema.get("required", ())
    for name in required:
        if name not in value:
            return f"{path}.{name}", "is missing"
    members: Any = schema.get("properties", {})
    for name, wanted in members.items():
        if name in value and isinstance(wanted, Mapping):
            fault = _check(cast("Mapping[str, Any]", wanted), value[name], f"{path}.{name}", depth - 1)
            if fault is not None:
                return fault
    return None


def _is_kind(kind: str, value: object) -> bool:  # noqa: PLR0911  one answer a kind
    if kind == "object":
        return isinstance(value, Mapping)
    if kind == "array":
        return isinstance(value, list)
    if kind == "string":
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "null":
        return value is None
    if kind not in ("number", "integer"):
        return True  # a kind that no question of ours declares
    if isinstance(value, float):
        return math.isfinite(value) and (kind == "number" or value.is_integer())
    return isinstance(value, int) and not isinstance(value, bool)  # however long it is
