"""Tests of agentfootprint.flow.tell.recorder: the same words from events (see tests/flow/test_random_charts.py too)."""

from __future__ import annotations

from agentfootprint.flow import Chart, FlowSnapshot, NarrativeOptions, NarrativeRecorder, Stage, StageContext, State


def work(s: State, ctx: StageContext) -> None:
    s["n"] = ctx.get("n", 0) + 1


FLOW = Chart.of("Told", Stage(work, id="a"), Stage(work, id="b")).build()


def test_it_tells_what_the_executor_tells() -> None:
    recorder = NarrativeRecorder()

    result = FLOW.run_sync(recorders=[recorder])

    assert recorder.entries() == result.narrative.entries()


def test_it_tells_more_as_the_run_goes_on() -> None:
    recorder, seen = NarrativeRecorder(), list[int]()

    def look(s: State) -> None:
        seen.append(len(recorder.narrative()))

    Chart.of("Told", Stage(work, id="a"), Stage(look, id="b"), Stage(look, id="c")).build().run_sync(
        recorders=[recorder]
    )

    assert seen == [3, 4]
    assert len(recorder.narrative()) == 5


def test_it_begins_anew_with_each_run() -> None:
    recorder = NarrativeRecorder()
    executor = FLOW.executor(recorders=[recorder])

    executor.run_sync()
    executor.run_sync()

    assert len(recorder.narrative()) == 6


def test_its_lines_stand_in_the_snapshot_as_it_tells_them() -> None:
    recorder = NarrativeRecorder(NarrativeOptions(include_values=False), id="story")

    snapshot: FlowSnapshot = FLOW.run_sync(recorders=[recorder]).snapshot()

    (shown,) = snapshot.to_wire()["recorders"]
    assert (shown["id"], shown["name"], shown["preferredOperation"]) == ("story", "Narrative", "translate")
    assert shown["data"][2] == {
        "type": "step",
        "text": "Step 2: Write n",
        "depth": 1,
        "stageName": "A",
        "stageId": "a",
        "runtimeStageId": "a#0",
        "stepNumber": 2,
        "key": "n",
    }


def test_ids_are_unique_by_default() -> None:
    first, second = NarrativeRecorder(), NarrativeRecorder()

    assert first.id != second.id
    assert first.id.startswith("narrative-")
