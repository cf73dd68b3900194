"""The stages that compose what the model will be given: injection engine, the three slots, the cache markers.

They read mapped input through `h.args`, as the wire pins it, and write the same objects again while nothing changes
(01b LIN-7), so an unchanged pass commits nothing.
"""

from __future__ import annotations

from typing import Any, Final

from agentfootprint.agent.composing.budgets import pressure_on, warn_once
from agentfootprint.agent.scope import RunScope
from agentfootprint.context import TurnContext, compose, slot_delta, tool_results_of
from agentfootprint.events import ContextEvaluated, ContextSlotComposed
from agentfootprint.flow import Handle
from agentfootprint.recording import MessageRows
from agentfootprint.trace import FrozenDict, FrozenList, freeze

__all__ = [
    "cache_gate",
    "close_slot",
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
_NO_MARKERS: Final = FrozenList([], 0)
_MESSAGES_SLOT: Final = ("sf-messages",)


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
    scope: RunScope = h.home.run.scope
    plan = scope.context
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
    return TurnContext(
        iteration=given["iteration"],
        max_iterations=given["maxIterations"],
        user_message=given["userMessage"],
        history=given["history"],
        tool_results=tool_results_of(given.data),
        activated_ids=given["activatedInjectionIds"],
        deps=scope.deps,
    )


def route_pieces(h: Handle) -> None:
    """Sort the active pieces by the slot they land in (INJ-19)."""
    h["activeInjections"]
    scope: RunScope = h.home.run.scope
    assert scope.pass_ is not None  # noqa: S101  evaluate ran just before
    h["activeByslot"] = scope.pass_.by_slot


def delta(h: Handle) -> None:
    """Say what came, went and stayed since the pass before (INJ-18)."""
    now: FrozenDict = h["activeByslot"]
    prior: FrozenDict = h.args.get("priorActiveByslot") or _NO_SLOTS
    scope: RunScope = h.home.run.scope
    if scope.slots_delta is None or scope.prior_slots is not prior or prior is not now:
        scope.slots_delta = slot_delta(prior, now)
        scope.prior_slots = prior
    h["slotDelta"] = scope.slots_delta


def which_slots(h: Handle) -> tuple[str, ...]:
    """All three, in every iteration of the dynamic mode (AGT-28); in the classic one the messages only, later on."""
    iteration: int = h["iteration"]
    scope: RunScope = h.home.run.scope
    return _ALL_SLOTS if iteration == 1 or scope.plan.mode != "classic" else _MESSAGES_SLOT


def compose_system_prompt(h: Handle) -> None:
    """The base prompt and the active pieces, in declaration order (SLOT-1)."""
    h["activeInjections"]
    scope: RunScope = h.home.run.scope
    now = scope.pass_
    assert now is not None  # noqa: S101  evaluate ran before
    scope.system_pass = now
    rows = now.system_rows
    composed = compose("system-prompt", h.args["iteration"], scope.budget.system_prompt, now.system_totals)
    h["systemPromptInjections"] = rows
    close_slot(h, scope, rows, composed)


def compose_messages(h: Handle) -> None:
    """A projection of the window, kept as one (SLOT-3, LIN-12)."""
    scope: RunScope = h.home.run.scope
    given = h.args
    window: FrozenList = given["messages"]
    scope.observe_window(window)
    rows = MessageRows(window)
    cap = scope.budget.messages
    composed = compose("messages", given["iteration"], cap, scope.window_breakdown(), "history-order")
    h["messagesInjections"] = rows
    close_slot(h, scope, rows, composed)


def discover(h: Handle) -> None:
    """Ask the tool providers; an agent without any has its static tools only (SLOT-14)."""


def compose_tools(h: Handle) -> None:
    """The tools the model may ask for (SLOT-5)."""
    h["activeInjections"]
    scope: RunScope = h.home.run.scope
    assert scope.pass_ is not None  # noqa: S101  evaluate ran before
    offer = scope.offer = scope.plan.offer_in(scope.pass_)
    composed = compose("tools", h.args["iteration"], scope.budget.tools, offer.totals, "registry+injections")
    h["toolsInjections"] = offer.rows
    h["toolSchemas"] = offer.schemas
    close_slot(h, scope, offer.rows, composed)


def close_slot(h: Handle, scope: RunScope, rows: FrozenList | MessageRows, composed: ContextSlotComposed) -> None:
    """Commit what closes a slot's pass, say that it is over its budget when it is, and tell the listeners."""
    h["slotCompositions"] = composed
    budget = composed.budget
    pressure = pressure_on(composed) if 0 < budget.cap < budget.used else None
    if pressure is not None:
        h["slotBudgetPressures"] = FrozenList([pressure], 1)
        warn_once(scope.plan.told_pressure, scope.plan.id, pressure)
    scope.announce(h, composed.slot, rows, composed, pressure)


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
    scope: RunScope = h.home.run.scope
    now = scope.system_pass  # None in a classic run that a pause has parted from its system prompt: nothing is cached
    h["cacheMarkers"] = _NO_MARKERS if now is None else now.markers


def cache_gate(h: Handle) -> str:
    """Whether the markers are applied; the first rule that holds decides (04 s.8.3)."""
    disabled = h["cachingDisabled"]
    h["skillHistory"]
    return "no-markers" if disabled else "apply-markers"


def keep_markers(h: Handle) -> None:
    """Both branches of the gate: what the gate decided is on record, the markers stay as they are."""
