"""Tests of agentfootprint.flow.recorders.manifest, and of what an executor says of its mounts."""

from __future__ import annotations

from typing import Any

from agentfootprint.flow import Chart, LoopTo, ManifestRecorder, Stage, StageContext, State, Subflow


def work(s: State, ctx: StageContext) -> None:
    s["n"] = ctx.get("n", 0) + 1


def stop(s: State, ctx: StageContext) -> None:
    s["rounds"] = ctx.get("rounds", 0) + 1
    if s["rounds"] == 2:
        ctx.break_()


INNER = Chart.of("In", Stage(work, id="i", description="count"))
OUTER = Chart.of("Out", Stage(work, id="p"), Subflow(INNER, id="in"))
FLOW = Chart.of(
    "Top", Stage(work, id="a"), Subflow(OUTER, id="out"), Subflow(INNER, id="in"), Stage(stop, id="b"), LoopTo("a")
).build()

MANIFEST: list[dict[str, Any]] = [
    {
        "subflowId": "out",
        "name": "Out",
        "children": [{"subflowId": "out/in", "name": "In", "description": "count", "children": []}],
    },
    {"subflowId": "in", "name": "In", "description": "count", "children": []},
]


def test_each_mount_that_was_entered_stands_there_once_inside_the_one_around_it() -> None:
    recorder = ManifestRecorder()
    executor = FLOW.executor(recorders=[recorder])

    executor.run_sync()

    assert [entry.to_wire() for entry in recorder.manifest()] == MANIFEST
    assert [entry.to_wire() for entry in executor.subflow_manifest()] == MANIFEST


def test_it_begins_anew_with_each_run() -> None:
    recorder = ManifestRecorder()
    executor = FLOW.executor(recorders=[recorder])

    executor.run_sync()
    executor.run_sync()

    assert len(recorder.manifest()) == 2


def test_nothing_was_entered_before_the_first_run() -> None:
    assert FLOW.executor().subflow_manifest() == []


def test_the_structure_of_a_mount_is_found_by_its_id() -> None:
    executor = FLOW.executor()

    inner = executor.subflow_spec("out/in")

    assert inner is not None
    assert (inner["id"], inner["description"]) == ("i", "count")
    outer = executor.subflow_spec("out")
    assert outer is not None
    assert outer["id"] == "p"
    assert executor.subflow_spec("out/nowhere") is None
    assert executor.subflow_spec("nowhere") is None


def test_a_structure_that_became_known_on_the_way_is_kept() -> None:
    recorder = ManifestRecorder()
    lazy = Subflow(lambda: INNER, id="lazy", lazy=True)
    executor = Chart.of("Top", Stage(work, id="a"), lazy).build().executor(recorders=[recorder])

    executor.run_sync()

    found = executor.subflow_spec("lazy")
    assert found is not None
    assert found["id"] == "i"
    assert recorder.to_snapshot()["data"]["manifest"][0]["subflowId"] == "lazy"
