"""Tests of agentfootprint.agent.pausing.requesting."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, Mock, PauseCheckpoint, absent, approve, tool
from agentfootprint.agent import InputField, InputRequestError, Paused, request_input
from agentfootprint.trace import thaw
from tests.agent.pausing.desk import question

ENTERED: list[str] = []


@tool
async def window(day: str) -> str:
    """Find the window of a query. Use it first."""
    ENTERED.append(day)
    request_input(
        id="window",
        question="Which timezone?",
        fields=[InputField("timezone"), InputField("year", float)],
        absence=absent("a timezone", checked=["the profile"]),
    )


@tool(check_in="always")
async def gated() -> str:
    """Ask after an approval. Use it always."""
    request_input(id="w", question="Which?", fields=[InputField("a")], absence=absent("a", checked=["b"]))


def desk(*script: Any) -> Agent[Any, str]:
    return Agent(Mock(list(script), cursor="history"), tools=[window, gated])


async def waiting(agent: Agent[Any, str]) -> Paused:
    ENTERED.clear()
    paused = question(await agent.run("Sales?"))
    assert paused.awaiting is not None
    return paused


def values(paused: Paused | None, **given: Any) -> dict[str, Any]:
    assert paused is not None
    assert paused.awaiting is not None
    return {"requestId": paused.awaiting.request_id, "values": given}


async def test_the_values_become_the_result_and_the_tool_is_not_run_again() -> None:
    agent = desk(Mock.call("window", day="mon"), "Done.")
    paused = await waiting(agent)

    result = await agent.resume(paused, values(paused, timezone="UTC", year=2026))

    assert (paused.kind, paused.question, paused.awaiting and paused.awaiting.missing) == (
        "input",
        "Which timezone?",
        ("timezone", "year"),
    )
    assert (result.text, ENTERED) == ("Done.", ["mon"])
    assert thaw(result.tool_calls[0].result)["values"] == {"timezone": "UTC", "year": 2026}
    assert result.tool_calls[0].result["origin"] == {"originalRequest": "Sales?", "toolCallId": "mock-call-1"}


async def test_a_partial_reply_takes_no_step_and_gives_a_new_checkpoint() -> None:
    agent = desk(Mock.call("window", day="mon"), "Done.")
    heard: list[str] = []
    paused = await waiting(agent)
    agent.on("*", lambda event: heard.append(event.type))

    part = await agent.resume(paused, values(paused, timezone="UTC"))
    stored = PauseCheckpoint.from_json(question(part).checkpoint.to_json())

    assert part.paused is not None
    assert part.paused.awaiting is not None
    assert (part.paused.awaiting.missing, part.ended_because, heard) == (("year",), "paused", [])
    assert part.paused.awaiting.request_id == (paused.awaiting and paused.awaiting.request_id)
    whole = await desk(Mock.call("window", day="mon"), "Done.").resume(stored, values(part.paused, year=2026))
    assert thaw(whole.tool_calls[0].result)["values"] == {"timezone": "UTC", "year": 2026}


@pytest.mark.parametrize(
    "answer", ["UTC", None, {"approved": True, "by": "d"}, {"requestId": "other", "values": {"a": 1}}]
)
async def test_what_is_no_reply_leaves_the_checkpoint_good(answer: Any) -> None:
    agent = desk(Mock.call("window", day="mon"), "Done.")
    paused = await waiting(agent)

    with pytest.raises(InputRequestError):
        await agent.resume(paused, answer)

    assert (await agent.resume(paused, values(paused, timezone="UTC", year=1))).text == "Done."


async def test_a_cancelled_request_is_told_to_the_model() -> None:
    agent = desk(Mock.call("window", day="mon"), "Never mind.")
    paused = await waiting(agent)

    result = await agent.resume(paused, {"requestId": values(paused)["requestId"], "cancel": True})

    assert result.tool_calls[0].result["status"] == "input_cancelled"
    assert result.text == "Never mind."


async def test_an_absence_is_on_record_at_once_and_once() -> None:
    agent = desk(Mock.call("window", day="mon"), "Done.")
    first = await agent.run("Sales?")

    last = await agent.resume(question(first), values(first.paused, timezone="UTC", year=1))

    def filed(result: Any) -> int:
        return sum(event.type == "agentfootprint.tools.absent" for event in result.recording.events)

    assert (filed(first), filed(last)) == (1, 0)


async def test_the_same_question_again_says_what_was_answered_before() -> None:
    agent = desk(Mock.call("window", day="mon"), Mock.call("window", day="tue"), "Done.")
    paused = await waiting(agent)

    again = question(await agent.resume(paused, values(paused, timezone="UTC", year=2026)))
    assert thaw(again.data["awaitingInput"]["repeat"]) == {
        "count": 1,
        "previousAnswer": {"timezone": "UTC", "year": 2026},
    }


async def test_a_call_that_runs_on_an_approval_cannot_ask_for_values() -> None:
    agent = desk(Mock.call("gated"), "Ok.")
    first = await agent.run("Go.")

    result = await agent.resume(question(first), approve(by="d"))

    assert (result.paused, result.tool_calls[0].ok) == (None, False)
    assert not [event for event in result.recording.events if event.type == "agentfootprint.tools.absent"]
