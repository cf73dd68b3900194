"""An agent that asks people, importable from any process."""

from __future__ import annotations

from typing import Any

from agentfootprint import Agent, Fact, Mock, Paused, RunResult, ToolContext, ask_human, tool

RAN: list[str] = []
"""What really ran, in this process."""
KEYS: list[str | None] = []
"""Idempotency keys of the refunds that really ran."""


@tool
async def look(order: str) -> str:
    """Look an order up. Use it first."""
    RAN.append(f"look {order}")
    return f"{order}: shipped"


@tool
async def ask(question: str) -> str:
    """Ask a person. Use it when only a person knows."""
    RAN.append(f"ask {question}")
    ask_human(question, reason="nobody else knows")


@tool(check_in=lambda args, _: args["amount"] > 100)
async def refund(amount: float, ctx: ToolContext) -> str:
    """Refund an amount. Use it when the policy allows it."""
    RAN.append(f"refund {amount:g}")
    KEYS.append(ctx.idempotency_key)
    return f"refunded {amount:g}"


def desk(*script: Any, provider: Any = None, **options: Any) -> Agent[Any, str]:
    """The agent on a script that reads its place from the conversation, so that any process can go on."""
    return Agent(
        provider or Mock(list(script), cursor="history"),
        id="desk",
        system="You decide refunds. Be kind.",
        tools=[look, ask, refund],
        context=[Fact("policy", "Refunds up to 500 are allowed.")],
        **options,
    )


def question(result: RunResult[Any]) -> Paused:
    """What a run waits for, which must be there."""
    assert result.paused is not None
    return result.paused
