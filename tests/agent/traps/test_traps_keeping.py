"""Tests of the traps of conversations and of what a failed run leaves (02 s.25)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentfootprint import Agent, Checkpoint, Identity, Mock, RunCheckpointError
from agentfootprint.agent import CheckpointFormatError, ConfigureContext, Configured, ConversationMismatchError
from agentfootprint.events import Event
from tests.agent.keeping.desk import Scripted, batch, desk


async def test_trap_t1_a_second_run_remembers_nothing_and_a_next_turn_does() -> None:
    model = Scripted("one", "two", "three")
    agent = desk(model)

    first = await agent.run("a")
    await agent.run("b")
    await agent.run("c", continue_from=first)

    assert model.sent == [
        [("user", "a")],
        [("user", "b")],
        [("user", "a"), ("assistant", "one"), ("user", "c")],
    ]


async def test_trap_t2_the_next_turn_has_the_answer_of_the_one_before() -> None:
    model = Scripted(batch(("look", {"order": "A"})), "Shipped.", "Tomorrow.")
    conversation = desk(model).conversation()

    first = await conversation.run("Where is A?")
    await conversation.run("When will it come?")

    assert model.sent[-1][-2:] == [("assistant", "Shipped."), ("user", "When will it come?")]
    assert [message.content for message in first.recording.snapshot["sharedState"]["history"]][-1] == "A: shipped"


async def test_trap_t3_a_continued_turn_stays_whose_it_was() -> None:
    who = Identity(tenant="acme", principal="alice", conversation_id="t-42")
    first = await Agent(Mock("a")).run("hi", identity=who)
    other = Identity(conversation_id="t-43")

    kept = await Agent(Mock("b")).run("again", continue_from=json.loads(first.checkpoint.to_json()))
    named = await Agent(Mock("c")).run("again", continue_from=first, identity=other)
    in_session = await Agent(Mock("d")).run("hi", session_id="s-1")
    still = await Agent(Mock("e")).run("again", continue_from=in_session)

    owners = [run.recording.snapshot["sharedState"]["runIdentity"] for run in (kept, named, in_session, still)]
    assert owners == [
        {"tenant": "acme", "principal": "alice", "conversationId": "t-42"},
        {"conversationId": "t-43"},
        {"conversationId": "s-1"},
        {"conversationId": "s-1"},
    ]
    assert (kept.checkpoint.identity, still.checkpoint.identity) == (who, None)


async def test_trap_t4_a_refused_continuation_leaves_nothing_for_the_next_run() -> None:
    model = Scripted("fresh")
    agent = desk(model, id="mine")
    theirs = (await desk(Scripted("x"), id="theirs").run("secret plans")).checkpoint

    for given, error in ((theirs, ConversationMismatchError), ({"version": 7}, CheckpointFormatError)):
        with pytest.raises(error):
            await agent.run("hi", continue_from=given)
    await agent.run("hi")

    assert model.sent == [[("user", "hi")]]


async def test_trap_t5_a_run_that_dies_before_its_seed_leaves_nothing_for_the_next_and_keeps_the_conversation() -> None:
    model = Scripted("one", "fresh")
    fails = False

    def configure(run: ConfigureContext[Any]) -> Configured | None:
        if fails:
            raise LookupError("no tenant plan")
        return None

    agent = Agent(model, configure=configure)
    first = await agent.run("a")
    fails = True
    with pytest.raises(RunCheckpointError) as caught:
        await agent.run("b", continue_from=first)
    with pytest.raises(LookupError):
        await agent.run("b")
    fails = False
    await agent.run("c")

    assert model.sent[-1] == [("user", "c")]
    assert [message.content for message in caught.value.checkpoint.history] == ["a", "one", "b"]


async def test_trap_t19_a_failure_after_a_tool_is_not_blamed_on_it() -> None:
    with pytest.raises(RunCheckpointError) as caught:
        await desk(Scripted(batch(("look", {"order": "A"})), RuntimeError("gone"))).run("Go.")

    point = caught.value.checkpoint.failure_point
    assert point is not None
    assert (point.iteration, point.phase, point.stage) == (2, "llm", "call-llm")


async def test_trap_t20_no_address_and_no_key_stands_in_the_error_or_in_the_checkpoint() -> None:
    said = "GET https://user:pw@models.example/v1?key=abc failed for sk-live-0123456789abcdef, Bearer eyJhbGciOi"

    with pytest.raises(RunCheckpointError) as caught:
        await desk(Scripted(RuntimeError(said))).run("Go.")

    told = str(caught.value) + caught.value.checkpoint.to_json()
    assert not any(secret in told for secret in ("models.example", "abc", "sk-live", "eyJ", "pw@"))
    assert "failed for" in told


async def test_trap_t25_what_is_left_is_whole_whoever_listens_and_whether_it_is_recorded() -> None:
    left: list[dict[str, Any]] = []
    for listens in (False, True):
        for record in (False, True):
            agent = Agent(
                Scripted(batch(("look", {"order": "A"})), RuntimeError("gone")),
                tools=desk(Scripted()).plan.tools.values(),  # type: ignore[arg-type]
                record=record,
            )
            heard: list[Event[Any]] = []
            if listens:
                agent.on("*", heard.append)
            with pytest.raises(RunCheckpointError) as caught:
                await agent.run("Go.")
            wire = caught.value.checkpoint.to_wire()
            left.append({key: wire[key] for key in ("history", "lastCompletedIteration", "failurePoint")})

    assert left[0] == left[1] == left[2] == left[3]
    assert left[0]["lastCompletedIteration"] == 1
    assert Checkpoint.from_wire(wire).history[-1].content == "A: shipped"
