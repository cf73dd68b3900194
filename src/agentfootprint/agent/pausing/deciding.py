"""What does a decision do to the call that it is about?

It goes on record before anything runs (AGT-85, ACT-11). Then an approved call runs as if nobody had been asked, with
the arguments as a person corrected them, and a declined one is answered with that.
"""

from __future__ import annotations

from agentfootprint.agent.dispatching.executing import run_call, validated
from agentfootprint.agent.dispatching.ledger import file_decision
from agentfootprint.agent.dispatching.settled import Passed, Settled
from agentfootprint.agent.pausing.checking import check_in_trips, remember
from agentfootprint.agent.pausing.decisions import Decision
from agentfootprint.agent.pausing.evidence import DECLINED_PREFIX
from agentfootprint.agent.pausing.waiting import Waiting
from agentfootprint.agent.scope import RunScope
from agentfootprint.agent.texts import unknown_tool
from agentfootprint.events import CheckInDecision
from agentfootprint.flow import Handle
from agentfootprint.llm import ToolCall
from agentfootprint.tools import PersonAsked, asked_in, check_args
from agentfootprint.trace import FrozenDict

__all__ = ["file_decided", "run_approved", "run_decided"]


def file_decided(
    h: Handle, scope: RunScope, call: ToolCall, iteration: int, asked: Waiting, decision: Decision
) -> FrozenDict:
    """Put a decision on record.

    Args:
        h: The open step.
        scope: The run's.
        call: The call that it is about.
        iteration: The iteration, from 1.
        asked: What was asked.
        decision: What was decided.

    Returns:
        The arguments that the call may run with: as the person corrected them, else as they were asked about.
    """
    edited = FrozenDict(dict(decision.args)) if decision.approved and decision.args is not None else None
    args = asked.args if edited is None else edited
    if asked.gate == "ask":
        said = f"{'approved' if decision.approved else 'declined'} by {decision.by}"
        _file(
            h, scope, call, iteration, rule=asked.middleware, outcome="allow" if decision.approved else "deny",
            why=f"{said}: {decision.note}" if decision.note else said, before=asked.args, after=edited,
            component=asked.component_id,
        )  # fmt: skip
        return args
    scope.emit(
        h,
        CheckInDecision(
            tool_name=call.name,
            tool_call_id=call.id,
            iteration=iteration,
            approved=decision.approved,
            by=decision.by,
            note=decision.note,
            component_id=asked.component_id,
        ),
        None if scope.taken_up is None else scope.marks,  # of several, each says which call it is about
    )
    if not decision.approved:
        return asked.args
    if edited is not None:  # a rewrite like any other, with both values (27.9)
        _file(
            h, scope, call, iteration, rule="check-in", outcome="allow", why=f"corrected by {decision.by}",
            before=asked.args, after=edited, component=None,
        )  # fmt: skip
    if decision.remember != "call":
        remember(h, scope, call.name, args, decision)
    return args


async def run_decided(
    h: Handle, scope: RunScope, call: ToolCall, iteration: int, asked: Waiting, decision: Decision, args: FrozenDict
) -> tuple[Settled, FrozenDict]:
    """Do what was decided about a call.

    Args:
        h: The open step.
        scope: The run's.
        call: The call.
        iteration: The iteration, from 1.
        asked: What was asked.
        decision: What was decided, which is on record.
        args: What the call may run with.

    Returns:
        What it came to, and the arguments that it ran with, or would have.
    """
    if not decision.approved:
        text = DECLINED_PREFIX if not decision.note else f"{DECLINED_PREFIX}: {decision.note}"
        return Settled(text, result=text), args
    if asked.gate == "checkIn":
        return await run_approved(h, scope, call, iteration, args, validate=decision.args is not None)
    if scope.rules is not None:
        gated = await scope.rules.gate_rest(h, scope, call, args, iteration, after=asked.rule_index)
        if isinstance(gated, Settled):
            return gated, args
        args = gated
    tool = scope.offer.by_name.get(call.name)
    if tool is not None and await check_in_trips(h, scope, tool, call, args, iteration):
        text = (
            f"{call.name} was not run: the rule {asked.middleware!r} was approved, and the tool asks for an approval "
            "of its own, which one answer can't give too."
        )
        return Settled(text, result=text, error=True), args
    return await run_approved(h, scope, call, iteration, args, validate=True)


async def run_approved(
    h: Handle,
    scope: RunScope,
    call: ToolCall,
    iteration: int,
    args: FrozenDict,
    *,
    validate: bool,
) -> tuple[Settled, FrozenDict]:
    """Run the call as if nobody had been asked; it may not ask again (AGT-81).

    Args:
        h: The open step.
        scope: The run's.
        call: The call.
        iteration: The iteration, from 1.
        args: What it runs with.
        validate: Whether these are arguments that nobody has checked yet.
    """
    tool = scope.offer.by_name.get(call.name)
    if tool is None:
        text = unknown_tool(call.name)
        return Settled(text, result=text, error=True), args
    if validate:
        checked = validated(h, scope, tool, call, args, iteration)
        if isinstance(checked, Settled):
            return checked, args
    else:
        checked = None if scope.gates.tool_args == "off" else check_args(tool, args)
    try:
        return await run_call(scope, call, iteration, Passed(tool, args, checked)), args
    except (PersonAsked, BaseExceptionGroup) as raised:
        asked = asked_in(raised)
        if asked is None:
            raise
        if asked.teardown is not None:
            await asked.teardown.close()
        text = f"{call.name} asked a person while it ran on an approval; one answer can't be asked for another."
        if scope.taken_up is not None:
            text = (
                f"{call.name} was not finished: it asked a person while the answers about calls of the same reply were "
                "taken up. Call it again."
            )
        return Settled(text, result=text, error=True, ran=True), args


def _file(
    h: Handle,
    scope: RunScope,
    call: ToolCall,
    iteration: int,
    *,
    rule: str,
    outcome: str,
    why: str,
    before: FrozenDict,
    after: FrozenDict | None,
    component: str | None,
) -> None:
    """The row of what a person decided about a call, and its event without the values (ACT-10, ACT-11)."""
    row = {
        "middleware": rule,
        "moment": "before-tool",
        "at": "tool",
        "toolName": call.name,
        "toolCallId": call.id,
        "iteration": iteration,
        "outcome": outcome,
        "changed": after is not None,
        "why": why,
    }
    values = {} if after is None else {"before": before, "after": after}
    named = {} if component is None else {"componentId": component}
    file_decision(h, scope, FrozenDict({**row, **values, **named}))
