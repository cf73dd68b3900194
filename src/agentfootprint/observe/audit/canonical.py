"""How is a record written so that equal records have one text, and so one hash, in both implementations?

The text is `afp-cjson/1` (AUD-5): JSON without spaces, keys sorted by UTF-16 code units, numbers and strings as
ECMAScript prints them. Invariant: `canonical_bytes` gives what `canonical_json` gives, only faster; where it is not
sure to, it asks `canonical_json`.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from json.encoder import encode_basestring
from typing import Any, Final, cast

import msgspec

from agentfootprint.trace import JsonObject, Record, Value, ValueRefusedError, compact_json, thaw

__all__ = ["canonical_bytes", "canonical_json", "record_hash", "settled_bytes", "settled_number"]

_SAFE: Final = 2**53
"""From here on an integer may not be a float of its own."""
_PLAIN_FROM: Final = 1e-5
"""From here on, up to 2**53, all print the same digits without an exponent."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ASTRAL: Final = re.compile(rb"[\xf0-\xf4]")
"""First byte of a character beyond U+FFFF, which code points and UTF-16 units sort differently."""
_NUMBER_APART: Final = tuple(
    re.compile(before + rb"-?\d+(?:\.0[,\]}]|\.?\d*e|(?<=\d{16}))").search for before in (rb":", rb",", rb"\[")
)
"""A number in an object or a list that ECMAScript may print in another form; what only looks like one, in a text, costs
time and nothing else. Three searches that each begin with one byte take a third less than one for all."""

_encode = msgspec.json.Encoder(order="sorted").encode


def record_hash(body: JsonObject) -> str:
    """The hash of a record without its own `hash` (AUD-1): lower-case hex SHA-256.

    Args:
        body: Plain dicts, lists and scalars.
    """
    return hashlib.sha256(canonical_bytes(body)).hexdigest()


def canonical_bytes(value: Value) -> bytes:
    """The UTF-8 bytes of `canonical_json`, for plain dicts, lists and scalars.

    Raises:
        TypeError: It holds itself, or what JSON can't hold.
    """
    if not isinstance(value, (dict, list)):
        return canonical_json(value).encode()
    data = settled_bytes(value)
    of_object, in_list, first_in_list = _NUMBER_APART
    return canonical_json(value).encode() if of_object(data) or in_list(data) or first_in_list(data) else data


def settled_bytes(value: Value) -> bytes:
    """`canonical_bytes` of a value whose numbers all went through `settled_number`: nobody has to look for them."""
    try:
        data = _encode(value)
    except (UnicodeEncodeError, RecursionError, TypeError, ValueError, OverflowError):
        return canonical_json(value).encode()
    return data if data.isascii() or not _ASTRAL.search(data) else canonical_json(value).encode()


def settled_number(number: float) -> int | float | msgspec.Raw | None:
    """A number as something that every encoder prints as ECMAScript does; null when it is not finite."""
    if isinstance(number, int):
        if -_SAFE < number < _SAFE:
            return number
    elif number.is_integer() and -_SAFE < number < _SAFE:
        return int(number)
    elif _PLAIN_FROM <= abs(number) < _SAFE:
        return number
    text = _number(number)
    return None if text == "null" else msgspec.Raw(text.encode())


def canonical_json(value: Value) -> str:
    """Write a value as `afp-cjson/1` (AUD-5).

    Args:
        value: A JSON value, plain or frozen. Keys without a value (`msgspec.UNSET`) are left out, in lists they are
            null, and so is a number that is not finite.

    Raises:
        TypeError: It holds itself, is nested too deeply, or holds what JSON can't.

    Example:
        >>> canonical_json({"b": 2.0, "a": [1e21, 1e-7, None]})
        '{"a":[1e+21,1e-7,null],"b":2}'
    """
    parts: list[str] = []
    try:
        _write(value, parts, [])
    except RecursionError:
        raise ValueRefusedError((), "A value nested more deeply than the stack goes") from None
    return "".join(parts)


def _write(value: Value, parts: list[str], inside: list[int]) -> None:
    if isinstance(value, str):
        parts.append(_text(value))
    elif value is None or value is msgspec.UNSET:
        parts.append("null")
    elif isinstance(value, bool):
        parts.append("true" if value else "false")
    elif isinstance(value, (int, float)):
        parts.append(_number(value))
    elif isinstance(value, msgspec.Raw):
        parts.append(str(memoryview(value), "ascii"))
    else:
        if id(value) in inside:
            raise ValueRefusedError((), "A value that contains itself")
        inside.append(id(value))
        _write_members(value, parts, inside)
        inside.pop()


def _write_members(value: Value, parts: list[str], inside: list[int]) -> None:
    if isinstance(value, Record):
        value = thaw(value)
    if isinstance(value, Mapping):
        _write_object(cast("Mapping[Any, Any]", value).items(), parts, inside)
    elif isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        before = "["
        for item in cast("Sequence[Any]", value):
            parts.append(before)
            _write(item, parts, inside)
            before = ","
        parts.append("[]" if before == "[" else "]")
    else:
        kind = type(cast("object", value))
        raise ValueRefusedError((), f"A value of type {kind.__name__}")


def _write_object(items: Iterable[tuple[Any, Any]], parts: list[str], inside: list[int]) -> None:
    stated = [(str(key), item) for key, item in items if item is not msgspec.UNSET]
    before = "{"
    for key, item in sorted(stated, key=lambda pair: pair[0].encode("utf-16-be", "surrogatepass")):
        parts.append(f"{before}{_text(key)}:")
        _write(item, parts, inside)
        before = ","
    parts.append("{}" if before == "{" else "}")


def _text(text: str) -> str:
    """A JSON string, everything raw but what must be escaped; two halves that stand together are one character."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", encode_basestring(text))
    return encode_basestring(text)


def _number(number: float) -> str:
    """As ECMAScript prints it; an integer that is no float of its own as the float it becomes there."""
    if isinstance(number, int) and -_SAFE < number < _SAFE:
        return str(int(number))
    try:
        number = float(number)
    except OverflowError:
        return "null"
    return compact_json(number) if math.isfinite(number) else "null"
