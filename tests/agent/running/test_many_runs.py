"""Many runs of one agent at once: each keeps to itself (AGT-21, DEC-16)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint import Agent, Fact, Instruction, Limits, Mock, tool
from agentfootprint.llm import LLMRequest, LLMResponse


async def test_two_runs_at_the_edge_of_their_limits_do_not_push_each_other_over() -> None:
    """DEC-16: counters live in the run; the same agent, interleaved at every step."""

    @tool
    async def step(n: int) -> str:
        """Step. Use it always."""
        await asyncio.sleep(0)
        return str(n)

    bad = Mock.call("step", n="no number")
    script = [bad, bad, Mock.call("step", n=1), bad, bad, "Done."]
    agent = Agent(
        Mock(script, cursor="history"),
        tools=[step],
        context=[Fact("f", "A fact."), Instruction("i", "Mind.", when=lambda ctx: ctx.iteration > 1)],
        limits=Limits(iterations=6, invalid_args=3),
    )

    results = await asyncio.gather(*(agent.run(f"Go {n}.") for n in range(2)))

    assert [result.ended_because for result in results] == ["answer", "answer"]
    assert [result.iterations for result in results] == [6, 6]
    assert all(result.stopped_early is None for result in results)


@pytest.mark.parametrize("parallel", [False, True])
async def test_a_hundred_runs_at_once_keep_to_themselves(parallel: bool) -> None:
    """AGT-21, trap T28: results, recordings and events are each run's own."""

    @tool
    async def echo(n: int) -> str:
        """Echo. Use it always."""
        for _ in range(n % 7):
            await asyncio.sleep(0)
        return f"echo {n}"

    def say(request: LLMRequest) -> LLMResponse | str:
        last = request.messages[-1]
        number = int(request.messages[0].content.split()[-1])
        if last.role == "user":
            calls = [call for extra in (0, 1000) for call in Mock.call("echo", n=number + extra).tool_calls]
            return LLMResponse("", tool_calls=calls)
        return f"answer {number}"

    agent = Agent(Mock(say), tools=[echo], limits=Limits(parallel_tools=parallel))
    heard: dict[str, list[Any]] = {}
    agent.on("*", lambda event: heard.setdefault(event.meta.run_id, []).append(event))

    results = await asyncio.gather(*(agent.run(f"number {n}", session_id=f"s{n}") for n in range(100)))

    for n, result in enumerate(results):
        assert result.text == f"answer {n}"
        assert [call.result for call in result.tool_calls] == [f"echo {n}", f"echo {n + 1000}"]
        assert {event.meta.session_id for event in heard[result.run_id]} == {f"s{n}"}
        assert [event.type for event in heard[result.run_id]] == [event.type for event in result.recording.events]
        assert result.recording.snapshot["sharedState"]["userMessage"] == f"number {n}"
    assert len(heard) == 100
    assert agent.inflight == ()
