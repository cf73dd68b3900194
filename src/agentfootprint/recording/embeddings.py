"""What does a recording keep of a vector: how long it is, and its length in space (REC-5)?

Invariants: what is given is never changed, and what holds no vector is handed back itself; a node that stands in
several places is looked at once, and a value that holds itself ends.
"""

from __future__ import annotations

import math
from typing import Any, Final, TypeGuard, cast

from agentfootprint.trace import FrozenDict, FrozenList

__all__ = ["summarize_embeddings"]

_DECIMALS: Final = 4


def summarize_embeddings(value: Any) -> Any:  # noqa: ANN401  any JSON value, and the same kind comes back
    """A JSON value with every vector under `embedding` or `embeddings` as `{"dims", "norm"}`.

    Args:
        value: Plain or frozen containers; others are left as they are.

    Returns:
        A copy of what holds a vector, the rest by reference; the same again when it is given once more.
    """
    return _Summary().of(value)


class _Summary:
    def __init__(self) -> None:
        self._known: dict[int, Any] = {}
        self._inside: set[int] = set()

    def of(self, value: Any) -> Any:  # noqa: ANN401
        if not isinstance(value, (dict, list, FrozenDict, FrozenList)):
            return value
        key = id(value)  # pyright: ignore[reportUnknownArgumentType]  JSON
        if key in self._known:
            return self._known[key]
        if key in self._inside:
            return value  # pyright: ignore[reportUnknownVariableType]  a cycle: its own caller copies it
        self._inside.add(key)
        if isinstance(value, (dict, FrozenDict)):
            found = self._object(cast("dict[str, Any]", value))
        else:
            found = self._list(cast("list[Any]", value))
        self._inside.discard(key)
        self._known[key] = found
        return found

    def _object(self, value: dict[str, Any]) -> Any:  # noqa: ANN401
        kept = {key: self._member(key, member) for key, member in value.items()}
        return value if all(kept[key] is member for key, member in value.items()) else kept

    def _member(self, key: str, value: Any) -> Any:  # noqa: ANN401
        if key == "embedding" and _is_vector(value):
            return _summary(value)
        if (
            key == "embeddings"
            and isinstance(value, (list, FrozenList))
            and any(map(_is_vector, cast("list[Any]", value)))
        ):
            listed = cast("list[Any]", value)
            return [_summary(each) if _is_vector(each) else self.of(each) for each in listed]
        return self.of(value)

    def _list(self, value: list[Any]) -> Any:  # noqa: ANN401
        kept = [self.of(each) for each in value]
        return value if all(new is old for new, old in zip(kept, value, strict=True)) else kept


def _is_vector(value: object) -> TypeGuard[list[float]]:
    if not isinstance(value, (list, FrozenList)):
        return False
    numbers = cast("list[object]", value)
    return len(numbers) > 0 and all(type(each) in (int, float) for each in numbers)


def _summary(vector: list[float]) -> dict[str, Any]:
    norm = round(math.hypot(*vector), _DECIMALS)
    return {"dims": len(vector), "norm": int(norm) if norm.is_integer() else norm}
