"""How the stored values of an event become its typed payload again, sharing what is frozen already.

A member that is a list or an object of free form is taken as it is, by reference: a history is not copied to be read.
Only members with a class of their own are rebuilt. What does not fit gives no payload, never a wrong one; the event is
then an `UnknownEvent` with the same object as its payload (EVT-5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, TypeAlias, Union, cast, get_args, get_origin

import msgspec

from agentfootprint.events import PAYLOAD_BY_TYPE, Event, Origin, RunFacts, UnknownEvent, build_event_meta
from agentfootprint.events import MetaMarks as Marks
from agentfootprint.trace import Record, Value, as_object, freeze, thaw

__all__ = ["Memo", "event_of", "read_payload"]

Memo: TypeAlias = "dict[tuple[int, int], tuple[Value, Any]]"
"""Rebuilt members by the identity of what they were rebuilt from, which is kept so that it stays its own."""

_SHARED: Final = (Any, object, Mapping, Sequence)


def event_of(
    kind: str,
    payload: Value,
    where: Origin,
    dt: int,
    facts: RunFacts,
    marks: Marks | None = None,
    *,
    is_app: bool = False,
    memo: Memo | None = None,
) -> Event[Any]:
    """Make an event of a stored payload.

    Args:
        kind: The event type.
        payload: The payload as a frozen value.
        where: The execution, or an address.
        dt: Nanoseconds since the run began.
        facts: The facts of its run.
        marks: What it adds to its meta.
        is_app: Whether the application made it, so that it has no payload class whatever its type.
        memo: What was rebuilt before, so that members which are one value stay one value.
    """
    fields = None if is_app else as_object(payload)
    record = None if fields is None else read_payload(kind, fields, memo=memo)
    if record is not None:
        return Event(record, where, dt, facts, marks)
    meta = build_event_meta(where, facts, dt, marks)
    return UnknownEvent(kind, payload, meta, _execution=where, _dt=dt, _facts=facts, _marks=marks)


def read_payload(
    kind: str, found: Mapping[str, Value], *, is_exact: bool = True, memo: Memo | None = None
) -> Record | None:
    """The payload of a type from its wire keys and frozen values; `None` when it is not what that type holds.

    Args:
        kind: The event type.
        found: The stored payload.
        is_exact: Whether a key that the type does not know makes it another thing, or is left out.
        memo: What was rebuilt before.
    """
    cls = PAYLOAD_BY_TYPE.get(kind)
    if cls is None:
        return None
    fields = _fields(cls)
    values: dict[str, Any] = {}
    for key, value in found.items():
        field = fields.get(key)
        if field is None:
            if is_exact:
                return None
            continue
        if field.shared or type(value) in field.plain:
            values[field.name] = value
            continue
        try:
            values[field.name] = _converted(value, field.declared, memo)
        except msgspec.ValidationError:
            if not isinstance(value, str):
                return None
            values[field.name] = value  # the placeholder of a redaction policy, or a word of a newer version
    try:
        return cls(**values)
    except TypeError:  # a required key is missing
        return None


class _Field(msgspec.Struct, frozen=True, gc=False):
    name: str
    declared: Any
    shared: bool
    """Whether a value is taken as it is."""
    plain: frozenset[type]
    """Types of scalars that fit as they are."""


@cache
def _fields(cls: type[Record]) -> Mapping[str, _Field]:
    return {
        field.encode_name: _Field(field.name, field.type, _is_free(field.type), _plain(field.type))
        for field in msgspec.structs.fields(cls)
    }


def _plain(declared: Any) -> frozenset[type]:  # noqa: ANN401  an annotation
    options = get_args(declared) if get_origin(declared) in (Union, UnionType) else (declared,)
    return frozenset(option for option in options if option in (str, int, float, bool, NoneType))


def _is_free(declared: Any) -> bool:  # noqa: ANN401  an annotation
    """Whether any frozen value, or any frozen list or object, is as declared."""
    if declared in _SHARED:
        return True
    if declared in (type(None), msgspec.UnsetType):
        return False
    origin = get_origin(declared)
    inside = get_args(declared)
    if origin in (Mapping, Sequence):
        return not any(isinstance(one, type) and issubclass(one, Record) for one in inside)
    return origin is not None and any(map(_is_free, inside)) and not _mentions_record(declared)


def _mentions_record(declared: Any) -> bool:  # noqa: ANN401  an annotation
    if isinstance(declared, type):
        return issubclass(declared, Record)
    return any(map(_mentions_record, get_args(declared)))


def _converted(value: Value, declared: Any, memo: Memo | None) -> Any:  # noqa: ANN401  an annotation, and what it declares
    key = (id(value), id(declared))
    known = None if memo is None else memo.get(key)
    if known is not None:
        return known[1]
    found = msgspec.convert(thaw(value), declared)
    _seal(found)
    if isinstance(found, (dict, list)):
        found = freeze(cast("object", found))
    if memo is not None:
        memo[key] = value, found
    return found


def _seal(found: Any) -> None:  # noqa: ANN401  what was just made and nobody else has seen
    if isinstance(found, Record):
        for name in found.__struct_fields__:
            inner = getattr(found, name)
            if isinstance(inner, (dict, list)):
                msgspec.structs.force_setattr(found, name, freeze(inner))
            else:
                _seal(inner)
    elif isinstance(found, tuple):
        for item in cast("tuple[object, ...]", found):
            _seal(item)
