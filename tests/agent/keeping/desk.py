"""An agent whose turns end in every way, importable from any process."""

from __future__ import annotations

import asyncio
from typing import Any

from agentfootprint import Agent, Limits, ToolContext, ask_human, tool
from agentfootprint.llm import CallHooks, LLMRequest, LLMResponse, ToolCall

RAN: list[str] = []
"""What really ran, in this process."""
KEYS: list[str | None] = []
"""Idempotency keys of the payments that really ran."""


CLOSED: list[str] = []
"""What was cleaned up at the end of a run, in this process."""


@tool
async def look(order: str, ctx: ToolContext) -> str:
    """Look an order up. Use it first."""
    RAN.append(f"look {order}")
    ctx.on_teardown(lambda: CLOSED.append(order), key=order)
    return f"{order}: shipped"


@tool
async def pay(amount: int, ctx: ToolContext) -> str:
    """Pay an amount. Use it once."""
    RAN.append(f"pay {amount}")
    KEYS.append(ctx.idempotency_key)
    return f"paid {amount}"


@tool
async def ask(question: str) -> str:
    """Ask a person. Use it when only a person knows."""
    ask_human(question)


@tool
async def show(question: str) -> str:
    """Ask a person with a panel that can't be shown. Use it never."""
    ask_human(question, data={"component": {"componentId": "panel", "propsRef": "art_1"}})


@tool
async def hang(what: str) -> str:
    """Wait for something that never comes. Use it never."""
    RAN.append(f"hang {what}")
    await asyncio.Event().wait()
    return what


@tool
async def crash(what: str) -> str:
    """End the program. Use it never."""
    raise SystemExit(what)


def desk(provider: Any, *, id: str | None = "desk", limits: Limits | None = None) -> Agent[Any, str]:
    return Agent(provider, id=id, system="You help.", tools=[look, pay, ask, show, hang, crash], limits=limits)


def batch(*calls: tuple[str, dict[str, Any]], prefix: str = "c") -> LLMResponse:
    """A reply that asks for several calls."""
    made = tuple(ToolCall(f"{prefix}{place}", name, args) for place, (name, args) in enumerate(calls, 1))
    return LLMResponse(tool_calls=made, stop_reason="tool_use")


class Scripted:
    """A provider on a script that keeps what it was sent; an exception in the script is raised once."""

    name = "scripted"
    is_free = True

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.sent: list[list[tuple[str, str]]] = []

    async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
        self.sent.append([(message.role, message.content) for message in request.messages])
        reply = self.script.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return reply if isinstance(reply, LLMResponse) else LLMResponse(reply)


__all__ = ["CLOSED", "KEYS", "RAN", "Scripted", "batch", "desk"]
