"""Tests of agentfootprint.flow.recorders.inout."""

from __future__ import annotations

import contextlib

from agentfootprint.flow import Chart, InOutRecorder, LoopTo, Stage, StageContext, State, Subflow


def work(s: State, ctx: StageContext) -> int:
    s["n"] = ctx.get("n", 0) + 1
    return 9


def fails(s: State) -> None:
    raise ValueError("bad")


INNER = Chart.of("In", Stage(work, id="i", description="count"))
OUTER = Chart.of("Out", Stage(work, id="p"), Subflow(INNER, id="in", input=("n",), inputs="mutable"))


def test_each_boundary_has_an_entry_and_an_exit_the_run_too() -> None:
    recorder = InOutRecorder()
    flow = Chart.of("Top", Stage(work, id="a"), Subflow(OUTER, id="out", name="Outer", input=("n",), inputs="mutable"))

    flow.build().run_sync({"q": 1}, recorders=[recorder])

    assert [(c.runtime_stage_id, c.phase, c.depth, c.subflow_path) for c in recorder.crossings()] == [
        ("__root__#0", "entry", 0, ("__root__",)),
        ("out#1", "entry", 1, ("__root__", "out")),
        ("out/in#3", "entry", 2, ("__root__", "out", "in")),
        ("out/in#3", "exit", 2, ("__root__", "out", "in")),
        ("out#1", "exit", 1, ("__root__", "out")),
        ("__root__#0", "exit", 0, ("__root__",)),
    ]
    root_in, root_out = recorder.root()
    assert root_in is not None
    assert root_out is not None
    assert (root_in.subflow_name, root_in.is_root, root_in.to_wire()["payload"]) == ("Run", True, {"q": 1})
    entry, exit_ = recorder.boundary("out/in#3")
    assert entry is not None
    assert exit_ is not None
    assert (entry.local_subflow_id, entry.description) == ("in", "count")
    assert (entry.to_wire()["payload"], exit_.to_wire()["payload"]) == ({"n": 2}, {"n": 3})


def test_a_mount_in_a_loop_has_a_pair_for_each_time() -> None:
    def stop(s: State, ctx: StageContext) -> None:
        s["rounds"] = ctx.get("rounds", 0) + 1
        if s["rounds"] == 3:
            ctx.break_()

    recorder = InOutRecorder()
    parts = [Stage(work, id="a"), Subflow(INNER, id="in"), Stage(stop, id="b"), LoopTo("a")]

    Chart.of("Top", *parts).build().run_sync(recorders=[recorder])

    steps = [c.runtime_stage_id for c in recorder.crossings() if c.subflow_id == "in" and c.phase == "entry"]
    assert steps == ["in#1", "in#5", "in#9"]
    assert all(None not in recorder.boundary(step) for step in steps)


def test_a_run_that_failed_has_an_exit_with_nothing() -> None:
    recorder = InOutRecorder()
    flow = Chart.of("Top", Stage(work, id="a"), Subflow(Chart.of("In", Stage(fails, id="i")), id="in")).build()

    with contextlib.suppress(ValueError):
        flow.run_sync(recorders=[recorder])

    _, mount_exit = recorder.boundary("in#1")
    _, root_exit = recorder.root()
    assert mount_exit is not None
    assert root_exit is not None
    assert "payload" not in root_exit.to_wire()
    assert recorder.boundary("never#1") == (None, None)


def test_the_snapshot_holds_the_crossings() -> None:
    recorder = InOutRecorder()

    Chart.of("Top", Stage(work, id="a")).build().run_sync(recorders=[recorder])

    assert recorder.to_snapshot()["data"][1] == {
        "runtimeStageId": "__root__#0",
        "subflowId": "__root__",
        "localSubflowId": "__root__",
        "subflowName": "Run",
        "subflowPath": ["__root__"],
        "depth": 0,
        "phase": "exit",
        "isRoot": True,
        "payload": 9,
    }
