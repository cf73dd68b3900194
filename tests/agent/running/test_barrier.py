"""Tests of agentfootprint.agent.running.barrier."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from agentfootprint import Agent, Mock, ask_human, tool
from agentfootprint.agent import awaiting_writes


class Host:
    """A host that stores a run as it goes; its writes end when they are awaited."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.asked = 0

    def pending(self) -> Awaitable[object] | None:
        self.asked += 1
        if self.asked == 1:
            return None
        return self._write()

    async def _write(self) -> None:
        await asyncio.sleep(0)
        self.log.append("stored")


async def test_nothing_is_dispatched_before_the_hosts_write_is_done() -> None:
    host = Host()

    @tool
    async def act(n: int) -> str:
        """Act. Use it always."""
        host.log.append(f"act {n}")
        return "ok"

    agent = Agent(Mock([Mock.call("act", n=1), Mock.call("act", n=2), "Done."], cursor="history"), tools=[act])

    with awaiting_writes(host.pending):
        await agent.run("Go.")
    await agent.run("Go on.")

    assert host.log == ["act 1", "stored", "act 2", "act 1", "act 2"]  # the second run is nobody's to store
    assert host.asked == 2


async def test_an_answer_acts_only_when_the_write_is_done() -> None:
    host = Host()

    @tool
    async def act(n: int) -> str:
        """Act. Use it always."""
        ask_human("May I?")

    agent = Agent(Mock([Mock.call("act", n=1), "Done."]), tools=[act])
    agent.on("agentfootprint.stream.tool_end", lambda _: host.log.append("answered"))

    with awaiting_writes(host.pending):
        paused = (await agent.run("Go.")).paused
        assert paused is not None
        await agent.resume(paused, "yes")

    assert host.log == ["stored", "answered"]


async def test_a_write_that_fails_lets_nothing_act() -> None:
    acted: list[int] = []

    @tool
    async def act(n: int) -> str:
        """Act. Use it always."""
        acted.append(n)
        return "ok"

    def pending() -> Awaitable[object]:
        async def write() -> None:
            raise OSError("the disk is full")

        return write()

    agent = Agent(Mock([Mock.call("act", n=1), "Done."]), tools=[act])

    with awaiting_writes(pending), pytest.raises(Exception, match="the disk is full"):
        await agent.run("Go.")

    assert acted == []
