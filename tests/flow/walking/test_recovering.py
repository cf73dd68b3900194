"""Tests of agentfootprint.flow.walking.recovering."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    Decider,
    Executor,
    FlowRun,
    Fork,
    Handle,
    Pausable,
    RetryPolicy,
    Selector,
    Stage,
    StageClosedError,
    State,
    StreamHandlers,
    interrupt,
)
from agentfootprint.trace import RetriedRow, project_commit_log, thaw
from tests.flow.charts import Listener, always, log_of, raw, steps_of
from tests.flow.waiting import Waits

TWICE = RetryPolicy(attempts=2, delay=0)


class Flaky:
    """A stage function that fails the first times, after it has read and written."""

    def __init__(self, failures: int = 1) -> None:
        self.failures = failures
        self.calls = 0
        self.handles: list[Handle] = []

    def __call__(self, h: Handle) -> str:
        self.calls += 1
        self.handles.append(h)
        h.get("a")
        h[f"tmp-{self.calls}"] = 1
        h.peek("b")
        if self.calls <= self.failures:
            h.break_("in vain")
            raise ValueError(f"failure {self.calls}")
        h["ok"] = True
        return "went well"


async def driven(*parts: Any, **options: Any) -> tuple[Any, FlowRun]:
    run = FlowRun(Chart.of("Retry", *parts).build(), **options)
    return await run.start(), run


async def test_of_a_failed_attempt_nothing_is_left_in_the_log() -> None:
    flaky = Flaky(failures=2)

    outcome, run = await driven(raw("s"), raw("flaky", flaky, retry=RetryPolicy(attempts=3, delay=0)), raw("after"))

    assert outcome.status == "done"  # what the failed attempts said of a break is gone too
    assert thaw(run.state) == {"tmp-3": 1, "ok": True}
    assert steps_of(run.journal) == ["s#0", "flaky#1", "after#2"]
    bundle = log_of(run)[1]
    assert [entry["path"] for entry in bundle["trace"]] == ["tmp-3", "ok"]
    assert bundle["untrackedSources"] == ["silent"]


async def test_the_last_attempt_commits_and_fails_as_ever() -> None:
    flaky = Flaky(failures=9)
    run = FlowRun(Chart.of("Retry", raw("flaky", flaky, retry=TWICE)).build())

    with pytest.raises(ValueError, match=r"failure 2") as raised:
        await run.start()

    assert thaw(run.state) == {"tmp-2": 1}
    assert [bundle.runtime_stage_id for bundle in project_commit_log(run.journal)] == ["flaky#0"]
    assert "flaky#0" in raised.value.__notes__[0]
    assert isinstance(raised.value.__context__, ValueError)  # what the first attempt raised


async def test_one_execution_is_one_record_however_many_attempts_it_takes() -> None:
    flaky = Flaky()

    _, run = await driven(raw("flaky", flaky, retry=TWICE))

    records = [row for row in run.journal.rows if getattr(row, "index", None) == 0]
    assert records == [flaky.handles[1], flaky.handles[1]]
    assert run.journal.execution(0) is flaky.handles[1]
    assert flaky.handles[0] is not flaky.handles[1]


async def test_a_failed_attempt_is_one_row_of_the_journal() -> None:
    _, run = await driven(raw("flaky", Flaky(), retry=RetryPolicy(attempts=3, delay=0)))

    told = [row for row in run.journal.rows if isinstance(row, RetriedRow)]
    facts = [(row.execution.index, row.attempt, row.attempts, row.delay_ms, row.name, row.message) for row in told]
    assert facts == [(0, 1, 3, 0, "ValueError", "failure 1")]


async def test_what_a_failed_attempt_left_running_can_not_write_into_the_next_one() -> None:
    late: list[Handle] = []

    async def work(h: Handle) -> None:
        late.append(h)
        if len(late) == 1:
            raise ValueError("gave up, with a task still on its way")
        with pytest.raises(StageClosedError):
            late[0]["stray"] = 1
        h["fine"] = 1

    _, run = await driven(raw("work", work, retry=TWICE))

    assert thaw(run.state) == {"fine": 1}


async def test_every_attempt_is_told_and_only_the_last_one_ends() -> None:
    flaky, listener = Flaky(), Listener()
    flow = Chart.of("Retry", raw("flaky", flaky, retry=RetryPolicy(attempts=2, delay=0.25))).build()

    await Executor(flow, recorders=[listener]).run()

    hooks = [hook for hook in listener.hooks() if hook not in ("on_read", "on_write")]
    assert hooks == [
        *("on_run_start", "on_stage_start", "on_stage_retry", "on_stage_start", "on_stage_end", "on_commit"),
        *("on_stage_executed", "on_run_end"),
    ]
    told = next(event for event in listener.seen if event.hook == "on_stage_retry").to_wire()
    del told["timestamp"], told["traversalContext"]["runId"]
    assert told == {
        "stageName": "Flaky",
        "stageId": "flaky",
        "attempt": 1,
        "maxAttempts": 2,
        "delayMs": 250,
        "message": "failure 1",
        "structuredError": {"message": "failure 1", "name": "ValueError"},
        "channel": "flow",
        "traversalContext": {"stageId": "flaky", "runtimeStageId": "flaky#0", "stageName": "Flaky", "depth": 0},
    }


@pytest.mark.usefixtures("clock")
async def test_deciders_and_selectors_run_again() -> None:
    def failing(value: Any) -> Any:
        calls: list[int] = []

        def choose(h: Handle) -> Any:
            calls.append(1)
            if len(calls) == 1:
                raise ValueError("not yet")
            return value

        return choose

    selector = Selector(failing(["a"]), [raw("a"), raw("b")], id="pick", raw=True, retry=RetryPolicy(attempts=2))
    decider = Decider(failing("d"), [raw("c"), raw("d")], id="route", raw=True, retry=RetryPolicy(attempts=2))

    _, run = await driven(raw("s"), selector, decider)

    assert steps_of(run.journal) == ["s#0", "pick#1", "a#2", "route#3", "d#4"]


async def test_both_halves_of_a_pausable_stage_run_again(clock: Waits) -> None:
    halves: list[Any] = []

    def ask(h: Handle) -> str:
        halves.append("first")
        if len(halves) == 1:
            raise ValueError("not yet")
        return "?"

    def resume(h: Handle, answer: Any) -> Any:
        halves.append(answer)
        if len(halves) == 3:
            raise ValueError("not yet")
        return answer

    flow = Chart.of("Ask", Pausable(ask, resume, id="ask", raw=True, retry=RetryPolicy(attempts=2))).build()
    outcome: Any = await FlowRun(flow).start()
    again = await FlowRun(flow).resume(outcome.checkpoint.to_wire(), "yes")

    assert (again.status, again.value) == ("done", "yes")
    assert halves == ["first", "first", "yes", "yes"]
    assert clock.seconds == [0.2, 0.2]


async def test_beside_a_waiting_child_the_others_go_on() -> None:
    order: list[str] = []

    def work(h: Handle) -> None:
        order.append("work")

    def flaky(h: Handle) -> None:
        order.append("flaky")
        if order == ["flaky"]:
            raise ValueError("not yet")

    await driven(raw("s"), Fork([raw("flaky", flaky, retry=TWICE), raw("work", work)]))

    assert order == ["flaky", "work", "flaky"]


async def test_tokens_of_a_failed_attempt_are_not_in_the_joined_text() -> None:
    heard: list[tuple[str, ...]] = []
    calls: list[int] = []

    async def speak(s: State, ctx: Any) -> None:
        calls.append(1)
        ctx.token(f"try {len(calls)}")
        if len(calls) == 1:
            raise ValueError("hoarse")

    stream = StreamHandlers(on_start=lambda _: heard.append(("start",)), on_end=lambda _, text: heard.append((text,)))
    flow = Chart.of("Speak", Stage(speak, id="speak", stream="", retry=TWICE)).build()
    await Executor(flow, stream=stream).run()

    assert heard == [("start",), ("start",), ("try 2",)]


# cancellation


async def turns(done: Callable[[], bool]) -> None:
    """Let others have their turn until something is so."""
    for _ in range(100):
        if done():
            return
        await asyncio.sleep(0)
    pytest.fail("it never came to that")


async def test_cancelling_a_wait_ends_the_run_without_another_attempt() -> None:
    flaky = Flaky(failures=9)
    run = FlowRun(Chart.of("Retry", raw("flaky", flaky, retry=RetryPolicy(delay=3600))).build())
    task = asyncio.create_task(run.start())
    await turns(lambda: flaky.calls > 0)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert flaky.calls == 1
    assert thaw(run.state) == {}  # the attempt that failed was undone, the next one had not begun
    assert [bundle.runtime_stage_id for bundle in project_commit_log(run.journal)] == ["flaky#0"]


async def test_a_stage_that_holds_a_cancellation_up_is_not_run_again() -> None:
    calls: list[int] = []

    async def stubborn(h: Handle) -> None:
        calls.append(1)
        h["tried"] = len(calls)
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            raise ValueError("cut short") from None

    run = FlowRun(Chart.of("Retry", raw("stubborn", stubborn, retry=RetryPolicy(delay=0))).build())
    task = asyncio.create_task(run.start())
    await turns(lambda: bool(calls))

    task.cancel()
    with pytest.raises(ValueError, match=r"cut short"):
        await task

    assert (calls, thaw(run.state)) == ([1], {"tried": 1})


async def test_a_timeout_inside_the_stage_is_a_failure_like_any_other() -> None:
    calls: list[int] = []

    async def slow(h: Handle) -> str:
        calls.append(1)
        if len(calls) > 1:
            return "in time"
        async with asyncio.timeout(0):
            await asyncio.get_running_loop().create_future()
        return "never"

    outcome, _ = await driven(raw("slow", slow, retry=TWICE))

    assert (outcome.value, len(calls)) == ("in time", 2)


# questions


def asking(*questions: str, **more: Any) -> Stage:
    def ask(h: Handle) -> list[Any]:
        h["begun"] = h.get("begun", 0) + 1
        return [h.interrupt(question) for question in questions]

    return Stage(ask, id="ask", raw=True, **more)


def again(chart: Chart, checkpoint: Any, answer: Any) -> tuple[Any, FlowRun]:
    run = FlowRun(chart.build())
    return asyncio.run(run.resume(json.loads(json.dumps(checkpoint.to_wire())), answer)), run


def test_the_nth_question_of_a_stage_gets_the_nth_answer() -> None:
    chart = Chart.of("Ask", raw("s"), asking("one?", "two?", "three?"))
    outcome: Any = asyncio.run(FlowRun(chart.build()).start())
    asked: list[Any] = []

    for number in (1, 2, 3):
        asked.append((outcome.checkpoint.pause_data["reason"], outcome.checkpoint.interrupt_answers))
        assert outcome.checkpoint.paused_by == "interrupt"
        outcome, run = again(chart, outcome.checkpoint, number)

    assert asked == [("one?", ()), ("two?", (1,)), ("three?", (1, 2))]
    assert (outcome.status, outcome.value) == ("done", [1, 2, 3])
    assert thaw(run.state) == {"begun": 4}  # what came before a question happened again each time


def test_answers_are_not_there_for_the_next_execution_of_the_stage() -> None:
    def route(h: Handle) -> str:
        return "stop" if h["begun"] > 2 else "back"

    decider = Decider(route, [raw("back", loop_to="ask"), raw("stop")], id="d", raw=True)
    chart = Chart.of("Ask", asking("again?"), decider)
    first = asyncio.run(FlowRun(chart.build()).start())

    second, run = again(chart, first.checkpoint, "yes")

    assert steps_of(run.journal) == ["ask#1", "d#2", "back#3", "ask#4"]
    assert (second.status, second.checkpoint.interrupt_answers) == ("paused", ())


def test_branches_side_by_side_can_not_take_each_others_answers() -> None:
    def ask(own: str) -> Any:
        async def asked(s: State) -> None:
            s[own] = interrupt(f"{own}?")
            await asyncio.sleep(0)
            s[f"{own}-too"] = interrupt(f"{own} too?")

        return asked

    chart = Chart.of("Fork", raw("s"), Fork([Stage(ask("a"), id="a"), Stage(ask("b"), id="b")]), raw("join"))
    outcome: Any = asyncio.run(FlowRun(chart.build()).start())
    asked: list[str] = []
    run: FlowRun | None = None

    while outcome.checkpoint is not None:
        asked.append(outcome.checkpoint.pause_data["reason"])
        outcome, run = again(chart, outcome.checkpoint, f"re {asked[-1]}")

    assert run is not None
    assert asked == ["a?", "a too?", "b?", "b too?"]
    assert thaw(run.state)["runs"] == {
        "a": {"a": "re a?", "a-too": "re a too?"},
        "b": {"b": "re b?", "b-too": "re b too?"},
    }


def test_a_second_half_that_asks_is_run_again_with_what_it_had_been_given() -> None:
    given: list[Any] = []

    def resume(h: Handle, answer: Any) -> Any:
        given.append(thaw(answer))
        return [thaw(answer), h.interrupt("sure?"), h.interrupt("really?")]

    chart = Chart.of("Ask", Pausable(always("?"), resume, id="ask", raw=True))
    outcome: Any = asyncio.run(FlowRun(chart.build()).start())

    outcome, _ = again(chart, outcome.checkpoint, {"amount": 5})
    wire = outcome.checkpoint.to_wire()
    outcome, _ = again(chart, outcome.checkpoint, "yes")
    outcome, _ = again(chart, outcome.checkpoint, "indeed")

    assert (wire["pausedBy"], wire["resumeInput"]) == ("interrupt", {"amount": 5})
    assert outcome.value == [{"amount": 5}, "yes", "indeed"]
    assert given == [{"amount": 5}] * 3


def test_a_first_half_that_asks_may_pause_afterwards() -> None:
    def ask(h: Handle) -> Any:
        return {"after": h.interrupt("before?")}

    def resume(h: Handle, answer: Any) -> Any:
        return answer

    chart = Chart.of("Ask", Pausable(ask, resume, id="ask", raw=True))
    first = asyncio.run(FlowRun(chart.build()).start())

    second, _ = again(chart, first.checkpoint, 1)
    third, _ = again(chart, second.checkpoint, 2)

    assert (second.checkpoint.paused_by, thaw(second.checkpoint.pause_data)) == (None, {"after": 1})
    assert third.value == 2


@pytest.mark.parametrize("kind", [Decider, Selector])
def test_a_decider_or_selector_that_asks_decides_when_it_has_the_answer(kind: Any) -> None:
    listener = Listener()

    def choose(h: Handle) -> Any:
        return h.interrupt("which?")

    executor = Executor(
        Chart.of("Ask", raw("s"), kind(choose, [raw("a"), raw("b")], id="choose", raw=True)).build(),
        recorders=[listener],
    )
    result: Any = executor.run_sync()
    paused = [event for event in listener.seen if event.hook == "on_pause"]

    result = executor.resume_sync(result.checkpoint, "b")

    assert [event.to_wire()["channel"] for event in paused] == ["scope"]  # FLOW-REC-3
    assert steps_of(result.journal)[-1] == "b#3"


def test_a_policy_holds_when_a_stage_runs_again_after_its_question() -> None:
    failed: list[str] = []

    def ask(h: Handle) -> list[Any]:
        answers = [h.interrupt("one?"), h.interrupt("two?")]
        if not failed:
            failed.append("once")
            raise ValueError("not yet")
        return answers

    chart = Chart.of("Ask", Stage(ask, id="ask", raw=True, retry=TWICE))
    first = asyncio.run(FlowRun(chart.build()).start())
    second, _ = again(chart, first.checkpoint, 1)

    third, _ = again(chart, second.checkpoint, 2)

    assert (third.status, third.value, failed) == ("done", [1, 2], ["once"])


def test_a_question_from_a_task_group_of_the_stage_pauses_the_run() -> None:
    async def ask(s: State) -> None:
        async def asked() -> None:
            s.answer = interrupt("from a task?")

        async with asyncio.TaskGroup() as group:
            group.create_task(asked())

    chart = Chart.of("Ask", Stage(ask, id="ask"))
    first = asyncio.run(FlowRun(chart.build()).start())

    _, run = again(chart, first.checkpoint, "yes")

    assert run.state["answer"] == "yes"


def test_except_exception_does_not_hold_a_question_up() -> None:
    def ask(h: Handle) -> Any:
        try:
            return h.interrupt("?")
        except Exception:  # noqa: BLE001  the point of the test
            return "swallowed"

    outcome = asyncio.run(FlowRun(Chart.of("Ask", Stage(ask, id="ask", raw=True)).build()).start())

    assert outcome.status == "paused"
