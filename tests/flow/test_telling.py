"""Tests of agentfootprint.flow.telling."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from agentfootprint.flow import (
    BreakSeen,
    Chart,
    Decider,
    DecisionSeen,
    ErrorSeen,
    Fork,
    LoopTo,
    Part,
    Pausable,
    PauseSeen,
    ResumeSeen,
    RunFailed,
    Sighting,
    Stage,
    StageContext,
    StageEnded,
    State,
    Subflow,
)
from agentfootprint.testing import EventOrderChecker
from tests.flow.charts import Listener, agent_shape, always


def busy(s: State, ctx: StageContext) -> None:
    s["n"] = ctx.get("n", 0) + 1
    ctx.emit("app.busy")


def fails(s: State) -> None:
    s["n"] = 1
    raise ValueError("bad")


def stops(s: State, ctx: StageContext) -> None:
    ctx.break_("enough")


def told(*parts: Part, **options: Any) -> list[Sighting]:
    listener = Listener()
    executor = Chart.of("Told", *parts).build().executor(recorders=[listener])
    with contextlib.suppress(ValueError):
        asyncio.run(executor.run(**options))
    return listener.seen


def hooks(events: list[Sighting]) -> list[str]:
    return [event.hook.removeprefix("on_") for event in events]


CHARTS: dict[str, list[Part]] = {
    "a line": [Stage(busy, id="a"), Stage(busy, id="b")],
    "a decider": [Stage(busy, id="a"), Decider(always("x"), [Stage(busy, id="x")], id="d"), Stage(busy, id="b")],
    "a fork": [Stage(busy, id="a"), Fork([Stage(busy, id="x"), Stage(busy, id="y")]), Stage(busy, id="b")],
    "a failing stage": [Stage(busy, id="a"), Stage(fails, id="b")],
    "a break": [Stage(stops, id="a"), Stage(busy, id="b")],
    "mounts": [
        Stage(busy, id="a"),
        Subflow(Chart.of("In", Stage(busy, id="i"), Stage(stops, id="j")), id="sf", propagate_break=True),
    ],
    "an agent": list(agent_shape(2).parts),
}


@pytest.mark.parametrize("name", CHARTS)
def test_every_run_keeps_the_order(name: str) -> None:
    checker = EventOrderChecker()

    for event in told(*CHARTS[name]):
        getattr(checker, event.hook)(event)

    checker.check()


def test_the_order_of_one_stage() -> None:
    events = told(Stage(busy, id="a"), Stage(stops, id="b"))

    assert hooks(events) == [
        *("run_start", "stage_start", "read", "write", "emit", "stage_end", "commit", "stage_executed", "next"),
        *("stage_start", "stage_end", "commit", "stage_executed", "break", "run_end"),
    ]


def test_the_order_of_a_failing_stage() -> None:
    events = told(Stage(fails, id="a"))

    assert hooks(events) == ["run_start", "stage_start", "write", "commit", "error", "run_failed"]
    error, failed = events[-2], events[-1]
    assert isinstance(error, ErrorSeen)
    assert isinstance(failed, RunFailed)
    assert (error.message, error.channel) == ("ValueError: bad", "flow")
    assert failed.structured_error.message == "bad"


def test_an_error_whose_attributes_raise_is_described_as_that() -> None:
    class HostileError(ValueError):
        @property
        def code(self) -> str:
            raise RuntimeError

        def __str__(self) -> str:
            raise RuntimeError

    def hostile(s: State) -> None:
        raise HostileError

    events = told(Stage(hostile, id="a"))

    error = next(event for event in events if isinstance(event, ErrorSeen))
    assert error.to_wire()["structuredError"] == {"message": "[unserializable error]"}


def test_a_break_that_propagates_is_told_inside_and_at_the_mount() -> None:
    events = told(*CHARTS["mounts"])

    breaks = [event for event in events if isinstance(event, BreakSeen)]
    assert [event.to_wire().get("propagatedFromSubflow") for event in breaks] == [None, "sf"]
    assert {event.reason for event in breaks} == {"enough"}


def test_a_pause_is_told_on_both_channels_around_the_commit_and_closes_the_run() -> None:
    def ask(s: State) -> Any:
        return "?"

    def answered(s: State, answer: Any) -> None:
        s["got"] = answer

    listener = Listener()
    flow = Chart.of("Ask", Pausable(ask, answered, id="ask"), Stage(busy, id="after")).build()
    executor = flow.executor(recorders=[listener])
    result = asyncio.run(executor.run())
    first = hooks(listener.seen)
    listener.seen = []
    assert result.checkpoint is not None
    asyncio.run(executor.resume(result.checkpoint, 1))

    assert first == ["run_start", "stage_start", "stage_end", "pause", "commit", "pause"]
    assert hooks(listener.seen)[:4] == ["resume", "resume", "run_start", "stage_start"]
    assert hooks(listener.seen)[-1] == "run_end"
    pauses = [event.channel for event in listener.seen if isinstance(event, (PauseSeen, ResumeSeen))]
    assert pauses == ["flow", "scope"]


def test_parents_lead_from_any_nested_step_to_the_first_stage() -> None:
    events = told(*agent_shape(1).parts)
    parents: dict[str, str] = {}
    for event in events:
        step: dict[str, Any] = event.to_wire().get("traversalContext", {})
        if step.get("runtimeStageId", "__root__#0") != "__root__#0":
            parents[step["runtimeStageId"]] = step.get("parentRuntimeStageId", "")

    assert len(parents) == 47
    for start in parents:
        last = start
        for _ in parents:
            last = parents[last] or last
        assert last == "seed#0"


def test_the_time_a_stage_took_is_told() -> None:
    events = told(Stage(busy, id="a"))

    ended = next(event for event in events if isinstance(event, StageEnded))
    assert ended.duration >= 0


def test_a_loop_is_told_with_its_number() -> None:
    def work(s: State, ctx: StageContext) -> None:
        if ctx.iteration == 2:
            ctx.break_()

    events = told(Stage(work, id="work", description="do it"), LoopTo("work"))

    loops = [event.to_wire() for event in events if event.hook == "on_loop"]
    assert [(event["target"], event["iteration"], event["description"]) for event in loops] == [
        ("Work", 1, "do it"),
        ("Work", 2, "do it"),
    ]


def test_a_decision_tells_the_reason_that_its_stage_logged() -> None:
    def choose(s: State, ctx: StageContext) -> str:
        ctx.debug("deciderRationale", "n is odd")
        return "x"

    def silent(s: State) -> str:
        return "y"

    events = told(
        Stage(busy, id="a"),
        Decider(choose, [Stage(busy, id="x")], id="d"),
        Decider(silent, [Stage(busy, id="y")], id="e"),
    )

    decisions = [event.to_wire() for event in events if isinstance(event, DecisionSeen)]
    assert [event.get("rationale") for event in decisions] == ["n is odd", None]
