"""Tests of agentfootprint.trace.replay."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.trace import (
    CommitBundle,
    FrozenDict,
    FrozenList,
    apply_smart_merge,
    deep_equal,
    deep_smart_merge,
    freeze,
    materialise,
    thaw,
)
from tests.trace.logs import bundle, logs, values

states = st.dictionaries(st.sampled_from(("a", "h", "o", "other")), values, max_size=4)


@given(states, logs())
def test_replaying_all_at_once_is_replaying_one_by_one(base: dict[str, Any], log: list[dict[str, Any]]) -> None:
    state = base
    for upto, each in enumerate(log):
        assert deep_equal(materialise(log, upto, base), state)
        state = apply_smart_merge(state, each)

    assert deep_equal(materialise(log, len(log) + 5, base), state)


@given(states, logs())
def test_nothing_given_is_changed(base: dict[str, Any], log: list[dict[str, Any]]) -> None:
    before = copy.deepcopy((base, log))

    after = materialise(log, len(log), base)
    for each in log:
        apply_smart_merge(after, each)

    assert (base, log) == before


@given(states, logs())
def test_frozen_and_plain_logs_replay_alike_and_frozen_ones_stay_frozen(
    base: dict[str, Any], log: list[dict[str, Any]]
) -> None:
    frozen = materialise([CommitBundle.from_wire(each) for each in log], len(log), freeze(base))

    assert deep_equal(frozen, materialise(log, len(log), base))
    assert not any(isinstance(value, (dict, list)) for value in frozen.values())


@given(values, values)
def test_a_merge_changes_neither_side(dst: Any, src: Any) -> None:
    before = copy.deepcopy((dst, src))

    merged = deep_smart_merge(dst, src)

    assert (dst, src) == before
    assert deep_equal(thaw(deep_smart_merge(freeze(dst), freeze(src))), merged)


@given(values)
def test_merging_an_empty_object_into_an_object_gives_the_same_object(value: Any) -> None:
    frozen = freeze({"k": value})

    assert deep_smart_merge(frozen, freeze({})) is frozen


def test_a_union_tells_kinds_apart_and_keeps_nan_once() -> None:
    nan = float("nan")

    assert deep_smart_merge([1, True, nan], [1.0, False, nan, None, "1"]) == [1, True, nan, False, None, "1"]


def test_a_union_does_not_depend_on_which_objects_are_shared() -> None:
    item = freeze({"a": 1})

    assert thaw(deep_smart_merge(freeze([item]), freeze([item]))) == [{"a": 1}, {"a": 1}]


def test_an_object_over_a_list_keeps_its_elements_under_their_places() -> None:
    assert deep_smart_merge(["x", "y"], {"1": "z"}) == {"0": "x", "1": "z"}


@pytest.mark.parametrize("segment", ["__proto__", "constructor", "prototype"])
def test_inert_keys_are_passed_over(segment: str) -> None:
    wire = bundle(0, "a#0", (segment, "set", 1), (f"o\x1f{segment}", "set", 1), (f"{segment}\x1fo", "delete", 1))

    assert apply_smart_merge({"o": {}}, wire) == {"o": {}}


def test_a_set_without_payload_removes_and_still_makes_the_parents() -> None:
    wire = bundle(0, "a#0", ("a", "set", 1), ("o\x1fx", "set", 1))
    wire["overwrite"] = {}

    assert apply_smart_merge({"a": 5}, wire) == {"o": {}}


def test_an_element_of_a_list_can_be_replaced_by_its_place() -> None:
    wire = bundle(0, "a#0", ("h\x1f1", "set", "new"), ("h\x1f9", "set", "nowhere"), ("h\x1f0", "delete", None))
    wire["overwrite"] = {"h": [None, "new"]}

    assert apply_smart_merge({"h": ["a", "b"]}, wire) == {"h": [None, "new"]}


def test_a_long_run_of_appends_leaves_the_lists_of_the_log_alone() -> None:
    log = [CommitBundle.from_wire(bundle(i, f"s#{i}", ("h", "append", [i]))) for i in range(50)]
    first: Any = log[0].overwrite["h"]

    replayed = [materialise(log, len(log), {})["h"] for _ in range(2)]

    assert isinstance(first, FrozenList)
    assert (first.n, len(first.buf)) == (1, 1)
    assert [thaw(each) for each in replayed] == [list(range(50))] * 2


def test_parents_made_by_a_record_are_frozen() -> None:
    record = CommitBundle.from_wire(bundle(0, "a#0", ("runs\x1fp1\x1fa", "set", 1)))

    state = apply_smart_merge({}, record)

    assert isinstance(state["runs"], FrozenDict)
    assert isinstance(state["runs"]["p1"], FrozenDict)
