"""Tests of agentfootprint.agent.pausing.approvals: approvals that hold for a conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentfootprint import Agent, Checkpoint, Mock, PauseCheckpoint, RunCheckpointError, approve, tool
from agentfootprint.agent import CheckpointFormatError, Conversation
from agentfootprint.identity import Identity
from agentfootprint.llm import LLMRequest, LLMResponse, ToolCall
from tests.agent.pausing.together.till import paused

RAN: list[int] = []
FOR_ALL = approve(by="dana", remember="conversation")


@pytest.fixture(autouse=True)
def fresh() -> None:
    RAN.clear()


@tool(check_in="always")
async def pay(amount: int) -> str:
    """Pay an amount. Use it when it is due."""
    RAN.append(amount)
    return f"paid {amount}"


class Payer:
    """A model that pays what the last message of the user says, and then says so."""

    name = "payer"
    is_free = True
    fails_at = 0

    def __init__(self) -> None:
        self.requests = 0

    async def complete(self, request: LLMRequest, hooks: Any = None) -> LLMResponse:
        self.requests += 1
        if self.requests == self.fails_at:
            raise RuntimeError("the wire is cut")
        last = request.messages[-1]
        if last.role != "user":
            return LLMResponse("Paid.")
        return LLMResponse(
            "", tool_calls=(ToolCall("c", "pay", {"amount": int(last.content)}),), stop_reason="tool_use"
        )


def payer() -> Agent[Any, str]:
    return Agent(Payer(), tools=[pay])


async def test_an_approval_for_the_conversation_holds_in_its_later_turns_and_each_use_is_on_record() -> None:
    talk: Conversation[Any, str] = payer().conversation()
    await talk.resume(paused(await talk.run("3")), FOR_ALL)

    result = await talk.run("3")

    assert result.text == "Paid."
    assert RAN == [3, 3]
    used = [event.payload for event in result.recording.events if event.type.endswith("checkin.decision")]
    assert [(decision.by, decision.remembered) for decision in used] == [("dana", True)]


async def test_it_holds_for_the_same_arguments_only() -> None:
    talk = payer().conversation()
    await talk.resume(paused(await talk.run("3")), FOR_ALL)

    assert paused(await talk.run("4")).tool_name == "pay"


async def test_an_approval_for_the_run_ends_with_it() -> None:
    talk = payer().conversation()
    await talk.resume(paused(await talk.run("3")), approve(by="dana", remember="run"))

    assert paused(await talk.run("3")).tool_name == "pay"
    assert talk.checkpoint is not None
    assert "approvals" not in talk.checkpoint.to_json()


async def test_it_goes_through_json_a_second_pause_and_any_process() -> None:
    first = payer()
    one = await first.resume(paused(await first.run("3")), FOR_ALL)
    stored = Checkpoint.from_json(one.checkpoint.to_json(key="k"), key="k")
    second = payer()
    asked = paused(await second.run("4", continue_from=stored))
    third = payer()
    two = await third.resume(PauseCheckpoint.from_json(asked.checkpoint.to_json()), approve(by="dana"))

    result = await payer().run("3", continue_from=two)

    assert result.paused is None
    assert RAN == [3, 4, 3]


async def test_what_one_person_approved_holds_for_no_other() -> None:
    agent = payer()
    ann, bob = Identity(conversation_id="k", principal="ann"), Identity(conversation_id="k", principal="bob")
    one = await agent.resume(paused(await agent.run("3", identity=ann)), FOR_ALL)

    theirs = await agent.run("3", continue_from=one, identity=bob)
    own = await agent.run("3", continue_from=one)

    assert theirs.paused is not None
    assert own.paused is None


async def test_a_fork_from_before_the_approval_does_not_have_it() -> None:
    talk = payer().conversation()
    await talk.resume(paused(await talk.run("1")), approve(by="dana"))
    await talk.resume(paused(await talk.run("3")), FOR_ALL)

    assert (await talk.fork(at=1).run("3")).paused is not None
    assert (await talk.fork(at=2).run("3")).paused is None


async def test_a_turn_that_fails_behind_the_approval_keeps_it() -> None:
    agent = payer()
    model: Any = agent.plan.provider
    model.fails_at = 2
    with pytest.raises(RunCheckpointError) as failed:
        await agent.resume(paused(await agent.run("3")), FOR_ALL)

    again = await agent.resume_on_error(failed.value.checkpoint)
    result = await agent.run("3", continue_from=again)

    assert result.paused is None
    assert RAN == [3, 3]


async def test_a_turn_that_used_it_is_replayed_as_it_was() -> None:
    agent = payer()
    who = Identity(conversation_id="k", principal="ann")
    one = await agent.resume(paused(await agent.run("3", identity=who)), FOR_ALL)
    two = await agent.run("3", continue_from=one)

    replay = await agent.replay(two.recording)

    assert str(replay.difference) == "None"


async def test_a_conversation_without_one_stores_what_it_stored() -> None:
    agent = Agent(Mock(["Hi.", "Ho."]), tools=[pay])
    one = await agent.run("Hello.")
    two = await agent.run("Again.", continue_from=one)

    assert "agentfootprint" not in json.loads(two.checkpoint.to_json())
    assert "rememberedApprovals" not in two.recording.snapshot["sharedState"]


@pytest.mark.parametrize(
    "row",
    [
        3,
        {},
        {"tool": "pay", "args": {}, "by": "dana"},
        {"tool": "pay", "args": [], "by": "dana", "remember": "conversation"},
        {"tool": 1, "args": {}, "by": "dana", "remember": "conversation"},
        {"tool": "pay", "args": {}, "by": None, "remember": "conversation"},
    ],
)
async def test_a_stored_approval_that_is_none_is_refused_by_its_place(row: Any) -> None:
    agent = payer()
    one = await agent.resume(paused(await agent.run("3")), FOR_ALL)
    wire = one.checkpoint.to_wire()
    wire["agentfootprint"]["approvals"].append(row)

    with pytest.raises(CheckpointFormatError) as refused:
        Checkpoint.from_wire(wire)

    assert (refused.value.field, refused.value.index) == ("agentfootprint.approvals[1]", 1)


def test_another_word_is_refused() -> None:
    with pytest.raises(ValueError, match="remember"):
        approve(by="dana", remember="ever")  # type: ignore[arg-type]
