"""Tests of agentfootprint.flow.out.items."""

from __future__ import annotations

from typing import Any

from agentfootprint.flow import Chart, DeciderCompleted, SpecItem, Subflow, walk_subflow_spec
from tests.flow.charts import raw
from tests.flow.out.charts import EVERYTHING


def walked(spec: dict[str, Any], **options: Any) -> list[SpecItem]:
    return list(walk_subflow_spec(spec, "top", **options))


def edges(items: list[SpecItem]) -> list[tuple[str, str, str]]:
    wires = [item.to_wire() for item in items if item.type == "edge"]
    return [(wire["from"], wire["to"], wire["kind"]) for wire in wires]


def test_each_stage_comes_once_before_the_edges_into_it() -> None:
    items = walked(EVERYTHING.to_spec(), recurse=False)

    stages = [item.to_wire()["stageId"] for item in items if item.type == "stage"]
    assert stages == ["s", "p1", "sf-p", "j", "d", "a", "b", "c", "pick", "e", "f", "ask", "talk", "sub", "z"]
    assert items[0].to_wire() == {
        "type": "subflow-start", "subflowPath": "top", "source": "walker", "rootStageId": "s",
    }  # fmt: skip
    assert items[-1].type == "loop"


def test_join_edges_go_from_the_branches_unless_they_loop_or_converge_elsewhere() -> None:
    found = edges(walked(EVERYTHING.to_spec(), recurse=False))

    assert ("p1", "j", "next") in found
    assert ("sf-p", "j", "next") in found
    assert [edge for edge in found if edge[1] == "pick"] == [("c", "pick", "next")]
    assert [edge for edge in found if edge[1] == "z"] == [("sub", "z", "next"), ("a", "z", "next")]
    assert [edge for edge in found if edge[0] == "s"] == [("s", "p1", "fork-branch"), ("s", "sf-p", "fork-branch")]
    assert [edge for edge in found if edge[0] == "d"] == [("d", branch, "decision-branch") for branch in "abc"]


def test_loops_are_edges_of_their_own() -> None:
    loops = [item.to_wire() for item in walked(EVERYTHING.to_spec(), recurse=False) if item.type == "loop"]

    assert [(loop["from"], loop["to"]) for loop in loops] == [("b", "j"), ("z", "j")]


def test_mounted_charts_are_entered_right_after_their_mount() -> None:
    deepest = Chart.of("Deepest", raw("x"))
    inner = Chart.of("Inner", raw("i"), Subflow(deepest, id="deep"))
    flow = Chart.of("Top", raw("s"), Subflow(inner, id="in"), raw("t")).build()

    items = walked(flow.to_spec())

    assert [(item.type, item.subflow_path) for item in items] == [
        ("subflow-start", "top"),
        ("stage", "top"),
        ("stage", "top"),
        ("edge", "top"),
        ("subflow", "top"),
        ("subflow-start", "top/in"),
        ("stage", "top/in"),
        ("stage", "top/in"),
        ("edge", "top/in"),
        ("subflow", "top/in"),
        ("subflow-start", "top/in/deep"),
        ("stage", "top/in/deep"),
        ("stage", "top"),
        ("edge", "top"),
    ]
    assert {item.source for item in items} == {"walker"}


def test_a_mount_tells_where_its_inside_is_found() -> None:
    flow = Chart.of("Top", raw("s"), Subflow(Chart.of("Inner", raw("i")), id="in", name="Inside")).build()

    mount = next(item for item in walked(flow.to_spec(), recurse=False) if item.type == "subflow").to_wire()

    assert mount == {
        "type": "subflow", "subflowPath": "top", "source": "walker", "subflowId": "in", "subflowName": "Inside",
        "rootStageId": "in", "subflowSpec": {"name": "I", "id": "i", "type": "stage"},
    }  # fmt: skip


def test_a_structure_that_leads_back_to_itself_ends() -> None:
    spec: dict[str, Any] = {"id": "a", "name": "A", "type": "stage", "isSubflowRoot": True, "subflowId": "a"}
    spec["subflowStructure"] = spec
    spec["next"] = spec

    assert [item.type for item in walked(spec)] == ["subflow-start", "stage", "subflow"]


def test_a_branch_of_a_foreign_chart_may_go_on_before_it_joins() -> None:
    more = {"id": "a2", "name": "A2", "type": "stage"}
    spec = {
        "id": "d", "name": "D", "type": "decider", "hasDecider": True, "branchIds": ["a"],
        "children": [{"id": "a", "name": "A", "type": "stage", "next": more}],
        "next": {"id": "j", "name": "J", "type": "stage"},
    }  # fmt: skip

    assert edges(walked(spec)) == [("d", "a", "decision-branch"), ("a", "a2", "next"), ("a2", "j", "next")]


def test_an_event_without_an_optional_fact_leaves_it_out() -> None:
    told = DeciderCompleted(decider="d", type="decider", branch_ids=("a",))

    assert told.to_wire() == {"decider": "d", "type": "decider", "branchIds": ["a"]}
