"""Into which citable pieces a tool's result falls: sentences, rows, fields.

Reads any value and never raises: what can't be cited (flags, null, objects of other kinds, cycles) is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from agentfootprint.explain.model import Shape
from agentfootprint.trace import Value

__all__ = ["Snippet", "snippet_units"]

_MOST: Final = 12
_LONGEST: Final = 200
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n")


@dataclass(frozen=True, slots=True)
class Snippet(Shape):
    """One citable piece."""

    id: str
    channel: str
    """Where it came from, for shares by channel."""
    text: str


def snippet_units(
    value: Value, *, channel: str = "data", id_prefix: str = "data", max: int = _MOST, max_length: int = _LONGEST
) -> list[Snippet]:
    """Cut a tool's result into citable pieces (06:ATTR-3).

    Args:
        value: Text falls into sentences; an object into one piece of its texts and numbers, then what it contains;
            a list into its elements.
        channel: The channel of every piece.
        id_prefix: What ids begin with; a number from 1 follows.
        max: Most pieces.
        max_length: Most characters of a piece; longer ones end in an ellipsis.
    """
    units: list[Snippet] = []
    for text in _texts(value, ()):
        if len(units) >= max:
            break
        units.append(Snippet(f"{id_prefix}-{len(units) + 1}", channel, _cut(text, max_length)))
    return units


def _texts(value: Any, open_ids: tuple[int, ...]) -> Iterator[str]:  # noqa: ANN401  any result of any tool
    if isinstance(value, str):
        yield from (text for part in _SENTENCE_END.split(value) if (text := part.strip()))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield _number(value)
    elif isinstance(value, (Mapping, Sequence)) and not isinstance(value, (bytes, bytearray)):
        if id(cast("object", value)) in open_ids:
            return
        inside = (*open_ids, id(cast("object", value)))
        if isinstance(value, Mapping):
            yield from _of_object(cast("Mapping[Any, Any]", value), inside)
        else:
            for item in cast("Sequence[Any]", value):
                yield from _texts(item, inside)


def _of_object(value: Mapping[Any, Any], open_ids: tuple[int, ...]) -> Iterator[str]:
    fields: list[str] = []
    for key, item in value.items():
        if isinstance(item, str) and item.strip():
            fields.append(f"{key}: {item.strip()}")
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            fields.append(f"{key}: {_number(item)}")
    if fields:
        yield ", ".join(fields)
    for item in value.values():
        if not isinstance(item, (str, int, float)):
            yield from _texts(item, open_ids)


def _number(value: float) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _cut(text: str, max_length: int) -> str:
    if len(text) <= max_length:
        return text
    return text[: max_length - 1].rstrip() + "…" if max_length > 1 else "…"
