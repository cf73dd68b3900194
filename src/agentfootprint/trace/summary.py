"""How a value is told in a few words, the same words wherever it is told.

Numbers read as JSON writes them and lengths count UTF-16 units, as in recordings of any implementation
(FLOW-NAR-21). No summary holds more of a text than its first 80 units.
"""

from __future__ import annotations

import math
from typing import Any, Final

from agentfootprint.trace.bundle import as_list, as_object
from agentfootprint.trace.text import compact_json, utf16_length
from agentfootprint.trace.values import ABSENT, FrozenDict, FrozenList, Value

__all__ = [
    "payload_summary",
    "read_marker",
    "scalar_text",
    "summarize_value",
    "write_marker",
]

_PREVIEW_UNITS: Final = 80
_SHOWN_KEYS: Final = 4
_MAX_DEPTH: Final = 3
_MAX_ENTRIES: Final = 16
_MAX_NODES: Final = 128


def scalar_text(value: float | None) -> str:
    """A number, truth value or null as JSON shows it: `1` for `1.0`; `NaN` and `Infinity` by name."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return compact_json(value)


def _beginning(text: str, units: int) -> str:
    """The longest beginning with at most so many UTF-16 units; never half a character."""
    if text.isascii() or units <= 0:
        return text[: max(units, 0)]
    return text[:units].encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore")


def summarize_value(value: Value, max_length: int = 80) -> str:  # noqa: PLR0911  one answer a kind
    """A value in a line (FLOW-NAR-20).

    Args:
        value: Any value; `ABSENT` reads `undefined`.
        max_length: Longest text shown whole, and longest list of keys, in UTF-16 units.
    """
    if value is ABSENT:
        return "undefined"
    if isinstance(value, str):
        if utf16_length(value) > max_length:
            return f'"{_beginning(value, max_length - 3)}..."'
        return f'"{value}"'
    if value is None or isinstance(value, (bool, int, float)):
        return scalar_text(value)
    fields = as_object(value)
    if fields is not None:
        return _summarize_keys(list(fields), max_length)
    items = as_list(value)
    if items is None:
        return type(value).__name__
    return "[]" if len(items) == 0 else ("(1 item)" if len(items) == 1 else f"({len(items)} items)")


def _summarize_keys(keys: list[str], max_length: int) -> str:
    if not keys:
        return "{}"
    more = f", ... ({len(keys)} keys)" if len(keys) > _SHOWN_KEYS else ""
    text = f"{{{', '.join(keys[:_SHOWN_KEYS])}{more}}}"
    return text if utf16_length(text) <= max_length else f"{{{len(keys)} keys}}"


def read_marker(value: Value) -> FrozenDict:
    """What stands for a value that was read when reads are summarised (FLOW-MEM-40)."""
    return FrozenDict({"__readSummary": True, **_described(value)})


def write_marker(value: Value) -> FrozenDict:
    """What stands for a value that was written when writes are summarised (FLOW-MEM-40)."""
    return FrozenDict({"__writeSummary": True, **_described(value)})


def _described(value: Value) -> dict[str, Any]:
    if value is None or value is ABSENT:
        return {"type": "null" if value is None else "undefined"}
    if isinstance(value, str):
        return {"type": "string", "size": utf16_length(value), "preview": _beginning(value, _PREVIEW_UNITS)}
    if isinstance(value, (bool, int, float)):
        return {"type": "boolean" if isinstance(value, bool) else "number", "preview": scalar_text(value)}
    fields = as_object(value)
    if fields is not None:
        return {"type": "object", "size": len(fields)}
    items = as_list(value)
    return {"type": "array", "size": len(items)} if items is not None else {"type": type(value).__name__}


def payload_summary(value: Value) -> FrozenDict:
    """A bounded description of an event's payload: three levels, 16 entries each, 128 nodes (FLOW-OBS-4).

    What is left out is said where it was: `depthClipped`, `truncated`, `circular`.
    """
    return FrozenDict({"__payloadSummary": True, **_Summary().node(value, 0, ())})


class _Summary:
    """Counts the nodes of one payload summary."""

    def __init__(self) -> None:
        self.left = _MAX_NODES

    def node(self, value: Value, depth: int, above: tuple[int, ...]) -> dict[str, Any]:
        self.left -= 1
        node = _described(value)
        if node["type"] not in ("object", "array"):
            return node
        if id(value) in above:
            node["circular"] = True
        elif depth >= _MAX_DEPTH:
            node["depthClipped"] = True
        else:
            self.members(value, node, depth, (*above, id(value)))
        return node

    def members(self, value: Value, node: dict[str, Any], depth: int, above: tuple[int, ...]) -> None:
        fields = as_object(value)
        named = list(enumerate(as_list(value) or ())) if fields is None else list(fields.items())
        out: list[tuple[Any, FrozenDict]] = []
        for name, item in named[:_MAX_ENTRIES]:
            if self.left <= 0:
                break
            out.append((name, FrozenDict(self.node(item, depth + 1, above))))
        if fields is None:
            items = [item for _, item in out]
            node["items"] = FrozenList(items, len(items))
        else:
            node["fields"] = FrozenDict(dict(out))
        if len(out) < len(named):
            node["truncated"] = True
