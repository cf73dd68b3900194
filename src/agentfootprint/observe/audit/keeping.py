"""What does a record keep of a value that nobody has to be protected from: all of it, within bounds (AUD-7)?

Invariants: what is kept is plain JSON that nobody else holds, its numbers settled for `settled_bytes`;
a list is never walked further than it is kept, so a history of any length costs nothing (01b LIN-22).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

import msgspec
from msgspec.structs import astuple

from agentfootprint.observe.audit.canonical import settled_number
from agentfootprint.trace import FrozenDict, FrozenList, JsonObject, Record, Value, View

__all__ = [
    "DEEPEST",
    "SURELY_FITS",
    "TOO_DEEP",
    "elements",
    "kept",
    "kept_fields",
    "kept_object",
    "kind_of",
    "list_length",
    "members",
    "more_said",
    "type_in_words",
]

kind_of: Final = cast("Callable[[Any], object]", type)
"""The class of a value, to compare it; `type` says more than a checker wants to know."""
LONGEST_TEXT: Final = 256
SURELY_FITS: Final = LONGEST_TEXT // 2
"""A text of so many characters fits, whatever they are."""
LONGEST_LIST: Final = 32
DEEPEST: Final = 8
TOO_DEEP: Final = "[truncated: depth]"
_SMALL: Final = 2**50
"""Integers between this and its negative need no settling."""
_NO_RULES: Final[Mapping[str, Callable[[Any], Value]]] = {}


def kept_object(value: JsonObject | Record) -> dict[str, Any]:
    """What a record keeps of an object that nobody's words stand in: everything, cut where it is too long or deep."""
    return cast("dict[str, Any]", kept(value, 0))


def kept(value: Value, depth: int, inside: tuple[int, ...] = ()) -> Value:  # noqa: PLR0911  one answer a kind
    """A value as a record keeps it.

    Args:
        value: A payload class's instance, a frozen or a plain JSON value.
        depth: How many objects and lists it stands in.
        inside: The plain ones of them, by identity; frozen values are in no cycle.
    """
    kind = kind_of(value)
    if kind is str:
        return value if len(value) <= SURELY_FITS else _cut(value)
    if kind is int or kind is float:
        return settled_number(value)
    if value is None or kind is bool:
        return value
    if depth >= DEEPEST:
        return TOO_DEEP
    if kind is FrozenDict:
        return {key: kept(item, depth + 1, inside) for key, item in value.data.items()}
    if kind is tuple:
        return more_said([kept(item, depth + 1, inside) for item in value[:LONGEST_LIST]], len(value))
    if isinstance(value, Record):
        return kept_fields(value, _NO_RULES, depth, inside)
    return _kept_members(value, depth, inside)


def kept_fields(
    record: Record, rules: Mapping[str, Callable[[Any], Value]], depth: int, inside: tuple[int, ...] = ()
) -> dict[str, Any]:
    """The fields of a record as they are kept, under their wire keys.

    Args:
        record: A payload, or a record in one.
        rules: What is kept of a field instead of its value, by wire key.
        depth: How many objects and lists it stands in.
        inside: The plain ones of them, by identity.
    """
    out: dict[str, Any] = {}
    keys, defaults = _plan(type(record))
    for key, default, item in zip(keys, defaults, astuple(record), strict=True):
        if item is default or item is msgspec.UNSET:
            continue
        kind = kind_of(item)
        if default is not None and kind is type(default) and item == default:
            continue
        if key in rules:
            out[key] = rules[key](item)
        elif (kind is str and len(item) <= SURELY_FITS) or (kind is int and -_SMALL < item < _SMALL) or kind is bool:
            out[key] = item
        else:
            out[key] = kept(item, depth + 1, inside)
    return out


def _kept_members(value: Value, depth: int, inside: tuple[int, ...]) -> Value:
    kind = kind_of(value)
    if kind is dict or kind is list:
        if id(value) in inside:
            return "[circular]"
        inside = (*inside, id(value))
    items = members(value)
    if items is not None:
        return {key: kept(item, depth + 1, inside) for key, item in items}
    first = elements(value)
    if first is None:
        return _kept_other(value, depth, inside)
    return more_said([kept(item, depth + 1, inside) for item in first[0]], first[1])


def more_said(first: list[Any], length: int) -> list[Any]:
    """The first elements of a list, and how many more it had."""
    return first if length <= LONGEST_LIST else [*first, f"…+{length - LONGEST_LIST} more"]


def _kept_other(value: Value, depth: int, inside: tuple[int, ...]) -> Value:
    """What no frozen value is, for events that somebody made by hand; a function in a list is null."""
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    for plain in (str, int, float):
        if isinstance(value, plain):
            return kept(plain(value), depth, inside)
    return None if callable(value) else f"[type: {type_in_words(value)}]"


def _cut(text: str) -> str:
    """A text of at most 256 UTF-16 units, the last an ellipsis; the cut may leave half a character (AUD-7)."""
    if text.isascii():
        return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * LONGEST_TEXT:
        return text
    return f"{units[: 2 * (LONGEST_TEXT - 1)].decode('utf-16-le', 'surrogatepass')}…"


_LISTS: Final[frozenset[object]] = frozenset({tuple, list, FrozenList})
_FIELDS: dict[type[Record], tuple[tuple[str, ...], tuple[Any, ...]]] = {}
"""Of each class of records: the wire keys of its fields, and their defaults."""


def members(value: Value) -> Iterable[tuple[str, Any]] | None:
    """Pairs of key and value of an object, without absent values and functions; `None` for anything else."""
    if isinstance(value, Record):
        return _fields(value)
    kind = kind_of(value)
    if kind is FrozenDict:
        return value.data.items()
    if kind not in _LISTS and isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value).items()
        return [(str(key), item) for key, item in pairs if item is not msgspec.UNSET and not callable(item)]
    return None


def _plan(kind: type[Record]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    plan = _FIELDS.get(kind)
    if plan is None:
        keys, defaults = kind.__struct_encode_fields__, kind.__struct_defaults__
        missing = (msgspec.NODEFAULT,) * (len(keys) - len(defaults))
        plan = _FIELDS[kind] = keys, (*missing, *defaults)
    return plan


def _fields(record: Record) -> list[tuple[str, Any]]:
    """The fields of a record under their wire keys, without those that have their default."""
    keys, defaults = _plan(type(record))
    return [
        (key, item)
        for key, default, item in zip(keys, defaults, astuple(record), strict=True)
        if item is not default
        and item is not msgspec.UNSET
        and (default is None or type(item) is not type(default) or item != default)
    ]


def elements(value: Value) -> tuple[Sequence[Any], int] | None:
    """The first elements of a list and how many it has; `None` for anything else."""
    length = list_length(value)
    if length is None:
        return None
    if type(value) is FrozenList:
        return value.buf[: min(length, LONGEST_LIST)], length
    listed = cast("Sequence[Any]", value)
    if isinstance(value, (tuple, list)):
        return listed[:LONGEST_LIST], length
    return [listed[index] for index in range(min(length, LONGEST_LIST))], length


def list_length(value: Value) -> int | None:
    """How many elements a list has, without looking at one; `None` for anything else."""
    if isinstance(value, (tuple, list, FrozenList, View)):
        return len(cast("Sequence[Any]", value))
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        return len(cast("Sequence[Any]", value))
    return None


def type_in_words(value: Value) -> str:
    """What JavaScript calls it; null is `null` here."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "string" if isinstance(value, str) else "object"
