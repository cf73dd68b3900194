"""Tests of agentfootprint.agent.keeping.continuing."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agentfootprint import Agent, Checkpoint, Fact, Limits, Mock, RunCheckpointError
from agentfootprint.agent import CheckpointFormatError, Conversation, ConversationMismatchError
from agentfootprint.events import TurnStart
from agentfootprint.llm import LLMResponse, ToolCall
from tests.agent.keeping.desk import Scripted, batch, desk

OPEN: dict[str, Any] = {
    "version": 1,
    "runId": "run-1-1",
    "history": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "",
            "toolCalls": [{"id": "c1", "name": "look", "args": {}}, {"id": "c2", "name": "pay", "args": {"amount": 5}}],
        },
        {"role": "tool", "content": "A: shipped", "toolCallId": "c1", "toolName": "look"},
    ],
    "lastCompletedIteration": 0,
    "originalInput": {"message": "hi"},
    "checkpointedAt": 5,
}


async def test_calls_without_a_result_are_settled_and_the_new_message_follows() -> None:
    model = Scripted("Fine.", "Fine.")
    agent = desk(model)

    result = await agent.run("And now?", continue_from=OPEN)
    await agent.resume_on_error(OPEN)

    settled = result.checkpoint.history[3]
    assert settled.not_dispatched is not None
    assert (settled.tool_call_id, settled.not_dispatched.cause) == ("c2", "history")
    assert "5" not in settled.content
    assert [role for role, _ in model.sent[0]] == ["user", "assistant", "tool", "tool", "user"]
    assert [role for role, _ in model.sent[1]] == ["user", "assistant", "tool", "tool"]


async def test_a_result_its_checkpoint_and_its_json_are_continued_alike() -> None:
    first = await desk(Scripted("one")).run("a")
    sent: list[Any] = []
    for start in (first, first.checkpoint, first.checkpoint.to_wire(), json.loads(first.checkpoint.to_json())):
        model = Scripted("two")
        second = await desk(model).run("b", continue_from=start)
        sent.append((model.sent, [message.content for message in second.messages]))

    assert all(each == ([[("user", "a"), ("assistant", "one"), ("user", "b")]], ["b", "two"]) for each in sent)


async def test_the_turn_begins_with_the_new_message_and_counts() -> None:
    told: list[str] = []
    agent = desk(Scripted("one", "two"))
    agent.on(TurnStart.type, lambda event: told.append(event.payload.user_prompt))
    first = await agent.run("a")

    second = await agent.run("b", continue_from=first)

    state = second.recording.snapshot["sharedState"]
    assert told == ["a", "b"]
    assert (state["turnNumber"], state["userMessage"], second.checkpoint.message) == (2, "b", "b")
    assert second.recording.header["continued"] == {"runId": first.run_id, "messages": 2}


async def test_a_stream_goes_on_with_a_conversation_too() -> None:
    first = await desk(Scripted("one")).run("a")
    model = Scripted("two")

    async with desk(model).stream("b", continue_from=first) as run:
        result = await run.result()

    assert result.text == "two"
    assert run.checkpoint == result.checkpoint
    assert len(model.sent[0]) == 3


@pytest.mark.parametrize("given", [b"{}", "{}", 5, [], {"version": 1}], ids=repr)
async def test_what_is_no_conversation_is_refused_at_every_door_before_anything_happens(given: Any) -> None:
    heard: list[object] = []
    agent = desk(Scripted())
    agent.on("*", heard.append)

    with pytest.raises(CheckpointFormatError):
        await agent.run("hi", continue_from=given)
    with pytest.raises(CheckpointFormatError):
        await agent.resume_on_error(given)
    with pytest.raises(CheckpointFormatError):
        agent.conversation(given)

    assert (heard, agent.inflight) == ([], ())


async def test_another_agents_conversation_is_refused_only_where_both_have_ids() -> None:
    theirs = (await desk(Scripted("x"), id="theirs").run("hi")).checkpoint
    nobodys = (await desk(Scripted("x"), id=None).run("hi")).checkpoint

    with pytest.raises(ConversationMismatchError, match=r"'theirs'.*'desk'"):
        await desk(Scripted()).resume_on_error(theirs)

    assert (await desk(Scripted("y"), id=None).run("go", continue_from=theirs)).text == "y"
    assert (await desk(Scripted("z")).run("go", continue_from=nobodys)).text == "z"


async def test_a_run_is_tried_once_more_with_a_fresh_budget_and_can_wait_for_a_person() -> None:
    model = Scripted(batch(("look", {"order": "A"})), RuntimeError("gone"), batch(("ask", {"question": "?"})), "Done.")
    agent = desk(model, limits=Limits(iterations=3))
    with pytest.raises(RunCheckpointError) as failed:
        await agent.run("Go.")

    again = await agent.resume_on_error(failed.value.checkpoint)
    assert again.paused is not None
    done = await agent.resume(again.paused, "yes")

    assert done.text == "Done."
    assert [message.content for message in done.messages] == ["Go.", "", "A: shipped", "", "yes", "Done."]


async def test_a_conversation_may_be_forked_by_many_at_once() -> None:
    start = (await desk(Scripted("one")).run("a")).checkpoint
    agent = Agent(Mock(lambda request: request.messages[-1].content.upper()))

    results = await asyncio.gather(*(agent.run(f"m{number}", continue_from=start) for number in range(50)))

    for number, result in enumerate(results):
        assert [each.content for each in result.checkpoint.history] == ["a", "one", f"m{number}", f"M{number}"]
    assert len(start.history) == 2


async def test_what_a_piece_said_in_an_earlier_turn_is_not_said_again_and_goes_with_the_piece() -> None:
    sent: list[list[str]] = []

    def answer(request: Any) -> str:
        sent.append([message.content for message in request.messages])
        return "ok"

    agent = Agent(Mock(answer), context=[Fact("vip", "A VIP.", slot="messages", role="assistant")])
    first = await agent.run("a")
    second = await agent.run("b", continue_from=first)
    await agent.without(["vip"]).run("c", continue_from=second)

    assert sent == [["a", "A VIP."], ["a", "A VIP.", "ok", "b"], ["a", "ok", "b", "ok", "c"]]


async def test_a_run_without_a_conversation_pays_and_records_nothing_for_it() -> None:
    result = await desk(Scripted("x")).run("hi")

    assert set(result.recording.header) == {"agent"}
    assert set(result.checkpoint.to_wire()) == {
        *("version", "runId", "history", "lastCompletedIteration", "originalInput", "checkpointedAt", "agent")
    }
    assert isinstance(result.checkpoint, Checkpoint)


@pytest.mark.parametrize("stored", [False, True])
async def test_what_landed_beside_a_question_that_is_given_up_keeps_its_answer_whatever_its_id(stored: bool) -> None:
    calls = (ToolCall("c", "ask", {"question": "May I?"}), ToolCall("c", "nobody", {}))
    model = Scripted(LLMResponse(tool_calls=calls, stop_reason="tool_use"), "Fine.")
    agent = desk(model, limits=Limits(parallel_tools=True))
    asked = await agent.run("Go.")

    if stored:
        assert asked.paused is not None
        wire = {"checkpoint": asked.checkpoint.to_wire(), "pending": asked.paused.checkpoint.to_wire()}
        conversation = Conversation.from_wire(json.loads(json.dumps(wire)), agent=agent)
        await conversation.abandon_pause()
        result = await conversation.run("Never mind.")
    else:
        result = await agent.run("Never mind.", continue_from=asked)

    answers = [message for message in result.checkpoint.history if message.role == "tool"]
    assert [(each.tool_name, each.not_dispatched is None) for each in answers] == [("ask", False), ("nobody", True)]
