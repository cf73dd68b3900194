"""Tests of agentfootprint.trace.questions.births."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.trace import (
    CommitBundle,
    FrozenDict,
    FrozenList,
    array_provenance,
    deep_equal,
    element_provenance,
    freeze,
    split_path,
    value_at,
)
from tests.trace.logs import PATHS, Wire, bundle, logs


@given(logs(), st.sampled_from(PATHS))
def test_the_elements_with_births_are_the_value(log: list[Wire], path: str) -> None:
    found = array_provenance(log, split_path(path))
    value = value_at(log, len(log), split_path(path))

    if found.births is None:
        assert not isinstance(value, list)
    else:
        assert deep_equal([birth.value for birth in found.births], value)
        assert [birth.index for birth in found.births] == list(range(len(value)))


@given(logs(), st.sampled_from(PATHS))
def test_a_birth_is_in_a_bundle_that_touched_the_key(log: list[Wire], path: str) -> None:
    found = array_provenance(log, split_path(path))

    for birth in found.births or ():
        related = [entry["path"] for entry in log[birth.commit_idx]["trace"]]
        assert any(f"{each}\x1f".startswith(path) or f"{path}\x1f".startswith(each) for each in related)
        assert birth.runtime_stage_id == log[birth.commit_idx]["runtimeStageId"]


def test_an_append_onto_no_list_is_a_whole_value() -> None:
    log = [bundle(0, "a#0", ("h", "set", 5)), bundle(1, "b#1", ("h", "append", [1]))]

    births = array_provenance(log, "h").births or ()

    assert [(birth.basis, birth.verb, birth.commit_idx) for birth in births] == [("whole-value", "append", 1)]


def test_growth_from_an_empty_list_is_inferred() -> None:
    log = [bundle(0, "a#0", ("h", "set", [])), bundle(1, "b#1", ("h", "set", [1]))]

    births = array_provenance(log, "h").births or ()

    assert [birth.basis for birth in births] == ["prefix-inference"]


def record(idx: int, verb: str, items: list[Any]) -> CommitBundle:
    shape = CommitBundle.from_wire(bundle(idx, f"s#{idx}", ("h", verb, [])))
    payload: Any = FrozenDict({"h": FrozenList(items, len(items))})
    return CommitBundle(idx, "S", "s", f"s#{idx}", shape.trace, payload, shape.updates, ())


def test_an_element_of_a_native_log_keeps_its_birth_over_a_cut() -> None:
    hello, again, new = freeze({"text": "hi"}), freeze({"text": "hi"}), freeze({"text": "new"})
    log = [record(0, "append", [hello]), record(1, "append", [again]), record(2, "set", [again, new])]

    births = array_provenance(log, "h").births or ()

    assert [(birth.commit_idx, birth.basis) for birth in births] == [(1, "carried"), (2, "whole-value")]


def test_an_element_that_stands_twice_has_two_births() -> None:
    same = freeze({"text": "hi"})
    log = [record(0, "append", [same]), record(1, "append", [same]), record(2, "set", [freeze({}), same, same])]

    births = array_provenance(log, "h").births or ()

    assert [birth.commit_idx for birth in births] == [2, 0, 1]


def test_a_wire_log_does_not_claim_to_know_what_survived_a_cut() -> None:
    log = [bundle(0, "a#0", ("h", "set", [{"t": 1}, {"t": 2}])), bundle(1, "b#1", ("h", "set", [{"t": 2}]))]

    births = array_provenance(log, "h").births or ()

    assert [(birth.commit_idx, birth.basis) for birth in births] == [(1, "whole-value")]


def test_one_element_can_be_asked_for() -> None:
    log = [bundle(0, "a#0", ("h", "append", ["x"])), bundle(1, "b#1", ("h", "append", ["y"]))]

    birth = element_provenance(log, "h", 1)

    assert birth is not None
    assert birth.value == "y"
    assert element_provenance(log, "h", 1, at=0) is None
    assert element_provenance(log, "h", -1) is None
    assert element_provenance(log, "other", 0) is None


def test_an_element_appended_to_a_place_that_does_not_exist_is_not_born() -> None:
    log = [bundle(0, "s#0", ("o", "set", [])), bundle(1, "s#1", ("o\x1fx", "append", [1]))]

    assert array_provenance(log, ["o", "x"]).missing == "not-an-array"
