"""Tests of agentfootprint.agent.replaying.starting."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, Mock, Recording, Sequence, ask_human, tool
from agentfootprint.agent import RunHandle, RunResult
from agentfootprint.agent.errors import ReplayRefusedError


@tool
def inquire() -> str:
    """Ask a person."""
    ask_human("May I?")


def asker() -> Agent[Any, Any]:
    return Agent(Mock([Mock.call("inquire"), "Thank you."]), tools=[inquire])


async def refused(agent: Agent[Any, Any], recording: Recording, **given: Any) -> ReplayRefusedError:
    with pytest.raises(ReplayRefusedError) as raised:
        await agent.replay(recording, **given)
    return raised.value


@pytest.mark.parametrize(
    "other",
    [
        Agent(Mock("Paris."), system="You are terse."),
        Agent(Mock("Paris."), id="other"),
        Agent(Mock("Paris."), tools=[inquire]),
        Agent("another-model", provider=Mock("Paris.")),
    ],
    ids=["system", "id", "tools", "model"],
)
async def test_the_recording_of_another_agent_is_refused(other: Agent[Any, Any]) -> None:
    result = await Agent(Mock("Paris.")).run("What is the capital of France?")

    error = await refused(other, result.recording)

    assert error.reason == "another-agent"
    assert error.run_id == result.run_id
    assert "capital" not in str(error)


async def test_the_recording_of_a_composition_is_refused() -> None:
    agent = asker()
    result = await Sequence([agent]).run("Go.")

    error = await refused(agent, result.recording)

    assert error.reason == "another-agent"
    assert "by a composition of agents" in str(error)


async def test_a_recording_that_was_cut_off_is_refused() -> None:
    agent = Agent(Mock("Paris."))
    wire = (await agent.run("Hello.")).recording.to_wire()

    error = await refused(agent, Recording.from_wire({**wire, "events": wire["events"][:5]}))

    assert error.reason == "not-ended"


async def test_the_recording_of_a_run_that_goes_on_is_refused() -> None:
    agent = Agent(Mock("Paris.", delay=60))
    handle: RunHandle[str] = agent.start("Hello.")

    error = await refused(agent, handle.recording)

    assert error.reason in ("not-ended", "no-answers")
    await handle.cancel()


async def test_a_recording_without_its_answers_is_refused() -> None:
    agent = Agent(Mock("Paris."))
    wire = (await agent.run("Hello.")).recording.to_wire()
    mute = [event for event in wire["events"] if event["type"] != "agentfootprint.stream.llm_end"]

    error = await refused(agent, Recording.from_wire({**wire, "events": mute}))

    assert error.reason == "no-answers"


async def test_a_resumed_run_needs_the_checkpoint_that_it_was_resumed_from() -> None:
    agent = asker()
    first, other = await agent.run("Go."), await asker().run("Go.")
    assert first.paused is not None
    assert other.paused is not None
    second: RunResult[str] = await agent.resume(first.paused, "yes")

    without = await refused(agent, second.recording)
    wrong = await refused(agent, second.recording, paused=other.paused)

    assert (without.reason, wrong.reason) == ("resumed", "another-pause")
