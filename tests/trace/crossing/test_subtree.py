"""Tests of agentfootprint.trace.crossing.subtree."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agentfootprint.flow import Chart, FlowResult, Stage, Subflow
from agentfootprint.trace import list_subflow_paths, subtree_snapshot
from tests.flow.lambdas import one


def nested() -> FlowResult:
    tool = Chart.of("Tool", Stage(one(lambda s: s.__setitem__("answer", s["q"])), id="call"))
    agent = Chart.of("Agent", Subflow(tool, id="tool", input=("q",), output=("answer",)))
    return asyncio.run(
        Chart.of(
            "Test", Stage(one(lambda s: s.__setitem__("q", 1)), id="ask"), Subflow(agent, id="agent", input=("q",))
        )
        .build()
        .run()
    )


def stored() -> dict[str, Any]:
    return json.loads(json.dumps(nested().snapshot().to_wire()))


def test_mounts_are_listed_by_their_path_and_once() -> None:
    assert list_subflow_paths(stored()) == ["agent/tool", "agent"]
    assert list_subflow_paths({}) == []


def test_a_subtree_holds_state_log_and_tree_of_its_mount() -> None:
    found = subtree_snapshot(stored(), "/agent//tool/")

    assert found is not None
    assert found["subflowId"] == "tool"
    assert found["sharedState"] == {"q": 1, "answer": 1}
    assert found["executionTree"]["runtimeStageId"] == "agent/tool/call#3"
    assert [bundle["runtimeStageId"] for bundle in found["history"]] == ["", "agent/tool/call#3"]


def test_one_execution_of_several_is_found_by_its_id() -> None:
    found = subtree_snapshot(stored(), "agent/tool#2")

    assert found is not None
    assert found["subflowId"] == "tool"


def test_without_results_the_tree_is_searched() -> None:
    snapshot = stored()
    del snapshot["subflowResults"]

    found = subtree_snapshot(snapshot, "agent")

    assert found is not None
    assert found["executionTree"]["runtimeStageId"] == "agent#1"
    assert "sharedState" not in found


def test_an_unknown_mount_and_no_path_are_nothing() -> None:
    assert subtree_snapshot(stored(), "nowhere") is None
    assert subtree_snapshot(stored(), "") is None


def test_the_narrative_of_a_mount_holds_what_is_told_of_it_and_of_mounts_in_it() -> None:
    result = nested()

    found = subtree_snapshot(stored(), "agent", list(result.narrative))
    told = subtree_snapshot(stored(), "agent/tool", [{"subflowId": "agent"}, {"subflowId": "agent/tool"}, {}])

    assert found is not None
    assert told is not None
    assert {entry.subflow_id for entry in found["narrativeEntries"]} <= {"agent", "agent/tool"}
    assert told["narrativeEntries"] == [{"subflowId": "agent/tool"}]
