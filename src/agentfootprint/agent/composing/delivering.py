"""The stage that says pieces of context in the conversation, and the check that every message of it has a text.

What is said is committed to the history before the slots are composed, so window, slots, log and request share one
past (04 s.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentfootprint.context import Deliveries, WindowMessageError, carried_roles

if TYPE_CHECKING:
    from agentfootprint.agent.scope import RunScope
    from agentfootprint.flow import Handle
    from agentfootprint.llm import LLMMessage
    from agentfootprint.trace import FrozenList

__all__ = ["deliver", "text_of"]


def deliver(h: Handle) -> None:
    """Append what is due to the history, and say what was delivered and what has to wait (MSG-8)."""
    scope: RunScope = h.run.scope
    h["activeInjections"]
    iteration: int = h["iteration"]
    window: FrozenList = h["history"]
    ledger: FrozenList = h["deliveredMessageKeys"]
    now = scope.pass_
    assert now is not None  # noqa: S101  evaluate ran before
    deliveries = scope.deliveries
    if deliveries is None:
        provider = scope.plan.provider
        deliveries = scope.deliveries = Deliveries(carried_roles(provider), provider.name)
    done = deliveries.deliver(now.messages, window, ledger, iteration)
    if done.window is not window:
        h["history"] = done.window
    if done.ledger is not ledger:
        h["deliveredMessageKeys"] = done.ledger
    h["messagesDelivery"] = done.record


def text_of(message: LLMMessage, position: int) -> str:
    """The text of a message of the window.

    Raises:
        WindowMessageError: It has none; names its place, its role and where it came from (AGT-39, SLOT-4).
    """
    content: Any = message.content  # its constructor checks it; what came past that is refused here
    if isinstance(content, str):
        return content
    if message.injected_by is not None:
        origin = f"the piece {message.injected_by.injection_id!r}"
    elif message.role == "tool":
        origin = f"the tool call {message.tool_call_id!r}"
    else:
        origin = "the history" if position else "the run's input"
    raise WindowMessageError(position, message.role, origin, type(content).__name__)
