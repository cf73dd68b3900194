"""Tests of agentfootprint.observe.live."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint import Agent, Limits, Mock, ToolCall, ask_human, tool
from agentfootprint.llm import LLMResponse
from agentfootprint.observe import LiveState


class Watched:
    """An agent whose tools are held until they are let go, and its live state."""

    def __init__(self, *calls: tuple[str, int], **options: Any) -> None:
        self.let_go = asyncio.Event()
        self.reached = asyncio.Semaphore(0)

        @tool
        async def work(n: int) -> str:
            """Work. Use it always."""
            self.reached.release()
            await self.let_go.wait()
            return str(n)

        @tool
        async def ask(n: int) -> str:
            """Ask. Use it always."""
            ask_human(f"{n}?")

        script = LLMResponse("", tool_calls=[ToolCall("same", name, {"n": n}) for name, n in calls])
        self.agent = Agent(Mock([script, "Done."], cursor="history"), tools=[work, ask], **options)
        self.live = LiveState()
        self.subscription = self.live.attach(self.agent)


async def test_what_is_going_on_can_be_read_while_it_does() -> None:
    watched = Watched(("work", 1))
    partial: list[tuple[str, int]] = []
    watched.agent.on(
        "agentfootprint.stream.token", lambda _: partial.append((watched.live.partial_text, watched.live.tokens))
    )
    handle = watched.agent.start("Go.")
    await watched.reached.acquire()
    executing = watched.live.executing_tools
    in_turn = (watched.live.is_in_turn, watched.live.turn_index, watched.live.is_llm_in_flight)
    watched.let_go.set()
    await handle.result()

    assert [(each.tool_name, each.args["n"], each.status) for each in executing] == [("work", 1, "running")]
    assert in_turn == (True, 0, False)
    assert partial == [("Done.", 1)]
    assert watched.live.executing_tools == ()
    assert (watched.live.is_in_turn, watched.live.turn_index) == (False, -1)
    assert watched.live.runs == ()


async def test_calls_beside_each_other_with_one_id_are_told_apart() -> None:
    watched = Watched(("work", 1), ("work", 2), limits=Limits(parallel_tools=True))
    handle = watched.agent.start("Go.")
    await watched.reached.acquire()
    await watched.reached.acquire()

    tools = watched.live.of(handle.run_id).tools
    numbers = [each.args["n"] for each in tools.values()]
    addresses = [address.rpartition(":")[2] for address in tools]
    watched.let_go.set()
    await handle.result()

    assert (numbers, addresses) == ([1, 2], ["0", "1"])


async def test_runs_at_the_same_time_have_a_state_each() -> None:
    watched = Watched(("work", 1))
    handles = [watched.agent.start("Go."), watched.agent.start("Go.")]
    for _ in handles:
        await watched.reached.acquire()

    runs = [run.run_id for run in watched.live.runs]
    await handles[0].cancel()
    after = (watched.live.of(handles[0].run_id).is_idle, watched.live.of(handles[1].run_id).is_idle)
    watched.let_go.set()
    await handles[1].result()

    assert runs == [handle.run_id for handle in handles]
    assert after == (True, False)


async def test_a_run_that_fails_leaves_nothing_in_flight() -> None:
    agent = Agent(Mock([ValueError("no")]))
    live = LiveState()
    live.attach(agent)

    with pytest.raises(Exception, match="no"):
        await agent.run("Go.")

    assert (live.is_llm_in_flight, live.is_in_turn, live.runs) == (False, False, ())


async def test_a_call_that_asked_a_person_waits_and_a_settled_one_never_runs() -> None:
    watched = Watched(("ask", 1), ("work", 2))
    running: list[int] = []
    watched.agent.on("agentfootprint.stream.tool_start", lambda _: running.append(len(watched.live.executing_tools)))

    first = await watched.agent.run("Go.")
    assert first.paused is not None
    waiting = [each.status for each in watched.live.of(first.run_id).tools.values()]
    await watched.agent.resume(first.paused, "yes")

    assert waiting == ["waiting"]
    assert running == [1, 0]


async def test_attaching_again_changes_nothing_and_closing_ends_it() -> None:
    watched = Watched(("work", 1))

    again = watched.live.attach(watched.agent)
    listeners = watched.agent.bus.listener_count()
    again.close()

    assert again is watched.subscription
    assert listeners == 11
    assert watched.agent.bus.listener_count() == 0
    assert watched.live.attach(watched.agent) is not again


async def test_a_recording_gives_at_its_end_what_was_seen_live() -> None:
    watched = Watched(("ask", 1), ("work", 2))
    result = await watched.agent.run("Go.")

    read = LiveState()
    read.hear_all(result.recording.events)

    assert read.of(result.run_id).tools == watched.live.of(result.run_id).tools
    assert read.of(result.run_id).turn == watched.live.of(result.run_id).turn
