"""Random payloads: hypothesis strategies made from the declared types of the payload classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st

from agentfootprint.events import PAYLOADS, Payload
from agentfootprint.trace import Record, freeze

__all__ = ["json_values", "payloads"]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | numbers | texts
json_values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
).map(freeze)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    Any: json_values,
    NoneType: st.none(),
    bool: st.booleans(),
    float: numbers,
    int: st.integers(-(2**53), 2**53),
    msgspec.UnsetType: st.just(msgspec.UNSET),
    str: texts,
}


def of_type(annotation: Any) -> st.SearchStrategy[Any]:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return st.one_of([of_type(one) for one in args])
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (tuple, Sequence):
        return st.lists(of_type(args[0]), max_size=2).map(tuple)
    if origin is Mapping:
        return st.dictionaries(texts, of_type(args[1]), max_size=2).map(freeze)
    return records(annotation) if annotation not in PLAIN else PLAIN[annotation]


@cache
def records(kind: type[Record]) -> st.SearchStrategy[Any]:
    return st.builds(kind, **{field.name: of_type(field.type) for field in msgspec.structs.fields(kind)})


payloads: st.SearchStrategy[Payload] = st.sampled_from(PAYLOADS).flatmap(records)
