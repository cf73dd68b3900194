"""Tests of agentfootprint.trace.questions.sources."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.trace import (
    ABSENT,
    ControlDep,
    ControlDeps,
    keys_read_from_execution_tree,
    keys_read_from_map,
)


def test_several_trees_are_one_source() -> None:
    trees = [
        {"id": "a", "runtimeStageId": "a#0", "stageReads": {"x": 1}},
        {"id": "b", "runtimeStageId": "b#1", "stageReads": {"y": ABSENT}},
    ]

    source = keys_read_from_execution_tree(trees)

    assert (source.kind, source("a#0"), source("b#1")) == ("execution-tree", ("x",), ("y",))


def test_a_tree_of_any_depth_is_walked_once() -> None:
    root: dict[str, Any] = {"id": "s", "runtimeStageId": "s#0"}
    node = root
    for i in range(1, 20_000):
        node["next"] = {"id": "s", "runtimeStageId": f"s#{i}", "stageReads": {"k": i}}
        node = node["next"]
    node["next"] = root

    source = keys_read_from_execution_tree(root)

    assert source.coverage is not None
    assert (source.coverage.steps, source.coverage.steps_with_reads) == (20_000, 19_999)


@pytest.mark.parametrize(("steps", "blind"), [(1, False), (2, True)])
def test_a_tree_without_reads_is_blind_unless_it_is_one_step(steps: int, blind: bool) -> None:
    trees = [{"id": "a", "runtimeStageId": f"a#{i}"} for i in range(steps)]

    source = keys_read_from_execution_tree(trees)

    assert source.coverage is not None
    assert source.coverage.is_blind is blind


def test_a_step_that_a_map_does_not_know_read_nothing() -> None:
    assert keys_read_from_map({"a#0": ["k"]})("b#1") == ()


def test_the_first_step_under_a_decider_enters_its_branch_and_later_ones_come_after_the_join() -> None:
    control = ControlDeps()
    control.decided("route#1", [("approve", "good credit")])
    control.executed("approve#2", "route#1")
    control.executed("notify#3", "approve#2")
    control.executed("done#4", "route#1")

    assert control.lookup("approve#2") == ControlDep("route#1", "good credit")
    assert control.lookup("notify#3") == ControlDep("route#1", "good credit")
    assert control.lookup("done#4") is None
    assert control.lookup("route#1") is None


def test_siblings_fill_the_slots_of_their_own_branches_in_any_order() -> None:
    control = ControlDeps()
    control.decided("pick#0", [("mail", "by mail"), ("sf-call", "by phone")])
    control.executed("sf-call/dial#1", "pick#0")
    control.executed("mail#2", "pick#0")

    assert control.lookup("mail#2") == ControlDep("pick#0", "by mail")
    assert control.lookup("sf-call/dial#1") == ControlDep("pick#0", "by phone")


def test_a_decision_inside_a_branch_is_the_nearest() -> None:
    control = ControlDeps()
    control.decided("outer#0", [("inner", None)])
    control.executed("inner#1", "outer#0")
    control.decided("inner#1", [("leaf", "yes")])
    control.executed("leaf#2", "inner#1")

    assert control.lookup("leaf#2") == ControlDep("inner#1", "yes")
    assert control.lookup("inner#1") == ControlDep("outer#0")


def test_decisions_are_listed_until_another_run_begins() -> None:
    control = ControlDeps()
    control.decided("a#0", [("x", "label"), ("y", None)], {"rules": []})

    assert control.decisions() == [
        {"deciderRuntimeStageId": "a#0", "chosen": "x", "evidence": {"rules": []}, "ruleLabel": "label"},
        {"deciderRuntimeStageId": "a#0", "chosen": "y", "evidence": {"rules": []}},
    ]
    control.clear()
    assert control.decisions() == []


def test_parents_that_form_a_ring_end_the_search() -> None:
    control = ControlDeps()
    control.executed("a#0", "b#1")
    control.executed("b#1", "a#0")
    control.executed("b#1", "b#1")

    assert control.lookup("a#0") is None
