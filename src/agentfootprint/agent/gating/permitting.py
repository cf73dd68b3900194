"""May the agent do this? The checker's answer to one call, and what becomes of a refusal (02 s.10.4).

It fails closed: a checker that raises, or answers with something else than a decision, has denied, and what it raised
with is told to telemetry alone.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from agentfootprint.agent.dispatching.settled import Settled
from agentfootprint.agent.gating.chains import failure_text
from agentfootprint.agent.gating.halted import Halted
from agentfootprint.events import PermissionCheck
from agentfootprint.security import (
    SYNTHETIC_DENY_PREFIX,
    PermissionChecker,
    PermissionDecision,
    PermissionRequest,
    checker_governs,
)
from agentfootprint.tools import PersonAsked

if TYPE_CHECKING:
    from agentfootprint.agent.gating.gates import RunGates
    from agentfootprint.agent.scope import RunScope
    from agentfootprint.flow import Handle
    from agentfootprint.llm import LLMMessage, ToolCall
    from agentfootprint.tools import Tool

__all__ = ["ask_checker"]

_log = logging.getLogger(__name__)

Capability = Literal["tool_call", "skill_read", "memory_read", "memory_write", "external_net", "user_data"]

_UNDECIDED: Final = (
    f"{SYNTHETIC_DENY_PREFIX} whether {{tool}} may be called could not be checked. That will not change in this run: "
    "do not call it again, and go on without it.]"
)
"""What the model reads where the checker itself failed (AGT-63)."""
_HALTED: Final = "The tool {tool} is not available."
"""What the model reads of a halt, unless the checker says otherwise; never why (AGT-64)."""


async def ask_checker(
    h: Handle,
    scope: RunScope,
    gates: RunGates,
    checker: PermissionChecker,
    call: ToolCall,
    iteration: int,
    tool: Tool[..., Any] | None,
) -> Settled | None:
    """Ask about a call, then about each capability that its tool declares and the checker governs (PRM-2).

    Args:
        h: The open step.
        scope: The run's.
        gates: The run's.
        checker: Who is asked.
        call: The call.
        iteration: The iteration, from 1.
        tool: The tool; `None` when nobody offers it, which the checker is asked about too.

    Returns:
        What a denied call came to; `None` when it may go on.

    Raises:
        Halted: The run is to stop here.
    """
    began = perf_counter_ns()
    declared = () if tool is None or tool.capabilities is None else tool.capabilities
    asked: tuple[Capability, ...] = ("tool_call", *(each for each in declared if checker_governs(checker, each)))
    window = gates.window(h["history"], scope.landed)
    for capability in asked:
        request = PermissionRequest(
            capability=capability,
            target=call.name,
            context=call.args,
            sequence=gates.fold.view(window, iteration) if capability == "tool_call" else (),
            history=cast("Sequence[LLMMessage]", window),
            iteration=iteration,
            identity=scope.identity,
        )
        decision, failed = await _decision(checker, request)
        scope.emit(
            h,
            PermissionCheck(
                capability=capability,
                actor=request.actor,
                target=call.name,
                result=decision.result,
                policy_rule_id=decision.policy_rule_id,
                rationale=decision.rationale,
                reason=decision.reason,
            ),
            scope.marks,
        )
        if decision.result == "halt":
            raise Halted(
                target=call.name,
                reason=decision.reason or decision.rationale or "policy-halt",
                text=_HALTED.format(tool=call.name) if decision.tell_llm is None else decision.tell_llm,
                checker=checker.name,
                began=began,
            )
        if not decision.allows:
            return _denied(gates, call, decision, failed=failed)
    return None


async def _decision(checker: PermissionChecker, request: PermissionRequest) -> tuple[PermissionDecision, bool]:
    """The checker's answer, and whether it failed to give one."""
    try:
        answer: object = checker.check(request)
        if inspect.isawaitable(answer):
            answer = cast("object", await answer)
        if isinstance(answer, PermissionDecision):
            return answer, False
        why = f"it answered with a {type(answer).__name__} instead of a PermissionDecision"
    except (Exception, PersonAsked) as error:  # noqa: BLE001  the application's checker, which may raise anything
        why = failure_text(error)
    return PermissionDecision("deny", rationale=f"permission-checker threw: {why}"), True


def _denied(gates: RunGates, call: ToolCall, decision: PermissionDecision, *, failed: bool) -> Settled:
    if failed:
        text = _UNDECIDED.format(tool=call.name)
    elif decision.tell_llm is None:
        text = f"{SYNTHETIC_DENY_PREFIX} {decision.rationale or 'policy'}]"
    else:
        text = decision.tell_llm
        if not text.startswith(SYNTHETIC_DENY_PREFIX) and not gates.has_said_raw:
            gates.has_said_raw = True
            _log.info(
                "A denial of the tool %r has a tell_llm without the prefix %r: policies that look at the calls so far "
                "take the call for one that ran.",
                call.name,
                SYNTHETIC_DENY_PREFIX,
            )
    settled = Settled(text, result=text)
    settled.denied = True
    return settled
