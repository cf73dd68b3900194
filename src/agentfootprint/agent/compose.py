"""The stages that compose what the model will be given: injection engine, the three slots, the cache markers.

They read mapped input through `h.args`, as the wire pins it, and write the same objects again while nothing changes
(01b LIN-7), so an unchanged pass commits nothing.
"""

from __future__ import annotations

from typing import Any, Final

from agentfootprint.agent.scope import RunScope
from agentfootprint.context import (
    MESSAGES_CAP,
    SYSTEM_PROMPT_CAP,
    TOOLS_CAP,
    ToolReturn,
    TurnContext,
    compose,
    slot_delta,
)
from agentfootprint.events import ContextEvaluated
from agentfootprint.flow import Handle
from agentfootprint.recording import MessageRows
from agentfootprint.trace import FrozenDict, FrozenList, freeze

__all__ = [
    "cache_gate",
    "compose_messages",
    "compose_system_prompt",
    "compose_tools",
    "decide_cache_markers",
    "delta",
    "discover",
    "evaluate",
    "gather",
    "keep_markers",
    "route_pieces",
    "which_slots",
]

_NO_SLOTS: Final = freeze({"systemPrompt": [], "messages": [], "tools": []})
_ALL_SLOTS: Final = ("sf-system-prompt", "sf-messages", "sf-tools")


def gather(h: Handle) -> None:
    """Summarise where the turn stands (INJ-18)."""
    given = h.args
    summary: dict[str, Any] = {"iteration": given["iteration"], "historyLength": len(given["history"])}
    last = given.get("lastToolResult")
    if last is not None:
        summary["lastToolName"] = last["toolName"]
    summary["activatedInjectionCount"] = len(given["activatedInjectionIds"])
    h["injectionContextSummary"] = FrozenDict(summary)


def evaluate(h: Handle) -> None:
    """Decide which pieces are in (04 s.2)."""
    scope: RunScope = h.run.scope
    plan = scope.plan.context
    given = h.args
    iteration: int = given["iteration"]
    now = plan.constant if plan.constant is not None else plan.evaluate(_turn(scope, given))
    scope.pass_ = now
    h["activeInjections"] = now.active
    scope.emit(
        h,
        ContextEvaluated(
            iteration=iteration,
            active_count=len(now.active_ids),
            skipped_count=len(now.skipped),
            evaluated_total=len(plan.pieces),
            active_ids=now.active_ids,
            skipped_details=now.skipped,
            trigger_kind_counts=now.kind_counts,
            skill_catalog=(),
        ),
    )


def _turn(scope: RunScope, given: FrozenDict) -> TurnContext:
    results = given.get("toolResults") or ()
    return TurnContext(
        iteration=given["iteration"],
        max_iterations=given["maxIterations"],
        user_message=given["userMessage"],
        history=given["history"],
        tool_results=tuple(
            ToolReturn(r["toolName"], r["result"], r.get("toolCallId"), r.get("status")) for r in results
        ),
        activated_ids=given["activatedInjectionIds"],
        deps=scope.deps,
    )


def route_pieces(h: Handle) -> None:
    """Sort the active pieces by the slot they land in (INJ-19)."""
    h["activeInjections"]
    scope: RunScope = h.run.scope
    assert scope.pass_ is not None  # noqa: S101  evaluate ran just before
    h["activeByslot"] = scope.pass_.by_slot


def delta(h: Handle) -> None:
    """Say what came, went and stayed since the pass before (INJ-18)."""
    now: FrozenDict = h["activeByslot"]
    prior: FrozenDict = h.args.get("priorActiveByslot") or _NO_SLOTS
    scope: RunScope = h.run.scope
    if scope.slots_delta is None or scope.prior_slots is not prior or prior is not now:
        scope.slots_delta = slot_delta(prior, now)
        scope.prior_slots = prior
    h["slotDelta"] = scope.slots_delta


def which_slots(h: Handle) -> tuple[str, ...]:
    """All three, in every iteration of the dynamic mode (AGT-28)."""
    h["iteration"]
    return _ALL_SLOTS


def compose_system_prompt(h: Handle) -> None:
    """The base prompt and the active pieces, in declaration order (SLOT-1)."""
    h["activeInjections"]
    scope: RunScope = h.run.scope
    now = scope.pass_
    assert now is not None  # noqa: S101  evaluate ran before
    rows = now.system_rows
    composed = compose("system-prompt", h.args["iteration"], SYSTEM_PROMPT_CAP, now.system_totals)
    h["systemPromptInjections"] = rows
    h["slotCompositions"] = composed
    scope.announce(h, "system-prompt", rows, composed)


def compose_messages(h: Handle) -> None:
    """A projection of the window, kept as one (SLOT-3, LIN-12)."""
    scope: RunScope = h.run.scope
    given = h.args
    window: FrozenList = given["messages"]
    scope.observe_window(window)
    rows = MessageRows(window)
    composed = compose("messages", given["iteration"], MESSAGES_CAP, scope.window_breakdown(), "history-order")
    h["messagesInjections"] = rows
    h["slotCompositions"] = composed
    scope.announce(h, "messages", rows, composed)


def discover(h: Handle) -> None:
    """Ask the tool providers; an agent without any has its static tools only (SLOT-14)."""


def compose_tools(h: Handle) -> None:
    """The tools the model may ask for (SLOT-5)."""
    h["activeInjections"]
    scope: RunScope = h.run.scope
    plan = scope.plan
    composed = compose("tools", h.args["iteration"], TOOLS_CAP, plan.tool_totals, "registry+injections")
    h["toolsInjections"] = plan.tool_rows
    h["toolSchemas"] = plan.tool_schemas
    h["slotCompositions"] = composed
    scope.announce(h, "tools", plan.tool_rows, composed)


_POLICY_READS: Final = (
    "activeInjections",
    "iteration",
    "maxIterations",
    "userMessage",
    "cumulativeInputTokens",
    "cachingDisabled",
    "history",
)


def decide_cache_markers(h: Handle) -> None:
    """How far the request may be cached (04 s.8.2)."""
    for key in _POLICY_READS:
        h[key]
    scope: RunScope = h.run.scope
    assert scope.pass_ is not None  # noqa: S101  evaluate ran before
    h["cacheMarkers"] = scope.pass_.markers


def cache_gate(h: Handle) -> str:
    """Whether the markers are applied; the first rule that holds decides (04 s.8.3)."""
    disabled = h["cachingDisabled"]
    h["skillHistory"]
    return "no-markers" if disabled else "apply-markers"


def keep_markers(h: Handle) -> None:
    """Both branches of the gate: what the gate decided is on record, the markers stay as they are."""
