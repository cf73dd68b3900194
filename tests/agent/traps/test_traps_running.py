"""Traps of chapter 02, section 25, about cleanups, cancellation and streams."""

from __future__ import annotations

import asyncio
from typing import Any

from agentfootprint import Agent, Mock, PauseCheckpoint, ToolContext, ask_human, tool
from agentfootprint.events import Token


def keeping() -> tuple[Agent[Any, Any], list[str]]:
    closed: list[str] = []

    @tool
    async def open_one(what: str, ctx: ToolContext) -> str:
        """Open. Use it first."""
        ctx.on_teardown(lambda: closed.append(what))
        return what

    @tool
    async def ask(question: str) -> str:
        """Ask. Use it then."""
        ask_human(question)

    script = [Mock.call("open_one", what="x"), Mock.call("ask", question="Go on?"), "Done."]
    return Agent(Mock(script, cursor="history"), tools=[open_one, ask], id="keeping"), closed


async def test_trap_t26_a_cleanup_of_the_run_waits_over_a_pause_and_fires_once_after_its_resume() -> None:
    agent, closed = keeping()

    first = await agent.run("Go.")
    assert first.paused is not None
    at_the_pause = list(closed)
    last = await agent.resume(first.paused, "yes")

    assert at_the_pause == []
    assert closed == ["x"]
    assert first.run_id != last.run_id


async def test_trap_t26_a_checkpoint_from_elsewhere_carries_no_cleanup() -> None:
    agent, closed = keeping()
    first = await agent.run("Go.")
    assert first.paused is not None

    await agent.resume(PauseCheckpoint.from_json(first.paused.checkpoint.to_json()), "yes")
    elsewhere = list(closed)
    await agent.resume(first.paused, "yes")

    assert elsewhere == []
    assert closed == ["x"]


async def test_trap_t26_what_a_resumed_run_closes_is_told_as_its_own() -> None:
    agent, _ = keeping()
    told: list[tuple[str, str]] = []
    agent.on("agentfootprint.tools.*", lambda event: told.append((event.type[-7:], event.meta.run_id)))

    first = await agent.run("Go.")
    assert first.paused is not None
    last = await agent.resume(first.paused, "yes")

    assert told == [("started", first.run_id), ("_closed", last.run_id)]


async def test_trap_t27_no_event_follows_the_end_of_a_cancelled_run() -> None:
    begun = asyncio.Event()

    @tool
    async def wait(what: str) -> str:
        """Wait. Use it always."""
        begun.set()
        await asyncio.Event().wait()
        return what

    agent = Agent(Mock([Mock.call("wait", what="x")]), tools=[wait])
    heard: list[str] = []
    agent.on("*", lambda event: heard.append(event.type))
    handle = agent.start("Go.")
    await begun.wait()
    await handle.cancel()
    for _ in range(10):
        await asyncio.sleep(0)

    assert heard[-2:] == ["agentfootprint.error.fatal", "agentfootprint.integrity.disposition"]
    assert [event.type async for event in handle] == heard


async def test_trap_t28_a_stream_shows_the_tokens_of_its_own_run_only() -> None:
    agent = Agent(Mock(lambda request: f"{request.messages[0].content} " * 20, chunk_delay=0.0))

    async def read(word: str) -> set[str]:
        async with agent.stream(word) as run:
            return {event.payload.content.strip() async for event in run if isinstance(event.payload, Token)} - {""}

    assert await asyncio.gather(*(read(word) for word in ("one", "two", "three"))) == [{"one"}, {"two"}, {"three"}]
