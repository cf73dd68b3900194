"""Tests of agentfootprint.flow.recorders.topology."""

from __future__ import annotations

from typing import Any

from agentfootprint.flow import (
    Chart,
    Decider,
    Fork,
    LoopTo,
    Part,
    Stage,
    StageContext,
    State,
    Subflow,
    Topology,
    TopologyRecorder,
)
from tests.flow.charts import always


def work(s: State, ctx: StageContext) -> None:
    s["n"] = ctx.get("n", 0) + 1


def stop(s: State, ctx: StageContext) -> None:
    s["rounds"] = ctx.get("rounds", 0) + 1
    if s["rounds"] == 2:
        ctx.break_()


INNER = Chart.of("In", Stage(work, id="i", description="count"))
OUTER = Chart.of("Out", Stage(work, id="p"), Subflow(INNER, id="in"))


def drawn(*parts: Part) -> Topology:
    recorder = TopologyRecorder()
    Chart.of("Top", Stage(work, id="a"), *parts).build().run_sync(recorders=[recorder])
    return recorder.topology()


def nodes(topology: Topology) -> list[tuple[Any, ...]]:
    return [(node.id, node.kind, node.parent_id, node.depth, node.incoming_kind) for node in topology.nodes]


def edges(topology: Topology) -> list[tuple[str, str, str]]:
    return [(edge.source, edge.target, edge.kind) for edge in topology.edges]


def test_mounts_stand_in_each_other_and_follow_each_other() -> None:
    topology = drawn(Subflow(OUTER, id="out"), Subflow(INNER, id="in"))

    assert nodes(topology) == [
        ("out", "subflow", None, 0, "root"),
        ("out/in", "subflow", "out", 1, "next"),
        ("in", "subflow", None, 0, "next"),
    ]
    assert edges(topology) == [("out", "out/in", "next"), ("out", "in", "next")]
    assert topology.root_id == "out"
    assert topology.active_node_id is None
    assert all(node.exited_at is not None for node in topology.nodes)
    assert topology.nodes[1].metadata == {"runtimeStageId": "out/in#3", "description": "count"}


def test_a_mount_that_is_entered_again_gets_a_number_and_the_loop_an_edge() -> None:
    topology = drawn(Subflow(INNER, id="in"), Stage(stop, id="b"), LoopTo("a"))

    assert [node.id for node in topology.nodes] == ["in", "in#1"]
    assert ("in", "in", "loop-iteration") in edges(topology)
    assert ("in", "in#1", "next") in edges(topology)


def test_branches_are_nodes_and_mounts_that_run_as_branches_stand_in_them() -> None:
    topology = drawn(Fork([Stage(work, id="x"), Subflow(INNER, id="in", name="Sub")]), Stage(work, id="b"))

    assert nodes(topology) == [
        ("a#0/X", "fork-branch", None, 0, "root"),
        ("a#0/Sub", "fork-branch", None, 0, "fork-branch"),
        ("in", "subflow", "a#0/Sub", 1, "fork-branch"),
    ]


def test_a_decision_shows_the_branch_that_was_chosen() -> None:
    branches = [Stage(work, id="x"), Subflow(INNER, id="in", name="Sub")]
    decider = Decider(always("in"), branches, id="d", raw=True)

    topology = drawn(Subflow(OUTER, id="out"), decider)

    assert nodes(topology)[2:] == [
        ("d#5/Sub", "decision-branch", None, 0, "decision-branch"),
        ("in", "subflow", "d#5/Sub", 1, "decision-branch"),
    ]
    assert edges(topology)[1:] == [("out", "d#5/Sub", "decision-branch"), ("d#5/Sub", "in", "next")]


def test_while_a_run_is_in_a_mount_that_is_the_active_one() -> None:
    active: list[str | None] = []
    recorder = TopologyRecorder()

    def look(s: State) -> None:
        active.append(recorder.topology().active_node_id)

    inner = Chart.of("In", Stage(look, id="i"))
    parts = [Stage(look, id="a"), Subflow(Chart.of("Out", Stage(look, id="p"), Subflow(inner, id="in")), id="out")]

    Chart.of("Top", *parts, Stage(look, id="b")).build().run_sync(recorders=[recorder])

    assert active == [None, "out", "out/in", None]
    assert [node.id for node in recorder.children("out")] == ["out/in"]


def test_the_snapshot_holds_the_graph() -> None:
    recorder = TopologyRecorder()

    Chart.of("Top", Stage(always(None), id="a", raw=True), Subflow(INNER, id="in")).build().run_sync(
        recorders=[recorder]
    )

    shown = recorder.to_snapshot()["data"]
    assert (shown["rootId"], shown["activeNodeId"], shown["edges"]) == ("in", None, [])
    assert (shown["nodes"][0]["kind"], shown["nodes"][0]["incomingKind"]) == ("subflow", "root")
