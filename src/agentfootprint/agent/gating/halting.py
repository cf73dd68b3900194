"""What is left of a run that a permission checker stopped (02 s.10.4)?

The call has its message and its end like any other; the calls behind it are settled, never run; everything is
committed; and the run raises once its record is closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentfootprint.agent.errors import PolicyHaltError
from agentfootprint.agent.pausing.settling import settle
from agentfootprint.events import PermissionHalt
from agentfootprint.llm import CallRef, NotDispatched
from agentfootprint.security import ToolCallEntry
from agentfootprint.trace import FrozenDict, FrozenList

if TYPE_CHECKING:
    from agentfootprint.agent.gating.gates import RunGates
    from agentfootprint.agent.gating.halted import Halted
    from agentfootprint.agent.scope import RunScope
    from agentfootprint.flow import Handle
    from agentfootprint.llm import ToolCall

__all__ = ["halt_run"]


def halt_run(
    h: Handle,
    scope: RunScope,
    gates: RunGates,
    halted: Halted,
    calls: FrozenList,
    ordinal: int,
    iteration: int,
    results: Sequence[FrozenDict],
) -> None:
    """Say that the run was stopped, commit what it came to, and stop it.

    Args:
        h: The open step.
        scope: The run's; its `landed` end with the message of the call that was halted on.
        gates: The run's.
        halted: The checker's word.
        calls: The batch.
        ordinal: The call's place in it.
        iteration: The iteration, from 1.
        results: The rows of `toolResults`, the call's own last.
    """
    call: ToolCall = calls[ordinal]
    window = gates.window(h["history"], scope.landed)
    gates.fold.advance(window[:-1])
    sequence = (*gates.fold.entries(iteration), ToolCallEntry(call.name, call.args, iteration))
    gates.fold.advance(window)
    scope.emit(
        h,
        PermissionHalt(
            checker_id=halted.checker,
            target=halted.target,
            reason=halted.reason,
            tell_llm=halted.text,
            iteration=iteration,
            sequence_length=len(gates.fold.entries(iteration)),
        ),
        scope.marks,
    )
    mark = NotDispatched(halted_call=CallRef(call.id, call.name), cause="halt")
    behind = [(place, calls[place]) for place in range(ordinal + 1, len(calls))]
    history = window.extend(settle(h, scope, behind, mark, count=len(calls)))
    last = results[-1]
    h["toolResults"] = FrozenList(list(results), len(results))
    h["lastToolResult"] = FrozenDict({key: last[key] for key in last if key != "toolCallId"})
    h["history"] = history
    h.write(
        {
            "policyHaltReason": halted.reason,
            "policyHaltTellLLM": halted.text,
            "policyHaltTarget": halted.target,
            "policyHaltArgs": call.args,
            "policyHaltIteration": iteration,
            "policyHaltCheckerId": halted.checker,
        }
    )
    scope.ended_because = "halt"
    scope.refusal = PolicyHaltError(
        halted.reason,
        tell_llm=halted.text,
        sequence=sequence,
        iteration=iteration,
        history=tuple(history),
        proposed=call,
        checker_id=halted.checker,
    )
    h.break_(f"policy-halt: {scope.shown('policyHaltReason', halted.reason)}")
