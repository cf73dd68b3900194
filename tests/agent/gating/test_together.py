"""Tests of agentfootprint.agent.gating.together."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, Gates, Limits, Mock, PauseCheckpoint, approve, tool
from agentfootprint.agent import PolicyHaltError
from agentfootprint.errors import ConfigError
from tests.agent.pausing.together.till import RAN, calls, look, mail, paused, said, till, told

MIXED = calls(
    ("a", "look", "A"),
    ("b", "pay", 20),
    ("c", "look", "B"),
    ("d", "mail", "eve@out"),
    ("e", "look", "SECRET"),
    ("f", "pay", 30),
    ("g", "pay", 5),
)


@pytest.fixture(autouse=True)
def fresh() -> None:
    RAN.clear()


async def test_all_calls_of_a_reply_that_need_a_person_are_asked_about_in_one_pause() -> None:
    question = paused(await till(MIXED).run("Go on."))

    assert [(each.index, each.kind, each.tool_call_id, dict(each.args)) for each in question.questions] == [
        (1, "check_in", "b", {"amount": 20}),
        (3, "ask", "d", {"to": "eve@out"}),
        (5, "check_in", "f", {"amount": 30}),
    ]
    assert question.questions[1].question == "Mail to eve@out?"
    assert question.questions[2].check_in is not None
    assert question.questions[2].check_in.evidence.will_do.endswith("amount=30")


async def test_the_first_question_is_what_a_pause_with_one_question_is() -> None:
    alone = paused(await till(MIXED, together=False).run("Go on."))
    question = paused(await till(MIXED).run("Go on."))

    assert (question.kind, question.question, question.tool_name, question.tool_call_id) == (
        alone.kind,
        alone.question,
        alone.tool_name,
        alone.tool_call_id,
    )
    assert {key: question.data[key] for key in alone.data} == dict(alone.data)
    assert set(question.data) - set(alone.data) == {"alsoAsked"}


async def test_nothing_behind_the_first_question_runs_before_the_answers_and_what_a_gate_settles_is_settled() -> None:
    result = await till(MIXED).run("Go on.")

    assert RAN == ["look A"]
    assert said(result.messages)[0] == ("a", "A: shipped")
    assert [id_ for id_, _ in said(result.messages)] == ["a", "e"]


async def test_every_call_is_announced_and_asked_about_in_call_order() -> None:
    result = await till(MIXED).run("Go on.")

    behind = [
        (event.type.removeprefix("agentfootprint."), event.meta.tool_ordinal)
        for event in result.recording.events
        if event.type.split(".", 1)[1].startswith(("stream.tool", "checkin", "pause"))
        or getattr(event.payload, "outcome", "") == "ask"
    ]

    assert behind == [
        *(("stream.tool_start", 0), ("stream.tool_end", 0)),
        *(("stream.tool_start", 1), ("checkin.request", 1)),
        ("stream.tool_start", 2),
        *(("stream.tool_start", 3), ("middleware.decision", 3)),
        ("stream.tool_start", 4),
        *(("stream.tool_start", 5), ("checkin.request", 5)),
        ("stream.tool_start", 6),
        ("stream.tool_end", 4),
        ("pause.request", None),
    ]


async def test_the_event_of_the_pause_has_the_further_questions_with_the_places_of_their_calls() -> None:
    result = await till(MIXED).run("Go on.")

    event = next(each for each in result.recording.events if each.type.endswith("pause.request"))
    also = event.payload.question_payload["alsoAsked"]

    assert [(each["toolCallId"], each["index"]) for each in also] == [("d", 3), ("f", 5)]


async def test_a_question_behind_which_no_call_stands_leaves_what_it_leaves_without_the_option() -> None:
    reply = calls(("a", "look", "A"), ("b", "pay", 20))

    with_it = paused(await till(reply).run("Go on.")).checkpoint.to_wire()
    without = paused(await till(reply, together=False).run("Go on.")).checkpoint.to_wire()

    assert with_it["sharedState"].keys() == without["sharedState"].keys()
    assert with_it["pauseData"] == without["pauseData"]


async def test_a_batch_without_a_question_is_what_it_is_without_the_option() -> None:
    reply = calls(("a", "look", "A"), ("b", "pay", 2))

    with_it, without = await till(reply).run("Go on."), await till(reply, together=False).run("Go on.")

    assert told(with_it) == told(without)
    assert with_it.recording.snapshot["sharedState"].keys() == without.recording.snapshot["sharedState"].keys()


async def test_calls_that_need_no_approval_keep_their_turn_behind_a_single_question() -> None:
    agent = till(calls(("a", "pay", 20), ("b", "look", "B")))
    question = paused(await agent.run("Go on."))

    result = await agent.resume(question, approve(by="dana"))

    assert len(question.questions) == 1
    assert "alsoAsked" not in question.data
    assert RAN == ["pay 20", "look B"]
    assert said(result.messages) == [("a", "paid 20"), ("b", "B: shipped")]


async def test_a_gate_that_settles_all_calls_behind_a_question_leaves_one_question() -> None:
    agent = till(calls(("a", "pay", 20), ("b", "look", "SECRET"), ("c", "nobody", 1)))
    question = paused(await agent.run("Go on."))

    result = await agent.resume(PauseCheckpoint.from_json(question.checkpoint.to_json()), approve(by="dana"))

    assert len(question.questions) == 1
    assert [id_ for id_, _ in said(result.messages)] == ["a", "b", "c"]
    assert said(result.messages)[2][1] == "Unknown tool: nobody"


async def test_a_checker_that_halts_behind_a_question_stops_the_run_and_nobody_is_asked() -> None:
    reply = calls(
        *(("a", "look", "A"), ("b", "pay", 20), ("c", "look", "SECRET"), ("d", "look", "C")),
        *(("e", "look", "BOMB"), ("f", "pay", 30)),
    )
    agent = till(reply)
    seen: list[Any] = []
    agent.on("*", lambda event: seen.append(event.type.removeprefix("agentfootprint.")))

    with pytest.raises(PolicyHaltError) as halted:
        await agent.run("Go on.")

    answers = [message for message in halted.value.history if message.role == "tool"]
    assert [message.tool_call_id for message in answers] == ["a", "b", "c", "d", "e", "f"]
    assert [message.tool_call_id for message in answers if message.not_dispatched] == ["b", "d", "f"]
    assert [entry.name for entry in halted.value.sequence] == ["look", "look"]
    assert "pause.request" not in seen
    assert RAN == ["look A"]
    assert "the call 'e' of look in the same reply" in answers[1].content
    assert "earlier" not in answers[1].content


@pytest.mark.parametrize("parallel", [True, 1, 2])
async def test_calls_that_run_side_by_side_run_before_the_first_question_and_the_rest_waits(parallel: Any) -> None:
    agent = till(
        calls(("a", "look", "A"), ("b", "look", "B"), ("c", "mail", "eve@out"), ("d", "look", "D"), ("e", "pay", 20)),
        limits=Limits(parallel_tools=parallel),
    )
    question = paused(await agent.run("Go on."))

    result = await agent.resume(question, [approve(by="dana"), approve(by="dana")])

    assert [each.index for each in question.questions] == [2, 4]
    assert RAN == ["look A", "look B", "mail eve@out", "look D", "pay 20"]
    assert [id_ for id_, _ in said(result.messages)] == ["a", "b", "c", "d", "e"]


async def test_a_question_of_a_tool_itself_stops_the_batch_as_ever() -> None:
    agent = till(calls(("a", "date", "A"), ("b", "pay", 20)))
    question = paused(await agent.run("Go on."))

    result = await agent.resume(question, "tomorrow")

    assert len(question.questions) == 1
    assert [message.not_dispatched is None for message in result.messages if message.role == "tool"] == [True, False]


async def test_the_option_can_be_given_to_one_run() -> None:
    result = await till(MIXED, together=False).run("Go on.", gates=Gates(ask_together=True))

    assert len(paused(result).questions) == 3


def test_the_option_is_refused_where_nobody_could_ask() -> None:
    with pytest.raises(ConfigError, match=r"gates\.ask_together"):
        Agent(Mock("Hi."), tools=[look, mail], gates=Gates(ask_together=True))


def test_the_option_is_yes_or_no() -> None:
    with pytest.raises(ConfigError, match=r"gates\.ask_together"):
        Gates(ask_together="yes")  # type: ignore[arg-type]


async def test_a_single_question_is_among_the_questions_of_any_pause() -> None:
    @tool(check_in="always")
    def close(account: str) -> str:
        """Close an account."""
        return account

    agent = Agent(Mock([Mock.call("close", account="u1"), "Closed."]), tools=[close])
    question = paused(await agent.run("Close it."))

    assert [(each.index, each.kind, dict(each.args)) for each in question.questions] == [
        (0, "check_in", {"account": "u1"})
    ]
    assert question.questions[0].question == question.question
    assert question.questions[0].id.endswith(":0")
