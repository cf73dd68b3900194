"""Must a person approve this call first, and what are they asked?

The gate sees the arguments as the tool would get them and the window as it stands between the calls of the batch; the
same at both doors, in the loop and when a rule's question was approved (AGT-84).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from agentfootprint.agent.pausing.decisions import Decision
from agentfootprint.agent.pausing.evidence import EvidenceInput, evidence_of
from agentfootprint.agent.pausing.stopping import component_to_wire
from agentfootprint.agent.scope import RunScope
from agentfootprint.context import rows_text
from agentfootprint.events import CheckInDecision, CheckInRequest
from agentfootprint.flow import Handle
from agentfootprint.llm import LLMMessage, ToolCall
from agentfootprint.tools import CheckInContext, PersonAsked, Tool, trips
from agentfootprint.trace import FrozenDict, FrozenList, deep_equal

__all__ = ["ask_if_it_trips", "check_in_trips", "remember"]

_NO_ROWS: Final = FrozenList([], 0)


async def check_in_trips(
    h: Handle, scope: RunScope, tool: Tool[..., Any], call: ToolCall, args: FrozenDict, iteration: int
) -> bool:
    """Whether a call must be approved by a person."""
    if tool.check_in is None:
        return False
    if tool.check_in == "always":
        return True
    context = CheckInContext(iteration=iteration, tool_call_id=call.id, history=_window(h, scope), deps=scope.deps)
    return await trips(tool.check_in, args, context)


async def ask_if_it_trips(
    h: Handle, scope: RunScope, tool: Tool[..., Any], call: ToolCall, args: FrozenDict, iteration: int
) -> None:
    """Ask a person about a call that must be approved (02 s.13.1).

    Raises:
        PersonAsked: It must be; the run pauses.
        InvalidAskComponentError: The tool nominates a component that can't be shown.
    """
    if not await check_in_trips(h, scope, tool, call, args, iteration):
        return
    if _is_remembered(h, scope, call, args, iteration):
        return
    history = _window(h, scope)
    given = EvidenceInput(
        tool_name=tool.name,
        description=tool.description,
        args=args,
        iteration=iteration,
        history=history,
        failed=_failed(scope, history),
    )
    options = scope.gates.check_in
    request: dict[str, Any] = {"tool": tool.name, "args": args}
    intent: str = h["llmLatestContent"]
    if intent:
        request["intent"] = intent
    request["evidence"] = evidence_of(given) if options is None else await options.collect(given)
    if tool.rules is not None and tool.rules.component is not None:
        request["component"] = component_to_wire(tool.rules.component, "check_in")
    asked = FrozenDict(request)
    scope.emit(
        h, CheckInRequest(tool_name=tool.name, tool_call_id=call.id, iteration=iteration, request=asked), scope.marks
    )
    raise PersonAsked(FrozenDict({"checkIn": asked}), state={"pausedCheckIn": True, "pausedCheckInArgs": args})


def remember(h: Handle, scope: RunScope, tool: str, args: FrozenDict, decision: Decision) -> None:
    """Keep an approval for the calls to come: of the run, or of the whole conversation (02 s.13.3)."""
    row = FrozenDict({"tool": tool, "args": args, "by": decision.by})
    if decision.remember == "conversation":
        row = FrozenDict({**dict(row.items()), "remember": "conversation"})
        scope.approvals = (*scope.approvals, row)
    h["rememberedApprovals"] = h.get("rememberedApprovals", _NO_ROWS).append(row)


def _is_remembered(h: Handle, scope: RunScope, call: ToolCall, args: FrozenDict, iteration: int) -> bool:
    """Whether the same call was approved for the whole run; each use is on record."""
    for row in h.get("rememberedApprovals", _NO_ROWS):
        if row["tool"] == call.name and deep_equal(row["args"], args):
            decision = CheckInDecision(
                tool_name=call.name,
                tool_call_id=call.id,
                iteration=iteration,
                approved=True,
                by=row["by"],
                remembered=True,
            )
            scope.emit(h, decision, scope.marks)
            return True
    return False


def _window(h: Handle, scope: RunScope) -> Sequence[LLMMessage]:
    rows = h.get("systemPromptInjections")
    text = scope.system_before if rows is None else rows_text(rows)
    system = [LLMMessage("system", text)] if text else []
    return [*system, *h["history"], *scope.landed]


def _failed(scope: RunScope, history: Sequence[LLMMessage]) -> frozenset[int]:
    """Places of results that were errors: the run's own calls stand at the end of the window, in order."""
    places = [place for place, message in enumerate(history) if message.role == "tool"]
    pairs = zip(reversed(places), reversed(scope.tool_calls), strict=False)
    return frozenset(place for place, record in pairs if record.dispatched and not record.ok)
