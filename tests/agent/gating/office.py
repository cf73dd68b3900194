"""An agent between a checker and rules, and what its tools were really given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentfootprint import Agent, Gates, Limits, Mock, ToolCall, tool
from agentfootprint.llm import LLMResponse
from agentfootprint.security import PermissionDecision, PermissionRequest

RAN: list[str] = []
"""What really ran."""


@tool(capabilities=["external_net", "user_data"])
async def look(order: str) -> str:
    """Look an order up. Use it first."""
    RAN.append(f"look {order}")
    return f"{order}: shipped"


@tool
async def send(text: str) -> str:
    """Send a message. Use it last."""
    RAN.append(f"send {text}")
    return "sent"


@tool
async def fail(text: str) -> str:
    """Fail. Use it never."""
    raise RuntimeError(f"no {text}")


def batch(*calls: tuple[str, str, dict[str, Any]], text: str = "") -> LLMResponse:
    return LLMResponse(text, tool_calls=tuple(ToolCall(*call) for call in calls), stop_reason="tool_use")


class Checker:
    """Answers with what a function says, and remembers what it was asked."""

    name = "office"

    def __init__(self, answer: Callable[[PermissionRequest], Any], governs: frozenset[str] | None = None) -> None:
        self.asked: list[PermissionRequest] = []
        self._answer = answer
        if governs is not None:
            self.governs = governs

    def check(self, request: PermissionRequest) -> PermissionDecision:
        self.asked.append(request)
        return self._answer(request)


def denying(*tools: str, **more: Any) -> Checker:
    return Checker(lambda request: PermissionDecision("deny" if request.target in tools else "allow", **more))


def halting(*tools: str, **more: Any) -> Checker:
    return Checker(lambda request: PermissionDecision("halt" if request.target in tools else "allow", **more))


def office(*script: Any, parallel: bool = False, output: Any = None, **gates: Any) -> Agent[Any, Any]:
    RAN.clear()
    return Agent(
        Mock(list(script), cursor="history"),
        tools=[look, send, fail],
        output=output,
        gates=Gates(**gates),
        limits=Limits(parallel_tools=parallel),
    )


def told(messages: Any) -> list[tuple[str | None, str]]:
    """What the model read of each call."""
    return [(message.tool_call_id, message.content) for message in messages if message.role == "tool"]


def named(events: Any, *families: str) -> list[str]:
    """The types of the events of some families, in order."""
    short = [event.type.removeprefix("agentfootprint.") for event in events]
    return [name for name in short if name.startswith(families)]


def ledger(result: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in result.recording.snapshot["sharedState"].get("middlewareDecisions", [])]
