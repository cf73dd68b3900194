"""How stored JSON becomes a typed record again, without losing or refusing what another version wrote.

Invariants: what comes back is frozen. A key that the writer left out is `UNSET`. A text where another type is declared
is kept: it is a placeholder of a redaction policy, or a word of a newer version. Anything else that does not fit gives
no record at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin

import msgspec

from agentfootprint.trace import Record, freeze, thaw

__all__ = ["read_record"]

R = TypeVar("R", bound=Record)

_SCALARS: Final = frozenset[object]((str, int, float, bool, NoneType, msgspec.UnsetType))


class _MisfitError(Exception):
    """A value is of no type that its field declares; never leaves this file."""


def read_record(kind: type[R], found: Mapping[str, Any], *, exactly: bool = False) -> tuple[R | None, bool]:
    """Read a record from its wire form.

    Args:
        kind: The class to read.
        found: The object as decoded JSON; it is not kept.
        exactly: Only what the class declares, nothing left out and nothing kept as it came.

    Returns:
        The record, or `None` when the object has not its shape; and whether the record says all that the object says.
    """
    plain = cast("dict[str, Any]", found if isinstance(found, dict) else thaw(found))
    try:
        record = msgspec.convert(plain, kind)
    except msgspec.ValidationError:
        if exactly:
            return None, False
        try:
            record = cast("R", _read_loosely(kind, plain))
        except _MisfitError:
            return None, False
    whole = _says_all(record, plain)
    _seal(record)
    return record, whole


def _read_loosely(kind: type[Record], found: Mapping[str, Any]) -> Record:
    values = {
        field.name: _fit(field.type, found[field.encode_name]) if field.encode_name in found else msgspec.UNSET
        for field in _fields(kind)
        if field.required or field.encode_name in found
    }
    return kind(**values)


def _fit(annotation: Any, value: Any) -> Any:  # noqa: ANN401  any type, any JSON value
    try:
        return msgspec.convert(value, annotation)
    except msgspec.ValidationError:
        if isinstance(value, str):
            return value
    for one in get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,):
        if isinstance(value, dict) and isinstance(one, type) and issubclass(one, Record):
            return _read_loosely(one, cast("dict[str, Any]", value))
        if isinstance(value, list) and get_origin(one) in (tuple, Sequence):
            return tuple(_fit(get_args(one)[0], item) for item in cast("list[Any]", value))
    raise _MisfitError


def _says_all(record: Record, plain: dict[str, Any]) -> bool:
    try:
        return msgspec.json.encode(record, order="sorted") == msgspec.json.encode(plain, order="sorted")
    except UnicodeEncodeError:  # a lone surrogate: whoever keeps the object will refuse it
        return False


@cache
def _fields(kind: type[Record]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


@cache
def _containers(kind: type[Record]) -> tuple[str, ...]:
    """The fields that may hold more than a scalar."""
    return tuple(field.name for field in _fields(kind) if _may_hold(field.type))


def _may_hold(annotation: object) -> bool:
    if get_origin(annotation) in (Union, UnionType):
        return any(map(_may_hold, get_args(annotation)))
    return get_origin(annotation) is not Literal and annotation not in _SCALARS


def _seal(record: Record) -> None:
    """Freeze what the decoder left as plain dicts and lists; nobody else has seen the record yet."""
    for name in _containers(type(record)):
        value = getattr(record, name)
        if isinstance(value, (dict, list)):
            msgspec.structs.force_setattr(record, name, freeze(cast("object", value)))
        elif isinstance(value, Record):
            _seal(value)
        elif isinstance(value, tuple):
            for item in cast("tuple[object, ...]", value):
                if isinstance(item, Record):
                    _seal(item)
