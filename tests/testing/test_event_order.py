"""Tests of agentfootprint.testing.event_order."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from agentfootprint.flow import (
    Chart,
    Decider,
    Fork,
    Part,
    Pausable,
    RetryPolicy,
    Sighting,
    Stage,
    StageContext,
    StageExecuted,
    State,
    Subflow,
)
from agentfootprint.testing import EventOrderChecker, EventOrderError, OrderViolation
from tests.flow.charts import Listener

Events = list[Sighting]


def busy(s: State, ctx: StageContext) -> None:
    s["n"] = ctx.get("n", 0) + 1
    ctx.emit("app.busy")


def fails(s: State) -> None:
    s["n"] = 1
    raise ValueError("bad")


def ask(s: State) -> Any:
    return {"question": "may I?"}


def answered(s: State, answer: Any) -> None:
    s["answer"] = answer


def choose(s: State) -> str:
    return "x"


LINE = [Stage(busy, id="a"), Stage(busy, id="b")]
FAILING = [Stage(fails, id="a")]
DECIDING = [Stage(busy, id="a"), Decider(choose, [Stage(busy, id="x")], id="d"), Stage(busy, id="b")]
MOUNTING = [Stage(busy, id="a"), Subflow(Chart.of("In", Stage(busy, id="i"), Stage(busy, id="j")), id="sf")]
PAUSING = [Stage(busy, id="a"), Pausable(ask, answered, id="p"), Stage(busy, id="b")]
FORKING = [Stage(busy, id="a"), Fork([Stage(busy, id="x"), Stage(busy, id="y")]), Stage(busy, id="b")]


def told(parts: Sequence[Part], *, resume: bool = False) -> Events:
    """The events of a run as the engine tells them."""
    listener = Listener()
    executor = Chart.of("Told", *parts).build().executor(recorders=[listener])

    async def run() -> None:
        result = await executor.run()
        if resume and result.checkpoint is not None:
            await executor.resume(result.checkpoint, "yes")

    with contextlib.suppress(ValueError):
        asyncio.run(run())
    return listener.seen


def judged(events: Events) -> EventOrderChecker:
    checker = EventOrderChecker()
    for event in events:
        getattr(checker, event.hook)(event)
    return checker


def where(events: Events, hook: str, step: str = "", nth: int = 0) -> int:
    """The place of an event: by its hook, and by the step it is about."""
    places = [
        place
        for place, event in enumerate(events)
        if event.hook == f"on_{hook}" and (not step or step in str(event.to_wire()))
    ]
    return places[nth]


def without(hook: str, step: str = "", nth: int = 0) -> Callable[[Events], Events]:
    def change(events: Events) -> Events:
        place = where(events, hook, step, nth)
        return [*events[:place], *events[place + 1 :]]

    return change


def twice(hook: str, step: str = "") -> Callable[[Events], Events]:
    def change(events: Events) -> Events:
        place = where(events, hook, step)
        return [*events[: place + 1], events[place], *events[place + 1 :]]

    return change


def moved(hook: str, step: str, *, before: str, of: str = "", nth: int = 0) -> Callable[[Events], Events]:
    def change(events: Events) -> Events:
        event = events[where(events, hook, step, nth)]
        rest = [each for each in events if each is not event]
        place = where(rest, before, of)
        return [*rest[:place], event, *rest[place:]]

    return change


@pytest.mark.parametrize("parts", [LINE, FAILING, DECIDING, MOUNTING, PAUSING, FORKING])
def test_what_the_engine_tells_is_in_order(parts: Sequence[Part]) -> None:
    checker = judged(told(parts, resume=True))

    checker.check()
    assert checker.violations == ()
    assert checker.event_count > 0


WRONG: list[tuple[str, Sequence[Part], Callable[[Events], Events]]] = [
    ("event-outside-a-run", LINE, without("run_start")),
    ("run-started-twice", LINE, twice("run_start")),
    ("run-not-open", LINE, twice("run_end")),
    ("step-started-twice", LINE, twice("stage_start", "a#0")),
    ("read-outside-step", LINE, moved("read", "a#0", before="commit", of="a#0")),
    ("write-outside-step", LINE, moved("write", "a#0", before="run_end")),
    ("emit-outside-step", LINE, moved("emit", "a#0", before="stage_start", of="a#0")),
    ("end-outside-step", LINE, twice("stage_end", "a#0")),
    ("executed-before-its-commit", LINE, without("stage_end", "a#0")),
    ("executed-before-its-commit", LINE, moved("stage_executed", "a#0", before="commit", of="a#0")),
    ("step-left-open", LINE, without("commit", "b#1")),
    ("commit-outside-step", LINE, moved("commit", "a#0", before="stage_start", of="a#0")),
    ("executed-twice", LINE, twice("stage_executed", "a#0")),
    ("next-before-it-was-executed", LINE, moved("next", "", before="stage_executed", of="a#0")),
    ("next-after-it-was-over", LINE, twice("next")),
    ("error-before-its-commit", FAILING, moved("error", "a#0", before="commit", of="a#0")),
    ("executed-before-its-choice", DECIDING, without("decision")),
    ("choice-before-its-commit", DECIDING, moved("decision", "", before="commit", of="d#1")),
    ("chose-twice", DECIDING, twice("decision")),
    ("stage-outside-its-subflow", MOUNTING, without("subflow_entry")),
    ("mount-executed-before-its-entry", MOUNTING, without("subflow_entry")),
    ("subflow-left-open", MOUNTING, without("subflow_exit")),
    ("subflow-entered-twice", MOUNTING, twice("subflow_entry")),
    ("subflow-left-with-an-open-step", MOUNTING, moved("subflow_exit", "", before="stage_end", of="i#2")),
    ("pause-before-its-commit", PAUSING, moved("pause", "traversalContext", before="commit", of="p#1")),
    ("resumed-without-a-pause", PAUSING, lambda events: [e for e in events if e.hook != "on_pause"]),
    ("resume-told-out-of-order", PAUSING, moved("resume", "pipelineId", before="resume")),
    ("resume-told-out-of-order", PAUSING, without("run_start", nth=1)),
    ("forked-before-it-was-executed", FORKING, without("stage_executed", "linear")),
]


@pytest.mark.parametrize(
    ("name", "parts", "change"),
    WRONG,
    ids=[f"{case[0]}-{number}" for number, case in enumerate(WRONG)],
)
def test_an_event_out_of_order_is_named(name: str, parts: Sequence[Part], change: Callable[[Events], Events]) -> None:
    checker = judged(change(told(parts, resume=True)))

    assert name in [violation.name for violation in checker.violations]
    with pytest.raises(EventOrderError, match=name):
        checker.check()


def test_a_run_that_neither_ends_nor_pauses_is_left_open() -> None:
    events = told(LINE)
    checker = judged(events[:-1])

    with pytest.raises(EventOrderError, match="run-left-open"):
        checker.check()


def test_another_run_shows_that_the_one_before_was_left_open() -> None:
    checker = judged(told(LINE)[:-1])

    checker.clear()

    assert [violation.name for violation in checker.violations] == ["run-left-open"]


def test_a_run_may_end_with_a_pause() -> None:
    judged(told(PAUSING)).check()


def test_a_resume_may_be_all_that_was_seen() -> None:
    events = told(PAUSING, resume=True)
    resumed = events[where(events, "resume") :]

    judged(resumed).check()


def test_attempts_that_are_repeated_are_in_order() -> None:
    calls: list[int] = []

    def flaky(s: State) -> None:
        calls.append(1)
        s["tmp"] = len(calls)
        if len(calls) < 3:
            raise ValueError("not yet")

    events = told([Stage(flaky, id="a", retry=RetryPolicy(attempts=3, delay=0))])

    assert [event.hook for event in events].count("on_stage_retry") == 2
    judged(events).check()
    retried = where(events, "stage_retry")
    wrong = [*events[:retried], *events[retried + 1 :]]
    assert [violation.name for violation in judged(wrong).violations] == ["step-started-twice"]


def test_a_chain_leads_from_a_step_to_the_first() -> None:
    checker = judged(told(MOUNTING))

    assert checker.chain("sf/j#3") == ("sf/j#3", "sf/i#2", "sf#1", "a#0")


@pytest.mark.parametrize(("parent", "name"), [("nobody#9", "parent-not-known"), (UNSET, "parent-not-named")])
def test_a_step_whose_way_back_leads_nowhere_is_named(parent: Any, name: str) -> None:
    events = told(LINE)
    for place, event in enumerate(events):
        if isinstance(event, StageExecuted) and event.stage_name == "B":
            step = msgspec.structs.replace(event.traversal_context, parent_runtime_stage_id=parent)
            events[place] = msgspec.structs.replace(event, traversal_context=step)

    checker = judged(events)

    assert [violation.name for violation in checker.violations] == [name]


def test_as_a_context_manager_it_checks_at_the_end() -> None:
    checker = EventOrderChecker()
    start = told(LINE)[0]

    def leave_it_open() -> None:
        with checker:
            getattr(checker, start.hook)(start)

    with pytest.raises(EventOrderError, match="run-left-open"):
        leave_it_open()


def test_as_a_context_manager_it_does_not_hide_what_else_went_wrong() -> None:
    def fail() -> None:
        with EventOrderChecker() as checker:
            event = told(LINE)[1]
            getattr(checker, event.hook)(event)
            raise KeyError("the test's own")

    with pytest.raises(KeyError):
        fail()


def test_the_error_lists_what_was_wrong_and_survives_pickle() -> None:
    error = EventOrderError(tuple(OrderViolation("read-outside-step", "on_read", f"a#{n}", n) for n in range(12)))

    again = pickle.loads(pickle.dumps(error))

    assert isinstance(error, AssertionError)
    assert "12 events" in str(error)
    assert "and 2 more" in str(error)
    assert again.violations == error.violations
