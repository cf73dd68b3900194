"""Tests of agentfootprint.flow.recorders.metrics."""

from __future__ import annotations

import asyncio
from typing import Any

from agentfootprint.flow import Chart, Fork, MetricRecorder, Pausable, Stage, StageContext, State

GATES: dict[str, asyncio.Event] = {}


def work(s: State, ctx: StageContext) -> None:
    s["n"] = ctx.get("n", 0) + 1


async def first(s: State, ctx: StageContext) -> None:
    ctx.get("a")
    GATES["second"].set()
    await GATES["first"].wait()
    ctx.get("a")


async def second(s: State, ctx: StageContext) -> None:
    await GATES["second"].wait()
    s["b"] = 1
    GATES["first"].set()
    ctx.get("b")


def test_it_counts_by_step_and_sums_by_stage() -> None:
    recorder = MetricRecorder()
    executor = Chart.of("Counted", Stage(work, id="a"), Stage(work, id="b", name="A")).build().executor()
    executor.attach(recorder)

    executor.run_sync()

    step = recorder.step("a#0")
    assert step is not None
    assert (step.reads, step.writes, step.commits, step.pauses) == (1, 1, 1, 0)
    assert step.duration_ms > 0
    total = recorder.metrics()
    assert (total.reads, total.writes, total.commits) == (2, 2, 2)
    assert total.stages["A"].invocations == 2
    assert recorder.metrics({"a#0"}).reads == 1


def test_steps_that_run_side_by_side_stay_apart() -> None:
    recorder = MetricRecorder()
    fork = Fork([Stage(first, id="x"), Stage(second, id="y")])

    async def run() -> None:
        GATES.update(first=asyncio.Event(), second=asyncio.Event())
        await Chart.of("Counted", Stage(work, id="a"), fork).build().run(recorders=[recorder])

    asyncio.run(run())

    counts = {step: (each.reads, each.writes) for step, each in recorder.steps().items()}
    assert counts == {"a#0": (1, 1), "x#1": (2, 0), "y#2": (1, 1)}


def test_a_pause_counts_once_and_its_commit_too() -> None:
    def ask(s: State) -> Any:
        return {"q": 1}

    def answered(s: State, answer: Any) -> None: ...

    recorder = MetricRecorder()
    flow = Chart.of("Counted", Stage(work, id="a"), Pausable(ask, answered, id="p")).build()

    flow.run_sync(recorders=[recorder])

    step = recorder.step("p#1")
    assert step is not None
    assert (step.pauses, step.commits) == (1, 1)


def test_only_the_stages_asked_for_are_counted() -> None:
    named, chosen = MetricRecorder(stages=["A"]), MetricRecorder(stages=lambda name: name != "A")

    Chart.of("Counted", Stage(work, id="a"), Stage(work, id="b")).build().run_sync(recorders=[named, chosen])

    assert list(named.steps()) == ["a#0"]
    assert list(chosen.steps()) == ["b#1"]
    assert named.step("b#1") is None


def test_the_snapshot_says_which_number_to_show() -> None:
    recorder = MetricRecorder("mine")

    snapshot = Chart.of("Counted", Stage(work, id="a")).build().run_sync(recorders=[recorder]).snapshot()

    (shown,) = snapshot.to_wire()["recorders"]
    assert (shown["id"], shown["name"], shown["preferredOperation"]) == ("mine", "Metrics", "aggregate")
    data = shown["data"]
    assert data["numericField"] == "readCount"
    assert data["steps"]["a#0"]["readCount"] == data["totalReads"] == 1
    assert data["stages"]["A"]["invocationCount"] == 1


def test_it_begins_anew_with_each_run() -> None:
    recorder = MetricRecorder()
    executor = Chart.of("Counted", Stage(work, id="a")).build().executor(recorders=[recorder])

    executor.run_sync()
    executor.run_sync()

    assert recorder.metrics().reads == 1


def test_default_ids_are_numbered() -> None:
    number = int(MetricRecorder().id.removeprefix("metrics-"))

    assert MetricRecorder().id == f"metrics-{number + 1}"
