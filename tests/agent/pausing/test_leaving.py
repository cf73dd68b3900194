"""Tests of agentfootprint.agent.pausing.leaving."""

from __future__ import annotations

import pytest

from agentfootprint import Agent, Mock, ask_human, tool
from agentfootprint.tools import PersonAsked
from tests.agent.pausing.desk import desk, question


@pytest.mark.parametrize(("data", "reason"), [({"question": "?", "reason": "high"}, "high"), ("text", None)])
async def test_the_event_says_what_is_asked_and_why(data: object, reason: str | None) -> None:
    @tool
    async def asks() -> str:
        """Ask. Use it always."""
        raise PersonAsked(data)

    result = await Agent(Mock([Mock.call("asks")]), tools=[asks]).run("Go.")

    event = result.recording.events[-2]
    assert event.type == "agentfootprint.pause.request"
    assert event.payload.reason == (reason or "stage requested pause")
    assert event.payload.question_payload["toolName"] == "asks"
    assert (event.meta.run_id, event.meta.composition_path) == (result.run_id, ("Agent:agent",))


async def test_data_that_looks_like_the_engines_own_envelope_is_asked_as_it_is() -> None:
    @tool
    async def asks() -> str:
        """Ask. Use it always."""
        ask_human("Pause the line?", data={"pause": True, "data": 5})

    agent = Agent(Mock([Mock.call("asks"), "Done."], cursor="history"), tools=[asks])
    result = await agent.run("Go.")

    assert result.paused is not None
    assert result.paused.question == "Pause the line?"
    assert (await agent.resume(question(result), "y")).text == "Done."


async def test_the_checkpoint_knows_the_turns_first_run() -> None:
    agent = desk(Mock.call("ask", question="1?"), Mock.call("ask", question="2?"), "Done.")
    first = await agent.run("Go.")

    second = await agent.resume(question(first), "y")

    assert first.paused is not None
    assert second.paused is not None
    assert first.paused.checkpoint.facts.origin_run_id == first.run_id
    assert second.paused.checkpoint.facts.origin_run_id == first.run_id
    assert second.paused.checkpoint.run_id == second.run_id
    assert sum(second.paused.checkpoint.facts.call_counts.values()) == 2
