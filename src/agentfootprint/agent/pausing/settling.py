"""What becomes of calls that were proposed and never dispatched?

Vendors reject a request in which a proposed call has no answer, and a policy must not be met by a call that never ran.
So each gets one message with a mark, and is counted by nobody: readers ask for the mark, never for the words (AGT-90).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agentfootprint.agent.dispatching.settled import frozen_args
from agentfootprint.agent.result import ToolCallRecord
from agentfootprint.agent.scope import RunScope
from agentfootprint.agent.texts import CUT_OFF_TEXT
from agentfootprint.events import MetaMarks, ToolEnd, ToolStart
from agentfootprint.flow import Handle
from agentfootprint.llm import CallRef, LLMMessage, NotDispatched, ToolCall

__all__ = ["not_dispatched_text", "settle", "settled_message"]

_CAUSES: Final = {
    "halt": "a rule stopped the run at",
    "abandoned": "the question of the run was given up at",
}


def not_dispatched_text(tool_name: str, anchor: CallRef | None = None, cause: str | None = None) -> str:
    """The sentence that answers a call which never ran; equal inputs, equal text (AGT-91).

    Args:
        tool_name: The tool that was not run.
        anchor: The call of the same batch that stopped it.
        cause: Why, as on the mark; absent when the run paused.
    """
    if cause == "cut":
        return CUT_OFF_TEXT
    earlier = "earlier " if cause is None else ""  # else it may be a later one, or the call itself
    where = (
        "" if anchor is None else f" the {earlier}call {anchor.tool_call_id!r} of {anchor.tool_name} in the same reply"
    )
    if cause is None:
        why = f"the run paused on{where}" if where else "the run paused"
    elif cause == "stopped":
        why = "the run was stopped"
    elif cause == "history":
        why = "the conversation that was taken up ended before it"
    else:
        why = f"{_CAUSES.get(cause, 'the run ended at')}{where or ' another call'}"
    return f"This call of {tool_name} was not executed because {why}."


def settled_message(call: ToolCall, mark: NotDispatched) -> LLMMessage:
    """The message that answers a call which never ran."""
    text = not_dispatched_text(call.name, mark.paused_call or mark.halted_call, mark.cause)
    return LLMMessage("tool", text, tool_call_id=call.id, tool_name=call.name, not_dispatched=mark)


def settle(
    h: Handle,
    scope: RunScope,
    calls: Sequence[tuple[int, ToolCall]],
    mark: NotDispatched,
    *,
    count: int,
    announced: int = 0,
) -> list[LLMMessage]:
    """Answer calls that never ran: for each its message, and a bracket that neither ran nor failed (AGT-92).

    Args:
        h: The open step.
        scope: The run's.
        calls: The calls, each with its place in its batch.
        mark: Why.
        count: How many calls the batch proposed.
        announced: How many of them have been announced already, from the first on.
    """
    messages: list[LLMMessage] = []
    for ordinal, call in calls:
        message = settled_message(call, mark)
        messages.append(message)
        marks = MetaMarks(tool_ordinal=ordinal)
        start = ToolStart(
            tool_name=call.name,
            tool_call_id=call.id,
            args=call.args,
            parallel_count=count if count > 1 else None,
            not_dispatched=mark,
        )
        if ordinal >= announced:
            scope.emit(h, start, marks)
        scope.emit(h, ToolEnd(tool_call_id=call.id, duration_ms=0, result=message.content, not_dispatched=mark), marks)
        scope.tool_calls.append(ToolCallRecord(call.name, frozen_args(call), None, ok=False, dispatched=False))
    return messages
