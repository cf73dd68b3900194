"""Tests of agentfootprint.flow.recorders.quality."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint.flow import Chart, Executor, Fork, QualityRecorder, Stage, StageContext, State, StepFacts
from agentfootprint.trace import QualityScore, keys_read_from_execution_tree
from tests.flow.charts import always


def seed(s: State) -> None:
    s["a"] = 1


def mix(s: State, ctx: StageContext) -> None:
    s["b"] = ctx.get("a") + ctx.get("a")
    s["c"] = ctx.get("b")


def by_stage(step: StepFacts) -> float:
    return 0.25 if step.stage_id == "mix" else 0.75


def judged(score: Any) -> tuple[QualityRecorder, Executor]:
    recorder = QualityRecorder(score)
    executor = Chart.of("Judged", Stage(seed, id="seed"), Stage(mix, id="mix")).build().executor(recorders=[recorder])
    executor.run_sync()
    return recorder, executor


def test_a_step_is_judged_by_what_it_read_wrote_and_took() -> None:
    facts: list[StepFacts] = []

    def keep(step: StepFacts) -> float:
        facts.append(step)
        return 1.0

    judged(keep)

    assert [(each.stage_name, each.stage_id, each.keys_read, each.keys_written) for each in facts] == [
        ("Seed", "seed", (), ("a",)),
        ("Mix", "mix", ("a", "b"), ("b", "c")),
    ]
    assert all(each.duration_ms >= 0 for each in facts)


@pytest.mark.parametrize(
    ("verdict", "score"),
    [
        (0.5, QualityScore(0.5)),
        (7, QualityScore(1.0)),
        (-1, QualityScore(0.0)),
        (float("inf"), QualityScore(1.0)),
        ((0.25, ["short"]), QualityScore(0.25, ("short",))),
        ({"score": 0.25, "factors": ["short"]}, QualityScore(0.25, ("short",))),
        ({"score": 0.25}, QualityScore(0.25)),
        (QualityScore(0.5, ("ok",)), QualityScore(0.5, ("ok",))),
    ],
)
def test_a_score_is_brought_between_0_and_1(verdict: Any, score: QualityScore) -> None:
    recorder, _ = judged(always(verdict))

    assert recorder.score_of("seed#0") == score


@pytest.mark.parametrize("verdict", [float("nan"), "good", None, {}])
def test_what_is_no_score_leaves_the_step_without_one_and_counts_as_a_failure(verdict: Any) -> None:
    recorder, executor = judged(always(verdict))

    assert recorder.scores() == {}
    assert recorder.overall() == 1.0
    assert recorder.lowest() is None
    assert executor.recorder_failures[recorder.id, "on_stage_end"] == 2


def test_mean_minimum_and_the_mean_so_far() -> None:
    recorder, _ = judged(by_stage)

    assert recorder.overall() == 0.5
    assert recorder.score_up_to({"seed#0"}) == 0.75
    assert recorder.lowest() == ("mix#1", QualityScore(0.25))


def test_where_quality_dropped_is_found_along_the_causes() -> None:
    recorder, executor = judged(by_stage)
    snapshot = executor.snapshot()
    assert snapshot.execution_tree is not None

    trace = recorder.trace(snapshot.commit_log, "mix#1", keys_read_from_execution_tree(snapshot.execution_tree))

    assert trace.largest_drop is not None
    assert (trace.largest_drop.frame.runtime_stage_id, trace.largest_drop.drop) == ("mix#1", 0.5)


def test_steps_that_run_side_by_side_stay_apart() -> None:
    async def suspended(s: State, ctx: StageContext) -> None:
        ctx.get(f"{ctx.runtime_stage_id[0]}1")
        await asyncio.sleep(0)
        ctx.get(f"{ctx.runtime_stage_id[0]}2")

    facts: dict[str, tuple[str, ...]] = {}

    def keep(step: StepFacts) -> float:
        facts[step.stage_id] = step.keys_read
        return 1.0

    recorder = QualityRecorder(keep)
    fork = Fork([Stage(suspended, id="x"), Stage(suspended, id="y")])

    Chart.of("Judged", Stage(seed, id="seed"), fork).build().run_sync(recorders=[recorder])

    assert facts == {"seed": (), "x": ("x1", "x2"), "y": ("y1", "y2")}


def test_the_snapshot_says_which_number_to_show() -> None:
    def score(step: StepFacts) -> Any:
        return (0.25, ["low"]) if step.stage_id == "mix" else 0.75

    recorder, _ = judged(score)

    assert recorder.to_snapshot()["data"] == {
        "numericField": "score",
        "overallScore": 0.5,
        "lowestStep": {"runtimeStageId": "mix#1", "score": 0.25, "factors": ["low"]},
        "steps": {"seed#0": {"score": 0.75, "factors": []}, "mix#1": {"score": 0.25, "factors": ["low"]}},
    }
