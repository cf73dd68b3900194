"""Tests of agentfootprint.flow.plan.calls."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    ChartBuildError,
    Executor,
    FlowRun,
    Fork,
    Handle,
    Stage,
    StageClosedError,
    StageContext,
    State,
    StateValueError,
    StreamHandlers,
)
from tests.flow.charts import raw

CALLER: contextvars.ContextVar[str] = contextvars.ContextVar("CALLER", default="nobody")


def flow_of(*parts: Any) -> Any:
    return Chart.of("Test", *parts).build()


async def test_a_stage_with_thread_runs_off_the_loop_and_its_writes_are_committed() -> None:
    seen: list[int] = []

    def work(s: State, ctx: StageContext) -> str:
        seen.append(threading.get_ident())
        s["who"] = CALLER.get()
        return "value"

    CALLER.set("me")
    result = await flow_of(Stage(work, thread=True)).run()

    assert seen != [threading.get_ident()]
    assert result.state == {"who": "me"}
    assert result.value == "value"


async def test_threads_of_a_fork_really_run_side_by_side() -> None:
    both = threading.Barrier(2, timeout=5)

    def work(s: State) -> None:
        both.wait()
        s["met"] = True

    result = await flow_of(
        raw("before"), Fork([Stage(work, id="a", thread=True), Stage(work, id="b", thread=True)])
    ).run()

    assert result.state["runs"] == {"a": {"met": True}, "b": {"met": True}}


async def test_a_raw_stage_may_run_in_a_thread_too() -> None:
    def work(h: Handle) -> None:
        h["thread"] = threading.current_thread() is threading.main_thread()

    run = FlowRun(flow_of(Stage(work, id="work", raw=True, thread=True)))
    await run.start()

    assert run.state["thread"] is False


async def test_what_a_thread_raises_fails_its_stage() -> None:
    def work(s: State) -> None:
        s["staged"] = 1
        raise ValueError("in a thread")

    executor = Executor(flow_of(Stage(work, thread=True)))
    with pytest.raises(ValueError, match="in a thread"):
        await executor.run()

    assert executor.snapshot().shared_state == {"staged": 1}


async def test_a_cancelled_stage_goes_on_in_its_thread_into_nowhere_and_can_see_it() -> None:
    begun, cancelled, ended = threading.Event(), threading.Event(), threading.Event()
    late: list[Any] = []

    def work(s: State, ctx: StageContext) -> None:
        s["before"] = True
        late.append(ctx.cancelled)
        begun.set()
        cancelled.wait(5)
        late.append(ctx.cancelled)
        try:
            s["after"] = True
        except StageClosedError as error:
            late.append(type(error))
        ended.set()

    run = FlowRun(flow_of(Stage(work, thread=True)))
    task = asyncio.create_task(run.start())
    await asyncio.to_thread(begun.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    cancelled.set()
    await asyncio.to_thread(ended.wait, 5)

    assert run.state == {"before": True}
    assert late == [False, True, StageClosedError]


async def coroutine(s: State) -> None:
    """No plain function."""


async def generator(s: State) -> AsyncIterator[str]:
    """No plain function either."""
    yield "a"


@pytest.mark.parametrize("function", [coroutine, generator])
def test_only_a_plain_function_can_run_in_a_thread(function: Any) -> None:
    with pytest.raises(ChartBuildError, match="can't run in a thread") as refused:
        flow_of(Stage(function, id="work", thread=True))

    assert refused.value.ids == ("work",)


class Heard:
    """What the handlers of a run's streams were told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []
        self.handlers = StreamHandlers(
            on_start=lambda stream: self.told.append(("start", stream)),
            on_token=lambda stream, text: self.told.append(("token", stream, text)),
            on_end=lambda stream, text: self.told.append(("end", stream, text)),
        )


async def speak(s: State, ctx: StageContext) -> AsyncIterator[str]:
    s["spoke"] = True
    yield "Hel"
    yield "lo"


@pytest.mark.parametrize(("stream", "name"), [("main", "main"), ("", "Speak"), (None, "Speak")])
async def test_an_async_generator_streams_its_texts_and_gives_them_joined(stream: str | None, name: str) -> None:
    heard = Heard()
    flow = flow_of(Stage(speak, stream=stream))

    result = await Executor(flow, stream=heard.handlers).run()

    assert result.value == "Hello"
    assert result.state == {"spoke": True}
    assert heard.told == [("start", name), ("token", name, "Hel"), ("token", name, "lo"), ("end", name, "Hello")]
    assert flow.stages[0].kind == "streaming"


async def test_a_raw_async_generator_streams_too() -> None:
    async def words(h: Handle) -> AsyncIterator[str]:
        yield "a"
        yield "b"

    heard = Heard()
    run = FlowRun(flow_of(Stage(words, id="words", raw=True)))
    run.stream = heard.handlers
    outcome = await run.start()

    assert outcome.value == "ab"
    assert ("end", "Words", "ab") in heard.told


async def test_a_generator_that_yields_no_text_is_refused() -> None:
    async def wrong(s: State) -> AsyncIterator[Any]:
        yield 1

    with pytest.raises(StateValueError, match=r"'wrong' gave 'token'.*int is no text"):
        await flow_of(Stage(wrong)).run()


async def test_a_cancelled_generator_ends_in_order_and_no_end_is_told() -> None:
    begun = asyncio.Event()
    cleaned: list[bool] = []

    async def words(s: State) -> AsyncIterator[str]:
        try:
            yield "a"
            begun.set()
            await asyncio.Event().wait()
        finally:
            cleaned.append(True)

    heard = Heard()
    task = asyncio.create_task(Executor(flow_of(Stage(words)), stream=heard.handlers).run())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert cleaned == [True]
    assert heard.told == [("start", "Words"), ("token", "Words", "a")]
