"""Tests of agentfootprint.agent.running.supervising."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from agentfootprint import Agent, Limits, Mock, ToolContext, tool
from agentfootprint.agent import DeadlineExceededError, RunCancelledError
from agentfootprint.llm import CallHooks, LLMChunk, LLMRequest, LLMResponse, verify_pairs

FATAL = "agentfootprint.error.fatal"
LAST = "agentfootprint.integrity.disposition"


def heard_by(agent: Agent[Any, Any]) -> list[str]:
    heard: list[str] = []
    agent.on("*", lambda event: heard.append(event.type))
    return heard


class Place:
    """Somewhere a run can be held, until it is let go or stopped."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.stopped = False

    async def hold(self) -> None:
        self.reached.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.stopped = True
            raise


class Holding:
    """A provider that never answers, or never ends its stream."""

    name = "holding"

    def __init__(self, place: Place, *, streams: bool) -> None:
        self._place = place
        if streams:
            self.stream = self._stream

    async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
        await self._place.hold()
        raise AssertionError

    async def _stream(self, request: LLMRequest, hooks: CallHooks | None = None) -> AsyncIterator[LLMChunk]:
        yield LLMChunk(token_index=0, content="One ")
        await self._place.hold()


def at_the_model(place: Place) -> Agent[Any, Any]:
    return Agent(Holding(place, streams=False))


def in_a_stream(place: Place) -> Agent[Any, Any]:
    return Agent(Holding(place, streams=True))


def in_a_tool(place: Place) -> Agent[Any, Any]:
    @tool
    async def wait(what: str) -> str:
        """Wait. Use it to wait."""
        await place.hold()
        return what

    script = LLMResponse(
        "", tool_calls=[*Mock.call("wait", what="x").tool_calls, *Mock.call("wait", what="y").tool_calls]
    )
    return Agent(Mock([script]), tools=[wait])


def beside_another_tool(place: Place) -> Agent[Any, Any]:
    agent = in_a_tool(place)
    return agent.having((agent.plan.settings, Limits(parallel_tools=True), agent.plan.gates))


def in_a_fallback(place: Place) -> Agent[Any, Any]:
    from agentfootprint import Output

    async def fallback(error: Exception, text: str) -> dict[str, int]:
        await place.hold()
        return {}

    return Agent(Mock("no json"), output=Output(dict[str, int], fallback=fallback))


PLACES = [at_the_model, in_a_stream, in_a_tool, beside_another_tool, in_a_fallback]


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("how", ["handle", "stream", "task", "deadline"])
async def test_whatever_stops_a_run_stops_it_where_it_is_and_leaves_a_settled_conversation(
    where: Callable[[Place], Agent[Any, Any]], how: str
) -> None:
    """AGT-113, DEC-14: nothing goes on, nothing is told after the end, and a next message is accepted."""
    place = Place()
    agent = where(place)
    heard = heard_by(agent)
    checkpoint: Any = None

    if how == "handle":
        handle = agent.start("Go.")
        await place.reached.wait()
        await handle.cancel("enough")
        with pytest.raises(RunCancelledError, match="enough") as cancelled:
            await handle.result()
        checkpoint = cancelled.value.checkpoint
    elif how == "stream":
        async with agent.stream("Go.") as run:
            await place.reached.wait()
        checkpoint = run.checkpoint
    elif how == "task":
        task = asyncio.create_task(agent.run("Go."))
        await place.reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        with pytest.raises(DeadlineExceededError, match=r"0\.02 s") as late:
            await agent.run("Go.", limits=Limits(deadline=0.02))
        checkpoint = late.value.checkpoint

    assert place.stopped
    assert heard.count(FATAL) == 1
    assert heard[-2:] == [FATAL, LAST]
    assert agent.inflight == ()
    if how != "task":
        assert checkpoint.history[0].content == "Go."
        assert verify_pairs(checkpoint.history).unanswered == ()
        result = await Agent(Mock("Again.")).run("And now?", continue_from=checkpoint)
        assert result.text == "Again."


async def test_of_calls_beside_each_other_what_had_ended_before_the_rest_is_kept_when_the_run_is_stopped() -> None:
    begun = asyncio.Event()

    @tool
    async def pay(n: int) -> str:
        """Pay. Use it always."""
        return f"paid {n}"

    @tool
    async def wait(n: int) -> str:
        """Wait. Use it always."""
        begun.set()
        await asyncio.Event().wait()
        return str(n)

    calls = [*Mock.call("pay", n=1).tool_calls, *Mock.call("wait", n=2).tool_calls, *Mock.call("pay", n=3).tool_calls]
    agent = Agent(Mock([LLMResponse("", tool_calls=calls)]), tools=[pay, wait], limits=Limits(parallel_tools=True))
    handle = agent.start("Go.")
    await begun.wait()
    for _ in range(5):
        await asyncio.sleep(0)
    await handle.cancel()

    assert handle.checkpoint is not None
    answers = [message.content for message in handle.checkpoint.history if message.role == "tool"]
    assert answers[0] == "paid 1"
    assert len(answers) == 3
    assert "paid 3" not in answers  # it may have acted, and the model is told so
    assert verify_pairs(handle.checkpoint.history).unanswered == ()


async def test_a_tool_that_takes_no_notice_is_left_behind_and_not_heard_any_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """AGT-114, AGT-115; trap T27: no event after the one that ends the run."""
    begun, let_go = asyncio.Event(), asyncio.Event()

    @tool
    async def stubborn(what: str, ctx: ToolContext) -> str:
        """Work on. Use it always."""
        begun.set()
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        ctx.progress({"message": "still here"})
        ctx.emit("app.late", {"n": 1})
        return what

    agent = Agent(Mock([Mock.call("stubborn", what="x"), "Never."]), tools=[stubborn], limits=Limits(teardown=0.01))
    heard = heard_by(agent)
    handle = agent.start("Go.")
    await begun.wait()

    with caplog.at_level(logging.WARNING):
        await handle.cancel("enough")
        rows = len(handle.snapshot["commitLog"])
        told = list(heard)
        let_go.set()
        for _ in range(20):
            await asyncio.sleep(0)

    assert told[-2:] == [FATAL, LAST]
    assert heard == told
    assert len(handle.snapshot["commitLog"]) == rows
    assert "left behind" in caplog.text
    assert "its result was discarded" in caplog.text
    assert "still here" not in caplog.text


async def test_a_tool_that_swallows_its_cancellation_and_ends_does_not_carry_the_run_on() -> None:
    begun = asyncio.Event()

    @tool
    async def deaf(what: str) -> str:
        """Work on. Use it always."""
        begun.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return what

    provider = Mock([Mock.call("deaf", what="x"), "Never."])
    agent = Agent(provider, tools=[deaf])
    heard = heard_by(agent)
    handle = agent.start("Go.")
    await begun.wait()

    await handle.cancel()

    assert heard.count("agentfootprint.stream.llm_start") == 1
    assert "agentfootprint.stream.tool_end" not in heard
    with pytest.raises(RunCancelledError):
        await handle.result()


async def test_a_model_that_swallows_its_cancellation_does_not_carry_the_run_on() -> None:
    class Deaf:
        name = "deaf"
        begun = asyncio.Event()

        async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
            self.begun.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            return LLMResponse("Late.")

    provider = Deaf()
    agent = Agent(provider)
    heard = heard_by(agent)

    with pytest.raises(DeadlineExceededError):
        await agent.run("Go.", limits=Limits(deadline=0.02))

    assert "agentfootprint.stream.llm_end" not in heard
    assert heard[-2:] == [FATAL, LAST]


async def test_a_tool_that_shields_its_work_finishes_it_and_nobody_hears_the_result() -> None:
    begun, let_go, finished = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> str:
        begun.set()
        await let_go.wait()
        finished.set()
        return "paid"

    @tool
    async def pay(amount: int) -> str:
        """Pay. Use it always."""
        return await asyncio.shield(asyncio.create_task(work()))

    agent = Agent(Mock([Mock.call("pay", amount=1)]), tools=[pay])
    heard = heard_by(agent)
    handle = agent.start("Go.")
    await begun.wait()

    await handle.cancel()
    told = list(heard)
    let_go.set()
    await finished.wait()

    assert heard == told
    assert told[-2:] == [FATAL, LAST]


async def test_a_plain_tool_in_its_thread_learns_that_nobody_waits() -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    looked: list[bool] = []
    let_go, done = threading.Event(), threading.Event()

    @tool
    def dig(what: str, ctx: ToolContext) -> str:
        """Dig. Use it always."""
        looked.append(ctx.cancelled)
        loop.call_soon_threadsafe(begun.set)
        let_go.wait(5)
        looked.append(ctx.cancelled)
        done.set()
        return what

    agent = Agent(Mock([Mock.call("dig", what="x")]), tools=[dig])
    handle = agent.start("Go.")
    await begun.wait()

    await handle.cancel()
    let_go.set()
    await asyncio.to_thread(done.wait, 5)

    assert looked == [False, True]


async def test_cleanups_are_over_before_the_run_says_that_it_ended() -> None:
    """AGT-114: calls, then cleanups of call and run, then the fatal event, then whoever waits."""
    order: list[str] = []
    begun = asyncio.Event()

    @tool
    async def open_all(what: str, ctx: ToolContext) -> str:
        """Open. Use it always."""
        ctx.on_teardown(lambda: order.append("run"), scope="run")
        ctx.on_teardown(lambda: order.append("call"), scope="call")
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            order.append("stopped")
        return what

    agent = Agent(Mock([Mock.call("open_all", what="x")]), tools=[open_all])
    agent.on("agentfootprint.error.fatal", lambda _: order.append("fatal"))
    agent.on("agentfootprint.tools.*", lambda event: order.append(event.type.rpartition(".")[2]))

    async def later(_event: object) -> None:
        await asyncio.sleep(0)
        order.append("drained")

    agent.on("agentfootprint.error.fatal", later)
    handle = agent.start("Go.")
    await begun.wait()
    await handle.cancel()
    order.append("back")

    assert order == [
        "session_started", "session_started", "stopped", "call", "session_closed", "run", "session_closed", "fatal",
        "drained", "back",
    ]  # fmt: skip


async def test_a_second_cancellation_does_not_cut_the_cleanup_short() -> None:
    begun, cleaning, let_go, cleaned = asyncio.Event(), asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def clean() -> None:
        cleaning.set()
        await let_go.wait()
        cleaned.set()

    @tool
    async def open_one(what: str, ctx: ToolContext) -> str:
        """Open. Use it always."""
        ctx.on_teardown(clean)
        begun.set()
        await asyncio.Event().wait()
        return what

    agent = Agent(Mock([Mock.call("open_one", what="x")]), tools=[open_one])
    heard = heard_by(agent)
    task = asyncio.create_task(agent.run("Go."))
    await begun.wait()
    task.cancel()
    await cleaning.wait()
    task.cancel()
    await asyncio.sleep(0)
    let_go.set()

    with pytest.raises(asyncio.CancelledError):
        await task

    assert cleaned.is_set()
    assert heard[-2:] == [FATAL, LAST]


async def test_the_earliest_bound_wins_and_is_named() -> None:
    """AGT-116: a tool's own timeout is a result for the model; the run's deadline ends the run."""

    @tool(timeout=0.01)
    async def slow(what: str) -> str:
        """Be slow. Use it always."""
        await asyncio.Event().wait()
        return what

    agent = Agent(Mock([Mock.call("slow", what="x"), "Then not."], cursor="history"), tools=[slow])

    result = await agent.run("Go.", limits=Limits(deadline=5.0))
    with pytest.raises(DeadlineExceededError, match=r"deadline of 0\.005 s"):
        await agent.run("Go.", limits=Limits(deadline=0.005))

    assert "'slow' did not finish within 0.01 seconds" in result.messages[2].content
    assert result.text == "Then not."


async def test_a_deadline_that_is_not_reached_changes_nothing() -> None:
    agent = Agent(Mock("Paris."))

    result = await agent.run("Go.", limits=Limits(deadline=30.0))

    assert result.text == "Paris."


async def test_a_timeout_of_somebody_else_is_no_deadline() -> None:
    class Late:
        name = "late"

        async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
            raise TimeoutError("the vendor's own")

    with pytest.raises(Exception, match="the vendor's own") as caught:
        await Agent(Late()).run("Go.", limits=Limits(deadline=30.0))

    assert not isinstance(caught.value, DeadlineExceededError)


async def test_a_caller_that_was_cancelled_before_can_still_run_an_agent() -> None:
    """A task that dealt with a cancellation, as a shutdown handler does, is not taken for one that is being stopped."""

    @tool
    async def fine(what: str) -> str:
        """Be fine. Use it always."""
        return what

    texts: list[str] = []

    async def handler() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            result = await Agent(Mock([Mock.call("fine", what="x"), "Bye."]), tools=[fine]).run("Go.")
            texts.append(result.text)
            raise

    task = asyncio.create_task(handler())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert texts == ["Bye."]
