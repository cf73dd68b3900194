"""Tests of agentfootprint.flow.out.spec."""

from __future__ import annotations

from typing import Any

from agentfootprint.flow import Chart, Decider, nodes_from_spec
from tests.flow.charts import always, raw
from tests.flow.out.charts import EVERYTHING


def node(id: str, spec: dict[str, Any] | None = None) -> dict[str, Any]:
    """The node with this id, without what hangs on it."""
    waiting = [EVERYTHING.to_spec() if spec is None else spec]
    while waiting:
        found = waiting.pop()
        if found["id"] == id and not found.get("isLoopReference"):
            return {key: value for key, value in found.items() if key not in ("next", "children", "subflowStructure")}
        waiting += [*found.get("children", ()), *([found["next"]] if "next" in found else [])]
    raise AssertionError(id)


def test_a_stage_with_children_is_a_fork_and_says_what_was_said_of_it() -> None:
    assert node("s") == {"name": "S", "id": "s", "type": "fork", "icon": "flag", "description": "begin"}
    assert node("p1") == {
        "name": "P1", "id": "p1", "type": "stage", "isParallelChild": True, "parallelGroupId": "s",
    }  # fmt: skip


def test_each_kind_says_what_it_is() -> None:
    assert node("d")["hasDecider"] is True
    assert node("d")["branchIds"] == ["a", "b", "c"]
    assert node("pick")["hasSelector"] is True
    assert node("ask")["isPausable"] is True
    assert (node("talk")["type"], node("talk")["streamId"]) == ("streaming", "words")
    assert node("a")["convergeAt"] == "z"
    assert node("b")["loopTarget"] == "j"


def test_a_mount_holds_the_structure_inside_and_its_maps_where_they_are_data() -> None:
    assert node("c") == {
        "name": "C", "id": "c", "type": "stage", "isSubflowRoot": True, "subflowId": "c", "subflowName": "C",
        "inputMap": {"x": "y"},
    }  # fmt: skip
    assert node("sub")["outputMap"] == {"r": "z"}
    assert node("sub")["subflowName"] == "The sub"


def test_ids_inside_a_mount_are_those_of_its_own_chart() -> None:
    fork = EVERYTHING.to_spec()["children"][1]

    assert fork["subflowStructure"]["id"] == "work"
    assert fork["subflowStructure"]["next"] == {"name": "More", "id": "more", "type": "stage"}


def test_a_loop_ends_in_a_reference() -> None:
    spec = EVERYTHING.to_spec()
    while "loopTarget" not in spec:
        spec = spec["next"]

    assert spec["id"] == "z"
    assert spec["next"] == {"name": "j", "id": "j", "type": "loop", "isLoopReference": True}


def test_the_copy_that_a_default_makes_is_not_listed() -> None:
    flow = Chart.of("D", Decider(always("a"), [raw("a"), raw("b")], id="d", raw=True, default_node="b")).build()

    spec = flow.to_spec()

    assert spec["branchIds"] == ["a", "b"]
    assert [child["id"] for child in spec["children"]] == ["a", "b"]


def test_each_structure_is_a_new_object() -> None:
    EVERYTHING.to_spec()["next"].clear()

    assert EVERYTHING.to_spec()["next"]["id"] == "j"


def test_a_chain_of_5000_stages_has_a_structure() -> None:
    flow = Chart.of("Long", *(raw(f"s{number}") for number in range(5000))).build()

    spec = flow.to_spec()

    assert [found.id for found in nodes_from_spec(spec)] == [info.id for info in flow.stages]


def test_names_ids_and_edges_are_read_back() -> None:
    nodes = {found.id: found for found in nodes_from_spec(EVERYTHING.to_spec())}

    assert list(nodes) == ["s", "p1", "sf-p", "j", "d", "a", "b", "c", "pick", "e", "f", "ask", "talk", "sub", "z"]
    assert (nodes["s"].children, nodes["s"].next) == (("p1", "sf-p"), "j")
    assert (nodes["b"].next, nodes["b"].loops) == ("j", True)
    assert (nodes["z"].name, nodes["z"].type, nodes["z"].next, nodes["z"].loops) == ("Z", "stage", "j", True)
