"""How does a rule ask a person before a call runs?

The rule stops the call where it stands in its batch; what the rules before it made of the arguments, and which rule it
was, is kept for the answer (02 s.12.1).
"""

from __future__ import annotations

from typing import Any

from agentfootprint.agent.pausing.stopping import component_to_wire
from agentfootprint.tools import AskComponent, PersonAsked
from agentfootprint.trace import FrozenDict, Value, freeze

__all__ = ["asked_by_rule"]


def asked_by_rule(
    *,
    question: str,
    middleware: str,
    args: FrozenDict,
    index: int,
    detail: Value = None,
    component: AskComponent | None = None,
) -> PersonAsked:
    """What to raise when a rule asks: the batch then stops, and the run waits for a decision.

    Args:
        question: What the person reads.
        middleware: The rule's name.
        args: The arguments, as the rules before it left them.
        index: The rule's place among those that are asked before a call.
        detail: More for whoever shows the question.
        component: What the decision is to be made with.

    Raises:
        InvalidAskComponentError: The component can't be shown; the run fails.
    """
    asked: dict[str, Any] = {"question": question}
    if detail is not None:
        asked["detail"] = freeze(detail)
    if component is not None:
        asked["component"] = component_to_wire(component, "ask")
    asked["middleware"] = middleware
    state = {"pausedAsk": True, "pausedAskArgs": args, "pausedAskIndex": index, "pausedAskMiddleware": middleware}
    return PersonAsked(FrozenDict({"ask": FrozenDict(asked)}), state=state)
