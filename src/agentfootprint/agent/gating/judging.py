"""What do checker and rules make of a call: refused, asked about, or passed on with which arguments?

The checker is asked first; where it denies, no rule is (ACT-14). A call whose arguments could not be read is not shown
to rules: there is nothing they could judge, and it will not run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from agentfootprint.agent.dispatching.ledger import file_decision
from agentfootprint.agent.dispatching.settled import Settled, frozen_args
from agentfootprint.agent.gating.chains import CallVerdict, judge_call, judge_result
from agentfootprint.agent.gating.permitting import ask_checker
from agentfootprint.agent.gating.views import ToolCallView, ToolResultView
from agentfootprint.agent.pausing.asking import asked_by_rule
from agentfootprint.tools import NO_VALUE, questions_are_answered, result_text
from agentfootprint.trace import FrozenDict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentfootprint.agent.gating.gates import RunGates
    from agentfootprint.agent.scope import RunScope
    from agentfootprint.flow import Handle
    from agentfootprint.llm import LLMMessage, ToolCall
    from agentfootprint.tools import Tool

__all__ = ["gate_call", "gate_rest", "gate_result"]


async def gate_call(
    h: Handle, scope: RunScope, gates: RunGates, call: ToolCall, iteration: int, tool: Tool[..., Any] | None
) -> Settled | FrozenDict:
    """Put a call to the checker and to the rules before tools.

    Args:
        h: The open step.
        scope: The run's.
        gates: The run's.
        call: The call.
        iteration: The iteration, from 1.
        tool: The tool; `None` when nobody offers it.

    Returns:
        What a refused call came to, or the arguments as the rules left them.

    Raises:
        Halted: The checker stops the run.
        PersonAsked: A rule has a person decide.
    """
    if gates.checker is not None:
        denied = await ask_checker(h, scope, gates, gates.checker, call, iteration, tool)
        if denied is not None:
            return denied
    args = frozen_args(call)
    if not gates.judges_calls or call.args_error is not None:
        return args
    verdict = await _judge(h, scope, gates, call, args, iteration)
    while verdict.asked is not None and questions_are_answered():  # answered when it was recorded
        verdict = await _judge(h, scope, gates, call, verdict.args, iteration, start=verdict.place + 1)
    if verdict.asked is not None:
        raise asked_by_rule(
            question=verdict.reason,
            middleware=verdict.middleware,
            args=verdict.args,
            index=verdict.place,
            detail=verdict.asked.detail,
            component=verdict.asked.component,
        )
    return _refused(verdict) if verdict.kind == "deny" else verdict.args


async def gate_rest(
    h: Handle, scope: RunScope, gates: RunGates, call: ToolCall, args: FrozenDict, iteration: int, *, after: int
) -> Settled | FrozenDict:
    """Ask the rules behind one whose question was approved; they may not ask again (DSP-5, AGT-81).

    Args:
        h: The open step.
        scope: The run's.
        gates: The run's.
        call: The call.
        args: The arguments that were approved.
        iteration: The iteration, from 1.
        after: The place of the rule that asked.

    Returns:
        What a refused call came to, or the arguments as the rules left them.
    """
    if not gates.judges_calls:
        return args
    verdict = await _judge(h, scope, gates, call, args, iteration, start=after + 1, may_ask=False)
    return _refused(verdict) if verdict.kind == "deny" else verdict.args


async def gate_result(
    h: Handle, scope: RunScope, gates: RunGates, call: ToolCall, args: FrozenDict, iteration: int, settled: Settled
) -> None:
    """Put what a call gave to the rules after tools; what the model reads changes, the record keeps the result.

    Args:
        h: The open step.
        scope: The run's.
        gates: The run's.
        call: The call.
        args: What it ran with.
        iteration: The iteration, from 1.
        settled: What it came to.
    """
    view = ToolResultView(
        **_facts(h, scope, gates, call, args, iteration),
        result=None if settled.result is NO_VALUE else settled.result,
        error=settled.error,
    )
    verdict = await judge_result(gates.links, view, lambda row: file_decision(h, scope, row))
    if verdict.kind == "deny":
        settled.text = verdict.reason
    elif verdict.changed:
        settled.text = result_text(verdict.result)


async def _judge(
    h: Handle,
    scope: RunScope,
    gates: RunGates,
    call: ToolCall,
    args: FrozenDict,
    iteration: int,
    *,
    start: int = 0,
    may_ask: bool = True,
) -> CallVerdict:
    view = ToolCallView(**_facts(h, scope, gates, call, args, iteration))
    return await judge_call(gates.links, view, lambda row: file_decision(h, scope, row), start=start, may_ask=may_ask)


def _facts(
    h: Handle, scope: RunScope, gates: RunGates, call: ToolCall, args: FrozenDict, iteration: int
) -> dict[str, Any]:
    return {
        "tool_name": call.name,
        "tool_call_id": call.id,
        "iteration": iteration,
        "args": args,
        "history": cast("Sequence[LLMMessage]", gates.window(h["history"], scope.landed)),
        "identity": scope.identity,
        "deps": scope.deps,
    }


def _refused(verdict: CallVerdict) -> Settled:
    """The model reads the rule's reason, word for word (ACT-7)."""
    settled = Settled(verdict.reason, result=verdict.reason)
    settled.denied = True
    return settled
