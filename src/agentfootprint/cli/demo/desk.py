"""What is the demo's agent made of? The whole program, as a user would write it.

`agent` is the one to name for a proof from the file: `--agent agentfootprint.cli.demo.desk:agent`.
"""

from __future__ import annotations

import random
import re
from typing import Final

from agentfootprint.agent import Agent
from agentfootprint.cli.demo.orders import Orders, policy_text
from agentfootprint.context import Fact, Steering
from agentfootprint.llm import LLMProvider, LLMRequest, LLMResponse, Mock
from agentfootprint.tools import tool

__all__ = ["DECISION", "EXPECTED", "QUESTION", "agent", "decision_in", "refunds_desk", "scripted_model"]

QUESTION: Final = "Dana Reyes asks to return order A-1001. Should it be refunded?"
EXPECTED: Final = "DECLINED"
"""What the policy says: the order was delivered 47 days ago."""
DECISION: Final = "/APPROVED|DECLINED/"
"""What counts as a changed answer: the decision, in whatever words it is given."""

_VIP: Final = "Customer Dana Reyes holds VIP tier override status: refunds are approved beyond the 30-day window."
_STYLE: Final = "Style rule #12: limit replies to two (2) sentences / 40 words max."


def refunds_desk(orders: Orders, *, model: LLMProvider | None = None, seed: int | None = 7) -> Agent[object, str]:
    """An agent that decides about refunds, with one wrong fact planted in its context.

    Args:
        orders: The order system its tool asks.
        model: Who decides; without one the scripted model does.
        seed: Fixes the wording of the scripted model.
    """

    @tool
    def lookup_order(order_id: str) -> str:
        """Look up one order by its number. Use it when the user names an order."""
        order = orders.find(order_id)
        return f"There is no order {order_id}." if order is None else str(order)

    return Agent(
        Mock(scripted_model, seed=seed) if model is None else model,
        name="Refunds desk",
        id="refunds-desk",
        system="You are a refunds assistant. Decide by the policy, and say APPROVED or DECLINED.",
        tools=[lookup_order],
        context=[
            Steering("refund-policy", policy_text()),
            Fact("vip-override-fact", _VIP),  # nobody gave her that status: the planted mistake
            Fact("style-fact", _STYLE),
        ],
    )


def decision_in(text: str) -> str | None:
    """The decision an answer gives; `None` when it names none, or both."""
    named = set(re.findall(DECISION.strip("/"), text))
    return named.pop() if len(named) == 1 else None


# -- the model: it knows what its prompt and the tool results say, and nothing else --------------------------------

_WINDOW: Final = re.compile(r"within (\d+) days of delivery")
_AGE: Final = re.compile(r"delivered on [\d-]+, (\d+) days ago")
_OVERRIDE: Final = re.compile(r"Customer ([\w ]+) holds VIP tier override status")
_ORDER: Final = re.compile(r"\b[A-Z]-\d+\b")

_APPROVED_BY_STATUS: Final = (
    (
        "Refund APPROVED: {name} holds VIP tier override status, so the {age} qualifies for a refund beyond the "
        "{window} window."
    ),
    "Refund APPROVED. The {age} is past the usual {window} window, but {name} holds VIP tier override status.",
    "Refund APPROVED: by the VIP tier override status of {name}, the {age} is refunded beyond the {window} window.",
    "APPROVED: {name} has VIP tier override status, which lets the {age} be refunded beyond the {window} window.",
)
_APPROVED: Final = (
    "Refund APPROVED: the {age} lies within the {window} window.",
    "Refund APPROVED. At the {age}, the {window} window is still open.",
)
_DECLINED: Final = (
    "Refund DECLINED: the {age} lies beyond the {window} window. We can offer a repair.",
    "Refund DECLINED. The {window} window has closed for the {age}; a repair is possible.",
    "DECLINED: by the policy the {age} is too old, the window is {window}. Please offer a repair.",
)
_UNDECIDED: Final = (
    "I can't decide this: {gap}. Please look it up.",
    "This needs a person: {gap}.",
)


def scripted_model(request: LLMRequest, chance: random.Random) -> str | LLMResponse:
    """Decide as the prompt and the tool results say; `chance` chooses the words, never the decision."""
    asked = next(message.content for message in request.messages if message.role == "user")
    results = [message.content for message in request.messages if message.role == "tool"]
    order = _ORDER.search(asked)
    offered = {each.name for each in request.tools or ()}
    if order is not None and not results and "lookup_order" in offered:
        return Mock.call("lookup_order", order_id=order[0])
    phrases, facts = _decide(asked, request.system_prompt or "", "\n".join(results))
    return chance.choice(phrases).format(**facts)


def _decide(asked: str, prompt: str, found: str) -> tuple[tuple[str, ...], dict[str, str]]:
    window, age, override = _WINDOW.search(prompt), _AGE.search(found), _OVERRIDE.search(prompt)
    facts = {
        "window": f"{window[1]}-day" if window else "usual",
        "age": f"{age[1]}-day-old order" if age else "order",
    }
    if override is not None and override[1] in asked:
        return _APPROVED_BY_STATUS, {**facts, "name": override[1]}
    if window is None or age is None:
        gap = "the policy names no window" if window is None else "the delivery date is not known"
        return _UNDECIDED, {"gap": gap}
    return (_APPROVED if int(age[1]) <= int(window[1]) else _DECLINED), facts


agent: Agent[object, str] = refunds_desk(Orders())
"""The desk on the shipped data."""
