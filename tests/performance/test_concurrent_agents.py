"""What it costs a run to be one of many: with a wide margin here, `make bench` measures it."""

from __future__ import annotations

import asyncio
import gc
import weakref

from agentfootprint import Agent, Limits, Mock, tool
from agentfootprint.llm import LLMResponse
from benchmarks import concurrent


def test_many_runs_at_once_go_on_nearly_as_fast_as_one_alone() -> None:
    assert concurrent.share_of_single_rate(100, 20, rounds=3) >= 0.5


def test_runs_that_ended_together_leave_nothing_behind() -> None:
    @tool
    async def echo(n: int) -> str:
        """Echo. Use it always."""
        await asyncio.sleep(0)
        return str(n)

    calls = [call for n in range(3) for call in Mock.call("echo", n=n).tool_calls]
    agent = Agent(
        Mock([LLMResponse("", tool_calls=calls), "Done."], cursor="history"),
        tools=[echo],
        limits=Limits(parallel_tools=True),
    )

    async def run() -> list[weakref.ref[object]]:
        results = await asyncio.gather(*(agent.run("Go.") for _ in range(50)))
        assert len(asyncio.all_tasks()) == 1
        return [weakref.ref(result) for result in results]

    alive = asyncio.run(run())
    gc.collect()

    assert agent.inflight == ()
    assert [each() for each in alive if each() is not None] == []


async def test_calls_side_by_side_take_as_many_turns_of_the_loop_as_the_longest_alone() -> None:
    """The gain, in turns of the event loop and not in time: they do not add up."""

    async def turns(*, parallel: bool) -> int:
        ticks = 0

        async def ticker() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        @tool
        async def wait(n: int) -> str:
            """Wait. Use it always."""
            for _ in range(100):
                await asyncio.sleep(0)
            return str(n)

        calls = [call for n in range(8) for call in Mock.call("wait", n=n).tool_calls]
        agent = Agent(
            Mock([LLMResponse("", tool_calls=calls), "Done."]), tools=[wait], limits=Limits(parallel_tools=parallel)
        )
        counter = asyncio.create_task(ticker())
        await agent.run("Go.")
        counter.cancel()
        return ticks

    assert await turns(parallel=True) < 0.25 * await turns(parallel=False)
