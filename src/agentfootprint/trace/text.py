"""How a text is counted, cut, hashed and written where the wire does it as JavaScript does.

Recordings quote sizes and hashes, so both count UTF-16 code units (AGT-161), and JSON stands there in the number forms
of JavaScript (AGT-66). Nothing here is cheap on long texts: hash when a reader asks, never because an event might
(01b LIN-8).
"""

from __future__ import annotations

import decimal
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final, cast

from agentfootprint.trace.members import record_items
from agentfootprint.trace.values import FrozenDict, FrozenList, Record, Value, ValueRefusedError

__all__ = ["compact_json", "fnv1a", "truncate_utf16", "utf16_length", "wire_key"]

_OFFSET: Final = 2166136261
_PRIME: Final = 16777619
_EXACT: Final = 2**53
"""Below it every integer is a float of its own."""
_ELLIPSIS: Final = "…"
_NATIVE: Final = f"utf-16-{sys.byteorder[0]}e"


@lru_cache(maxsize=1024)
def wire_key(name: str) -> str:
    """The key on the wire of an attribute that has no other one of its own.

    Example:
        >>> wire_key("tool_call_id"), wire_key("from_")
        ('toolCallId', 'from')
    """
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(map(str.capitalize, rest))


def _units(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def utf16_length(text: str) -> int:
    """How many UTF-16 code units a text has: what the wire calls its characters (AGT-161).

    Example:
        >>> utf16_length("é😀")
        3
    """
    return len(text) if text.isascii() else len(_units(text)) // 2


def truncate_utf16(text: str, limit: int) -> str:
    """Cut a text to at most `limit` UTF-16 code units, the last of them an ellipsis if anything was cut (AGT-161).

    Args:
        text: The whole text.
        limit: Code units, at least 1.

    Returns:
        The text itself when it fits. A character that the cut would halve is left out whole.

    Example:
        >>> truncate_utf16("provenance", 5)
        'prov…'
    """
    if len(text) * 2 <= limit or utf16_length(text) <= limit:
        return text
    if text.isascii():
        return text[: limit - 1] + _ELLIPSIS
    return _units(text)[: (limit - 1) * 2].decode("utf-16-le", "ignore") + _ELLIPSIS


def fnv1a(text: str) -> str:
    """Hash a text with 32-bit FNV-1a over its UTF-16 code units (AGT-161); about 60 ns a unit.

    Returns:
        Lower-case hex without padding; a repeated-call fingerprint is this, padded to 8.

    Example:
        >>> fnv1a("user:0:hi")
        'e9eeac99'
    """
    units = text.encode("ascii") if text.isascii() else memoryview(text.encode(_NATIVE, "surrogatepass")).cast("H")
    hashed = _OFFSET
    for unit in units:
        hashed = ((hashed ^ unit) * _PRIME) & 0xFFFFFFFF
    return f"{hashed:x}"


def compact_json(value: Value, *, sort_keys: bool = False) -> str:
    """Write a value as the shortest JSON, with JavaScript's number forms and non-ASCII characters as they are (AGT-66).

    Args:
        value: A frozen value, or plain dicts, lists and scalars.
        sort_keys: Whether the keys of every object are sorted, by UTF-16 code units: equal values become equal texts.

    Raises:
        ValueRefusedError: A number in it is not finite.

    Example:
        >>> compact_json({"b": 3.0, "a": [1e21, 1e-7, None]})
        '{"b":3,"a":[1e+21,1e-7,null]}'
    """
    parts: list[str] = []
    _write(value, parts, sort_keys=sort_keys)
    return "".join(parts)


def _write(value: Value, parts: list[str], *, sort_keys: bool) -> None:  # noqa: C901  one branch a kind
    kind = cast("type[object]", type(value))
    if kind is str:
        parts.append(encode_basestring(value))
    elif value is None:
        parts.append("null")
    elif kind is bool:
        parts.append("true" if value else "false")
    elif kind is int:
        parts.append(str(value))
    elif kind is float:
        parts.append(_number(value))
    elif kind is FrozenDict:
        _write_object(value.data.items(), parts, sort_keys=sort_keys)
    elif kind is FrozenList:
        _write_array(value, parts, sort_keys=sort_keys)
    elif isinstance(value, Record):
        _write_object(record_items(value), parts, sort_keys=sort_keys)
    elif isinstance(value, Mapping):
        _write_object(cast("Mapping[str, Any]", value).items(), parts, sort_keys=sort_keys)
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        _write_array(cast("Sequence[Any]", value), parts, sort_keys=sort_keys)
    else:
        raise ValueRefusedError((), f"A value of type {kind.__name__}")


def _write_object(items: Iterable[tuple[str, Any]], parts: list[str], *, sort_keys: bool) -> None:
    if sort_keys:
        items = sorted(items, key=lambda pair: pair[0].encode("utf-16-be", "surrogatepass"))
    before = "{"
    for key, item in items:
        parts.append(f"{before}{encode_basestring(key)}:")
        _write(item, parts, sort_keys=sort_keys)
        before = ","
    parts.append("{}" if before == "{" else "}")


def _write_array(items: Iterable[Any], parts: list[str], *, sort_keys: bool) -> None:
    before = "["
    for item in items:
        parts.append(before)
        _write(item, parts, sort_keys=sort_keys)
        before = ","
    parts.append("[]" if before == "[" else "]")


def _number(x: float) -> str:
    """A finite float in the form JavaScript gives it; the digits are the same shortest ones."""
    if not math.isfinite(x):
        raise ValueRefusedError((), "A number that is not finite")
    size = abs(x)
    if size < _EXACT and x.is_integer():
        return str(int(x))  # also -0, which is 0 there
    if 1e-4 <= size < _EXACT:  # noqa: PLR2004  Python writes these without an exponent too
        return repr(x)
    sign, digits, exponent = decimal.Decimal(repr(x)).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + int(exponent)  # where the decimal point stands, counted from the first digit
    if len(text) <= point <= 21:  # noqa: PLR2004  ECMA-262, Number::toString
        body = text.ljust(point, "0")
    elif -6 < point <= 0:  # noqa: PLR2004
        body = f"0.{'0' * -point}{text}"
    else:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        body = f"{text[0]}{fraction}e{point - 1:+d}"
    return f"-{body}" if sign else body
