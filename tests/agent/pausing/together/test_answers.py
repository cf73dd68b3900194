"""Tests of agentfootprint.agent.pausing.together.answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint import Agent, Gates, Mock, PauseCheckpoint, approve, decline, tool
from agentfootprint.agent import (
    AskComponent,
    CheckpointFormatError,
    DecisionRequiredError,
    DecisionValue,
    OpenQuestionsError,
    StaleDecisionError,
)
from agentfootprint.llm import LLMResponse, ToolCall
from tests.agent.pausing.together.till import RAN, calls, paused, till

REPLY = calls(("a", "pay", 20), ("a", "pay", 30), ("b", "mail", "eve@out"), ("", "pay", 40))
YES = approve(by="dana")


@pytest.fixture(autouse=True)
def fresh() -> None:
    RAN.clear()


async def waiting() -> tuple[Agent[Any, str], PauseCheckpoint, tuple[str, ...]]:
    agent = till(REPLY)
    question = paused(await agent.run("Go on."))
    return agent, question.checkpoint, tuple(each.id for each in question.questions)


async def refused(answer: Callable[[tuple[str, ...]], Any]) -> tuple[OpenQuestionsError, tuple[str, ...]]:
    agent, checkpoint, ids = await waiting()
    before = checkpoint.to_json()
    with pytest.raises(OpenQuestionsError) as error:
        await agent.resume(checkpoint, answer(ids))
    assert checkpoint.to_json() == before
    assert RAN == []
    result = await agent.resume(checkpoint, [YES] * 4)  # what was refused has changed nothing
    assert result.text == "All done."
    return error.value, ids


async def test_every_question_of_a_pause_has_an_id_of_its_own_though_ids_of_calls_repeat() -> None:
    _, checkpoint, ids = await waiting()

    assert len(set(ids)) == 4
    assert all(id_.startswith(checkpoint.run_id) for id_ in ids)


async def test_answers_are_taken_as_a_list_in_the_order_of_the_questions() -> None:
    agent, checkpoint, _ = await waiting()

    await agent.resume(checkpoint, (YES, decline(by="dana"), {"approved": False, "by": ""}, YES))

    assert RAN == ["pay 20", "pay 40"]


async def test_answers_are_taken_by_the_ids_of_the_questions_in_any_order() -> None:
    agent, checkpoint, ids = await waiting()

    await agent.resume(checkpoint, {ids[3]: YES, ids[1]: YES, ids[0]: decline(by="dana"), ids[2]: YES})

    assert RAN == ["pay 30", "mail eve@out", "pay 40"]


async def test_the_id_of_a_call_will_do_where_one_open_question_has_it() -> None:
    agent, checkpoint, ids = await waiting()

    await agent.resume(checkpoint, {ids[0]: YES, ids[1]: YES, "b": decline(by="dana"), ids[3]: YES})

    assert RAN == ["pay 20", "pay 30", "pay 40"]


@pytest.mark.parametrize("given", [[], [YES], [YES, YES, YES]])
async def test_a_list_that_is_too_short_is_refused_with_the_questions_that_have_no_answer(given: list[Any]) -> None:
    error, ids = await refused(lambda _: given)

    assert error.missing == ids[len(given) :]
    assert error.unknown == error.repeated == ()


async def test_a_list_that_is_too_long_is_refused() -> None:
    error, _ = await refused(lambda _: [YES] * 5)

    assert error.unknown == ("answer 4",)
    assert error.missing == ()


async def test_answers_that_leave_a_question_out_are_refused_with_its_id() -> None:
    error, ids = await refused(lambda ids: {ids[0]: YES, ids[2]: YES})

    assert error.missing == (ids[1], ids[3])
    assert repr(ids[1]) in str(error)


@pytest.mark.parametrize("key", ["a", "", "run-0:1", 7])
async def test_an_answer_to_what_is_not_open_is_refused_as_are_ids_of_calls_that_two_questions_have(key: Any) -> None:
    error, _ = await refused(lambda ids: {**dict.fromkeys(ids, YES), key: YES})

    assert error.unknown == (str(key),)
    assert error.missing == ()


async def test_two_answers_to_one_question_are_refused() -> None:
    error, ids = await refused(lambda ids: {**dict.fromkeys(ids, YES), "b": decline(by="dana")})

    assert error.repeated == (ids[2],)


@pytest.mark.parametrize("given", [YES, {"approved": True, "by": "dana"}, None, "yes", 1])
async def test_one_answer_for_several_questions_is_refused(given: Any) -> None:
    error, ids = await refused(lambda _: given)

    assert error.missing == ids


async def test_no_answer_at_all_is_refused() -> None:
    agent, checkpoint, ids = await waiting()

    with pytest.raises(OpenQuestionsError) as error:
        await agent.resume(checkpoint)

    assert error.value.missing == ids


async def test_answers_to_another_pause_of_the_same_agent_are_refused() -> None:
    _, _, old = await waiting()
    agent, checkpoint, ids = await waiting()

    with pytest.raises(OpenQuestionsError) as error:
        await agent.resume(checkpoint, dict.fromkeys(old, YES))

    assert error.value.unknown == old
    assert error.value.missing == ids


@pytest.mark.parametrize(
    "bad", [None, "yes", {"approved": "yes", "by": "dana"}, {"approved": True, "by": "d", "args": 1}]
)
async def test_an_answer_that_is_no_decision_is_refused_before_any_call_runs(bad: Any) -> None:
    agent, checkpoint, _ = await waiting()

    with pytest.raises(DecisionRequiredError) as error:
        await agent.resume(checkpoint, [YES, YES, bad, YES])

    assert error.value.middleware == "outside"
    assert RAN == []


async def test_a_single_question_with_calls_behind_it_takes_the_bare_answer_and_a_list_of_one() -> None:
    agent = till(calls(("a", "pay", 20), ("b", "look", "B")))
    question = paused(await agent.run("Go on."))

    for answer in (YES, [YES], {question.questions[0].id: YES}, {"a": YES}):
        assert (await agent.resume(question.checkpoint, answer)).text == "All done."
    with pytest.raises(DecisionRequiredError):
        await agent.resume(question.checkpoint, "yes")


@pytest.mark.parametrize("together", [True, False])
async def test_a_single_question_is_answered_as_several_are_whatever_stands_behind_it(together: bool) -> None:
    agent = till(calls(("a", "look", "A"), ("b", "pay", 20)), together=together)
    question = paused(await agent.run("Go on."))

    for answer in (YES, [YES], ({"approved": True, "by": ""},), {question.questions[0].id: YES}, {"b": YES}):
        result = await agent.resume(question.checkpoint, answer)
        assert result.text == "All done."
        assert (await agent.replay(result.recording, paused=question.checkpoint)).same
    for bad in ([], [YES, YES], [True], [[YES]], {"a": YES}, {"b": "yes"}):
        with pytest.raises(DecisionRequiredError):
            await agent.resume(question.checkpoint, bad)


async def test_an_answer_that_was_chosen_on_other_data_is_refused() -> None:
    @tool(check_in="always")
    def close(account: str) -> str:
        """Close an account."""
        RAN.append(account)
        return account

    batch = (ToolCall("a", "close", {"account": "u1"}), ToolCall("b", "close", {"account": "u2"}))
    agent = Agent(
        Mock([LLMResponse("", tool_calls=batch, stop_reason="tool_use"), "Closed."]),
        tools=[close],
        gates=Gates(ask_together=True),
    )
    wire = json.loads(paused(await agent.run("Close them.")).checkpoint.to_json())
    component = AskComponent("panel").to_wire()
    wire["pauseData"]["alsoAsked"][0]["checkIn"]["component"] = {**dict(component.items()), "propsRef": "art_2"}
    chosen = approve(by="dana", value=DecisionValue(kind="pick", value=1, from_="art_1"))

    with pytest.raises(StaleDecisionError):
        await agent.resume(wire, [YES, chosen])

    assert RAN == []


def without_questions(wire: dict[str, Any]) -> None:
    del wire["pauseData"]["alsoAsked"]


def with_another_question(wire: dict[str, Any]) -> None:
    wire["pauseData"]["alsoAsked"][0]["toolCallId"] = "z"


def with_a_plain_question(wire: dict[str, Any]) -> None:
    del wire["pauseData"]["alsoAsked"][0]["checkIn"]


def without_rows(wire: dict[str, Any]) -> None:
    wire["sharedState"]["pausedTogether"] = []


def with_no_list(wire: dict[str, Any]) -> None:
    wire["sharedState"]["pausedTogether"] = {"index": 1}


def with_a_row_out_of_order(wire: dict[str, Any]) -> None:
    wire["sharedState"]["pausedTogether"][0]["index"] = 0


def with_no_arguments(wire: dict[str, Any]) -> None:
    del wire["sharedState"]["pausedTogether"][1]["args"]


def with_an_unknown_gate(wire: dict[str, Any]) -> None:
    wire["sharedState"]["pausedTogether"][1]["gate"] = "none"


def with_a_call_that_nobody_proposed(wire: dict[str, Any]) -> None:
    wire["sharedState"]["pausedTogether"][1]["toolName"] = "pay"


def with_a_row_behind_the_batch(wire: dict[str, Any]) -> None:
    row: dict[str, Any] = {"toolCallId": "z", "toolName": "look", "index": 9, "args": {}}
    wire["sharedState"]["pausedTogether"].append(row)


@pytest.mark.parametrize(
    "edit",
    [
        *(without_questions, with_another_question, with_a_plain_question, without_rows, with_no_list),
        *(with_a_row_out_of_order, with_no_arguments, with_an_unknown_gate, with_a_call_that_nobody_proposed),
        with_a_row_behind_the_batch,
    ],
)
async def test_a_checkpoint_that_contradicts_itself_is_refused_and_nothing_runs(
    edit: Callable[[dict[str, Any]], None],
) -> None:
    agent, checkpoint, _ = await waiting()
    wire = json.loads(checkpoint.to_json())
    edit(wire)

    with pytest.raises(CheckpointFormatError):
        await agent.resume(wire, [YES] * 4)

    assert RAN == []
