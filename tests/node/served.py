"""What the client's tests talk to: an agent behind AG-UI whose threads are kept in a file, `$SESSIONS`."""

from __future__ import annotations

import os
from typing import Any

from agentfootprint import Agent, Limits, Mock, tool
from agentfootprint.agui import agui_app
from agentfootprint.hosting import SqliteSessions
from agentfootprint.llm import LLMRequest, LLMResponse

__all__ = ["app"]

LONG = " ".join(f"word{number}" for number in range(400))


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


def _both() -> LLMResponse:
    calls = [Mock.call("weather", city="Paris"), Mock.call("opening_hours", museum="The Louvre")]
    named = [call for reply in calls for call in reply.tool_calls]
    return LLMResponse(content="Let me look.", tool_calls=tuple(named))


def answer(request: LLMRequest) -> str | LLMResponse:
    """Reads what to say off the conversation, so that a second process goes on where the first one was."""
    last = request.messages[-1]
    if last.role == "tool":
        results = [message.content for message in request.messages if message.role == "tool"]
        return f"I see: {results[-1]}"
    match last.content:
        case "weather":
            return Mock.call("weather", city="Paris")
        case "both":
            return _both()
        case "refund":
            return Mock.call("refund", order_id="A-1", amount=480.0)
        case "fail":
            raise ConnectionError
        case "long":
            return LONG
        case _:
            return f"You said {last.content}."


agent = Agent(
    Mock(answer, chunk_delay=0.005),
    id="desk",
    tools=[weather, opening_hours, refund],
    limits=Limits(parallel_tools=True),
)
kept_in = os.environ.get("SESSIONS")  # without it this is only read, not served
app = agui_app(agent, path="/agent", sessions=SqliteSessions(kept_in) if kept_in else None)
