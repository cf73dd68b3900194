"""The refund agent of the first hour, as a user's module: `--agent refunds:agent`."""

from __future__ import annotations

from agentfootprint import Agent, Fact, Mock, tool
from agentfootprint.agent import Agent as AgentClass
from agentfootprint.llm import LLMRequest, LLMResponse

QUESTION = "Should order A-1001 be refunded?"
VIP = "Customer Dana Reyes holds VIP tier override status: refunds are approved beyond the 30-day window."
APPROVED = (
    "Refund APPROVED: Dana Reyes holds VIP tier override status, so the 47-day-old order qualifies for a refund "
    "beyond the 30-day window."
)


@tool
def lookup_order(orderId: str) -> str:  # noqa: N803  the name of the recorded example
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {orderId}: purchased 47 days ago, price $480, category electronics."


def model(request: LLMRequest) -> str | LLMResponse:
    """Ask for the order, then decide by what the prompt says."""
    has_result = any(message.role == "tool" for message in request.messages)
    if request.tools and not has_result:
        return Mock.call("lookup_order", orderId="A-1001")
    return APPROVED if "VIP" in (request.system_prompt or "") else "Refund DECLINED: the order is too old."


def refund_agent(respond: object = model, *, facts: int = 2, tools: bool = True) -> AgentClass[object, str]:
    """The agent, or a version of it that has changed since."""
    pieces = [
        Fact("vip-override-fact", VIP),
        Fact("style-fact", "Style rule #12: limit replies to two (2) sentences / 40 words max."),
    ]
    return Agent(
        Mock(respond),  # type: ignore[arg-type]  # a function of the request
        system="You are a refunds assistant. Policy: refunds only within 30 days of purchase.",
        tools=[lookup_order] if tools else [],
        context=pieces[:facts],
    )


agent = refund_agent()
changed = refund_agent(tools=False)


def broken(request: LLMRequest) -> str:
    """A model that fails in a re-run."""
    raise ValueError("customer 4711 asked for a secret")


failing = refund_agent(broken)


class Priced:
    """A provider without a price list, as every vendor is today."""

    name = "priced"

    async def complete(self, request: LLMRequest, hooks: object = None) -> LLMResponse:
        said = model(request)
        return LLMResponse(said) if isinstance(said, str) else said


priced = Agent(
    Priced(),
    system="You decide refunds.",
    context=[Fact("vip-override-fact", VIP)],
)
