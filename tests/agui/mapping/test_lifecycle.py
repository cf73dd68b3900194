"""Tests of agentfootprint.agui.mapping.lifecycle."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.agui import AgUiOptions
from agentfootprint.agui.mapping.outcomes import Cancelled, ErrorCode, Failed, Outcome, Succeeded
from agentfootprint.events import Event
from agentfootprint.trace import freeze
from tests.agui.made import event, iteration, mapped, names, said, turn_end

FATAL = event("error.fatal", {"error": "It broke.", "stage": "__root__", "scope": "run"}, "__root__#0")
HALT = event("permission.halt", {"target": "t", "reason": "r", "iteration": 1, "sequenceLength": 0}, "tool-calls#2")
UNMET = event(
    "agent.output_contract_unmet",
    {
        "stage": "json-parse",
        "error": "e",
        "attempts": 1,
        "retriesSpent": 0,
        "fallbackConfigured": False,
        "iteration": 1,
    },
)


@pytest.mark.parametrize(
    ("events", "code"), [([FATAL], "run_failed"), ([HALT, FATAL], "policy_halt"), ([UNMET, FATAL], "schema_unmet")]
)
def test_a_failure_says_the_records_sentence_and_its_kind(events: list[Event[Any]], code: str) -> None:
    sent = mapped([iteration("start", 1), *events])

    assert names(sent)[-2:] == ["STEP_FINISHED", "RUN_ERROR"]
    assert sent[-1] == {"type": "RUN_ERROR", "message": "It broke.", "code": code}


def test_a_failure_that_the_run_outlived_is_none() -> None:
    exit_ = event("composition.exit", {"kind": "Parallel", "id": "fan", "status": "ok", "durationMs": 0}, "merge#9")

    assert mapped([FATAL, turn_end("Hi")])[-1]["type"] == "RUN_FINISHED"
    assert mapped([FATAL, exit_])[-1]["type"] == "RUN_FINISHED"


@pytest.mark.parametrize("phase", ["input", "output"])
def test_a_denied_message_or_answer_is_a_failure(phase: str) -> None:
    ruled = {"middleware": "m", "moment": phase, "at": "message", "phase": phase, "iteration": 0, "changed": False}
    denied = event("middleware.decision", {**ruled, "outcome": "deny"})
    allowed = event("middleware.decision", {**ruled, "outcome": "allow"})

    assert mapped([denied])[-1]["code"] == "run_failed"
    assert mapped([denied, turn_end("", denied=True)])[-1]["code"] == "run_failed"
    assert mapped([allowed, turn_end("Hi")])[-1]["outcome"] == {"type": "success"}


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (Failed(), "It broke."),
        (Failed(message="Own words.", code="timeout"), "Own words."),
    ],
)
def test_a_given_failure_wins_over_the_records(outcome: Outcome, message: str) -> None:
    assert mapped([FATAL], outcome=outcome)[-1]["message"] == message


@pytest.mark.parametrize("code", ErrorCode.__args__)
def test_every_code_has_a_sentence_of_its_own(code: ErrorCode) -> None:
    message = mapped([], outcome=Failed(code=code))[-1]["message"]

    assert message.endswith(".")
    assert "_" not in message


def test_a_hidden_failure_shows_the_placeholder() -> None:
    assert mapped([event("error.fatal", "[REDACTED]")])[-1]["message"] == "[REDACTED]"


def test_a_cancelled_run_closes_what_is_open_and_says_so() -> None:
    sent = mapped([iteration("start", 1), FATAL], outcome=Cancelled())

    assert names(sent)[-2:] == ["STEP_FINISHED", "RUN_FINISHED"]
    assert sent[-1]["outcome"] == {"type": "cancelled"}


def test_the_result_is_the_text_nothing_or_what_the_caller_made_of_it() -> None:
    events = [said("Hi"), turn_end("Hi")]
    none = AgUiOptions(timestamps=False, messages_snapshot="never", result="none")

    assert mapped(events)[-1]["result"] == "Hi"
    assert "result" not in mapped(events, none)[-1]
    assert mapped(events, none, Succeeded(result=freeze({"a": [1]})))[-1]["result"] == {"a": [1]}
    assert "result" not in mapped([said("Hi")])[-1]
    assert "result" not in mapped([turn_end("Hi", "step-a/final/x#1")])[-1]


def test_calls_of_the_front_end_wait_after_a_success() -> None:
    outcome = mapped([], outcome=Succeeded(pending_tool_call_ids=("a",)))[-1]["outcome"]

    assert outcome == {"type": "success", "pendingToolCallIds": ["a"]}
