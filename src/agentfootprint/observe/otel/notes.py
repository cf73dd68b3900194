"""What a span tells of decisions, as span events without content: names, codes and counts, never a value (SNK-23).

Invariants: one table from event type to what is told of it; prompts, answers, arguments, results, messages of errors
and reasons in an application's own words are in none of them (SNK-24).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, cast

from agentfootprint.events import Event
from agentfootprint.observe.otel import names
from agentfootprint.observe.otel.reading import Attributes, bounded, field, items, number, rows, text

__all__ = ["Note", "not_dispatched", "notes_of"]

Note = tuple[str, Attributes]
"""The span event's name and its attributes."""

_MOST_ROUTES: Final = 20


def notes_of(event: Event[Any]) -> Iterable[Note]:
    """What is told of an event; nothing for most types."""
    tell = _TELLERS.get(event.type)
    return () if tell is None else tell(event.type, event.payload)


def _plain(fields: Mapping[str, str]) -> Callable[[str, object], Iterable[Note]]:
    """Tell of some fields, by the attributes they become."""

    def tell(event_type: str, payload: object) -> Iterable[Note]:
        told: Attributes = {}
        for attribute, name in fields.items():
            found = field(payload, name)
            if isinstance(found, str):
                told[attribute] = bounded(found)
            elif isinstance(found, (bool, int, float)):
                told[attribute] = found
            elif isinstance(found, Sequence):
                told[attribute] = items(cast("Sequence[object]", found))
        yield event_type, told

    return tell


def _agent_route(event_type: str, payload: object) -> Iterable[Note]:
    told: Attributes = {"agentfootprint.decision.stage": "react-route"}
    _put(told, "agentfootprint.decision.chosen", text(payload, "chosen"))
    _put(told, "agentfootprint.decision.rationale", text(payload, "rationale"))
    _put(told, "agentfootprint.iteration.index", number(payload, "iter_index"))
    yield event_type, told


def _composition_route(event_type: str, payload: object) -> Iterable[Note]:
    told: Attributes = {}
    _put(told, "agentfootprint.decision.stage", text(payload, "conditional_id"))
    _put(told, "agentfootprint.decision.chosen", text(payload, "chosen"))
    _rule(told, field(payload, "evidence"))
    yield event_type, told


def _rule(told: Attributes, evidence: object) -> None:
    """The rule that matched and which of its conditions held: fields and comparisons, no values."""
    matched = next((each for each in rows(evidence, "rules") or () if field(each, "matched") is True), None)
    _put(told, "agentfootprint.decision.rule.label", text(matched, "label"))
    _put(told, "agentfootprint.decision.rule.index", number(matched, "ruleIndex"))
    _put(told, "agentfootprint.decision.rule.branch", text(matched, "branch"))
    conditions = rows(matched, "conditions")
    if conditions is not None:
        told["agentfootprint.decision.rule.conditions"] = items(_conditions(conditions))


def _conditions(found: Sequence[object]) -> Iterator[str]:
    for each in found:
        key, op = text(each, "key"), text(each, "op")
        if key is not None and op is not None:
            holds = field(each, "result") is True or field(each, "passed") is True
            yield f"{key} {op}: {'holds' if holds else 'does not hold'}"


def _skill_routing(_: str, payload: object) -> Iterable[Note]:
    for row in (rows(payload, "routing") or ())[:_MOST_ROUTES]:
        told: Attributes = {}
        _put(told, "agentfootprint.skill.id", text(row, "injection_id"))
        _put(told, "agentfootprint.skill.via", text(row, "via"))
        _put(told, "agentfootprint.skill.from", text(row, "from_"))
        _put(told, "agentfootprint.skill.edge.label", text(row, "label"))
        _put(told, "agentfootprint.skill.trigger.kind", text(row, "trigger_kind"))
        path = rows(row, "path")
        if path is not None:
            told["agentfootprint.skill.path"] = items(text(step, "label") for step in path)
        yield "agentfootprint.skill.routing", told


def _bad_args(event_type: str, payload: object) -> Iterable[Note]:
    told: Attributes = {}
    _put(told, names.TOOL_NAME, text(payload, "tool_name"))
    _put(told, names.TOOL_CALL_ID, text(payload, "tool_call_id"))
    issues = rows(payload, "issues")
    if issues is not None:
        told["agentfootprint.validation.paths"] = items(text(each, "path") for each in issues)
    enforced = field(payload, "enforced")
    if isinstance(enforced, bool):
        told["agentfootprint.validation.enforced"] = enforced
    yield event_type, told


def _evaluation(_: str, payload: object) -> Iterable[Note]:
    told: Attributes = {}
    _put(told, names.EVALUATION_NAME, text(payload, "metric_id"))
    _put(told, names.EVALUATION_SCORE, number(payload, "value"))
    yield names.EVALUATION_RESULT, told


def _ground(event_type: str, payload: object) -> Iterable[Note]:
    """Of what a tool says about its reach: how much, not what."""
    told: Attributes = {}
    _put(told, names.TOOL_NAME, text(payload, "tool_name"))
    _put(told, names.TOOL_CALL_ID, text(payload, "tool_call_id"))
    for name in ("checked", "not_checked", "cannot_cover", "in_progress"):
        found = rows(payload, name)
        if found is not None:
            told[f"agentfootprint.coverage.{name}_count"] = len(found)
    yield event_type, told


def _verdict(event_type: str, payload: object) -> Iterable[Note]:
    told: Attributes = {}
    _put(told, "agentfootprint.evidence.posture", text(payload, "posture"))
    _put(told, "agentfootprint.evidence.action", text(payload, "action"))
    _put(told, "agentfootprint.evidence.candidates", number(payload, "candidates"))
    unsupported = rows(payload, "unsupported")
    if unsupported is not None:
        told["agentfootprint.evidence.unsupported_count"] = len(unsupported)
    yield event_type, told


def not_dispatched(payload: object) -> Note:
    """A call that was settled without being run: no span, this (02 s.11.3)."""
    told: Attributes = {}
    _put(told, names.TOOL_NAME, text(payload, "tool_name"))
    _put(told, names.TOOL_CALL_ID, text(payload, "tool_call_id"))
    paused = field(field(payload, "not_dispatched"), "pausedCall")
    _put(told, "agentfootprint.tool.paused_call.id", text(paused, "id"))
    _put(told, "agentfootprint.tool.paused_call.name", text(paused, "name"))
    return "agentfootprint.tool.not_dispatched", told


def _put(told: Attributes, key: str, value: str | float | None) -> None:
    if value is not None:
        told[key] = value


_CALL: Final = {names.TOOL_CALL_ID: "tool_call_id", "agentfootprint.iteration.index": "iteration"}
_CREDENTIAL: Final = {"agentfootprint.credential.service": "service", **_CALL}
_TELLERS: Final[Mapping[str, Callable[[str, object], Iterable[Note]]]] = MappingProxyType(
    {
        "agentfootprint.agent.route_decided": _agent_route,
        "agentfootprint.agent.evidence_checked": _verdict,
        "agentfootprint.composition.route_decided": _composition_route,
        "agentfootprint.context.evaluated": _skill_routing,
        "agentfootprint.skill.activated": _plain(
            {
                "agentfootprint.skill.id": "skill_id",
                "agentfootprint.skill.reason": "reason",
                "agentfootprint.skill.tools": "injected_tools",
            }
        ),
        "agentfootprint.validation.args_invalid": _bad_args,
        "agentfootprint.permission.check": _plain(
            {
                "agentfootprint.permission.result": "result",
                "agentfootprint.permission.capability": "capability",
                "agentfootprint.permission.target": "target",
                "agentfootprint.permission.policy.engine": "policy_engine",
                "agentfootprint.permission.policy.rule": "policy_rule_id",
                **_CALL,
            }
        ),
        "agentfootprint.permission.halt": _plain(
            {
                "agentfootprint.permission.target": "target",
                "agentfootprint.permission.checker": "checker_id",
                "agentfootprint.permission.reason": "reason",
                "agentfootprint.permission.sequence_length": "sequence_length",
                **_CALL,
            }
        ),
        "agentfootprint.credential.requested": _plain({**_CREDENTIAL, "agentfootprint.credential.mode": "mode"}),
        "agentfootprint.credential.acquired": _plain({**_CREDENTIAL, "agentfootprint.credential.kind": "kind"}),
        "agentfootprint.credential.authorization_required": _plain(_CREDENTIAL),
        "agentfootprint.credential.failed": _plain({**_CREDENTIAL, names.ERROR_TYPE: "error_class"}),
        "agentfootprint.eval.score": _evaluation,
        "agentfootprint.tools.absent": _ground,
        "agentfootprint.tools.coverage_declared": _ground,
        "agentfootprint.integrity.context_error": _plain(
            {"agentfootprint.integrity.kind": "kind", "agentfootprint.integrity.seam": "seam"}
        ),
    }
)
