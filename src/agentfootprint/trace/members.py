"""What a value consists of, member by member: the fields of records, and walks that no depth of nesting stops.

The walks are for values deeper than the stack: they keep their own list of what is still to do, and are slower for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import msgspec

__all__ = ["Members", "equal_at_any_depth", "record_items", "thawed_at_any_depth"]

Members: TypeAlias = Callable[[Any], "Mapping[str, Any] | Sequence[Any] | None"]
"""Gives what a value consists of; None for one that has no members."""

_RECORD_FIELDS: dict[type[msgspec.Struct], tuple[tuple[str, str, Any], ...]] = {}


def record_items(record: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    """Pairs of wire key and value of a record; fields that hold their default or `UNSET` are left out."""
    kind = type(record)
    fields = _RECORD_FIELDS.get(kind)
    if fields is None:
        names, keys, defaults = kind.__struct_fields__, kind.__struct_encode_fields__, kind.__struct_defaults__
        missing = (msgspec.NODEFAULT,) * (len(names) - len(defaults))
        fields = tuple(
            (name, key, msgspec.NODEFAULT if not kind.__struct_config__.omit_defaults else default)
            for name, key, default in zip(names, keys, (*missing, *defaults), strict=True)
        )
        _RECORD_FIELDS[kind] = fields
    tag = kind.__struct_config__.tag
    if tag is not None:
        yield str(kind.__struct_config__.tag_field), tag
    for name, key, default in fields:
        item = getattr(record, name)
        if item is msgspec.UNSET or item is default:
            continue
        if default is not msgspec.NODEFAULT and type(item) is type(default) and item == default:
            continue
        yield key, item


def thawed_at_any_depth(value: object, members: Members) -> Any:  # noqa: ANN401  a value of any kind
    """A copy of a value in plain dicts and lists."""
    top: list[Any] = [None]
    todo: list[tuple[Any, Any, object]] = [(top, 0, value)]
    while todo:
        holder, place, source = todo.pop()
        inside = members(source)
        if inside is None:
            holder[place] = source
        elif isinstance(inside, Mapping):
            copied: dict[str, Any] = dict.fromkeys(inside)
            holder[place] = copied
            todo.extend((copied, key, item) for key, item in inside.items())
        else:
            items: list[Any] = [None] * len(inside)
            holder[place] = items
            todo.extend((items, position, item) for position, item in enumerate(inside))
    return top[0]


def equal_at_any_depth(one: object, other: object, members: Members, same: Callable[[object, object], bool]) -> bool:
    """Whether two values are the same JSON value; `same` compares those without members."""
    todo: list[tuple[object, object]] = [(one, other)]
    while todo:
        a, b = todo.pop()
        if a is b:
            continue
        inside_a, inside_b = members(a), members(b)
        if inside_a is None or inside_b is None:
            if inside_a is not inside_b or not same(a, b):
                return False
            continue
        if isinstance(inside_a, Mapping) is not isinstance(inside_b, Mapping) or len(inside_a) != len(inside_b):
            return False
        if isinstance(inside_a, Mapping):
            fields = cast("Mapping[str, Any]", inside_b)
            if any(key not in fields for key in inside_a):
                return False
            todo.extend((item, fields[key]) for key, item in inside_a.items())
        else:
            todo.extend(zip(inside_a, inside_b, strict=True))
    return True
