"""Tests of agentfootprint.agent.pausing.checkpoint."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from agentfootprint import Agent, Mock, PauseCheckpoint, ToolContext, approve, ask_human, tool
from agentfootprint.agent import CheckpointFormatError
from agentfootprint.agent.errors import RunCheckpointError
from agentfootprint.identity import Identity
from tests.agent.pausing.desk import desk, question

ASKS = [Mock.call("ask", question="Vip?"), "Done."]


async def checkpoint_of(agent: Agent[Any, str], **given: Any) -> PauseCheckpoint:
    paused = question(await agent.run("Go.", **given))
    return paused.checkpoint


async def test_what_was_written_reads_back_the_same() -> None:
    identity = Identity(conversation_id="c", principal="alice")
    checkpoint = await checkpoint_of(desk(*ASKS), identity=identity, session_id="s-1")

    read = PauseCheckpoint.from_json(checkpoint.to_json())

    assert read.facts == checkpoint.facts
    assert (read.facts.identity, read.facts.session_id, read.facts.agent_id) == (identity, "s-1", "desk")
    assert read.run_id == checkpoint.run_id
    assert {**read.to_wire(), "subflowResults": None} == {**checkpoint.to_wire(), "subflowResults": None}


async def test_a_sealed_checkpoint_shows_nobody_whose_it_is() -> None:
    identity = Identity(conversation_id="c", principal="alice")
    checkpoint = await checkpoint_of(desk(*ASKS), identity=identity)

    wire = checkpoint.to_wire(seal=lambda data: data[::-1])
    opened = PauseCheckpoint.from_wire(wire, unseal=lambda data: data[::-1])

    assert "alice" not in str(wire)
    assert opened.facts == checkpoint.facts
    assert (await desk(*ASKS).resume(opened, "y")).text == "Done."


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("agentfootprint", 5),
        ("agentfootprint", {"schema": 2}),
        ("agentfootprint", {"schema": "1"}),
        ("agentfootprint", {"schema": 1, "callCounts": {"a": "b"}}),
        ("agentfootprint", {"schema": 1, "identity": {"principal": 5}}),
        ("agentfootprint", {"schema": 1, "runId": 5}),
        ("sharedState", []),
        ("pausedStageId", ""),
        ("executionCount", -1),
    ],
)
async def test_a_member_of_another_shape_is_refused_by_name(key: str, value: Any) -> None:
    wire = (await checkpoint_of(desk(*ASKS))).to_wire()

    with pytest.raises(CheckpointFormatError) as refused:
        PauseCheckpoint.from_wire({**wire, key: value})

    assert refused.value.field.startswith(key)


@pytest.mark.parametrize("text", ["", "{", "null", "[]", b"\xff"])
def test_what_is_no_json_object_is_refused(text: Any) -> None:
    with pytest.raises(CheckpointFormatError):
        PauseCheckpoint.from_json(text)


class Resources:
    def __init__(self) -> None:
        self.closed: list[str] = []

    def agent(self) -> Agent[Any, str]:
        @tool
        async def opens(ctx: ToolContext) -> str:
            """Open things, then ask. Use it always."""
            ctx.on_teardown(lambda: self.closed.append("call"), scope="call")
            ctx.on_teardown(lambda: self.closed.append("run"))
            ask_human("Go on?")

        return Agent(Mock([Mock.call("opens"), "Done."], cursor="history"), tools=[opens])


async def test_what_a_call_opened_stays_open_until_its_answer_and_what_a_run_opened_until_the_turn_is_over() -> None:
    resources = Resources()
    agent = resources.agent()
    order: list[str] = []
    agent.on("agentfootprint.stream.llm_start", lambda _: order.append(f"model after {resources.closed}"))
    paused = question(await agent.run("Go."))
    assert resources.closed == []

    await agent.resume(paused, "y")
    await agent.resume(paused, "y again")

    assert resources.closed == ["call", "run"]
    assert order[1] == "model after ['call']"


async def test_a_turn_that_fails_after_the_answer_cleans_up_too() -> None:
    resources = Resources()
    agent = resources.agent()
    agent = Agent(
        Mock([Mock.call("opens"), RuntimeError("down")], cursor="history"), tools=list(agent.plan.tools.values())
    )
    paused = question(await agent.run("Go."))

    with pytest.raises(RunCheckpointError):
        await agent.resume(paused, "y")

    assert resources.closed == ["call", "run"]


def test_approvals_are_made_now() -> None:
    assert (approve(by="d").at or 0) > 1_700_000_000_000


@pytest.mark.parametrize("given", [123, None, "[" * 100_000], ids=["a number", "nothing", "nested too deeply"])
def test_what_is_no_text_of_a_checkpoint_is_refused_by_name(given: Any) -> None:
    with pytest.raises(CheckpointFormatError, match=r"checkpoint") as caught:
        PauseCheckpoint.from_json(given)

    assert caught.value.field == "checkpoint"


async def test_a_checkpoint_and_its_question_survive_pickle_and_copying_keeps_what_is_open() -> None:
    agent = desk(*ASKS)
    paused = question(await agent.run("Go."))

    stored = pickle.loads(pickle.dumps(paused))

    assert (await agent.resume(stored, "yes")).text == "Done."
    assert (stored.kind, stored.question, stored.data) == (paused.kind, paused.question, paused.data)
    assert copy.deepcopy(paused.checkpoint) is copy.copy(paused.checkpoint) is paused.checkpoint


async def test_neither_question_nor_checkpoint_shows_values_or_people_in_its_repr() -> None:
    identity = Identity(conversation_id="c", principal="alice", tenant="acme")
    result = await desk(*ASKS).run("Go secretly.", identity=identity, session_id="s-1")
    paused = question(result)

    shown = f"{result!r} {paused!r} {paused.checkpoint!r} {paused.checkpoint.facts!r}"

    assert "ask_human" in shown
    assert not any(word in shown for word in ("Vip?", "secretly", "alice", "acme", "s-1"))
