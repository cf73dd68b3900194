"""Tests of agentfootprint.agui.mapping.interrupts."""

from __future__ import annotations

from typing import Any

from agentfootprint.agui import AgUiOptions
from agentfootprint.agui.mapping.interrupts import DECISION_SCHEMA
from agentfootprint.agui.mapping.mapper import Mapper
from agentfootprint.agui.mapping.outcomes import Interrupted
from agentfootprint.events import Event
from tests.agui.made import BARE, called, event, mapped, names

TOOL_ID = "r-1/tool-call/0/tool-calls#2"
WANTED = {"toolCallId": "c1", "toolName": "weather"}


def pause(data: Any, reason: str = "stage requested pause", at: str = "tool-calls#paused") -> Event[Any]:
    return event("pause.request", {"reason": reason, "questionPayload": data}, at)


def asked(*events: Event[Any], outcome: Interrupted | None = None, **parts: Any) -> list[dict[str, Any]]:
    last = mapped(events, outcome=outcome, **parts)[-1]
    assert last["outcome"]["type"] == "interrupt"
    return last["outcome"]["interrupts"]


def own(interrupt: dict[str, Any]) -> dict[str, Any]:
    return interrupt["metadata"]["agentfootprint"]


def test_a_check_in_asks_for_a_decision_and_shows_its_evidence() -> None:
    request = {
        "tool": "weather",
        "args": {"n": 1},
        "evidence": {"willDo": "Look it up."},
        "component": {"componentId": "c"},
    }

    (interrupt,) = asked(called("c1"), pause({**WANTED, "checkIn": request}))

    assert (interrupt["id"], interrupt["toolCallId"]) == ("r-1/interrupt/0/tool-calls#2", TOOL_ID)
    assert (interrupt["reason"], interrupt["message"]) == ("tool_call", "Look it up.")
    assert interrupt["responseSchema"] == DECISION_SCHEMA
    assert own(interrupt) == {
        "gate": "checkIn",
        "toolName": "weather",
        "toolCallId": "c1",
        "component": {"componentId": "c"},
        "checkIn": request,
    }


def test_a_rule_asks_about_a_call_or_about_none() -> None:
    ask = {"question": "Really?", "middleware": "limits"}

    (about_call,) = asked(called("c1"), pause({**WANTED, "ask": ask}))
    (about_none,) = asked(pause({"ask": ask}, at="input#paused"))

    assert (about_call["reason"], about_call["message"]) == ("tool_call", "Really?")
    assert own(about_call)["middleware"] == "limits"
    assert about_none["reason"] == "confirmation"
    assert (about_none["id"], "toolCallId" in about_none) == ("r-1/interrupt/0/input#paused", False)
    assert about_none["responseSchema"] == DECISION_SCHEMA


def test_a_question_of_the_tools_own_takes_any_value() -> None:
    (reasoned,) = asked(called("c1"), pause({**WANTED, "question": "How many?", "reason": "Too many"}, "Too many"))
    (plain,) = asked(called("c1"), pause({**WANTED, "question": "How many?"}))
    (bare,) = asked(pause({}, "Wait"))
    (typed,) = asked(pause({"question": "How many?", "responseSchema": {"type": "number"}}))

    assert [each["message"] for each in (reasoned, plain, bare)] == ["Too many", "How many?", "Wait"]
    assert {each["reason"] for each in (reasoned, plain, bare)} == {"input_required"}
    assert "responseSchema" not in plain
    assert typed["responseSchema"] == {"type": "number"}


def test_consent_is_asked_for_and_only_its_owner_is_told_where() -> None:
    data = {**WANTED, "authorization": {"service": "drive", "sessionId": "s-9"}}
    mapper = Mapper("t-1", "r-1", BARE)

    (told,) = asked(
        called("c1"), pause(data), outcome=Interrupted(consent_urls={"s-9": "https://idp.example/x"}), mapper=mapper
    )
    (untold,) = asked(called("c1"), pause(data))

    assert told["reason"] == "agentfootprint:authorization_required"
    assert told["message"] == "Your permission to use drive is needed."
    assert own(told)["authorizationUrl"] == "https://idp.example/x"
    assert "authorizationUrl" not in own(untold)
    assert "idp.example" not in str(mapper.interrupts)


def test_a_request_for_values_describes_those_that_are_missing() -> None:
    request = {
        "requestId": "input-1",
        "question": "Which flight?",
        "fields": [
            {"id": "from", "type": "string", "required": True},
            {"id": "class", "type": "string", "required": True, "enum": ["eco", "first"], "description": "Cabin"},
            {"id": "seats", "type": "number", "required": False},
        ],
        "supplied": {"from": "SECRET-CITY"},
        "missing": ["class"],
        "refused": {"answer": "SECRET-ANSWER", "reason": "Not a class."},
    }

    (interrupt,) = asked(called("c1"), pause({**WANTED, "awaitingInput": request}))

    assert interrupt["message"] == "Which flight?"
    assert interrupt["responseSchema"] == {
        "type": "object",
        "properties": {
            "class": {"type": "string", "description": "Cabin", "enum": ["eco", "first"]},
            "seats": {"type": "number"},
        },
        "required": ["class"],
    }
    assert own(interrupt) == {
        "gate": "input",
        "toolName": "weather",
        "toolCallId": "c1",
        "requestId": "input-1",
        "fields": ["from", "class", "seats"],
        "supplied": ["from"],
        "refused": "Not a class.",
    }
    assert "SECRET" not in str(interrupt)


def test_questions_that_are_asked_together_have_an_interrupt_each_though_ids_repeat() -> None:
    data: dict[str, Any] = {**WANTED, "checkIn": {}, "alsoAsked": [{**WANTED, "ask": {"question": "?"}, "index": 2}]}

    first, second = asked(*(called("c1", ordinal=n) for n in range(3)), pause(data))

    assert [each["id"] for each in (first, second)] == [f"r-1/interrupt/{n}/tool-calls#2" for n in (0, 1)]
    assert [each["toolCallId"] for each in (first, second)] == [f"r-1/tool-call/{n}/tool-calls#2" for n in (0, 2)]


def test_a_hidden_gate_is_still_a_gate() -> None:
    hidden = "[REDACTED]"

    (check_in,) = asked(called(hidden), pause({"toolCallId": hidden, "toolName": "t", "checkIn": hidden}))
    (whole,) = asked(called("c1"), event("pause.request", hidden, "tool-calls#paused"))

    assert (own(check_in)["gate"], own(check_in)["checkIn"], check_in["toolCallId"]) == ("checkIn", hidden, TOOL_ID)
    assert check_in["responseSchema"] == DECISION_SCHEMA
    assert (whole["message"], whole["toolCallId"]) == (hidden, TOOL_ID)


def test_a_run_that_no_event_says_paused_is_told_what_is_asked() -> None:
    first = Mapper("t-1", "r-1", BARE)
    mapped([called("c1"), pause(WANTED)], mapper=first)

    (interrupt,) = asked(
        outcome=Interrupted(data={**WANTED, "awaitingInput": {"requestId": "input-1", "question": "And?"}}),
        mapper=Mapper("t-1", "r-2", BARE, open_calls=first.open_calls),
    )

    assert (interrupt["message"], interrupt["toolCallId"]) == ("And?", TOOL_ID)
    assert interrupt["id"] == "r-2/interrupt/0/tool-calls#2"


def test_a_run_that_goes_on_asks_no_more() -> None:
    resume = event("pause.resume", {"resumeInput": {}, "pausedDurationMs": 0}, "tool-calls#resumed")

    sent = mapped([called("c1"), pause(WANTED), resume])

    assert sent[-1]["outcome"] == {"type": "success"}


def test_the_snapshot_comes_before_the_question_and_not_when_none_is_wanted() -> None:
    prompt = event("agent.turn_start", {"turnIndex": 0, "userPrompt": "Hi"})

    auto = mapped([prompt, called("c1"), pause(WANTED)], AgUiOptions(timestamps=False, state="live"))

    assert names(auto)[-3:] == ["MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "RUN_FINISHED"]
    assert "MESSAGES_SNAPSHOT" not in names(mapped([prompt, called("c1"), pause(WANTED)]))


def test_an_expiry_is_passed_on() -> None:
    (interrupt,) = asked(pause({"checkIn": {"expiresAt": "2030-01-01T00:00:00Z"}}))

    assert interrupt["expiresAt"] == "2030-01-01T00:00:00Z"


def test_an_expiry_that_is_hidden_is_left_out() -> None:
    (interrupt,) = asked(pause({"checkIn": {"expiresAt": "[REDACTED]"}}))

    assert "expiresAt" not in interrupt
