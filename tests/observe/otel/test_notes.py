"""Tests of agentfootprint.observe.otel.notes: what span events tell of decisions."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.events import Event, RunFacts, event_from_wire
from agentfootprint.observe import OtelExporter
from tests.observe.otel.tracing import Tracing, texts_of

MARK = "marker-7f3a"
META = {"runId": "run-1-1", "runtimeStageId": "tool-calls#5", "wallClockMs": 5}


def told(event_type: str, payload: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The span events that one event becomes, in an iteration of a turn."""
    tracing = Tracing()
    exporter = OtelExporter("shop", tracer=tracing.tracer, capture_content=True, capture_tool_content=True)
    for kind, content in (
        ("agent.turn_start", {"turnIndex": 0, "userPrompt": "Hi"}),
        ("agent.iteration_start", {"turnIndex": 0, "iterIndex": 1}),
        (event_type, payload),
        ("agent.iteration_end", {"turnIndex": 0, "iterIndex": 1, "toolCallCount": 0}),
    ):
        exporter.export(event_from_wire({"type": f"agentfootprint.{kind}", "payload": content, "meta": META}))
    span = tracing.named("iteration:1")
    assert MARK not in texts_of(tracing.spans)
    return [(each.name.removeprefix("agentfootprint."), dict(each.attributes or {})) for each in span.events]


CASES: list[tuple[str, Any, Any]] = [
    (
        "permission.check",
        {"capability": "tool_call", "actor": "agent", "target": "refund", "result": "deny", "policyRuleId": "r1"}
        | {"rationale": MARK, "reason": MARK},
        {"permission.result": "deny", "permission.capability": "tool_call", "permission.target": "refund"}
        | {"permission.policy.rule": "r1"},
    ),
    (
        "permission.halt",
        {"target": "refund", "reason": "twice", "tellLLM": MARK, "iteration": 1, "sequenceLength": 2},
        {"permission.target": "refund", "permission.reason": "twice", "permission.sequence_length": 2}
        | {"iteration.index": 1},
    ),
    (
        "credential.failed",
        {"service": "billing", "reason": MARK, "errorClass": "Timeout"},
        {"credential.service": "billing", "error.type": "Timeout"},
    ),
    (
        "validation.args_invalid",
        {"toolName": "refund", "toolCallId": "c1", "iteration": 1, "enforced": True}
        | {"issues": [{"path": "amount", "expected": "number", "got": "string", "hint": MARK}]},
        {"gen_ai.tool.name": "refund", "gen_ai.tool.call.id": "c1", "validation.paths": ("amount",)}
        | {"validation.enforced": True},
    ),
    (
        "skill.activated",
        {"skillId": "billing", "reason": "manual", "injectedTools": [f"t{n}" for n in range(25)]},
        {"skill.id": "billing", "skill.reason": "manual"}
        | {"skill.tools": (*(f"t{n}" for n in range(20)), "…+5 more")},
    ),
    (
        "eval.score",
        {"metricId": "grounded", "value": 0.5, "target": "run", "targetRef": "r", "evidence": MARK},
        {"gen_ai.evaluation.name": "grounded", "gen_ai.evaluation.score.value": 0.5},
    ),
    (
        "tools.coverage_declared",
        {"toolName": "search", "toolCallId": "c1", "iteration": 1, "checked": [{"what": MARK}, {"what": MARK}]},
        {"gen_ai.tool.name": "search", "gen_ai.tool.call.id": "c1", "coverage.checked_count": 2},
    ),
    (
        "composition.route_decided",
        {"conditionalId": "size", "chosen": "large", "rationale": MARK}
        | {
            "evidence": {
                "rules": [
                    {"ruleIndex": 0, "branch": "small", "matched": False, "conditions": []},
                    {
                        "ruleIndex": 1,
                        "branch": "large",
                        "matched": True,
                        "label": "Over the limit",
                        "conditions": [
                            {"key": "amount", "op": "gt", "threshold": MARK, "actualSummary": MARK, "result": True}
                        ],
                    },
                ]
            }
        },
        {"decision.stage": "size", "decision.chosen": "large", "decision.rule.label": "Over the limit"}
        | {"decision.rule.index": 1, "decision.rule.branch": "large"}
        | {"decision.rule.conditions": ("amount gt: holds",)},
    ),
    (
        "stream.tool_start",
        {"toolName": "search", "toolCallId": "c2", "args": {"q": MARK}}
        | {"notDispatched": {"pausedCall": {"id": "c1", "name": "ask"}}},
        {"gen_ai.tool.name": "search", "gen_ai.tool.call.id": "c2", "tool.paused_call.id": "c1"}
        | {"tool.paused_call.name": "ask"},
    ),
]


@pytest.mark.parametrize(("event_type", "payload", "expected"), CASES, ids=[case[0] for case in CASES])
def test_a_decision_is_a_span_event_without_content(
    event_type: str, payload: dict[str, Any], expected: dict[str, Any]
) -> None:
    """SNK-23, SNK-24, NEW-96, 02 s.11.3."""
    ((_, attributes),) = told(event_type, payload)

    assert {key.removeprefix("agentfootprint."): value for key, value in attributes.items()} == expected


def test_every_route_of_a_skill_is_told_and_a_long_text_cut() -> None:
    row = {"injectionId": "billing", "flavor": "skill", "via": "route", "label": "x" * 300, "from": "start"}
    payload: dict[str, Any] = {
        "iteration": 1,
        "activeCount": 1,
        "skippedCount": 0,
        "evaluatedTotal": 1,
        "activeIds": ["billing"],
        "skippedDetails": [],
        "triggerKindCounts": {},
        "skillCatalog": [],
        "routing": [row, row],
    }

    events = told("context.evaluated", payload)

    assert [name for name, _ in events] == ["skill.routing", "skill.routing"]
    assert len(events[0][1]["agentfootprint.skill.edge.label"]) == 256
    assert events[0][1]["agentfootprint.skill.from"] == "start"


def test_a_span_without_events_gets_attributes_instead() -> None:
    """SNK-23."""
    kept: dict[str, Any] = {}

    class Plain:
        def set_attribute(self, key: str, value: Any) -> None:
            kept[key] = value

        def end(self, at: int) -> None: ...

    class Tracer:
        def start_span(self, name: str, **_: Any) -> Plain:
            return Plain()

    from agentfootprint.events import RouteDecided, TurnStart

    run = RunFacts(run_id="run-1-1", started_at_ms=1)
    exporter = OtelExporter("shop", tracer=Tracer())
    exporter.export(Event(TurnStart(turn_index=0, user_prompt="Hi"), "seed#0", 0, run))
    exporter.export(Event(RouteDecided(turn_index=0, iter_index=1, chosen="final"), "route#1", 0, run))

    assert kept["agentfootprint.agent.route_decided.agentfootprint.decision.chosen"] == "final"
