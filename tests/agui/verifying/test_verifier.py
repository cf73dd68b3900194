"""Tests of agentfootprint.agui.verifying.verifier."""

from __future__ import annotations

from typing import Any

import pytest
from ag_ui import core
from pydantic import TypeAdapter

from agentfootprint.agui import AgUiSequenceError, EventVerifier, verify_events

STARTED = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
FINISHED = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
FAILED = {"type": "RUN_ERROR", "message": "m"}
TEXT = {"type": "TEXT_MESSAGE_START", "messageId": "a", "role": "assistant"}
TEXT_PART = {"type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": "x"}
TEXT_END = {"type": "TEXT_MESSAGE_END", "messageId": "a"}
CALL = {"type": "TOOL_CALL_START", "toolCallId": "a", "toolCallName": "n"}
CALL_PART = {"type": "TOOL_CALL_ARGS", "toolCallId": "a", "delta": "{}"}
CALL_END = {"type": "TOOL_CALL_END", "toolCallId": "a"}
SPAN = {"type": "REASONING_START", "messageId": "a"}
SPAN_END = {"type": "REASONING_END", "messageId": "a"}
THOUGHT = {"type": "REASONING_MESSAGE_START", "messageId": "a", "role": "reasoning"}
THOUGHT_PART = {"type": "REASONING_MESSAGE_CONTENT", "messageId": "a", "delta": "x"}
THOUGHT_END = {"type": "REASONING_MESSAGE_END", "messageId": "a"}
STEP = {"type": "STEP_STARTED", "stepName": "s"}
STEP_END = {"type": "STEP_FINISHED", "stepName": "s"}
CUSTOM = {"type": "CUSTOM", "name": "n", "value": None}
SNAPSHOT = {"type": "STATE_SNAPSHOT", "snapshot": None}

Wire = dict[str, Any]

GOOD: list[list[Wire]] = [
    [STARTED, FINISHED],
    [FAILED],
    [STARTED, FAILED],
    [STARTED, FINISHED, FAILED],
    [STARTED, FINISHED, STARTED, FINISHED],
    [STARTED, FAILED, STARTED, FINISHED],
    [STARTED, TEXT, TEXT_PART, TEXT_END, TEXT, TEXT_END, FINISHED],
    [
        STARTED,
        TEXT,
        CALL,
        SPAN,
        THOUGHT,
        STEP,
        STEP_END,
        THOUGHT_END,
        SPAN_END,
        CALL_PART,
        CALL_END,
        TEXT_END,
        FINISHED,
    ],
    [STARTED, TEXT, STEP, CALL, FAILED],
    [STARTED, TEXT, FAILED, STARTED, TEXT, TEXT_END, FINISHED],
    [STARTED, CUSTOM, SNAPSHOT, FINISHED],
    [STARTED, {"type": "TEXT_MESSAGE_CHUNK", "messageId": "a", "delta": "x"}, FINISHED],
]

BAD: list[tuple[str, list[Wire]]] = [
    ("first", [TEXT]),
    ("first", [FINISHED]),
    ("running", [STARTED, STARTED]),
    ("after-finished", [STARTED, FINISHED, CUSTOM]),
    ("after-finished", [STARTED, FINISHED, FINISHED]),
    ("after-error", [STARTED, FAILED, CUSTOM]),
    ("after-error", [STARTED, FAILED, FAILED]),
    ("after-error", [STARTED, FAILED, FINISHED]),
    ("message-open", [STARTED, TEXT, TEXT]),
    ("message-not-open", [STARTED, TEXT_PART]),
    ("message-not-open", [STARTED, TEXT, TEXT_END, TEXT_END]),
    ("message-not-open", [STARTED, CALL, TEXT_PART]),
    ("call-open", [STARTED, CALL, CALL]),
    ("call-not-open", [STARTED, CALL_PART]),
    ("call-not-open", [STARTED, TEXT, CALL_END]),
    ("reasoning-open", [STARTED, SPAN, SPAN]),
    ("reasoning-not-open", [STARTED, THOUGHT, SPAN_END]),
    ("reasoning-message-open", [STARTED, THOUGHT, THOUGHT]),
    ("reasoning-message-not-open", [STARTED, SPAN, THOUGHT_PART]),
    ("reasoning-message-not-open", [STARTED, SPAN, THOUGHT_END]),
    ("step-open", [STARTED, STEP, STEP]),
    ("step-not-open", [STARTED, STEP_END]),
    *(("left-open", [STARTED, each, FINISHED]) for each in (TEXT, CALL, SPAN, THOUGHT, STEP)),
    ("unfinished", []),
    ("unfinished", [STARTED]),
    ("unfinished", [STARTED, FINISHED, STARTED]),
    ("null", [{**STARTED, "parentRunId": None}]),
    ("shape", [{"type": "RUN_STARTED", "threadId": "t"}]),
    ("shape", [{"type": "NO_SUCH_EVENT"}]),
    ("shape", [{}]),
]


def models(events: list[Wire]) -> list[core.Event]:
    adapter = TypeAdapter[Any](core.Event)
    return [adapter.validate_python(event) for event in events]


@pytest.mark.parametrize("events", GOOD)
def test_what_a_client_accepts_passes_in_either_form(events: list[Wire]) -> None:
    verify_events(events)
    verify_events(models(events))


@pytest.mark.parametrize(("rule", "events"), BAD)
def test_what_breaks_a_rule_is_refused_by_its_name(rule: str, events: list[Wire]) -> None:
    with pytest.raises(AgUiSequenceError) as caught:
        verify_events(events)

    assert caught.value.rule == rule
    assert caught.value.index == (len(events) if rule == "unfinished" else len(events) - 1)


@pytest.mark.parametrize(("rule", "events"), [each for each in BAD if each[0] not in ("shape", "null")])
def test_models_are_held_to_the_same_rules(rule: str, events: list[Wire]) -> None:
    with pytest.raises(AgUiSequenceError) as caught:
        verify_events(models(events))

    assert caught.value.rule == rule


def test_a_refused_event_changes_nothing() -> None:
    verifier = EventVerifier()
    verifier.check(STARTED)

    for wrong in (TEXT_PART, STARTED, STEP_END):
        with pytest.raises(AgUiSequenceError):
            verifier.check(wrong)

    verifier.check(FINISHED)
    verifier.finish()


def test_a_fault_names_the_event_and_quotes_none_of_it() -> None:
    secret = {"type": "TEXT_MESSAGE_CONTENT", "messageId": "swordfish", "delta": "swordfish"}

    with pytest.raises(AgUiSequenceError, match=r"^Event 1 \(TEXT_MESSAGE_CONTENT\) is about a message that") as caught:
        verify_events([STARTED, secret])

    assert "swordfish" not in str(caught.value)
