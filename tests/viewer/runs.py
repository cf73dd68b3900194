"""Three runs of different shapes, whose recordings the viewer is to open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentfootprint import Agent, Fact, Instruction, Limits, Mock, Recording, approve, tool

__all__ = ["RUNS"]


@tool
def weather(city: str) -> dict[str, Any]:
    """Say how the weather is in a city."""
    return {"city": city, "degrees": 21}


@tool
def opening_hours(museum: str) -> str:
    """Say when a museum is open."""
    return f"{museum} is open from 9 to 18."


@tool(check_in="always")
def refund(order_id: str, amount: float) -> str:
    """Pay an amount back."""
    return f"{amount} paid back for {order_id}"


def one_tool() -> Recording:
    script = Mock([Mock.call("weather", city="Paris"), "It is 21 degrees in Paris."])
    return Agent(script, tools=[weather]).run_sync("How is the weather in Paris?").recording


def parallel_tools() -> Recording:
    first = Mock.call("weather", city="Paris")
    second = Mock.call("opening_hours", museum="The Louvre")
    both = first.__class__(content="Let me look.", tool_calls=(*first.tool_calls, *second.tool_calls))
    agent = Agent(
        Mock([both, "Go before six, without a coat."]),
        tools=[weather, opening_hours],
        context=[
            Fact("guest", "The guest stays near the Louvre."),
            Instruction("brief", "Answer in one sentence.", when=lambda turn: "museum" in turn.user_message),
        ],
        limits=Limits(parallel_tools=True),
    )
    return agent.run_sync("When should I visit the museum, and with a coat?").recording


def pause_and_resume() -> Recording:
    agent = Agent(Mock([Mock.call("refund", order_id="A-1", amount=480.0), "It is paid back."]), tools=[refund])
    paused = agent.run_sync("Pay A-1 back.").paused
    assert paused is not None
    return agent.resume_sync(paused, approve(by="dana")).recording


RUNS: dict[str, Callable[[], Recording]] = {
    "one-tool": one_tool,
    "parallel-tools": parallel_tools,
    "pause-and-resume": pause_and_resume,
}
