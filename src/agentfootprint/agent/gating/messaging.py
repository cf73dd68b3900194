"""What do the rules say about what the user said, and about the answer, and what becomes of a denial (02 s.9.4)?

At the input they speak before anything of the run sees the message; at the output before anybody but the record sees
the answer. A denied message ends the run with an error that never holds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, cast

from agentfootprint.agent.dispatching.ledger import file_decision
from agentfootprint.agent.errors import MessageDeniedError
from agentfootprint.agent.gating.chains import MessageVerdict, judge_message
from agentfootprint.agent.gating.views import MessageView

if TYPE_CHECKING:
    from agentfootprint.agent.gating.gates import RunGates
    from agentfootprint.agent.scope import RunScope
    from agentfootprint.flow import Handle
    from agentfootprint.llm import LLMMessage

__all__ = ["Spoken", "hear", "refuse_input", "speak"]


class Spoken:
    """An answer as the rules at the output left it."""

    __slots__ = ("changed_by", "is_denied", "raw", "text")

    def __init__(self, raw: str, text: str, changed_by: str | None, *, is_denied: bool) -> None:
        self.raw = raw
        """What the model said."""
        self.text = text
        """What the caller gets; nothing where it was denied."""
        self.changed_by = changed_by
        """The last rule that changed it."""
        self.is_denied = is_denied


async def hear(h: Handle, scope: RunScope, gates: RunGates, message: str) -> MessageVerdict:
    """Put what the user said to the rules; the history is empty and the iteration 0 (AGT-54)."""
    view = MessageView(phase="input", content=message, identity=scope.identity, deps=scope.deps)
    return await judge_message(gates.messages, view, lambda row: file_decision(h, scope, row), iteration=0)


def refuse_input(h: Handle, scope: RunScope, verdict: MessageVerdict) -> None:
    """End a run whose message was denied, before its first model call."""
    _refuse(h, scope, verdict, "input")
    h.break_(f"message denied at input: {scope.shown('messageDeniedReason', verdict.reason)}")


async def speak(h: Handle, scope: RunScope, gates: RunGates, iteration: int) -> Spoken:
    """Put an answer that would end the turn to the rules; what they leave is the answer (ACT-8).

    Returns:
        The answer; the run's `spoken` too.
    """
    raw: str = h["llmLatestContent"]
    view = MessageView(
        phase="output",
        content=raw,
        history=cast("Sequence[LLMMessage]", h["history"]),
        identity=scope.identity,
        deps=scope.deps,
    )
    verdict = await judge_message(gates.messages, view, lambda row: file_decision(h, scope, row), iteration=iteration)
    is_denied = verdict.kind == "deny"
    text = "" if is_denied else verdict.content
    if text != raw:
        h["llmLatestContent"] = text
    if is_denied:
        _refuse(h, scope, verdict, "output")
    scope.spoken = Spoken(raw, text, verdict.changed_by, is_denied=is_denied)
    return scope.spoken


def _refuse(h: Handle, scope: RunScope, verdict: MessageVerdict, phase: Literal["input", "output"]) -> None:
    h["messageDeniedReason"] = verdict.reason
    h["messageDeniedPhase"] = phase
    h["messageDeniedBy"] = verdict.middleware
    scope.ended_because = "refused"
    scope.refusal = MessageDeniedError(verdict.reason, phase=phase, middleware=verdict.middleware)
