"""Tests of agentfootprint.agent.keeping.conversing."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agentfootprint import (
    Act,
    Agent,
    ConfigError,
    Fact,
    Gates,
    Identity,
    Mock,
    RunCheckpointError,
    allow,
    deny,
    on_message,
)
from agentfootprint.agent import (
    CheckpointFormatError,
    Conversation,
    ConversationMismatchError,
    MessageDeniedError,
    MessageView,
    NoConversationError,
    PauseAnswerRequiredError,
    PendingQuestionError,
    RunInFlightError,
)
from agentfootprint.llm import CallHooks, LLMRequest, LLMResponse
from tests.agent.keeping.desk import CLOSED, Scripted, batch, desk, look

ASKS = batch(("look", {"order": "A"}), ("ask", {"question": "Vip?"}), ("look", {"order": "B"}))


class Waiting(Scripted):
    """A model that answers when it is told to."""

    def __init__(self, *script: Any) -> None:
        super().__init__(*script)
        self.asked, self.told = asyncio.Event(), asyncio.Event()

    async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
        self.asked.set()
        await self.told.wait()
        return await super().complete(request, hooks)


async def test_one_turn_at_a_time_and_the_next_when_it_has_ended() -> None:
    model = Waiting("one", RuntimeError("gone"), "three")
    conversation = desk(model).conversation()
    first = asyncio.create_task(conversation.run("a"))
    await model.asked.wait()

    with pytest.raises(RunInFlightError) as refused:
        await conversation.run("b")
    model.told.set()
    run_id = (await first).run_id
    with pytest.raises(RunCheckpointError):
        await conversation.run("b")

    assert (refused.value.agent_id, refused.value.active_run_id) == ("desk", run_id)
    assert (await conversation.run("c")).text == "three"


async def test_with_a_queue_turns_wait_for_each_other_in_order() -> None:
    model = Scripted("one", "two", "three")
    conversation = desk(model).conversation(queue=True)

    results = await asyncio.gather(*(conversation.run(said) for said in "abc"))

    assert [result.text for result in results] == ["one", "two", "three"]
    assert [text for _, text in model.sent[-1]] == ["a", "one", "b", "two", "c"]


async def test_an_open_question_is_the_conversations_own_and_stops_its_next_message() -> None:
    agent = desk(Scripted(ASKS, "fine", "Done."))
    conversation, other = agent.conversation(), agent.conversation()
    paused = (await conversation.run("Refund?")).paused
    assert paused is not None

    for door in (conversation.run, conversation.follow_up):
        with pytest.raises(PendingQuestionError, match=r"'ask'.*'c2'.*Vip\?") as refused:
            await door("hello?")
        assert (refused.value.tool_name, refused.value.tool_call_id) == ("ask", "c2")
    elsewhere = await other.run("hello?")
    with pytest.raises(PauseAnswerRequiredError):
        await conversation.resume(paused)
    answered = await conversation.resume(paused, "yes")

    assert (elsewhere.text, answered.text) == ("fine", "Done.")
    assert conversation.pending is None
    assert conversation.checkpoint == answered.checkpoint
    assert [message.role for message in answered.messages] == ["user", "assistant", *["tool"] * 3, "assistant"]


async def test_a_question_is_answered_once_and_only_while_it_is_open() -> None:
    agent = desk(Scripted(ASKS, "Done.", ASKS, "Again.", "Apart."))
    conversation = agent.conversation()
    old = (await conversation.run("Refund?")).paused
    assert old is not None
    await conversation.resume(old, "yes")

    with pytest.raises(CheckpointFormatError, match="was answered before"):
        await conversation.resume(old, "no")
    new = (await conversation.run("And C?")).paused
    with pytest.raises(CheckpointFormatError):
        await conversation.resume(old, "no")

    assert conversation.pending is new


async def test_two_answers_at_once_one_wins() -> None:
    conversation = desk(Scripted(ASKS, "Done.")).conversation()
    paused = (await conversation.run("Refund?")).paused
    assert paused is not None

    came_to = await asyncio.gather(
        conversation.resume(paused, "yes"), conversation.resume(paused, "no"), return_exceptions=True
    )

    assert sorted(type(each).__name__ for each in came_to) == ["RunInFlightError", "RunResult"]


async def test_a_question_is_closed_with_its_answer_also_when_the_run_then_fails() -> None:
    conversation = desk(Scripted(ASKS, RuntimeError("gone"), "Fine.")).conversation()
    paused = (await conversation.run("Refund?")).paused
    assert paused is not None

    with pytest.raises(RunCheckpointError) as failed:
        await conversation.resume(paused, "yes")
    later = await conversation.run("Well?")

    assert [message.content for message in failed.value.checkpoint.history][2:4] == ["A: shipped", "yes"]
    assert failed.value.checkpoint.last_completed_iteration == 1
    assert later.text == "Fine."


async def test_a_question_that_is_given_up_counts_as_never_run_and_can_still_be_answered_apart() -> None:
    CLOSED.clear()
    model = Scripted(ASKS, "fresh", "Apart.")
    agent = desk(model)
    conversation = agent.conversation()
    paused = (await conversation.run("Refund?")).paused
    assert paused is not None
    open_until_then = list(CLOSED)

    dropped = await conversation.abandon_pause()
    nothing = await conversation.abandon_pause()
    closed = list(CLOSED)
    await conversation.run("Never mind.")
    apart = await agent.resume(paused, "yes")

    assert dropped == {"toolName": "ask", "toolCallId": "c2", "question": "Vip?"}
    assert (nothing, open_until_then, closed) == (None, [], ["A"])
    assert apart.text == "Apart."
    assert conversation.checkpoint is not None
    marks = [message.not_dispatched for message in conversation.checkpoint.history if message.role == "tool"]
    causes = [
        None if mark is None else (mark.cause, mark.paused_call and mark.paused_call.tool_call_id) for mark in marks
    ]
    assert causes == [None, ("abandoned", "c2"), ("abandoned", "c2")]
    assert model.sent[1][-1] == ("user", "Never mind.")


async def test_a_follow_up_needs_an_answer_to_follow_up_on() -> None:
    conversation = desk(Scripted(RuntimeError("gone"), "one", "two")).conversation()

    with pytest.raises(NoConversationError) as never:
        await conversation.follow_up("a")
    with pytest.raises(RunCheckpointError):
        await conversation.run("a")
    with pytest.raises(NoConversationError) as unfinished:
        await conversation.follow_up("b")
    await conversation.run("b")

    assert (never.value.reason, unfinished.value.reason) == ("never-run", "last-run-unfinished")
    assert (await conversation.follow_up("c")).text == "two"


async def test_it_goes_on_tomorrow_with_its_open_question() -> None:
    who = Identity(conversation_id="t-42", principal="alice")
    first = desk(Scripted(ASKS)).conversation(identity=who, session_id="s-1")
    await first.run("Refund?")
    stored = json.dumps(first.to_wire())

    model = Scripted("Done.", "Bye.")
    again = Conversation.from_wire(json.loads(stored), agent=desk(model))
    with pytest.raises(PendingQuestionError):
        await again.run("hello?")
    assert again.pending is not None
    answered = await again.resume(again.pending, "yes")
    last = await again.run("Bye.")

    state = last.recording.snapshot["sharedState"]
    assert (answered.text, last.text) == ("Done.", "Bye.")
    assert state["runIdentity"] == {"conversationId": "t-42", "principal": "alice"}
    assert last.recording.events[0].meta.session_id == "s-1"
    assert state["turnNumber"] == 2
    assert json.loads(json.dumps(again.to_wire())) == again.to_wire()


@pytest.mark.parametrize(
    ("wire", "field"),
    [
        ([], "conversation"),
        ({"checkpoint": {"version": 3}}, "version"),
        ({"pending": 5}, "pending"),
        ({"pending": {}}, None),
        ({"answered": "x"}, "answered"),
        ({"sessionId": 5}, "sessionId"),
        ({"identity": 5}, "identity"),
    ],
)
def test_a_stored_conversation_that_is_none_is_refused(wire: Any, field: str | None) -> None:
    with pytest.raises(CheckpointFormatError) as refused:
        Conversation.from_wire(wire, agent=desk(Scripted()))

    assert refused.value.field == (field or refused.value.field)


async def test_a_fork_shares_the_first_turns_and_nothing_after_them() -> None:
    model = Scripted("one", "two", "three", "else", "more", "start")
    conversation = desk(model).conversation()
    for said in "abc":
        await conversation.run(said)

    fork = conversation.fork(at=1)
    await fork.run("B")
    await conversation.run("d")
    await conversation.fork(at=0).run("A")

    assert [[text for _, text in turn] for turn in model.sent[3:]] == [
        ["a", "one", "B"],
        ["a", "one", "b", "two", "c", "three", "d"],
        ["A"],
    ]
    for at in (-1, 5, True):
        with pytest.raises(ConfigError, match="at is"):
            conversation.fork(at=at)


async def test_it_begins_with_what_it_is_given_unless_that_is_another_agents() -> None:
    left = (await desk(Scripted("one"), id="theirs").run("a")).checkpoint
    unnamed = desk(Scripted("two"), id=None)

    with pytest.raises(ConversationMismatchError) as refused:
        desk(Scripted()).conversation(left)
    conversation = unnamed.conversation(json.loads(left.to_json()))

    assert (refused.value.stored_agent_id, refused.value.agent_id) == ("theirs", "desk")
    assert (await conversation.follow_up("b")).text == "two"


async def test_a_message_that_a_rule_refuses_is_no_part_of_the_conversation() -> None:
    @on_message(name="polite")
    def polite(message: MessageView) -> Any:
        return deny("no secrets") if "hunter2" in message.content else allow(message.content.upper(), "loud")

    model = Scripted("one", "two")
    conversation = Agent(model, gates=Gates(act=Act(input=[polite]))).conversation()
    await conversation.run("a")

    with pytest.raises(MessageDeniedError):
        await conversation.run("hunter2")
    await conversation.follow_up("b")

    assert [text for _, text in model.sent[-1]] == ["A", "one", "B"]


async def test_a_proof_of_a_later_turn_starts_from_the_same_conversation() -> None:
    seen: list[list[str]] = []

    def decide(request: LLMRequest) -> str:
        said = [message.content for message in request.messages]
        seen.append(said)
        return "APPROVED" if "order four" in said and "VIP" in (request.system_prompt or "") else "DECLINED"

    agent = Agent(Mock(decide), context=[Fact("vip", "A VIP customer.")])
    conversation = agent.conversation()
    await conversation.run("order four")
    result = await conversation.run("Refund it?")
    seen.clear()

    why = await result.prove()

    assert why.mode == "causal"
    assert [(each.id, each.verdict and each.verdict.verdict) for each in why.sources] == [("vip", "confirmed")]
    assert {tuple(said) for said in seen} == {("order four", "APPROVED", "Refund it?")}


async def test_a_proof_leaves_out_what_a_removed_piece_had_said_in_the_conversation() -> None:
    seen: list[list[str]] = []

    def decide(request: LLMRequest) -> str:
        said = [message.content for message in request.messages]
        seen.append(said)
        return "APPROVED" if any("VIP" in text for text in said) else "DECLINED"

    agent = Agent(Mock(decide), context=[Fact("vip", "A VIP customer.", slot="messages", role="assistant")])
    conversation = agent.conversation()
    await conversation.run("order four")
    result = await conversation.run("Refund it?")
    seen.clear()

    without = agent.without(["vip"])
    await without.run("Refund it?", continue_from=(conversation.fork(at=1)).checkpoint)

    assert "A VIP customer." in [message.content for message in result.checkpoint.history]
    assert seen == [["order four", "APPROVED", "Refund it?"]]


async def test_a_proof_of_a_turn_that_was_tried_once_more_starts_in_its_middle() -> None:
    seen: list[list[str]] = []
    fails = [True]

    def decide(request: LLMRequest) -> Any:
        said = [message.content for message in request.messages]
        seen.append(said)
        if len(said) == 1:
            return batch(("look", {"order": "A"}))
        if fails and fails.pop():
            raise RuntimeError("gone")
        return "APPROVED" if "VIP" in (request.system_prompt or "") else "DECLINED"

    agent = Agent(Mock(decide), tools=[look], context=[Fact("vip", "A VIP customer.")])
    with pytest.raises(RunCheckpointError) as failed:
        await agent.run("Refund A?")
    result = await agent.resume_on_error(failed.value.checkpoint)
    seen.clear()

    why = await result.prove()

    assert [(each.id, each.verdict and each.verdict.verdict) for each in why.sources if each.verdict] == [
        ("vip", "confirmed")
    ]
    assert {tuple(said) for said in seen} == {("Refund A?", "", "A: shipped")}
