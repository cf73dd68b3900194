"""Tests of agentfootprint.agent.running.closing."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from agentfootprint import Agent, ConfigError, Limits, Mock, ToolContext, tool
from agentfootprint.events import Event


def opening(*scopes: str) -> tuple[Any, list[str]]:
    """A tool that keeps something open in each scope, and what was cleaned up."""
    closed: list[str] = []

    @tool
    async def open_all(what: str, ctx: ToolContext) -> str:
        """Open. Use it always."""
        for scope in scopes:
            ctx.on_teardown(lambda scope=scope: closed.append(f"{scope} {what}"), scope=scope, label="a shell")  # pyright: ignore[reportArgumentType]
        return what

    return open_all, closed


def told(agent: Agent[Any, Any]) -> list[Event[Any]]:
    """What is heard about things that are kept open."""
    heard: list[Event[Any]] = []
    agent.on("agentfootprint.tools.*", heard.append)
    return heard


async def test_each_scope_is_cleaned_up_when_it_is_over() -> None:
    open_all, closed = opening("call", "run", "session", "shutdown")
    agent = Agent(Mock([Mock.call("open_all", what="x"), "Done."]), tools=[open_all])
    heard = told(agent)

    result = await agent.run("Go.", session_id="s1")
    after_run = list(closed)
    count = await agent.close_tool_sessions("s1")
    after_session = list(closed)
    await agent.aclose()

    assert after_run == ["call x", "run x"]
    assert (count, after_session[2:]) == (1, ["session x"])
    assert closed[3:] == ["shutdown x"]
    names = [event.type.rpartition("_")[2] for event in heard]
    assert names == ["started"] * 4 + ["closed"] * 4
    assert [event.payload.reason for event in heard[4:]] == ["call-end", "run-end", "session-end", "shutdown"]
    assert {event.meta.run_id for event in heard} == {result.run_id}
    assert {event.meta.runtime_stage_id for event in heard[4:]} == {"tool-teardown#0"}
    assert {event.payload.label for event in heard} == {"a shell"}
    assert all(len(event.payload.key_hash) == 12 for event in heard)


async def test_what_is_closed_after_a_run_is_heard_and_not_added_to_its_recording() -> None:
    open_all, _ = opening("shutdown")
    agent = Agent(Mock([Mock.call("open_all", what="x"), "Done."]), tools=[open_all])
    heard = told(agent)

    result = await agent.run("Go.")
    rows = len(result.recording.events)
    await agent.aclose()

    assert len(heard) == 2
    assert len(result.recording.events) == rows


async def test_a_session_of_somebody_else_is_not_reached() -> None:
    open_all, closed = opening("session")
    agent = Agent(
        Mock(lambda r: Mock.call("open_all", what=r.messages[0].content) if len(r.messages) == 1 else "Done."),
        tools=[open_all],
    )

    await agent.run("a", session_id="s1")
    await agent.run("b", session_id="s2")
    await agent.run("c", session_id="s1")  # comes back to what the first run opened
    first = await agent.close_tool_sessions("s1")
    after = list(closed)
    rest = await agent.close_tool_sessions()

    assert (first, after) == (1, ["session a"])
    assert (rest, closed) == (1, ["session a", "session b"])
    assert await agent.close_tool_sessions() == 0


async def test_an_agent_whose_tools_keep_nothing_open_has_nothing_to_close() -> None:
    agent = Agent(Mock("Hi."))
    heard = told(agent)

    async with agent as same:
        await same.run("Go.")
    drained = await agent.drain_observers()

    assert same is agent
    assert heard == []
    assert (drained.done, drained.failed, drained.pending) == (0, 0, 0)


async def test_leaving_the_block_closes_and_the_agent_can_be_used_again() -> None:
    open_all, closed = opening("shutdown")
    agent = Agent(Mock([Mock.call("open_all", what="x"), "Done."], cursor="history"), tools=[open_all])

    async with agent:
        await agent.run("Go.")
    async with agent:
        await agent.run("Go.")

    assert closed == ["shutdown x", "shutdown x"]


class Held:
    """An agent in the middle of a run, whose listeners of both forms work on what they heard."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.reached, self.let_go = asyncio.Event(), asyncio.Event()

        @tool
        async def wait(what: str) -> str:
            """Wait. Use it always."""
            self.reached.set()
            await self.let_go.wait()
            return what

        async def fine(event: Event[Any]) -> None:
            await asyncio.sleep(0)
            self.done.append(event.type)

        async def fails(_event: Event[Any]) -> None:
            raise ValueError

        self.agent = Agent(Mock([Mock.call("wait", what="x"), "Done."]), tools=[wait])
        self.agent.on("agentfootprint.stream.tool_start", fine)
        self.agent.on("agentfootprint.stream.tool_start", fails, form="wire")


async def test_closing_waits_for_listeners_and_stops_no_run() -> None:
    held = Held()
    handle = held.agent.start("Go.")
    await held.reached.wait()

    await held.agent.aclose()
    in_flight, done = held.agent.inflight, list(held.done)
    held.let_go.set()

    assert in_flight == (handle,)
    assert done == ["agentfootprint.stream.tool_start"]
    assert (await handle.result()).text == "Done."


async def test_draining_counts_what_became_of_the_listeners_of_both_forms() -> None:
    held = Held()
    handle = held.agent.start("Go.")
    await held.reached.wait()

    drained = await held.agent.drain_observers(timeout=1.0)
    held.let_go.set()
    await handle.result()

    assert (drained.done, drained.failed, drained.pending) == (1, 1, 0)


class Exporter:
    def __init__(self, log: list[str], name: str, *, fails: bool = False) -> None:
        self._log = log
        self._name = name
        self._fails = fails

    async def flush(self) -> None:
        self._log.append(f"flush {self._name}")
        if self._fails:
            raise ValueError("SECRET")

    async def stop(self) -> None:
        self._log.append(f"stop {self._name}")


@pytest.mark.parametrize("stop", [True, False])
async def test_everything_attached_is_flushed_before_anything_is_stopped(
    stop: bool, caplog: pytest.LogCaptureFixture
) -> None:
    log: list[str] = []
    open_all, closed = opening("shutdown")
    agent = Agent(Mock([Mock.call("open_all", what="x"), "Done."]), tools=[open_all])
    agent.attached += [Exporter(log, "a", fails=True), Exporter(log, "b")]
    await agent.run("Go.")

    with caplog.at_level(logging.WARNING):
        await agent.aclose(stop=stop)

    assert log == ["flush a", "flush b", *(["stop a", "stop b"] if stop else [])]
    assert closed == ["shutdown x"]
    assert "could not flush an observer: ValueError" in caplog.text
    assert "SECRET" not in caplog.text
    assert bool(agent.attached) is not stop


async def test_calls_at_the_same_time_share_one_closing() -> None:
    log: list[str] = []
    agent = Agent(Mock("Hi."))
    agent.attached.append(Exporter(log, "a"))

    await asyncio.gather(*(agent.aclose() for _ in range(3)))

    assert log == ["flush a", "stop a"]


@pytest.mark.parametrize("wrong", [0, -1.0, None, "5", float("inf"), True])
def test_a_time_for_cleanups_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError, match=r"limits\.teardown"):
        Limits(teardown=wrong)


async def test_a_cleanup_that_takes_too_long_is_told_and_left_behind() -> None:
    @tool
    async def open_one(what: str, ctx: ToolContext) -> str:
        """Open. Use it always."""

        async def hang() -> None:
            await asyncio.Event().wait()

        ctx.on_teardown(hang)
        return what

    agent = Agent(Mock([Mock.call("open_one", what="x"), "Done."]), tools=[open_one], limits=Limits(teardown=0.01))
    heard = told(agent)

    result = await agent.run("Go.")

    assert result.text == "Done."
    assert [event.type.rpartition(".")[2] for event in heard] == ["session_started", "session_close_failed"]
    assert heard[1].payload.error_class == "ToolTeardownTimeoutError"


async def test_what_a_plain_tool_keeps_from_its_thread_is_kept_too() -> None:
    closed: list[str] = []

    @tool
    def open_one(what: str, ctx: ToolContext) -> str:
        """Open. Use it always."""
        ctx.on_teardown(lambda: closed.append(what), scope="session")
        return what

    agent = Agent(Mock([Mock.call("open_one", what="x"), "Done."]), tools=[open_one])

    await agent.run("Go.", session_id="s")
    count = await agent.close_tool_sessions("s")

    assert (count, closed) == (1, ["x"])


async def test_a_session_without_an_id_belongs_to_its_run() -> None:
    open_all, closed = opening("session")
    agent = Agent(
        Mock(lambda r: Mock.call("open_all", what=r.messages[0].content) if len(r.messages) == 1 else "Done."),
        tools=[open_all],
    )

    await agent.run("a")
    await agent.run("b")
    await agent.aclose()

    assert sorted(closed) == ["session a", "session b"]


class Kept:
    """An exporter that keeps what it gets."""

    name = "kept"

    def __init__(self) -> None:
        self.types: list[str] = []
        self.done: list[str] = []

    def export(self, event: Event[Any]) -> None:
        self.types.append(event.type)

    async def flush(self) -> None:
        self.done.append("flush")

    async def stop(self) -> None:
        self.done.append("stop")


async def test_what_is_attached_gets_the_events_of_every_run_and_is_stopped_with_the_agent() -> None:
    agent, kept, taken_off = Agent(Mock("Hi.")), Kept(), Kept()
    with agent.attach(taken_off):
        await agent.run("One.")
    agent.attach(kept)

    await agent.run("Two.")
    await agent.aclose()
    await agent.run("Three.")

    assert kept.types.count("agentfootprint.agent.turn_end") == 1
    assert taken_off.types.count("agentfootprint.agent.turn_end") == 1
    assert "flush" in kept.done
    assert kept.done[-1] == "stop"
    assert "stop" not in taken_off.done


def test_only_an_exporter_is_attached() -> None:
    with pytest.raises(ConfigError, match="no exporter"):
        Agent(Mock("Hi.")).attach(print)  # pyright: ignore[reportArgumentType]
