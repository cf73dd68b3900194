"""An agent that asks about all calls of a reply at once, importable from any process."""

from __future__ import annotations

from typing import Any

from agentfootprint import (
    Act,
    Agent,
    Gates,
    Mock,
    Paused,
    RunResult,
    ToolContext,
    allow,
    ask,
    ask_human,
    before_tool,
    tool,
)
from agentfootprint.agent import RuleOutcome, ToolCallView
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.security import PermissionDecision, PermissionRequest

RAN: list[str] = []
"""What really ran, in this process, in its order."""
KEYS: list[str | None] = []
"""Idempotency keys of the payments that really ran."""


@tool
async def look(order: str) -> str:
    """Look an order up. Use it first."""
    RAN.append(f"look {order}")
    return f"{order}: shipped"


@tool(check_in=lambda args, _: args["amount"] > 10)
async def pay(amount: int, ctx: ToolContext) -> str:
    """Pay an amount. Use it when it is due."""
    RAN.append(f"pay {amount}")
    KEYS.append(ctx.idempotency_key)
    return f"paid {amount}"


@tool
async def mail(to: str) -> str:
    """Send a mail. Use it when somebody must know."""
    RAN.append(f"mail {to}")
    return f"sent to {to}"


@tool
async def date(order: str) -> str:
    """Ask for a date. Use it when only the customer knows."""
    RAN.append(f"date {order}")
    ask_human(f"When shall {order} come?")


@before_tool(name="outside")
def outside(call: ToolCallView) -> RuleOutcome:
    """Mails to the outside are for a person to decide."""
    if call.tool_name == "mail" and not str(call.args["to"]).endswith("@here"):
        return ask(f"Mail to {call.args['to']}?")
    return allow()


class Guard:
    """Denies lookups of one order, and stops the run at another."""

    name = "guard"

    def check(self, request: PermissionRequest) -> PermissionDecision:
        order = request.context.get("order")
        word = {"SECRET": "deny", "BOMB": "halt"}.get(str(order), "allow")
        return PermissionDecision(word, reason="a rule")  # type: ignore[arg-type]


def calls(*proposed: tuple[str, str, Any]) -> LLMResponse:
    """A reply that proposes calls: id, tool and its one argument."""
    argument = {"look": "order", "pay": "amount", "mail": "to", "date": "order"}
    made = [ToolCall(id_, name, {argument.get(name, "x"): value}) for id_, name, value in proposed]
    return LLMResponse("I take care of it.", tool_calls=tuple(made), stop_reason="tool_use")


def till(*script: Any, together: bool = True, **options: Any) -> Agent[Any, str]:
    """The agent on a script that reads its place from the conversation, so that any process can go on."""
    return Agent(
        Mock([*script, "All done."], cursor="history"),
        id="till",
        tools=[look, pay, mail, date],
        gates=Gates(ask_together=together, permission=Guard(), act=Act(before_tool=[outside])),
        **options,
    )


def paused(result: RunResult[Any]) -> Paused:
    """What a run waits for, which must be there."""
    assert result.paused is not None
    return result.paused


def said(messages: Any) -> list[tuple[str | None, str]]:
    """The results of the calls, each with the id of its call."""
    return [(message.tool_call_id, message.content) for message in messages if message.role == "tool"]


def told(result: RunResult[Any]) -> list[str]:
    """The events of a run, without those about its context."""
    types = [event.type.removeprefix("agentfootprint.") for event in result.recording.events]
    return [each for each in types if not each.startswith("context.")]
