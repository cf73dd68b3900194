"""Tests of agentfootprint.trace.rows.tree."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

from agentfootprint.flow import (
    Chart,
    Decider,
    FlowRun,
    Handle,
    LoopTo,
    Part,
    Selector,
    Stage,
    StageContext,
    State,
    Subflow,
)
from agentfootprint.trace import (
    Dials,
    keys_read_from_execution_tree,
    project_commit_log,
    project_reads,
    project_snapshot,
    project_subflow_results,
    project_tree,
    slice_for_key,
    slice_to_json,
)
from tests.flow.charts import agent_shape, always, nothing, raw


def run_of(*parts: Part, **options: Any) -> FlowRun:
    run = FlowRun(Chart.of("Tree", *parts).build(), **options)
    asyncio.run(run.start())
    return run


def tree_of(*parts: Part, **options: Any) -> Any:
    return project_tree(run_of(*parts, **options).journal)


def test_nothing_that_ran_is_no_tree() -> None:
    assert project_tree(FlowRun(Chart.of("Tree", raw("s")).build()).journal) is None


def test_a_chain_of_five_thousand_stages_is_built_without_recursion() -> None:
    tree = tree_of(*(raw(f"s{n}") for n in range(5000)))

    depth = 0
    while tree is not None:
        depth += 1
        tree = tree.get("next")
    assert depth == 5000


def test_native_and_full_dials_give_the_same_tree_up_to_the_values_shown() -> None:
    native = tree_of(*agent_shape(1).parts, dials=Dials(reads="full", writes="full", values="delta"))
    full = tree_of(*agent_shape(1).parts)

    def shape(node: Any) -> Any:
        kept = {key: node[key] for key in ("id", "runtimeStageId", "name")}
        kept["reads"] = sorted(node.get("stageReads", {}))
        kept["messages"] = [m["description"] for m in node.get("flowMessages", [])]
        kept["next"] = shape(node["next"]) if "next" in node else None
        kept["children"] = [shape(child) for child in node.get("children", [])]
        return kept

    assert shape(native) == shape(full)


def test_a_summary_stands_for_what_was_read_and_written() -> None:
    def write(h: Handle) -> None:
        h["t"] = "x" * 100

    def read(h: Handle) -> None:
        h["t"]

    tree = tree_of(raw("w", write), raw("r", read))

    preview = {"type": "string", "size": 100, "preview": "x" * 80}
    assert tree["stageWrites"] == {"t": {"__writeSummary": True, **preview}}
    assert tree["next"]["stageReads"] == {"t": {"__readSummary": True, **preview}}


def test_with_tracking_off_the_tree_has_no_reads_and_a_slice_says_so() -> None:
    def write(s: State) -> None:
        s["a"] = 1

    def copy(s: State) -> None:
        s["b"] = s["a"]

    run = run_of(Stage(write, id="w"), Stage(copy, id="c"), dials=Dials(reads="off", writes="off"))
    tree = project_tree(run.journal)
    assert tree is not None
    log = project_commit_log(run.journal)

    found = slice_for_key(log, "b", keys_read_from_execution_tree(tree))

    assert "stageReads" not in tree["next"]
    assert "stageWrites" not in tree
    assert project_reads(run.journal) == {}
    assert "NOT absent" in str(found)


def test_a_json_round_trip_gives_the_same_slice() -> None:
    run = run_of(*agent_shape(2).parts)
    tree = project_tree(run.journal)
    assert tree is not None
    log = project_commit_log(run.journal)

    live = slice_to_json(slice_for_key(log, "history", keys_read_from_execution_tree(tree)))
    wire = json.loads(json.dumps([bundle.to_wire() for bundle in log]))
    stored = slice_for_key(wire, "history", keys_read_from_execution_tree(json.loads(json.dumps(tree))))

    assert slice_to_json(stored) == live
    assert list(live["nodes"]) == ["tool-calls#44", "tool-calls#22", "seed#0"]


def test_a_looping_mount_keeps_every_result() -> None:
    def work(h: Handle) -> None:
        h["n"] = h.index

    def stop(h: Handle) -> None:
        if h.run.visits[h.info.number] == 3:
            h.break_()

    run = run_of(raw("s"), Subflow(Chart.of("In", raw("work", work)), id="sf"), raw("stop", stop), LoopTo("sf"))

    results = project_subflow_results(run.journal)

    assert list(results) == ["sf", "sf#1", "sf#4", "sf#7"]
    assert [results[key]["treeContext"]["globalContext"]["n"] for key in ("sf#1", "sf#4", "sf#7")] == [2, 5, 8]
    assert results["sf"] is results["sf#7"]


def test_an_error_stands_where_it_was_raised_and_at_the_mounts_above() -> None:
    def fail(h: Handle) -> None:
        raise ValueError("bad")

    run = FlowRun(Chart.of("Tree", raw("s"), Subflow(Chart.of("In", raw("fail", fail)), id="sf")).build())
    with contextlib.suppress(ValueError):
        asyncio.run(run.start())

    snapshot = project_snapshot(run.journal)

    mount = snapshot["executionTree"]["next"]
    assert mount["errors"] == {"subflowError": "ValueError: bad"}
    inner = snapshot["subflowResults"]["sf"]["treeContext"]["stageContexts"]
    assert inner["errors"] == {"stageExecutionError": "ValueError: bad"}


def test_what_was_chosen_is_told_in_words() -> None:
    def choose(s: State, ctx: StageContext) -> str:
        ctx.debug("deciderRationale", "the score was good")
        return "a"

    selector = Selector(always([]), [raw("x")], id="pick", raw=True)
    tree = tree_of(Decider(choose, [raw("a"), raw("b")], id="d"), selector, Stage(nothing, id="end"))

    assert tree["flowMessages"][0]["description"] == "Based on: the score was good → chose A path."
    assert tree["next"]["flowMessages"][0]["description"] == "No children selected — skipping all branches."
    assert tree["next"]["logs"]["skippedAllChildren"] is True
