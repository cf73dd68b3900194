"""Tests of agentfootprint.agent.pausing.leaving: a cancellation that comes while a run says that it waits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint import Agent, Limits, Mock, approve, tool
from agentfootprint.agent import Conversation
from agentfootprint.agent.errors import RunCancelledError
from agentfootprint.events import Event

RAN: list[int] = []


@tool(check_in="always")
async def pay(amount: int) -> str:
    """Pay an amount. Use it when it is due."""
    RAN.append(amount)
    return f"paid {amount}"


def clerk(**options: Any) -> Agent[Any, str]:
    RAN.clear()
    return Agent(Mock([Mock.call("pay", amount=3), "Paid."], cursor="history"), tools=[pay], **options)


def types(events: Any) -> list[str]:
    return [event.type.removeprefix("agentfootprint.") for event in events]


@pytest.mark.parametrize("moment", ["checkin.request", "pause.request", "integrity.disposition"])
async def test_a_turn_that_is_cancelled_when_its_question_is_said_leaves_it_open_in_the_conversation(
    moment: str,
) -> None:
    agent = clerk()
    talk: Conversation[Any, str] = agent.conversation()
    turn = asyncio.create_task(talk.run("Pay 3."))
    agent.on(f"agentfootprint.{moment}", lambda _: turn.cancel())

    with pytest.raises(asyncio.CancelledError):
        await turn

    assert talk.pending is not None
    assert talk.pending.tool_name == "pay"
    assert (await talk.resume(talk.pending, approve(by="dana"))).text == "Paid."
    assert RAN == [3]


async def test_a_handle_that_cancels_while_the_question_is_made_has_the_question() -> None:
    agent = clerk()
    handle = agent.start("Pay 3.")
    stops: list[asyncio.Task[None]] = []
    agent.on("agentfootprint.checkin.request", lambda _: stops.append(asyncio.create_task(handle.cancel("enough"))))

    with pytest.raises(RunCancelledError) as stopped:
        await handle.result()
    await stops[0]

    assert handle.paused is not None
    assert stopped.value.paused is handle.paused
    assert handle.recording.ended == "paused"
    assert types(handle.recording.events)[-2:] == ["pause.request", "integrity.disposition"]
    assert (await agent.resume(handle.paused, approve(by="dana"))).text == "Paid."
    assert RAN == [3]


@pytest.mark.parametrize("moment", ["pause.request", "integrity.disposition"])
async def test_a_run_whose_task_is_cancelled_behind_its_question_has_it_in_its_handle(moment: str) -> None:
    agent = clerk()
    handle = agent.start("Pay 3.")

    def stop(_: Event[Any]) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    agent.on(f"agentfootprint.{moment}", stop, once=True)
    with pytest.raises(asyncio.CancelledError):
        await handle.result()

    assert handle.paused is not None
    assert handle.recording.ended == "paused"
    assert (await agent.resume(handle.paused, approve(by="dana"))).text == "Paid."
    assert RAN == [3]


async def test_a_run_that_is_cancelled_before_its_question_stands_waits_for_nobody() -> None:
    begun = asyncio.Event()

    async def slow(args: Any, ctx: Any) -> bool:
        begun.set()
        await asyncio.Event().wait()
        return bool(args) and bool(ctx)

    @tool(check_in=slow)
    async def pay(amount: int) -> str:
        """Pay an amount. Use it when it is due."""
        return f"paid {amount}"

    agent = Agent(Mock([Mock.call("pay", amount=3)]), tools=[pay], limits=Limits(teardown=0.1))
    handle = agent.start("Pay 3.")
    await begun.wait()
    await handle.cancel()

    with pytest.raises(RunCancelledError) as stopped:
        await handle.result()

    assert stopped.value.paused is None
    assert handle.paused is None
    assert handle.recording.ended == "failed"
    assert handle.checkpoint is not None


async def stubborn(args: Any, ctx: Any) -> bool:
    """A rule that asks although it is told to stop."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return bool(args) and ctx is not None
    return False


@tool(name="pay", check_in=stubborn)
async def pay_slowly(amount: int) -> str:
    """Pay an amount. Use it when it is due."""
    return f"paid {amount}"


async def test_a_question_that_stands_when_the_time_is_up_is_what_the_run_comes_to() -> None:
    agent = Agent(Mock([Mock.call("pay", amount=3), "Paid."], cursor="history"), tools=[pay_slowly])

    result = await agent.run("Pay 3.", limits=Limits(deadline=0.01))

    assert result.paused is not None
    assert result.recording.ended == "paused"
    assert (await agent.resume(result.paused.checkpoint, approve(by="dana"))).text == "Paid."


async def test_a_run_that_asks_although_it_is_cancelled_has_its_question() -> None:
    agent = Agent(Mock([Mock.call("pay", amount=3), "Paid."], cursor="history"), tools=[pay_slowly])
    begun = asyncio.Event()
    agent.on("agentfootprint.stream.tool_start", lambda _: begun.set())
    handle = agent.start("Pay 3.")
    await begun.wait()
    await handle.cancel()

    with pytest.raises(RunCancelledError) as stopped:
        await handle.result()

    assert stopped.value.paused is not None
    assert handle.recording.ended == "paused"
