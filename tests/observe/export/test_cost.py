"""Tests of what watching costs: ten exporters at most one and a half times none, with room for a busy machine."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from agentfootprint import Agent, Limits, Mock, tool
from agentfootprint.events import Event
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.observe import attach_exporter

ITERATIONS = 60
WIDE = 2.5  # the promise is 1.5, on a machine that does nothing else


@tool
def look(place: str) -> str:
    """Look."""
    return place


class Counts:
    name = "counts"

    def __init__(self) -> None:
        self.count = 0

    def export(self, event: Event[Any]) -> None:
        self.count += 1


async def seconds(watchers: int) -> float:
    replies = [LLMResponse("", tool_calls=[ToolCall(f"c{n}", "look", {"place": "here"})]) for n in range(ITERATIONS)]
    agent = Agent(Mock([*replies, "Done."]), tools=[look], limits=Limits(iterations=ITERATIONS + 1))
    heard = [Counts() for _ in range(watchers)]
    for each in heard:
        attach_exporter(agent.on, each)
    began = perf_counter()
    await agent.run("Go")
    took = perf_counter() - began
    assert len({each.count for each in heard}) <= 1
    return took


async def test_ten_exporters_cost_little() -> None:
    await seconds(10)  # what is loaded with the first run

    pairs = [(await seconds(0), await seconds(10)) for _ in range(7)]

    alone, watched = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    assert watched < WIDE * alone
