"""How is a call run that may run: its arguments checked, its tool called, its result put to the rules?

The same here, in the loop, and when a person has answered (02 s.10.1, steps 4 and 8 to 10).
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, cast

from agentfootprint.agent.dispatching.settled import Passed, Settled
from agentfootprint.agent.scope import RunScope
from agentfootprint.events import Payload, ToolsAbsent, ToolsCoverageDeclared, ValidationArgsInvalid
from agentfootprint.flow import Handle
from agentfootprint.llm import ToolCall
from agentfootprint.tools import (
    CallContext,
    CheckedArgs,
    CoverageReading,
    check_args,
    current_cassette,
    execute_tool,
    refused_args_text,
)
from agentfootprint.trace import FrozenDict

if TYPE_CHECKING:
    from agentfootprint.tools import Tool

__all__ = ["declare_coverage", "judge_result", "refused_call", "run_call", "validated"]

_log = logging.getLogger(__name__)


def validated(
    h: Handle, scope: RunScope, tool: Tool[..., Any], call: ToolCall, args: FrozenDict, iteration: int
) -> CheckedArgs | Settled | None:
    """The arguments of a call as they were checked, `None` when nobody looks, or the refusal that the model reads."""
    mode = scope.gates.tool_args
    if mode == "off":
        return None
    checked = check_args(tool, args)
    if not checked.issues:
        return checked
    scope.emit(
        h,
        ValidationArgsInvalid(
            tool_name=call.name,
            tool_call_id=call.id,
            iteration=iteration,
            issues=checked.issues,
            enforced=mode == "enforce",
        ),
    )
    return refused_call(refused_args_text(call.name, checked.issues)) if mode == "enforce" else checked


async def run_call(
    scope: RunScope,
    call: ToolCall,
    iteration: int,
    passed: Passed,
) -> Settled:
    """Run a call that passed its gates, here and when a person has approved it."""
    tool, args, checked = passed
    cassette = current_cassette()
    replayed = None
    if cassette is not None:
        await cassette.turn()
        replayed = cassette.answer(call.name, call.args)  # recorded as the model said them
    if replayed is not None:
        if not replayed.began:
            return cast("Settled", None)  # of calls side by side: nothing lands
        settled = Settled(replayed.text, result=replayed.value, error=replayed.is_error, ran=True)
        settled.replayed = not replayed.is_raw
        settled.status = replayed.status
        settled.coverage = replayed.coverage
        return settled
    context = CallContext(scope.tool_run, tool_name=call.name, tool_call_id=call.id, iteration=iteration, args=args)
    done = await execute_tool(tool, args, context, checked=checked)
    if scope.tool_run.cancelled:  # it took no notice
        _log.warning("The tool %r went on although its run was stopped; its result was discarded.", call.name)
        raise asyncio.CancelledError
    settled = Settled(done.text, result=done.value, error=done.is_error, ran=True)
    settled.status = done.status
    settled.coverage = done.coverage
    return settled


def refused_call(text: str) -> Settled:
    """What a call came to whose arguments can't be used."""
    settled = Settled(text, result=text, error=True)
    settled.refused = True
    return settled


def declare_coverage(h: Handle, scope: RunScope, call: ToolCall, iteration: int, reading: CoverageReading) -> None:
    """File what a result says about its reach (RES-16)."""
    for each in reading.declared:
        lists = each.coverage
        if each.kind == "absence":
            payload: Payload = ToolsAbsent(
                tool_name=call.name,
                tool_call_id=call.id,
                iteration=iteration,
                looked_for=each.looked_for,
                checked=lists.checked,
                not_checked=lists.not_checked or None,
                cannot_cover=lists.cannot_cover or None,
            )
        else:
            payload = ToolsCoverageDeclared(
                tool_name=call.name,
                tool_call_id=call.id,
                iteration=iteration,
                checked=lists.checked or None,
                not_checked=lists.not_checked or None,
                cannot_cover=lists.cannot_cover or None,
            )
        scope.emit(h, payload)


async def judge_result(
    h: Handle, scope: RunScope, call: ToolCall, args: FrozenDict, iteration: int, settled: Settled
) -> None:
    """Put what a call that ran came to, to the rules about results; what a recording answered has been (AGT-79)."""
    rules = scope.rules
    if rules is not None and rules.judges_results and settled.ran and not settled.replayed:
        await rules.judge_result(h, scope, call, args, iteration, settled)
