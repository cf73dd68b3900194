"""Traps of recorders: 17, 18, 19, 23, 29 of the list, and the half of 27 that concerns words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings

from agentfootprint.flow import (
    Chart,
    Decider,
    EmitSeen,
    ErrorSeen,
    Fork,
    LoopTo,
    Part,
    Pausable,
    PauseSeen,
    QualityRecorder,
    Recorder,
    ResumeSeen,
    Sighting,
    Stage,
    StageContext,
    State,
    StepFacts,
    Subflow,
    channel_of,
)
from agentfootprint.testing import EventOrderChecker
from agentfootprint.trace import keys_read_from_execution_tree, thaw
from tests.flow.charts import Listener, always
from tests.flow.random_charts import RandomChart, charts, drive


def work(s: State, ctx: StageContext) -> None:
    s["n"] = ctx.get("n", 0) + 1


def ask(s: State) -> Any:
    return {"q": 1}


def answered(s: State, answer: Any) -> None:
    s["answer"] = answer


class Broken(Recorder):
    """Raises whatever it is told."""

    def fail(self, event: Sighting) -> None:
        raise RuntimeError(event.hook)

    def clear(self) -> None:
        raise RuntimeError("clear")

    def to_snapshot(self) -> dict[str, Any]:
        raise RuntimeError("snapshot")

    on_run_start = on_run_end = on_run_failed = on_stage_start = on_read = on_write = on_emit = on_stage_end = fail
    on_commit = on_stage_executed = on_next = on_decision = on_selected = on_fork = on_subflow_entry = fail
    on_subflow_exit = on_loop = on_break = on_error = on_pause = on_resume = on_stage_retry = fail
    on_subflow_registered = fail


@settings(max_examples=40, deadline=None)
@given(charts())
def test_trap_17_a_raising_recorder_never_changes_a_run_nor_what_others_are_told(drawn: RandomChart) -> None:
    listener, beside = Listener(), Listener()

    alone = drive(drawn.flow.executor(recorders=[listener]))
    watched = drive(drawn.flow.executor(recorders=[Broken("broken"), beside]))

    assert watched.ending == alone.ending
    (one,), (other,) = alone.journals, watched.journals
    assert [step.runtime_stage_id for step in one.executions().values()] == [
        step.runtime_stage_id for step in other.executions().values()
    ]
    told = [event.hook for event in beside.seen if channel_of(event) == "flow" or event.hook != "on_error"]
    assert told == listener.hooks()
    assert watched.executors[0].recorder_failures["broken", "on_run_start"] == 1 + drawn.asks


def test_trap_17_a_recorder_that_can_not_say_what_it_saw_does_not_break_the_snapshot() -> None:
    result = Chart.of("Trap", Stage(work, id="a")).build().run_sync(recorders=[Broken("broken")])

    (shown,) = result.snapshot().to_wire()["recorders"]

    assert shown == {"id": "broken", "name": "Broken", "data": None, "meta": {"error": "RuntimeError"}}


def test_trap_17_a_raising_scorer_never_breaks_a_run() -> None:
    def judge(step: StepFacts) -> float:
        return 1 / 0

    recorder = QualityRecorder(judge)

    result = Chart.of("Trap", Stage(work, id="a")).build().run_sync(recorders=[recorder])

    assert result.state["n"] == 1
    assert recorder.scores() == {}


def test_trap_18_a_recorder_with_nothing_but_on_emit_is_told_of_emits() -> None:
    class Emits(Recorder):
        def __init__(self) -> None:
            super().__init__()
            self.names: list[str] = []

        def on_emit(self, event: EmitSeen) -> None:
            self.names.append(event.name)

    def emits(s: State, ctx: StageContext) -> None:
        ctx.emit("app.one")
        ctx.emit("app.two")

    flow = Chart.of("Trap", Stage(emits, id="a"), Subflow(Chart.of("In", Stage(emits, id="i")), id="in")).build()
    recorder = Emits()
    executor = flow.executor()
    executor.attach(recorder)

    executor.run_sync()

    assert recorder.names == ["app.one", "app.two"] * 2


def test_trap_19_hooks_of_two_channels_are_told_apart_by_the_channel() -> None:
    told: list[tuple[str, str]] = []

    class Both(Recorder):
        def on_pause(self, event: PauseSeen) -> None:
            told.append(("pause", channel_of(event)))

        def on_resume(self, event: ResumeSeen) -> None:
            told.append(("resume", channel_of(event)))

        def on_error(self, event: ErrorSeen) -> None:
            told.append(("error", channel_of(event)))

        def on_stage_start(self, event: object) -> None:
            if len(told) > 3:
                raise RuntimeError("a recorder's own")

    def fails(s: State) -> None:
        raise ValueError("a stage's own")

    flow = Chart.of("Trap", Stage(work, id="a"), Pausable(ask, answered, id="p"), Stage(fails, id="b")).build()
    executor = flow.executor(recorders=[Both()])
    result = executor.run_sync()
    assert result.checkpoint is not None
    with pytest.raises(ValueError, match="a stage's own"):
        executor.resume_sync(result.checkpoint, 1)

    assert told == [
        ("pause", "scope"),
        ("pause", "flow"),
        ("resume", "flow"),
        ("resume", "scope"),
        ("error", "scope"),
        ("error", "scope"),
        ("error", "flow"),
    ]


@pytest.mark.parametrize(
    ("event", "channel"),
    [
        ({"channel": "scope"}, "scope"),
        ({"channel": "flow", "pipelineId": ""}, "flow"),
        ({"stageName": "A", "pipelineId": ""}, "scope"),
        ({"stageName": "A"}, "flow"),
    ],
)
def test_trap_19_an_event_without_a_channel_is_of_the_flow_unless_it_names_a_pipeline(
    event: Mapping[str, Any], channel: str
) -> None:
    assert channel_of(event) == channel


def test_trap_23_what_a_map_reads_of_its_parents_state_is_no_read_of_a_stage() -> None:
    def take(outer: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"x": outer["n"], "m": outer["other"]}

    def give(inner: Any, outer: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"out": outer["n"]}

    def seed(s: State) -> None:
        s["n"] = 1
        s["other"] = 2

    listener = Listener()
    mount = Subflow(Chart.of("In", Stage(work, id="i")), id="in", input=take, output=give)
    result = Chart.of("Trap", Stage(seed, id="a"), mount, Stage(work, id="b")).build().run_sync(recorders=[listener])
    tree = result.snapshot().execution_tree
    assert tree is not None

    reads = keys_read_from_execution_tree(tree)

    assert list(reads("in#1")) == []
    assert {(e.runtime_stage_id, e.key) for e in listener.seen if e.hook == "on_read"} == {  # type: ignore[attr-defined]  reads have both
        ("in/i#2", "n"),
        ("b#3", "n"),
    }


NESTED = Chart.of(
    "Outer",
    Stage(work, id="p"),
    Subflow(Chart.of("Inner", Stage(work, id="i"), Stage(work, id="j")), id="deep"),
    Decider(always("x"), [Subflow(Chart.of("Branch", Stage(work, id="k")), id="x")], id="d", raw=True),
)


def twice(s: State, ctx: StageContext) -> None:
    s["rounds"] = ctx.get("rounds", 0) + 1
    if s["rounds"] == 2:
        ctx.break_()


def test_trap_29_parents_lead_from_any_nested_step_to_the_first_stage() -> None:
    checker = EventOrderChecker()
    parts: list[Part] = [
        Stage(work, id="a"),
        Fork([Stage(work, id="f"), Subflow(NESTED, id="g")]),
        Subflow(NESTED, id="sf"),
        Stage(twice, id="z"),
        LoopTo("a"),
    ]
    executor = Chart.of("Trap", *parts).build().executor(recorders=[checker])

    result = executor.run_sync()

    steps = [step.runtime_stage_id for step in result.journal.executions().values()]
    assert len(steps) == 38
    assert {checker.chain(step)[-1] for step in steps} == {"a#0"}
    checker.check()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, "true"),
        (1, "1"),
        (1.0, "1"),
        (1.5, "1.5"),
        (None, "null"),
        (0, "0"),
        (False, "false"),
        ("", '""'),
        ([], "[]"),
        ([None], "(1 item)"),
        ({}, "{}"),
        ({"a": None}, "{a}"),
    ],
)
def test_trap_27_a_narrative_tells_values_apart_in_the_words_of_json(value: Any, words: str) -> None:
    def write(s: State) -> None:
        s["k"] = value

    def read(s: State, ctx: StageContext) -> None:
        ctx.get("k")
        ctx.get("absent")

    result = Chart.of("Trap", Stage(write, id="a"), Stage(read, id="b")).build().run_sync()

    assert result.narrative.texts() == [
        "Stage 1: The process began with A.",
        f"Step 1: Write k = {words}",
        "Stage 2: Next, it moved on to B.",
        f"Step 1: Read k = {words}",
        "Step 2: Read absent = undefined",
    ]
    assert type(thaw(result.narrative[1].raw_value)) is type(value)
