"""Which sentence of a catalogue does an event deserve, if any (05 s.9, STA-5)?"""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType, MappingProxyType
from typing import Any, Final

from agentfootprint.events import Event
from agentfootprint.observe.views.openings import never_ran
from agentfootprint.observe.views.reading import text_of, told
from agentfootprint.observe.wording.catalogues import DEFAULT_COMMENTARY
from agentfootprint.observe.wording.clauses import extract_commentary_vars
from agentfootprint.observe.wording.messages import Catalogue, fill

__all__ = ["comment_on", "render_commentary", "select_commentary_key"]

_PREFIX: Final = "agentfootprint."
_SILENT: Final = frozenset(
    (
        *("agent.run_configured", "agent.turn_end", "agent.iteration_start", "agent.iteration_end"),
        *("agent.route_decided", "context.slot_composed", "context.budget_pressure", "stream.thinking_delta"),
        *("cost.tick", "integrity.disposition", "composition.iteration_start", "composition.iteration_exit"),
        *("composition.branch_complete", "composition.route_decided", "skill.graph_declared"),
    )
)
_SAME: Final = frozenset(
    (
        *("agent.turn_start", "stream.tool_progress", "skill.activated", "skill.deactivated", "skill.escalated"),
        *("tools.result_refused", "artifacts.minted", "artifacts.presented", "skill.route_conflict"),
        *("composition.fork_start", "composition.merge_end", "composition.exit", "pause.request", "pause.resume"),
    )
)
_INJECTED: Final = MappingProxyType(
    {
        **{kind: f"context.injected.{kind}" for kind in ("rag", "skill", "memory", "instructions", "custom")},
        "steering": "context.injected.custom",
        "fact": "context.injected.custom",
    }
)
_PARTS: Final = frozenset(("Sequence", "Parallel", "Loop", "Conditional"))


def select_commentary_key(event: Event[Any]) -> str | EllipsisType | None:
    """The key of the sentence that tells an event.

    Returns:
        The key; `None` for what is passed over on purpose; `...` for what the catalogue has nothing for, so that the
        caller says something general.
    """
    name = event.type.removeprefix(_PREFIX)
    if name in _SAME:
        return name
    if name in _SILENT:
        return None
    choose = _CHOSEN.get(name)
    return ... if choose is None else choose(event)


def render_commentary(template: str, values: dict[str, str]) -> str:
    """The sentence; each value is put in once and not read again."""
    return fill(template, values)


def comment_on(event: Event[Any], *, app_name: str = "Agent", templates: Catalogue = DEFAULT_COMMENTARY) -> str | None:
    """The sentence that tells an event; `None` when there is nothing to say, or no text for it.

    Args:
        event: What happened.
        app_name: What the application is called.
        templates: The catalogue.
    """
    key = select_commentary_key(event)
    template = templates.get(key) if isinstance(key, str) else None
    if not template:
        return None
    return render_commentary(template, extract_commentary_vars(event, app_name=app_name, templates=templates)) or None


def _llm_start(event: Event[Any]) -> str:
    return "stream.llm_start.iter1" if told(event.payload, "iteration") == 1 else "stream.llm_start.iterN"


def _llm_end(event: Event[Any]) -> str:
    return "stream.llm_end.tools" if told(event.payload, "tool_call_count") else "stream.llm_end.terminal"


def _tool_start(event: Event[Any]) -> str:
    return "stream.tool_start.notDispatched" if never_ran(event) else "stream.tool_start"


def _tool_end(event: Event[Any]) -> str | None:
    return None if never_ran(event) else "stream.tool_end"


def _injected(event: Event[Any]) -> str | None:
    key, reason = _INJECTED.get(text_of(event.payload, "source")), text_of(event.payload, "reason")
    if key == "context.injected.instructions":
        if "on-tool-return" in reason:
            return f"{key}.onToolReturn"
        if "always" in reason:
            return f"{key}.alwaysOn"
    return key


def _evaluated(event: Event[Any]) -> str | None:
    move = told(event.payload, "cursor_move")
    by = text_of(move, "by")
    if by in ("model-pick", "stay"):
        return "context.model_pick"
    if by == "entry" and text_of(told(move, "witness"), "text"):
        return "context.entry_witness"
    return "context.routed" if told(event.payload, "routing") else None


def _turn_routed(event: Event[Any]) -> str | EllipsisType:
    payload = event.payload
    by, scores = text_of(payload, "by"), told(payload, "scores") or ()
    is_near = told(payload, "decisive") is False and len(scores) > 1
    if by == "none":
        if told(payload, "dropped_resume") is not None:
            return "skill.turn_routed.dropped"
        if not scores:
            return "skill.turn_routed.none"
        return "skill.turn_routed.none.rails.nearTie" if is_near else "skill.turn_routed.none.rails.unmatched"
    if by == "continuity" and is_near:
        return "skill.turn_routed.continuity.nearTie"
    return f"skill.turn_routed.{by}" if by in ("continuity", "intent", "entry", "menu", "decider") else ...


def _effect(event: Event[Any]) -> str | EllipsisType:
    kind = {"propose-transition": "transition", "require-instruction": "instruction"}.get(
        text_of(event.payload, "kind")
    )
    outcomes = {"transition": ("accepted", "refused", "superseded"), "instruction": ("accepted", "refused")}
    outcome = text_of(event.payload, "outcome")
    return f"tools.effect.{kind}.{outcome}" if kind is not None and outcome in outcomes[kind] else ...


def _repeated(event: Event[Any]) -> str:
    is_of_arguments = told(event.payload, "mode") == "arguments"
    return "tools.repeated_call.argsOnly" if is_of_arguments else "tools.repeated_call"


def _rejected(event: Event[Any]) -> str | EllipsisType:
    posture = text_of(event.payload, "posture")
    return f"skill.rejected.{posture}" if posture in ("guard", "rails") else ...


def _resolved(event: Event[Any]) -> str | EllipsisType:
    via = text_of(event.payload, "via")
    return f"artifacts.resolved.{via}" if via in ("head", "get") else ...


def _refused(event: Event[Any]) -> str:
    return "artifacts.refused.dispatch" if told(event.payload, "op") == "dispatch" else "artifacts.refused"


def _expired(event: Event[Any]) -> str:
    """What is past its time is noticed when somebody asks; what must make room goes at once."""
    return "artifacts.expired.noticed" if told(event.payload, "reason") == "ttl" else "artifacts.expired"


def _entered(event: Event[Any]) -> str:
    kind = text_of(event.payload, "kind")
    return f"composition.enter.{kind if kind in _PARTS else 'Generic'}"


def _limit(event: Event[Any]) -> str:
    return f"cost.limit_hit.{'stopped' if told(event.payload, 'action') == 'abort' else 'continued'}"


def _fixed(key: str) -> Callable[[Event[Any]], str]:
    return lambda _: key


_CHOSEN: Final[MappingProxyType[str, Callable[[Event[Any]], str | EllipsisType | None]]] = MappingProxyType(
    {
        "stream.llm_start": _llm_start,
        "stream.llm_end": _llm_end,
        "stream.thinking_end": _fixed("stream.thinking"),
        "stream.token": _fixed("stream.token.partial"),
        "stream.tool_start": _tool_start,
        "stream.tool_end": _tool_end,
        "context.injected": _injected,
        "context.evaluated": _evaluated,
        "skill.turn_routed": _turn_routed,
        "skill.rejected": _rejected,
        "tools.effect": _effect,
        "tools.repeated_call": _repeated,
        "artifacts.resolved": _resolved,
        "artifacts.refused": _refused,
        "artifacts.expired": _expired,
        "composition.enter": _entered,
        "agent.handoff": _fixed("composition.handoff"),
        "cost.limit_hit": _limit,
    }
)
