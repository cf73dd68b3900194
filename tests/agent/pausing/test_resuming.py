"""Tests of agentfootprint.agent.pausing.resuming."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint import Agent, Gates, LLMMessage, Mock, ToolCall, approve, ask_human, decline, tool
from agentfootprint.agent.pausing.resuming import open_batch
from agentfootprint.events import Event
from agentfootprint.llm import CallRef, LLMResponse, NotDispatched
from tests.agent.pausing.desk import KEYS, RAN, desk, question


@pytest.fixture(autouse=True)
def fresh() -> None:
    RAN.clear()
    KEYS.clear()


def batch(*calls: tuple[str, str, dict[str, Any]], text: str = "") -> LLMResponse:
    return LLMResponse(text, tool_calls=tuple(ToolCall(*call) for call in calls), stop_reason="tool_use")


def answers(messages: tuple[LLMMessage, ...]) -> list[tuple[str | None, str]]:
    return [(message.tool_call_id, message.content) for message in messages if message.role == "tool"]


def types(events: Any) -> list[str]:
    short = [event.type.removeprefix("agentfootprint.") for event in events]
    return [name for name in short if not name.startswith("context.")]


async def test_an_answer_is_the_result_of_the_call_that_asked_and_is_not_run_again() -> None:
    agent = desk(batch(("c1", "ask", {"question": "Vip?"})), "Noted.")
    paused = question(await agent.run("Go."))

    result = await agent.resume(paused, {"vip": True})

    assert result.text == "Noted."
    assert answers(result.messages) == [("c1", '{"vip":true}')]
    assert RAN == ["ask Vip?"]
    assert [(call.name, call.result, call.ok) for call in result.tool_calls] == [("ask", {"vip": True}, True)]


@pytest.mark.parametrize(("answer", "text"), [(None, "null"), (False, "false"), (0, "0"), ("", "")])
async def test_empty_values_are_answers(answer: Any, text: str) -> None:
    agent = desk(batch(("c1", "ask", {"question": "Vip?"})), "Noted.")
    paused = question(await agent.run("Go."))

    result = await agent.resume(paused, answer)

    assert answers(result.messages) == [("c1", text)]


async def test_the_calls_behind_the_one_that_asked_are_settled_and_never_run() -> None:
    agent = desk(
        batch(("c1", "look", {"order": "A"}), ("c2", "ask", {"question": "?"}), ("c3", "refund", {"amount": 5})), "Ok."
    )
    first = await agent.run("Go.")

    result = await agent.resume(question(first), "yes")

    assert RAN == ["look A", "ask ?"]
    settled = [message for message in result.messages if message.not_dispatched is not None]
    assert [message.tool_call_id for message in settled] == ["c3"]
    assert settled[0].not_dispatched == NotDispatched(paused_call=CallRef("c2", "ask"))
    assert [(call.name, call.dispatched) for call in result.tool_calls] == [("ask", True), ("refund", False)]
    assert types(result.recording.events)[:7] == [
        "pause.resume",
        "agent.run_configured",
        "stream.tool_end",
        "stream.tool_start",
        "stream.tool_end",
        "agent.iteration_end",
        "agent.iteration_start",
    ]


async def test_an_approved_call_runs_with_what_was_shown() -> None:
    agent = desk(batch(("c1", "refund", {"amount": 480})), "Done.")
    paused = question(await agent.run("Go."))
    assert paused.check_in is not None
    assert RAN == []

    result = await agent.resume(paused, approve(by="dana", note="fine"))

    assert (paused.kind, dict(paused.check_in.args)) == ("check_in", {"amount": 480})
    assert RAN == ["refund 480"]
    assert answers(result.messages) == [("c1", "refunded 480")]


async def test_a_declined_call_does_not_run_and_the_model_reads_why() -> None:
    agent = desk(batch(("c1", "refund", {"amount": 480})), "Sorry.")
    paused = question(await agent.run("Go."))

    result = await agent.resume(paused, decline(by="dana", note="too much"))

    assert RAN == []
    assert answers(result.messages) == [("c1", "declined by human: too much")]
    assert [(call.denied, call.dispatched, call.ok) for call in result.tool_calls] == [(True, False, True)]
    ends = [event.payload for event in result.recording.events if event.type.endswith("tool_end")]
    assert ends[0].error is None


async def test_a_person_may_correct_the_arguments_and_both_values_are_on_record() -> None:
    agent = desk(batch(("c1", "refund", {"amount": 480})), "Done.")
    paused = question(await agent.run("Go."))

    result = await agent.resume(paused, approve(by="dana", args={"amount": 120}))

    assert RAN == ["refund 120"]
    row = result.recording.snapshot["sharedState"]["middlewareDecisions"][0]
    assert (row["changed"], dict(row["before"]), dict(row["after"])) == (True, {"amount": 480}, {"amount": 120})


async def test_corrected_arguments_are_checked_like_the_models_own() -> None:
    agent = desk(batch(("c1", "refund", {"amount": 480})), "Done.")
    paused = question(await agent.run("Go."))

    result = await agent.resume(paused, approve(by="dana", args={"amount": "much"}))

    assert RAN == []
    assert result.tool_calls[0].ok is False
    assert "amount" in answers(result.messages)[0][1]


async def test_a_turn_may_pause_any_number_of_times() -> None:
    agent = desk(
        batch(("c1", "ask", {"question": "1?"}), ("x", "look", {"order": "A"})),
        batch(("c1", "ask", {"question": "2?"})),
        batch(("c1", "refund", {"amount": 200})),
        "Done.",
    )

    first = await agent.run("Go.")
    second = await agent.resume(question(first), "one")
    third = await agent.resume(question(second), "two")
    last = await agent.resume(question(third), approve(by="d"))

    assert last.text == "Done."
    assert [content for _, content in answers(last.messages)][0::2] == ["one", "two"]
    assert RAN == ["ask 1?", "ask 2?", "refund 200"]
    assert len({first.run_id, second.run_id, third.run_id, last.run_id}) == 4


async def test_committed_totals_go_on_and_each_leg_has_its_own_usage() -> None:
    agent = desk(batch(("c1", "ask", {"question": "?"})), "Done.")

    first = await agent.run("Go.")
    last = await agent.resume(question(first), "y")

    state = last.recording.snapshot["sharedState"]
    assert state["totalInputTokens"] == (first.usage.input or 0) + (last.usage.input or 0)
    assert state["iteration"] == 2


async def test_a_tool_that_asks_while_it_runs_on_an_approval_fails_with_a_text() -> None:
    @tool(check_in="always")
    async def stubborn() -> str:
        """Do something. Use it always."""
        ask_human("And now?")

    agent = Agent(Mock([Mock.call("stubborn"), "Ok."], cursor="history"), tools=[stubborn])
    paused = question(await agent.run("Go."))

    result = await agent.resume(paused, approve(by="d"))

    assert result.paused is None
    assert (result.tool_calls[0].ok, result.text) == (False, "Ok.")


def test_a_plain_function_may_ask_from_its_thread() -> None:
    @tool
    def plain(what: str) -> str:
        """Ask. Use it always."""
        try:
            ask_human(what)
        except Exception:  # noqa: BLE001  what a tool catches does not hold a question up
            return "swallowed"

    agent = Agent(Mock([Mock.call("plain", what="Really?"), "Ok."], cursor="history"), tools=[plain])
    paused = question(agent.run_sync("Go."))

    result = agent.resume_sync(paused, "really")

    assert answers(result.messages)[0][1] == "really"


async def test_a_question_out_of_a_group_of_tasks_is_a_question() -> None:
    @tool
    async def grouped() -> str:
        """Ask. Use it always."""

        async def one() -> None:
            ask_human("Really?")

        async with asyncio.TaskGroup() as group:
            group.create_task(one())
        return "never"

    agent = Agent(Mock([Mock.call("grouped"), "Ok."], cursor="history"), tools=[grouped])

    paused = question(await agent.run("Go."))
    assert paused.question == "Really?"


async def test_an_approved_call_that_raises_is_a_result() -> None:
    @tool(check_in="always")
    async def broken() -> str:
        """Do something. Use it always."""
        raise RuntimeError("offline")

    agent = Agent(Mock([Mock.call("broken"), "Ok."], cursor="history"), tools=[broken], gates=Gates(tool_args="off"))
    paused = question(await agent.run("Go."))

    result = await agent.resume(paused, approve(by="d"))

    assert answers(result.messages)[0][1] == "offline"
    assert result.tool_calls[0].ok is False


async def test_the_key_of_an_approved_call_is_that_of_the_turns_first_run() -> None:
    script = [batch(("c1", "ask", {"question": "?"})), batch(("c2", "refund", {"amount": 480})), "Done."]
    agent = desk(*script)
    second = await agent.resume(question(await agent.run("Go.")), "y")
    stored = second.paused.checkpoint.to_wire()  # type: ignore[union-attr]

    await agent.resume(question(second), approve(by="d"))
    await desk(*script).resume(stored, approve(by="d"))
    other = await agent.resume(question(await agent.run("Go.")), "y")
    await agent.resume(question(other), approve(by="d"))

    assert KEYS[0] == KEYS[1]
    assert KEYS[2] != KEYS[0]


async def test_events_of_the_resumed_leg_carry_its_own_run() -> None:
    events: list[Event[Any]] = []
    agent = desk(batch(("c1", "ask", {"question": "?"})), "Done.")
    agent.on("agentfootprint.pause.*", events.append)

    first = await agent.run("Go.", session_id="s-1")
    last = await agent.resume(question(first), "y")

    assert [(event.meta.run_id, event.meta.runtime_stage_id) for event in events] == [
        (first.run_id, "tool-calls#paused"),
        (last.run_id, "tool-calls#resumed"),
    ]
    assert {event.meta.session_id for event in events} == {"s-1"}


def history(*messages: LLMMessage) -> list[LLMMessage]:
    return [LLMMessage("user", "Go."), *messages]


def proposing(*ids: str) -> LLMMessage:
    return LLMMessage("assistant", "", tool_calls=tuple(ToolCall(each, f"t{n}", {}) for n, each in enumerate(ids)))


def told(call_id: str) -> LLMMessage:
    return LLMMessage("tool", "ok", tool_call_id=call_id, tool_name="t")


def test_an_answer_to_an_earlier_turns_id_answers_nothing_here() -> None:
    window = history(proposing("a", "b"), told("a"), told("b"), proposing("a", "b"))

    found = open_batch(window, "a", "t0", None)

    assert (found.ordinal, found.size, [place for place, _ in found.undispatched]) == (0, 2, [1])


def test_equal_ids_in_one_batch_are_told_apart_by_the_place_that_was_noted() -> None:
    window = history(proposing("x", "x", "x"), told("x"))

    assert open_batch(window, "x", "t1", 1).undispatched[0][0] == 2
    assert open_batch(window, "x", "t1", None).ordinal == 1


def test_a_sibling_that_is_answered_already_is_not_settled_again() -> None:
    window = history(proposing("a", "b", "c"), told("b"))

    assert [place for place, _ in open_batch(window, "a", "t0", 0).undispatched] == [2]


def test_without_the_turn_that_proposed_it_nothing_is_guessed() -> None:
    found = open_batch(history(), "gone", "t", 3)

    assert (found.call.id, found.size, found.undispatched) == ("gone", 1, ())


def test_an_empty_id_is_found_by_its_place() -> None:
    window = history(proposing("", "", ""), told(""))

    assert open_batch(window, "", "t1", 1).undispatched[0][0] == 2


def test_an_answer_that_landed_beside_the_question_is_not_taken_for_it() -> None:
    window = history(proposing("x", "x", "y"), told("x"))

    found = open_batch(window, "x", "t0", 0)

    assert (found.ordinal, dict(found.landed), [place for place, _ in found.undispatched]) == (0, {1: 2}, [2])


async def test_answers_stand_in_call_order_also_when_some_landed_before_the_answer() -> None:
    agent = desk(
        batch(("a", "ask", {"question": "?"}), ("b", "look", {"order": "B"}), ("c", "look", {"order": "C"})), "Done."
    )
    paused = question(await agent.run("Go."))
    wire = paused.checkpoint.to_wire()
    wire["sharedState"]["history"].append(
        {"role": "tool", "content": "C: shipped", "toolCallId": "c", "toolName": "look"}
    )

    result = await agent.resume(wire, "y")

    assert [call_id for call_id, _ in answers(result.messages)] == ["a", "b", "c"]
    assert [message.not_dispatched is None for message in result.messages[2:5]] == [True, False, True]
