"""Tests of agentfootprint.agent.gating.halting."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from agentfootprint import Agent, PolicyHaltError
from agentfootprint.llm import CallRef, NotDispatched
from agentfootprint.security import extract_sequence
from tests.agent.gating.office import RAN, batch, halting, named, office, told

BATCH = (("c1", "look", {"order": "A"}), ("c2", "send", {"text": "x"}), ("c3", "look", {"order": "B"}))


async def halted(agent: Agent[Any, Any]) -> tuple[PolicyHaltError, Any]:
    """What a run that is stopped raises, and its recording."""
    handle = agent.start("Go.")
    events = [event async for event in handle]
    with pytest.raises(PolicyHaltError) as caught:
        await handle.result()
    return caught.value, (events, handle.snapshot["sharedState"])


async def test_a_halt_stops_the_run_with_the_whole_story() -> None:
    error, (events, state) = await halted(
        office(batch(*BATCH), "Never.", permission=halting("send", reason="security:exfil"))
    )

    assert RAN == ["look A"]
    assert (error.reason, error.iteration, error.checker_id) == ("security:exfil", 1, "office")
    assert [(entry.name, dict(entry.args)) for entry in error.sequence] == [
        ("look", {"order": "A"}),
        ("send", {"text": "x"}),
    ]
    assert error.proposed.name == "send"
    assert error.history == tuple(state["history"])
    assert state["policyHaltTarget"] == "send"
    assert named(events, "stream.tool", "permission", "agent.iteration_end", "agent.turn_end") == [
        "stream.tool_start", "permission.check", "stream.tool_end",
        "stream.tool_start", "permission.check", "stream.tool_end", "permission.halt",
        "stream.tool_start", "stream.tool_end",
    ]  # fmt: skip


async def test_the_calls_behind_a_halt_are_settled_and_counted_by_nobody() -> None:
    error, (events, state) = await halted(office(batch(*BATCH), "Never.", permission=halting("send")))

    settled = [message for message in error.history if message.not_dispatched is not None]
    assert [message.tool_call_id for message in settled] == ["c3"]
    assert settled[0].not_dispatched == NotDispatched(halted_call=CallRef("c2", "send"), cause="halt")
    (halt,) = [event.payload for event in events if event.type.endswith("permission.halt")]
    assert halt.sequence_length == 2
    assert [entry.name for entry in extract_sequence(error.history, 1)] == ["look", "send"]
    assert [row["toolCallId"] for row in state["toolResults"]] == ["c1", "c2"]
    assert state["lastToolResult"]["toolName"] == "send"


async def test_side_by_side_a_halt_lands_what_ran_and_begins_nothing_more() -> None:
    error, (events, _) = await halted(office(batch(*BATCH), "Never.", parallel=True, permission=halting("send")))

    assert RAN == ["look A"]
    assert [message.tool_call_id for message in error.history if message.role == "tool"] == ["c1", "c2", "c3"]
    assert named(events, "permission.halt", "stream.tool_end") == [
        "stream.tool_end", "stream.tool_end", "permission.halt", "stream.tool_end",
    ]  # fmt: skip


async def test_what_the_checker_tells_is_what_the_model_would_read() -> None:
    error, _ = await halted(
        office(batch(("c1", "send", {"text": "x"})), permission=halting("send", tell_llm="Stop now.", reason="r"))
    )

    assert told(error.history) == [("c1", "Stop now.")]
    assert error.tell_llm == "Stop now."


@pytest.mark.parametrize(
    ("more", "reason"), [({"reason": "r", "rationale": "w"}, "r"), ({"rationale": "w"}, "w"), ({}, "policy-halt")]
)
async def test_a_reason_falls_back(more: dict[str, str], reason: str) -> None:
    error, _ = await halted(office(batch(("c1", "send", {"text": "x"})), permission=halting("send", **more)))

    assert error.reason == reason
    assert str(error).startswith(f"Policy halt: {reason} (tool='send', iteration=1)")


async def test_the_error_survives_a_process() -> None:
    error, _ = await halted(office(batch(("c1", "send", {"text": "x"})), permission=halting("send")))

    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (again.reason, again.sequence, again.history) == (error.reason, error.sequence, error.history)
