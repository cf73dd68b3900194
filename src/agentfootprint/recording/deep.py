"""How JSON is written and read that nests deeper than a recursive codec goes.

The wire's execution tree hangs each stage below the one before it, so it is as deep as the run is long. Both functions
give what the ordinary codec would, leave everything that is shallow to it, and cost time linear in the size.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

import msgspec

__all__ = ["decode_deep", "encode_deep"]

_SHALLOW: Final = 64
"""Containers up to this height are left to the ordinary decoder."""
_CHAINS: Final = frozenset(("next", "children"))
"""The keys by which a tree hangs together; what stands under them is never tried whole."""
_TO_BRACKET: Final = re.compile(rb'(?:[^\[\]{}"]++|"(?:[^"\\]++|\\.)*+")*+[\[\]{}]', re.DOTALL)
"""Everything up to and with the next bracket that stands in no text; possessive, so that it never goes back."""


def encode_deep(value: Any) -> bytes:  # noqa: ANN401  JSON
    """Write plain JSON of any depth.

    Args:
        value: Dicts, lists and scalars.
    """
    try:
        return msgspec.json.encode(value)
    except RecursionError:
        pass
    out: list[bytes] = []
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if type(item) is bytes:
            out.append(item)
        elif isinstance(item, dict):
            _open_object(cast("dict[str, Any]", item), waiting)
        elif isinstance(item, list):
            _open_list(cast("list[Any]", item), waiting)
        else:
            out.append(msgspec.json.encode(item))
    return b"".join(out)


def _open_object(item: dict[str, Any], waiting: list[Any]) -> None:
    waiting.append(b"}")
    for place, key in reversed([*enumerate(item)]):
        waiting.append(item[key] if key in _CHAINS else _whole(item[key]))
        waiting.append((b"," if place else b"") + msgspec.json.encode(key) + b":")
    waiting.append(b"{")


def _open_list(items: list[Any], waiting: list[Any]) -> None:
    waiting.append(b"]")
    for place in reversed(range(len(items))):
        waiting.append(items[place])
        if place:
            waiting.append(b",")
    waiting.append(b"[")


def _whole(value: Any) -> Any:  # noqa: ANN401  JSON, or its bytes
    try:
        return msgspec.json.encode(value)
    except RecursionError:
        return value


class _Part:
    """A container whose end has not been met: where it begins, and the containers directly in it."""

    __slots__ = ("height", "is_made", "made", "spans", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.height = 1
        self.spans: list[tuple[int, int]] = []
        self.made: dict[int, Any] = {}
        """Containers in it that were too high and are made already, by their number."""


def decode_deep(data: bytes) -> Any:  # noqa: ANN401  JSON
    """Read JSON of any depth.

    Raises:
        msgspec.DecodeError: The data is not one JSON value.
    """
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        pass
    parts: list[_Part] = []
    end = 0
    while (found := _TO_BRACKET.match(data, end)) is not None:
        end = found.end()
        if data[end - 1] in b"[{":
            parts.append(_Part(end - 1))
            continue
        if not parts:
            break
        part = parts.pop()
        is_high = part.height > _SHALLOW or bool(part.made)
        value = _made(data, part, end) if is_high else None
        if not parts:
            msgspec.json.decode(data[: part.start] + b"0" + data[end:])  # nothing else may stand there
            return value if is_high else msgspec.json.decode(data)
        above = parts[-1]
        if is_high:
            above.made[len(above.spans)] = value
        else:
            above.height = max(above.height, part.height + 1)
        above.spans.append((part.start, end))
    raise msgspec.DecodeError("Input data was truncated")


def _made(data: bytes, part: _Part, end: int) -> Any:  # noqa: ANN401  JSON
    """A container, made of its own text with `[n]` in the place of the n-th container in it."""
    pieces: list[bytes] = []
    at = part.start
    for number, (start, stop) in enumerate(part.spans):
        pieces += data[at:start], b"[%d]" % number
        at = stop
    pieces.append(data[at:end])
    outline = msgspec.json.decode(b"".join(pieces))
    if isinstance(outline, dict):
        fields = cast("dict[str, Any]", outline)
        return {key: _filled(data, part, item) for key, item in fields.items()}
    return [_filled(data, part, item) for item in cast("list[Any]", outline)]


def _filled(data: bytes, part: _Part, item: Any) -> Any:  # noqa: ANN401  JSON
    if type(item) is not list:
        return item
    number: int = cast("list[int]", item)[0]
    if number in part.made:
        return part.made[number]
    start, stop = part.spans[number]
    return msgspec.json.decode(data[start:stop])
