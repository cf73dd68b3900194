"""Tests of agentfootprint.trace.redacting."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.trace import (
    ABSENT,
    PATH_DELIMITER,
    REDACTED,
    FrozenDict,
    FrozenList,
    HiddenField,
    freeze,
    hide_at,
    redact_patch,
    thaw,
)


def hidden(value: Any, path: str) -> Any:
    return thaw(hide_at(freeze(value), HiddenField.of(path).segments, "-")[0])


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        ({"a": 1}, "a", {"a": "-"}),
        ({"a": None}, "a", {"a": "-"}),
        ({"a": {"b": 1, "c": 2}}, "a.b", {"a": {"b": "-", "c": 2}}),
        ({"a": 1}, "a.b", {"a": 1}),
        ({"a": 1}, "b", {"a": 1}),
        ({"a": {"x": {"k": 1}, "y": {"k": 2}}}, "a.*.k", {"a": {"x": {"k": "-"}, "y": {"k": "-"}}}),
        ({"a": [{"k": 1}, {"j": 2}, 3]}, "a.k", {"a": [{"k": "-"}, {"j": 2}, 3]}),
        ({"a": [{"k": 1}]}, "a.*.k", {"a": [{"k": "-"}]}),
        ({"a": [1, 2]}, "a.*", {"a": ["-", "-"]}),
        ([[{"k": 1}]], "k", [[{"k": "-"}]]),
        ({}, "*", {}),
    ],
)
def test_what_stands_at_a_path_is_replaced(value: Any, path: str, expected: Any) -> None:
    assert hidden(value, path) == expected


def test_the_places_are_told_and_a_place_in_a_list_as_the_list() -> None:
    value = freeze({"a": [{"k": 1}], "b": {"k": 2}})

    assert hide_at(value, ("*", "k"), "-")[1] == [("a",), ("b", "k")]
    assert hide_at(ABSENT, (), "-") == (ABSENT, [])


def test_what_has_nothing_to_hide_is_the_same_object() -> None:
    value = freeze({"a": [{"k": 1}], "b": 2})

    shown, places = hide_at(value, ("a", "z"), "-")

    assert shown is value
    assert places == []


def test_what_is_not_hidden_is_shared() -> None:
    value = freeze({"a": {"k": 1}, "b": [1, 2]})

    shown, _ = hide_at(value, ("a", "k"), "-")

    assert isinstance(shown, FrozenDict)
    assert shown["b"] is value["b"]
    assert isinstance(shown["b"], FrozenList)
    assert thaw(value) == {"a": {"k": 1}, "b": [1, 2]}


def test_a_key_with_the_dots_in_it_comes_before_the_path() -> None:
    field = HiddenField.of("a.b")

    assert field.within({"a.b": 1, "a": 2}) == ("a.b",)
    assert field.within({"a": 2}) == ("a", "b")


def test_a_patch_is_copied_where_it_changes() -> None:
    patch: dict[str, Any] = {"runs": {"p": {"a": 1}}, "b": {"c": 2}, "gone": ABSENT}

    paths = [PATH_DELIMITER.join(path) for path in (("runs", "p", "a"), ("gone",), ("b", "c", "d"))]

    shown = redact_patch(patch, paths)

    assert shown == {"runs": {"p": {"a": REDACTED}}, "b": {"c": 2}, "gone": ABSENT}
    assert shown["b"] is patch["b"]
    assert patch["runs"] == {"p": {"a": 1}}


JSON = st.recursive(
    st.integers() | st.text(max_size=3) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abk"), inner, max_size=3),
    max_leaves=12,
)


@given(value=JSON, path=st.lists(st.sampled_from(["a", "b", "k", "*"]), min_size=1, max_size=3))
def test_hiding_twice_changes_nothing_more(value: Any, path: list[str]) -> None:
    once, _ = hide_at(freeze(value), tuple(path), "-")
    twice, _ = hide_at(once, tuple(path), "-")

    assert thaw(twice) == thaw(once)
