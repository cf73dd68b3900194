"""Tests of agentfootprint.trace.values."""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import enum
import gc
import itertools
import math
import pathlib
import pickle
import uuid
from dataclasses import dataclass
from typing import Any

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.trace import (
    ABSENT,
    FrozenDict,
    FrozenList,
    Record,
    ValueRefusedError,
    View,
    deep_equal,
    freeze,
    thaw,
)

texts = st.text(max_size=4)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


class Message(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    role: str
    tool_call_id: str | None = None


class Doubled(View, frozen=True, gc=False, eq=False):
    fn = "doubled/1"
    of: FrozenList

    def __len__(self) -> int:
        return len(self.of)

    def item(self, index: int) -> Any:
        return self.of[index] * 2


@given(json_values)
def test_freezing_and_thawing_gives_the_value_back(value: Any) -> None:
    again = thaw(freeze(value))

    assert again == value
    assert type(again) is type(value)


@given(json_values)
def test_a_frozen_value_is_frozen_already(value: Any) -> None:
    frozen = freeze(value)

    assert freeze(frozen) is frozen
    assert deep_equal(frozen, value)


@given(json_values)
def test_what_is_changed_afterwards_does_not_reach_the_frozen_value(value: Any) -> None:
    given_value = [value, {"k": value}]
    frozen = freeze(given_value)
    before = copy.deepcopy(given_value)

    given_value[1]["k"] = "other"
    given_value.append("more")

    assert deep_equal(frozen, before)


@pytest.mark.usefixtures("quick_collections")
@given(json_values)
def test_frozen_values_are_unseen_by_the_collector(value: Any) -> None:
    frozen = freeze({"k": [value]})

    gc.collect()

    assert not gc.is_tracked(frozen)
    assert not gc.is_tracked(frozen.data)
    assert not gc.is_tracked(frozen["k"])


@given(json_values, json_values)
def test_equality_is_that_of_json(a: Any, b: Any) -> None:
    expected = msgspec.json.encode(a, order="sorted") == msgspec.json.encode(b, order="sorted")

    if expected:
        assert deep_equal(a, b)
    assert deep_equal(freeze(a), freeze(b)) is deep_equal(a, b) is deep_equal(b, a)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (True, 1, False),
        (False, 0, False),
        (1, 1.0, True),
        (math.nan, math.nan, True),
        (0.0, -0.0, True),
        ("1", 1, False),
        (None, ABSENT, False),
        ([], {}, False),
        ([1, 2], [2, 1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": None}, {"b": None}, False),
        ([True], [1], False),
        ({"a": {"b": [1]}}, {"a": {"b": [1.0]}}, True),
    ],
)
def test_kinds_that_python_mixes_up_stay_apart(a: Any, b: Any, same: bool) -> None:
    assert deep_equal(a, b) is same
    assert deep_equal(b, a) is same


@given(st.lists(scalars, max_size=6), st.lists(st.lists(scalars, max_size=3), max_size=5))
def test_a_list_that_grows_shares_and_remembers_what_it_grew_from(start: list[Any], more: list[list[Any]]) -> None:
    versions = [freeze(start)]
    plain = [list(start)]
    for items in more:
        versions.append(versions[-1].extend(items))
        plain.append([*plain[-1], *items])

    assert [thaw(version) for version in versions] == plain
    for older, newer in itertools.pairwise(versions):
        assert newer.starts_with(older) or older.n == 0


@given(st.lists(scalars, min_size=1, max_size=4), scalars, scalars)
def test_two_lists_grown_from_one_do_not_meet(start: list[Any], one: Any, other: Any) -> None:
    base = freeze(start)

    left = base.append(one)
    right = base.append(other)

    assert thaw(left) == [*start, one]
    assert thaw(right) == [*start, other]
    assert not right.starts_with(base)
    assert thaw(base) == start


def test_a_shared_empty_list_owns_no_buffer() -> None:
    empty = FrozenList([], 0)

    first = empty.append(1)
    second = empty.append(2)

    assert (thaw(first), thaw(second), len(empty)) == ([1], [2], 0)


def test_appending_copies_nothing() -> None:
    base = freeze(list(range(1000)))

    grown = base.append(1000)

    assert grown.buf is base.buf
    assert grown.tail(1000) == [1000]


def test_a_list_reads_like_a_sequence() -> None:
    items = freeze([1, [2], {"a": 3}])

    assert items[-1]["a"] == 3
    assert items[:2] == [1, [2]]
    assert next(reversed(items)) == {"a": 3}
    assert [2] in items
    assert items.index({"a": 3}) == 2
    assert items.count(1) == 1
    with pytest.raises(IndexError):
        items[3]
    with pytest.raises(ValueError, match=r"no such element"):
        items.index(9)


def test_iterating_an_older_view_stops_at_its_own_end() -> None:
    base = freeze([1, 2])
    base.append(3)

    assert list(base) == [1, 2]
    assert base[-1] == 2


def test_nothing_can_be_changed() -> None:
    frozen = freeze({"a": [1]})

    with pytest.raises(TypeError):
        frozen["b"] = 1
    with pytest.raises(TypeError):
        frozen["a"][0] = 2
    with pytest.raises(AttributeError):
        frozen.data = {}


def test_copies_are_the_value_itself_and_pickles_are_equal() -> None:
    frozen = freeze({"a": [1, {"b": None}]})

    assert copy.copy(frozen) is frozen
    assert copy.deepcopy(frozen) is frozen
    assert pickle.loads(pickle.dumps(frozen)) == frozen


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    label: str


class Order(pydantic.BaseModel):
    id: str
    at: dt.date


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, 2), [1, 2]),
        (dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC), "2026-01-02T03:04:00+00:00"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (dt.timedelta(minutes=1), 60.0),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (Colour.RED, "red"),
        (b"hi", {"$bytes": "aGk="}),
        (Point(1, "p"), {"x": 1, "label": "p"}),
        (Order(id="o", at=dt.date(2026, 1, 2)), {"id": "o", "at": "2026-01-02"}),
    ],
)
def test_kinds_of_the_table_are_converted(value: Any, expected: Any) -> None:
    assert thaw(freeze(value)) == expected


def circle() -> list[Any]:
    items: list[Any] = []
    items.append({"again": items})
    return items


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"a": [1, {2}]}, "a[1]"),
        ({"a": math.nan}, "a"),
        ([math.inf], "[0]"),
        ({"t": "\ud800"}, "t"),
        ({"t": {"\ud800": 1}}, "t"),
        ([{"a": [0, {"b": 1j}]}], "[0].a[1].b"),
        ({"k": object()}, "k"),
        ({"f": len}, "f"),
        ({1: "a"}, ""),
        (circle(), "[0].again"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_place(value: Any, where: str) -> None:
    with pytest.raises(ValueRefusedError) as refused:
        freeze(value)

    assert where in str(refused.value)


def test_the_same_object_twice_is_no_cycle() -> None:
    shared = {"a": 1}

    assert thaw(freeze([shared, shared])) == [{"a": 1}, {"a": 1}]


def test_a_record_reads_as_its_wire_form() -> None:
    record = Message(role="tool", tool_call_id="c1")

    assert freeze(record) is record
    assert thaw([record]) == [{"role": "tool", "toolCallId": "c1"}]
    assert thaw(Message(role="user")) == {"role": "user"}
    assert deep_equal(record, {"role": "tool", "toolCallId": "c1"})
    assert not deep_equal(record, Message(role="tool"))


def test_a_view_reads_prints_and_compares_like_the_list_it_stands_for() -> None:
    view = Doubled(of=freeze([1, 2, 3]))

    assert freeze(view) is view
    assert thaw(view) == [2, 4, 6]
    assert view == [2, 4, 6]
    assert view[-1] == 6
    assert view[1:] == [4, 6]
    assert repr(view) == "[2, 4, 6]"
    assert deep_equal(view, Doubled(of=freeze([1, 2, 3])))


def test_absent_is_false_and_itself() -> None:
    assert not ABSENT
    assert repr(ABSENT) == "ABSENT"
    assert not deep_equal(ABSENT, None)


def test_an_object_reads_like_a_mapping() -> None:
    frozen = freeze({"a": 1, "b": 2})

    assert isinstance(frozen, FrozenDict)
    assert list(frozen) == list(frozen.keys()) == ["a", "b"]
    assert list(frozen.items()) == [("a", 1), ("b", 2)]
    assert frozen.get("c", 3) == 3
    assert "a" in frozen
    assert {**frozen} == {"a": 1, "b": 2}
