"""Tests of agentfootprint.agui.interrupts.answering."""

from __future__ import annotations

from typing import Any

import pytest
from ag_ui.core import ResumeEntry

from agentfootprint import Agent, Gates, Mock, Paused, tool
from agentfootprint.agent import InputField, request_input
from agentfootprint.agui import AgUi
from agentfootprint.agui.errors import AgUiRefusedError
from agentfootprint.agui.interrupts.answering import read_answers
from agentfootprint.agui.threads.facts import OpenInterrupt
from agentfootprint.llm import LLMResponse, ToolCall
from tests.agent.pausing.desk import desk, question
from tests.agui.serving.clients import answered, asked, interrupt_id, told

GATE = OpenInterrupt(id="i", gate="checkIn")
VALUE = OpenInterrupt(id="i", gate="value")
BOTH = LLMResponse(tool_calls=(ToolCall("a", "refund", {"amount": 480}), ToolCall("b", "refund", {"amount": 300})))


async def refund() -> Paused:
    return question(await desk(Mock.call("refund", amount=480), "Done.").run("Go."))


async def asking() -> Paused:
    return question(await desk(Mock.call("ask", question="Why?"), "Done.").run("Go."))


def resolved(payload: Any, id: str = "i") -> ResumeEntry:
    return ResumeEntry(interrupt_id=id, status="resolved", payload=payload)


async def test_a_decision_has_what_a_client_may_say_and_nothing_else() -> None:
    payload = {
        "approved": True,
        "note": "ok",
        "by": "the boss",
        "at": 1,
        "args": {"amount": 1},
        "editedArgs": {"amount": 1},
        "remember": "run",
        "value": {"kind": "seat", "value": 4},
    }

    answer: dict[str, Any] = read_answers([resolved(payload)], [GATE], await refund(), by="alice")

    assert answer.pop("at") > 1
    assert answer == {"approved": True, "note": "ok", "by": "alice", "value": {"kind": "seat", "value": 4}}


@pytest.mark.parametrize("payload", [True, None, [], "yes", {}, {"approved": 1}, {"approved": "true"}])
async def test_a_gate_takes_nothing_but_a_decision(payload: Any) -> None:
    with pytest.raises(AgUiRefusedError) as caught:
        read_answers([resolved(payload)], [GATE], await refund(), by="alice")

    assert caught.value.reason == "interrupt_invalid"


@pytest.mark.parametrize("payload", [None, 0, "", {"a": 1}, [1]])
async def test_a_plain_question_takes_any_value_that_is_given(payload: Any) -> None:
    assert read_answers([resolved(payload)], [VALUE], await asking(), by="alice") == payload


async def test_a_plain_question_needs_a_value() -> None:
    missing = ResumeEntry(interrupt_id="i", status="resolved")

    with pytest.raises(AgUiRefusedError, match=r"payload is missing"):
        read_answers([missing], [VALUE], await asking(), by="alice")


async def test_what_cant_be_recorded_is_refused_without_its_words() -> None:
    with pytest.raises(AgUiRefusedError) as caught:
        read_answers([resolved({"marker": float("inf")})], [VALUE], await asking(), by="alice")

    assert caught.value.reason == "interrupt_invalid"
    assert "marker" not in str(caught.value)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ([resolved(1), resolved(2)], "interrupt_invalid"),
        ([resolved(1, "other")], "interrupt_unknown"),
        ([], "interrupt_incomplete"),
    ],
)
async def test_each_question_is_answered_once(entries: list[ResumeEntry], reason: str) -> None:
    with pytest.raises(AgUiRefusedError) as caught:
        read_answers(entries, [VALUE], await asking(), by="alice")

    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("until", "is_over"),
    [("2001-01-01T00:00:00Z", True), ("2001-01-01T00:00:00", True), ("2999-01-01T00:00:00Z", False)],
)
async def test_a_question_that_was_open_until_then(until: str, is_over: bool) -> None:
    asked_for = OpenInterrupt(id="i", gate="value", expires_at=until)

    try:
        read_answers([resolved(1)], [asked_for], await asking(), by="alice")
        refused = None
    except AgUiRefusedError as error:
        refused = error.reason

    assert refused == ("interrupt_expired" if is_over else None)


async def test_a_question_can_be_given_up_at_any_time() -> None:
    asked_for = OpenInterrupt(id="i", gate="checkIn", expires_at="2001-01-01T00:00:00Z")

    answer: Any = read_answers(
        [ResumeEntry(interrupt_id="i", status="cancelled")], [asked_for], await asking(), by="alice"
    )

    assert (answer["approved"], answer["note"]) == (False, "cancelled")


async def test_several_questions_are_answered_in_their_order() -> None:
    paused = question(await desk(BOTH, "Done.", gates=Gates(ask_together=True)).run("Go."))
    two = [OpenInterrupt(id="a", gate="checkIn"), OpenInterrupt(id="b", gate="checkIn")]
    entries = [ResumeEntry(interrupt_id="b", status="cancelled"), resolved({"approved": True}, "a")]

    answers: list[Any] = read_answers(entries, two, paused, by="alice")

    assert [each["approved"] for each in answers] == [True, False]
    assert answers[1]["note"] == "cancelled"


@tool
async def book() -> str:
    """Book a room."""
    request_input(
        id="room",
        question="Which room?",
        fields=[InputField("size", "string", enum=("S", "L")), InputField("nights", "number")],
    )


async def test_values_that_a_tool_asks_for() -> None:
    adapter = AgUi(Agent(Mock([Mock.call("book"), "Booked."], cursor="history"), tools=[book]))
    named = interrupt_id(await told(adapter, asked()))

    short = await told(adapter, answered(named, {"size": "S"}))
    wrong = await told(adapter, answered(named, {"size": "XL", "nights": 2}, run="r-3"))
    events = await told(adapter, answered(named, {"size": "S", "nights": 2}, run="r-4"))

    assert [each[-1]["code"] for each in (short, wrong)] == ["interrupt_invalid"] * 2
    assert "nights" in short[-1]["message"]
    assert "XL" not in wrong[-1]["message"]
    assert events[-1]["result"] == "Booked."


async def test_a_request_for_values_that_is_given_up() -> None:
    adapter = AgUi(Agent(Mock([Mock.call("book"), "Never mind."], cursor="history"), tools=[book]))
    named = interrupt_id(await told(adapter, asked()))

    events = await told(adapter, answered(named))

    assert events[-1]["result"] == "Never mind."
