"""Tests of agentfootprint.agent.handle."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint import Agent, ConfigError, Mock, tool
from agentfootprint.agent import RunCancelledError
from agentfootprint.events import Token


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {order_id}: shipped."


async def test_a_stream_gives_every_event_in_order_and_then_the_result() -> None:
    agent = Agent(Mock([Mock.call("lookup", order_id="A-1"), "It has shipped."]), tools=[lookup])
    heard: list[str] = []
    agent.on("*", lambda event: heard.append(event.type))

    async with agent.stream("Where is A-1?") as run:
        streamed = [event async for event in run]
        result = await run.result()

    assert [event.type for event in streamed] == heard
    assert {event.meta.run_id for event in streamed} == {run.run_id}
    assert result.text == "It has shipped."


async def test_the_wire_form_of_a_stream_repeats_what_is_carried_over() -> None:
    agent = Agent(Mock([Mock.call("lookup", order_id="A-1"), "Shipped."]), tools=[lookup])
    heard: list[str] = []
    agent.on("*", lambda event: heard.append(event.type), form="wire")

    async with agent.stream("Where is A-1?", form="wire") as run:
        streamed = [event.type async for event in run]

    assert streamed == heard
    assert streamed.count("agentfootprint.context.injected") == 6


async def test_only_the_text_can_be_streamed() -> None:
    async with Agent(Mock("One word after the other.")).stream("Go.") as run:
        pieces = [piece async for piece in run.text()]

    assert "".join(pieces) == "One word after the other."
    assert len(pieces) == 5


async def test_tokens_arrive_while_the_model_still_speaks() -> None:
    agent = Agent(Mock("one two three", chunk_delay=0.001))

    in_flight: list[bool] = []
    async with agent.stream("Go.") as run:
        async for event in run:
            if isinstance(event.payload, Token):
                in_flight.append(bool(agent.inflight))
                break

    assert in_flight == [True]


async def test_leaving_the_block_stops_the_run_and_its_tools() -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    @tool
    async def wait(what: str) -> str:
        """Wait for something. Use it to wait."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return what

    agent = Agent(Mock([Mock.call("wait", what="x"), "Never."]), tools=[wait])

    async with agent.stream("Wait.") as run:
        await started.wait()

    assert stopped.is_set()
    assert agent.inflight == ()
    with pytest.raises(RunCancelledError, match=run.run_id):
        await run.result()


async def test_a_stream_that_was_not_entered_names_the_form() -> None:
    stream: Any = Agent(Mock("x")).stream("Go.")

    with pytest.raises(ConfigError, match=r"without being entered") as caught:
        async for _ in stream:
            pass

    assert "async with" in caught.value.fix


async def test_a_started_run_can_be_cancelled_with_a_reason() -> None:
    @tool
    async def wait(what: str) -> str:
        """Wait for something. Use it to wait."""
        await asyncio.Event().wait()
        return what

    agent = Agent(Mock([Mock.call("wait", what="x")]), tools=[wait])
    heard: list[str] = []
    agent.on("agentfootprint.error.fatal", lambda event: heard.append(event.type))
    handle = agent.start("Wait.")
    await asyncio.sleep(0)

    await handle.cancel("changed my mind")
    await handle.cancel("again")

    with pytest.raises(RunCancelledError, match=r"changed my mind"):
        await handle.result()
    assert len(heard) <= 1


async def test_a_slow_reader_loses_nothing_and_holds_nobody_back() -> None:
    agent = Agent(Mock("word " * 200))

    async with agent.stream("Go.") as run:
        result = await run.result()
        texts = [event.payload.content async for event in run if isinstance(event.payload, Token)]

    assert "".join(texts) == result.text


async def test_a_run_can_be_looked_at_while_it_goes_on() -> None:
    seen: dict[str, Any] = {}

    @tool
    async def peek(what: str) -> str:
        """Look. Use it to look."""
        seen.update(handle.snapshot["sharedState"])
        return what

    agent = Agent(Mock([Mock.call("peek", what="x"), "Done."]), tools=[peek])
    handle = agent.start("Look.")
    await handle.result()

    assert (seen["userMessage"], seen["iteration"]) == ("Look.", 1)


async def test_a_run_cancelled_before_its_first_step_still_closes_its_record() -> None:
    """Trap of AGT-149: the task never ran, and yet the listeners hear how it ended."""
    agent = Agent(Mock("x"))
    heard: list[str] = []
    agent.on("*", lambda event: heard.append(event.type))

    handle = agent.start("go")
    await handle.cancel("not wanted")

    assert heard == ["agentfootprint.error.fatal", "agentfootprint.integrity.disposition"]
    assert agent.inflight == ()
    with pytest.raises(RunCancelledError, match="not wanted"):
        await handle.result()
