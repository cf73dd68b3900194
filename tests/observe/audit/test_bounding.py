"""Tests of agentfootprint.observe.audit.bounding."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from agentfootprint.events import EVENT_TYPES
from agentfootprint.observe import AuditExporter
from tests.observe.audit.chains import event

MARK = "wPhq7-secret-wPhq7"
Mode = Literal["bounded", "strict", "verbatim"]


def recorded(action: str, payload: Any, mode: Mode) -> Any:
    audit = AuditExporter(payload_mode=mode, include_token_events=True)
    audit.export(event(action, payload))
    return audit.bundle()["records"][1]["payload"]


@pytest.mark.parametrize(
    ("action", "payload"),
    [
        ("checkin.request", {"toolName": "t", "request": {"args": {"amount": MARK}, "evidence": {"willDo": MARK}}}),
        ("stream.tool_progress", {"toolName": "t", "payload": {"message": MARK}}),
        ("stream.llm_start", {"model": "m", "systemPromptText": MARK}),
        ("tools.semantics_declared", {"toolName": "t", "semantics": {"rows": [MARK]}}),
        ("agent.evidence_checked", {"unsupported": [{"value": MARK, "shape": "id"}]}),
        ("agent.output_schema_validation_failed", {"message": MARK, "rawOutput": MARK, "stage": "json-parse"}),
        ("agent.output_schema_retry", {"error": MARK, "attempt": 1}),
        ("resilience.output_fallback_triggered", {"rawOutputPreview": MARK, "primaryErrorMessage": MARK}),
        ("resilience.output_canned_used", {"rawOutputPreview": MARK, "fallbackErrorMessage": MARK}),
        ("skill.rejected", {"skillId": "s", "reason": MARK}),
        ("skill.escalated", {"skillId": "s", "reason": MARK}),
        ("permission.check", {"target": "t", "rationale": MARK, "reason": MARK}),
        ("permission.halt", {"target": "t", "reason": MARK, "tellLLM": MARK}),
        ("checkin.decision", {"toolName": "t", "note": MARK}),
        ("pause.request", {"reason": MARK, "questionPayload": {"amount": MARK}}),
        ("middleware.decision", {"middleware": "m", "why": MARK}),
        ("context.evaluated", {"skippedDetails": [{"id": "a", "error": MARK}]}),
        ("agent.route_decided", {"chosen": "final", "rationale": MARK}),
        ("shop.basket.filled", {"who": MARK, "deep": [{"er": [MARK]}], "items": 3}),
    ],
)
def test_the_strict_mode_keeps_nobodys_words(action: str, payload: dict[str, Any]) -> None:
    """AUD-8."""
    kept = recorded(action, payload, "strict")

    assert MARK not in json.dumps(kept)
    assert set(kept) == set(payload)


def test_the_strict_mode_keeps_the_shape_of_an_event_nobody_knows() -> None:
    kept = recorded("shop.basket.filled", {"who": MARK, "items": [3, None, True]}, "strict")

    assert kept == {"who": "[18 chars]", "items": [3, None, True]}


@pytest.mark.parametrize("mode", ["bounded", "strict"])
@pytest.mark.parametrize(
    ("action", "key"),
    [
        *(("agent.turn_start", "userPrompt"), ("agent.turn_end", "finalContent"), ("agent.iteration_end", "history")),
        *(("stream.llm_end", "content"), ("stream.token", "content"), ("stream.thinking_delta", "content")),
        *(("stream.thinking_end", "blocks"), ("stream.tool_start", "args"), ("stream.tool_end", "result")),
        *(("stream.tool_end", "modelResult"), ("context.injected", "rawContent"), ("pause.resume", "resumeInput")),
        *(
            ("memory.written", "contentSummary"),
            ("eval.score", "evidence"),
            ("memory.strategy_applied", "scoreEvidence"),
        ),
    ],
)
def test_what_people_and_models_said_is_in_no_bounded_record(action: str, key: str, mode: Mode) -> None:
    """AUD-6, also when the value has a shape that the field never has."""
    for value in (MARK, {"key": MARK}, [MARK], [{"content": MARK}], None, 7):
        assert MARK not in json.dumps(recorded(action, {key: value}, mode))


def test_the_verbatim_mode_keeps_the_words() -> None:
    assert recorded("agent.turn_start", {"userPrompt": MARK}, "verbatim") == {"userPrompt": MARK}


def test_keys_are_listed_as_javascript_lists_them() -> None:
    args = {"b": 1, "10": 1, "a": 1, "9": 1, "01": 1, "4294967295": 1}

    assert recorded("stream.tool_start", {"args": args}, "bounded")["args"] == "[keys: 9, 10, b, a, 01, 4294967295]"
    assert recorded("stream.tool_start", {"args": {}}, "bounded")["args"] == "[keys: ]"
    many = recorded("stream.tool_start", {"args": {f"k{n}": n for n in range(40)}}, "bounded")["args"]
    assert many.count(",") == 31


@pytest.mark.parametrize("event_type", EVENT_TYPES)
def test_every_type_survives_a_payload_that_was_redacted(event_type: str) -> None:
    """BRG-5."""
    action = event_type.removeprefix("agentfootprint.")

    for mode in ("bounded", "strict", "verbatim"):
        assert recorded(action, "[REDACTED]", mode) in ("[REDACTED]", "[10 chars]")
