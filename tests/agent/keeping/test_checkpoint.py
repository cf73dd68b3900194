"""Tests of agentfootprint.agent.keeping.checkpoint."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from agentfootprint import Checkpoint, Identity, RunCheckpointError
from agentfootprint.agent import CheckpointFormatError
from tests.agent.keeping.desk import Scripted, batch, desk

WIRE: dict[str, Any] = {
    "version": 1,
    "runId": "run-1-1",
    "history": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "toolCalls": [{"id": "c1", "name": "look", "args": {"order": "A"}}]},
        {"role": "tool", "content": "A: shipped", "toolCallId": "c1", "toolName": "look"},
    ],
    "lastCompletedIteration": 1,
    "originalInput": {"message": "hi"},
    "checkpointedAt": 5,
}
BROKEN: list[tuple[dict[str, Any], str, int | None]] = [
    ({"version": 2}, "version", None),
    ({"version": True}, "version", None),
    ({"runId": 5}, "runId", None),
    ({"history": "x"}, "history", None),
    ({"history": [{"role": "user", "content": "hi"}, "hunter2"]}, "history[1]", 1),
    ({"history": [{"role": "user", "content": "hi"}, {"role": "user", "content": 5}]}, "history[1].content", 1),
    ({"history": [{"role": "boss", "content": "hunter2"}]}, "history[0].role", 0),
    ({"history": [{"role": "tool", "content": "x", "notDispatched": True}]}, "history[0].notDispatched", 0),
    ({"lastCompletedIteration": "1"}, "lastCompletedIteration", None),
    ({"originalInput": {"message": 5}}, "originalInput.message", None),
    ({"originalInput": "hunter2"}, "originalInput", None),
    ({"checkpointedAt": "now"}, "checkpointedAt", None),
    ({"identity": {"principal": "hunter2"}}, "identity", None),
    ({"identity": "hunter2"}, "identity", None),
    ({"agent": "hunter2"}, "agent", None),
    ({"agent": {"id": 5}}, "agent.id", None),
    ({"skillCursor": 5}, "skillCursor", None),
    ({"failurePoint": {"iteration": 1, "phase": "hunter2"}}, "failurePoint.phase", None),
    ({"failurePoint": {"phase": "llm"}}, "failurePoint.iteration", None),
    ({"failurePoint": {"iteration": 1, "phase": "llm", "stage": 5}}, "failurePoint.stage", None),
    ({"inFlight": {"toolCalls": [{"id": 1}], "landed": []}}, "inFlight.toolCalls", None),
    ({"inFlight": {"toolCalls": [], "landed": [5]}}, "inFlight.landed[0]", 0),
    ({"agentfootprint": {"schema": 9}}, "agentfootprint.schema", None),
    ({"agentfootprint": {"schema": 1, "callCounts": {"hunter2": "x"}}}, "agentfootprint.callCounts", None),
    ({"agentfootprint": {"schema": 1, "originRunId": 5}}, "agentfootprint.originRunId", None),
    ({"agentfootprint": {"schema": 1, "sessionId": 5}}, "agentfootprint.sessionId", None),
]


@pytest.mark.parametrize(("edit", "field", "index"), BROKEN, ids=lambda part: part if isinstance(part, str) else "")
def test_what_can_not_be_read_is_named_by_field_and_place_and_never_shown(
    edit: dict[str, Any], field: str, index: int | None
) -> None:
    with pytest.raises(CheckpointFormatError) as refused:
        Checkpoint.from_wire({**WIRE, **edit})

    assert (refused.value.field, refused.value.index) == (field, index)
    error: BaseException | None = refused.value
    while error is not None:
        assert "hunter2" not in str(error)
        error = error.__cause__


@pytest.mark.parametrize("text", ['{"version": 1, "runId', "", "[]", "null", b"\xff", "[" * 100_000])
def test_a_text_that_was_cut_off_or_is_something_else_is_refused(text: Any) -> None:
    with pytest.raises(CheckpointFormatError) as refused:
        Checkpoint.from_json(text)

    assert refused.value.field == "checkpoint"


def test_members_of_other_writers_ride_along() -> None:
    wire = {**WIRE, "theirs": {"deep": [1, None]}, "skillCursor": "billing", "folded": [{"from": 0}]}

    assert Checkpoint.from_json(json.dumps(wire)).to_wire() == wire


async def test_everything_a_failed_run_leaves_survives_json_pickle_and_copy() -> None:
    who = Identity(conversation_id="t-42", principal="alice")
    with pytest.raises(RunCheckpointError) as caught:
        await desk(Scripted(batch(("pay", {"amount": 5})), RuntimeError("gone"))).run("Pay.", identity=who)
    left = caught.value.checkpoint

    again = Checkpoint.from_json(left.to_json())

    assert again == left == pickle.loads(pickle.dumps(left)) == copy.copy(left)
    assert again.size_bytes == len(left.to_json().encode())
    assert (again.identity, again.agent_id, again.message) == (who, "desk", "Pay.")
    assert again.facts.call_counts
    assert "function" not in left.to_json()
    revived = pickle.loads(pickle.dumps(caught.value))
    assert (revived.checkpoint, revived.can_resume) == (left, True)


async def test_the_messages_are_shared_with_the_run_and_nobody_can_change_them() -> None:
    model = Scripted("one", "two", "three")
    agent = desk(model)
    first = await agent.run("a")

    await agent.run("b", continue_from=first)
    await agent.run("c", continue_from=first)
    first.checkpoint.to_wire()["history"].clear()

    assert [message.content for message in first.checkpoint.history] == ["a", "one"]
    assert model.sent[1][:2] == model.sent[2][:2]
    assert [turn[-1][1] for turn in model.sent] == ["a", "b", "c"]


async def test_an_empty_answer_adds_nothing() -> None:
    assert [message.content for message in (await desk(Scripted("")).run("a")).checkpoint.history] == ["a"]


def test_results_that_answer_nothing_are_refused_when_taken_up_or_left_out_and_noted() -> None:
    wire = {**WIRE, "history": [*WIRE["history"], {"role": "tool", "content": "x", "toolCallId": "c1"}]}
    agent = desk(Scripted("fine"))

    with pytest.raises(CheckpointFormatError) as refused:
        agent.run_sync("on", continue_from=wire)
    repaired = Checkpoint.from_json(json.dumps(wire), repair=True)
    result = agent.run_sync("on", continue_from=repaired)

    assert (refused.value.field, refused.value.index) == ("history[3]", 3)
    assert [(each.message, each.reason) for each in repaired.dropped] == [(3, "duplicate")]
    assert result.recording.header["continued"]["dropped"] == [{"index": 3, "reason": "duplicate"}]
