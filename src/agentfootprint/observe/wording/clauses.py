"""What may a sentence about an event ask for?

Invariants: names only what the event says; a value that is not there is an empty text. A clause is a sentence of the
catalogue of its own, so another language can put it otherwise; without a text for it, it is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Final, cast

from agentfootprint.events import Event
from agentfootprint.observe.boundaries.happenings import is_agent_internal
from agentfootprint.observe.boundaries.milestones import slot_of
from agentfootprint.observe.views.reading import text_of, told
from agentfootprint.observe.wording.catalogues import DEFAULT_COMMENTARY
from agentfootprint.observe.wording.messages import Catalogue, fill
from agentfootprint.trace import as_object, scalar_text, wire_key

__all__ = ["extract_commentary_vars"]

_PREFIX: Final = "agentfootprint."
_OPERATIONS: Final = MappingProxyType(
    {
        "put": "putting an artifact aside",
        "head": "looking up an artifact",
        "get": "reading an artifact",
        "delete": "deleting an artifact",
        "list": "listing artifacts",
        "dispatch": "delivering an artifact a tool asked for",
    }
)
_REASONS: Final = MappingProxyType(
    {
        "no-store": "there is no store for artifacts",
        "missing-or-expired": "the ticket named nothing this run can still read",
        "unknown-parent": "it is said to come from one that is not there",
        "digest-mismatch": "its content is not what was put aside",
        "invalid-input": "what was given is no artifact",
        "kind-mismatch": "it is of another kind",
    }
)


class Words:
    """What a function here works with: the payload, and the catalogue for clauses."""

    def __init__(self, payload: Any, templates: Catalogue) -> None:  # noqa: ANN401  any payload
        self.payload = payload
        self._templates = templates

    def text(self, name: str) -> str:
        """A member as text; numbers as JSON shows them."""
        value = told(self.payload, name)
        return value if isinstance(value, str) else scalar_text(value) if isinstance(value, (int, float)) else ""

    def clause(self, key: str, values: dict[str, str]) -> str:
        """A sentence of the catalogue inside another one."""
        return fill(self._templates.get(key, ""), values)

    def many(self, name: str) -> Sequence[Any]:
        """A member that is a list."""
        value = told(self.payload, name)
        return () if value is None or isinstance(value, str) else cast("Sequence[Any]", value)


def extract_commentary_vars(
    event: Event[Any], *, app_name: str = "Agent", templates: Catalogue = DEFAULT_COMMENTARY
) -> dict[str, str]:
    """What the sentence about an event may ask for.

    Args:
        event: What happened.
        app_name: What the application is called; an agent inside a composition is called by its place there.
        templates: The catalogue that clauses are taken from.
    """
    values = {"appName": app_name, "agentName": _agent_name(event, app_name)}
    say = _SAID.get(event.type.removeprefix(_PREFIX))
    return values if say is None else values | say(Words(event.payload, templates))


def _agent_name(event: Event[Any], app_name: str) -> str:
    for segment in reversed(event.meta.subflow_path):
        if not is_agent_internal(segment) and slot_of(segment) is None:
            return segment.removeprefix("step-")
    return app_name


def _pick(*names: str) -> Callable[[Words], dict[str, str]]:
    """Members under their wire names."""

    def said(words: Words) -> dict[str, str]:
        return {wire_key(name): words.text(name) for name in names}

    return said


def _tool_start(words: Words) -> dict[str, str]:
    return {"toolName": words.text("tool_name"), "descClause": words.clause("stream.tool_start.noDesc", {})}


def _progress(words: Words) -> dict[str, str]:
    said = (as_object(told(words.payload, "payload")) or {}).get("message")
    message = said.strip() if isinstance(said, str) else ""
    return {"toolName": words.text("tool_name"), "progressMessage": message}


def _token(words: Words) -> dict[str, str]:
    return {"partial": words.text("content")}


def _injected(words: Words) -> dict[str, str]:
    return {"descClause": words.text("content_summary").strip()}


def _evaluated(words: Words) -> dict[str, str]:
    move, rows = told(words.payload, "cursor_move"), words.many("routing")
    by, to = text_of(move, "by"), text_of(move, "to")
    witness = text_of(told(move, "witness"), "text")
    if by in ("model-pick", "stay"):
        offered = {"offeredCount": str(len(told(move, "offered") or ()))}
        declined = told(move, "declined_offer") is True
        return {
            "to": to,
            "menuClause": "" if declined else words.clause("context.model_pick.menu", offered),
            "offMenuClause": words.clause("context.model_pick.offMenu", {}) if declined else "",
            "stayClause": words.clause("context.model_pick.stay", {}) if by == "stay" else "",
        }
    if by == "entry" and witness:
        return {"to": to, "witness": witness}
    if not rows:
        return {}
    row = next((each for each in rows if told(each, "injection_id") == to), rows[0])
    label, count = text_of(row, "label"), len(told(row, "tools") or ())
    key = "context.routed.matched" if label else "context.routed.default"
    return {
        "skillId": text_of(row, "injection_id"),
        "toolClause": f"{count} tool{'' if count == 1 else 's'}",
        "matchClause": words.clause(key, {"label": label}),
    }


def _turn_routed(words: Words) -> dict[str, str]:
    payload = words.payload
    scores, offered = words.many("scores"), words.many("offered")
    ties = [(text_of(each, "id"), _share(told(each, "relevance"))) for each in scores[:2]]
    (a, a_share), (b, b_share) = (*ties, ("", ""), ("", ""))[:2]
    witness = text_of(told(payload, "witness"), "text")
    values = {
        "to": words.text("to"),
        "from": words.text("from_"),
        "droppedId": text_of(told(payload, "dropped_resume"), "id"),
        "offeredCount": str(len(offered)),
        "offeredPlural": "" if len(offered) == 1 else "s",
        "tieA": a,
        "tieAShare": a_share,
        "tieB": b,
        "tieBShare": b_share,
        "candidates": ", ".join(f"`{each}`" for each in offered),
        "witness": witness,
        "deciderModel": text_of(told(payload, "decider"), "model"),
    }
    is_entry, is_scored = told(payload, "by") == "entry", told(payload, "by") == "intent" and bool(ties)
    scored = "skill.turn_routed.intent.scored" if len(ties) > 1 else "skill.turn_routed.intent.scoredSolo"
    stays = told(payload, "stay_offered") is True
    return {
        **values,
        "scorerClause": words.clause("skill.turn_routed.entry.witness", values) if is_entry and witness else "",
        "stayClause": words.clause("context.model_pick.stay", values) if stays else "",
        "scoreClause": words.clause(scored, values) if is_scored else "",
    }


def _share(relevance: Any) -> str:  # noqa: ANN401  any JSON value
    return f"{round(relevance * 100)}%" if isinstance(relevance, (int, float)) else ""


def _effect(words: Words) -> dict[str, str]:
    values = _pick("tool_name", "target_skill_id", "reason", "instruction_id", "delivery_lease")(words)
    refusal = words.text("refusal_reason")
    return {
        **values,
        "reasonClause": words.clause("tools.effect.reason", values) if values["reason"] else "",
        "refusalClause": words.clause("tools.effect.refusalReason", {"refusalReason": refusal}) if refusal else "",
    }


def _result_refused(words: Words) -> dict[str, str]:
    narrow = [str(each) for each in words.many("narrow_by")]
    key = "tools.result_refused.narrowOne" if len(narrow) == 1 else "tools.result_refused.narrowMany"
    return {
        "toolName": words.text("tool_name"),
        "size": words.text("size_chars"),
        "max": words.text("max_chars"),
        "narrowClause": words.clause(key, {"narrowBy": ", ".join(narrow)}) if narrow else "",
    }


def _artifact(words: Words) -> dict[str, str]:
    tool = words.text("tool")
    actor = words.clause("artifacts.actor.tool" if tool else "artifacts.actor.host", {"tool": tool})
    return {"actor": actor, "kind": words.text("kind"), "size": _size(words.text("bytes"))}


def _size(count: str) -> str:
    return f"{count} bytes" if count else ""


def _expired(words: Words) -> dict[str, str]:
    return {"kind": words.text("kind"), "size": _size(words.text("bytes"))}


def _minted(words: Words) -> dict[str, str]:
    values = {"tool": words.text("tool"), "kind": words.text("kind"), "label": words.text("label")}
    parents = len(words.many("parent_refs"))
    derived = words.clause("artifacts.minted.derived", {"parentCount": str(parents)}) if parents else ""
    return {
        **values,
        "size": _size(words.text("bytes")),
        "subject": words.clause(f"artifacts.minted.subject.{'labeled' if values['label'] else 'plain'}", values),
        "derivedClause": derived,
    }


def _presented(words: Words) -> dict[str, str]:
    shown = told(words.payload, "snapshot")
    values = {"kind": text_of(shown, "kind"), "label": text_of(shown, "label"), "as": words.text("as_")}
    key = f"artifacts.presented.subject.{'labeled' if values['label'] else 'plain'}"
    return {**values, "subject": words.clause(key, values)}


def _artifact_refused(words: Words) -> dict[str, str]:
    return {
        "actor": _artifact(words)["actor"],
        "tool": words.text("tool"),
        "opPhrase": _OPERATIONS.get(words.text("op"), ""),
        "reasonPhrase": _REASONS.get(words.text("reason"), ""),
    }


def _conflict(words: Words) -> dict[str, str]:
    losers = [text_of(each, "target") for each in words.many("losers")]
    key = "skill.route_conflict.suppressedOne" if len(losers) == 1 else "skill.route_conflict.suppressedMany"
    return {
        "winner": text_of(told(words.payload, "winner"), "target"),
        "suppressedClause": words.clause(key, {"suppressed": ", ".join(losers)}) if losers else "",
    }


def _escalated(words: Words) -> dict[str, str]:
    come, gone = told(words.payload, "to"), told(words.payload, "from_")
    return {
        "afterRefusals": words.text("after_refusals"),
        "fromModel": text_of(gone, "model"),
        "toModel": text_of(come, "model") or text_of(come, "provider"),
    }


def _forked(words: Words) -> dict[str, str]:
    names = [text_of(each, "name") for each in words.many("branches")]
    return {"branchCount": str(len(names)), "branches": ", ".join(names)}


def _merged(words: Words) -> dict[str, str]:
    return {"mergedCount": words.text("merged_branch_count"), "totalCount": words.text("total_branch_count")}


def _left(words: Words) -> dict[str, str]:
    return {**_pick("kind", "status")(words), "name": words.text("name") or words.text("id")}


def _handed(words: Words) -> dict[str, str]:
    return {"fromAgent": words.text("from_agent_id"), "toAgent": words.text("to_agent_id")}


def _asked(words: Words) -> dict[str, str]:
    return {"question": words.text("reason")}


def _limit(words: Words) -> dict[str, str]:
    return {"limitKind": words.text("kind"), "limit": words.text("limit"), "actual": words.text("actual")}


_SAID: Final = MappingProxyType(
    {
        "agent.turn_start": _pick("user_prompt"),
        "stream.token": _token,
        "stream.tool_start": _tool_start,
        "stream.tool_progress": _progress,
        "context.injected": _injected,
        "context.evaluated": _evaluated,
        "skill.activated": _pick("skill_id", "reason"),
        "skill.deactivated": _pick("skill_id", "reason"),
        "skill.turn_routed": _turn_routed,
        "skill.rejected": _pick("requested_id", "current_skill_id"),
        "skill.escalated": _escalated,
        "skill.route_conflict": _conflict,
        "tools.effect": _effect,
        "tools.result_refused": _result_refused,
        "tools.repeated_call": _pick("tool_name", "occurrences"),
        "artifacts.minted": _minted,
        "artifacts.presented": _presented,
        "artifacts.resolved": _artifact,
        "artifacts.refused": _artifact_refused,
        "artifacts.expired": _expired,
        "composition.fork_start": _forked,
        "composition.merge_end": _merged,
        "composition.enter": _pick("name", "kind", "child_count"),
        "composition.exit": _left,
        "agent.handoff": _handed,
        "pause.request": _asked,
        "cost.limit_hit": _limit,
    }
)
