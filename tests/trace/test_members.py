"""Tests of agentfootprint.trace.members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.trace import TraceEntry, deep_equal, freeze, thaw
from agentfootprint.trace.members import equal_at_any_depth, record_items, thawed_at_any_depth
from tests.trace.logs import values


def members(value: Any) -> Mapping[str, Any] | Sequence[Any] | None:
    is_text = isinstance(value, str)
    return cast("Mapping[str, Any]", value) if isinstance(value, (Mapping, Sequence)) and not is_text else None


@given(values)
def test_a_copy_made_step_by_step_is_the_one_that_thaw_makes(value: Any) -> None:
    copied = thawed_at_any_depth(freeze(value), members)

    assert repr(copied) == repr(thaw(freeze(value)))
    assert deep_equal(copied, value)


@given(values, values)
def test_comparing_step_by_step_says_what_deep_equal_says(a: Any, b: Any) -> None:
    assert equal_at_any_depth(freeze(a), b, members, deep_equal) is deep_equal(a, b)
    assert equal_at_any_depth(a, freeze(a), members, deep_equal)


@pytest.mark.parametrize("levels", [600, 20_000])
@pytest.mark.parametrize("lists", [False, True])
def test_no_depth_stops_a_copy_or_a_comparison(levels: int, lists: bool) -> None:
    def nested(innermost: int) -> Any:
        value: Any = innermost
        for _ in range(levels):
            value = [value, 1] if lists else {"x": value, "y": 1}
        return value

    one, other = nested(1), nested(2)

    assert deep_equal(thaw(one), one)
    assert not deep_equal(one, other)
    assert not deep_equal(other, {"x": one})


def test_a_record_is_its_wire_fields_without_defaults() -> None:
    assert dict(record_items(TraceEntry("k", "set"))) == {"path": "k", "verb": "set"}
    assert list(record_items(TraceEntry("k", "set", ()))) == [("path", "k"), ("verb", "set"), ("readKeys", ())]


def test_the_order_of_keys_is_kept() -> None:
    empty: dict[str, Any] = {}
    value = {"b": {"z": 1, "a": [empty]}, "a": 2}

    copied = thawed_at_any_depth(value, members)

    assert (list(copied), list(copied["b"])) == (["b", "a"], ["z", "a"])


@given(st.dictionaries(st.text(max_size=2), st.integers(), max_size=4))
def test_objects_are_compared_by_their_keys(value: dict[str, int]) -> None:
    backwards = dict(reversed(value.items()))

    assert equal_at_any_depth(value, backwards, members, deep_equal)
    assert not equal_at_any_depth(value, {**value, "more": 1}, members, deep_equal)
