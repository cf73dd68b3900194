"""Tests of agentfootprint.agent.pausing.following: what a server needs of a run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint import Agent, Fact, Mock, RunResult, approve
from agentfootprint.agent import DecisionRequiredError, RunReader, resume_stream, with_context
from agentfootprint.errors import ConfigError
from agentfootprint.events import Event
from agentfootprint.llm import LLMRequest
from tests.agent.pausing.desk import RAN, desk, question

REFUND = Mock.call("refund", amount=480)


@pytest.fixture(autouse=True)
def fresh() -> None:
    RAN.clear()


async def test_a_reader_sees_all_and_knows_how_far_behind_it_is() -> None:
    agent = Agent(Mock("one two three"))
    async with agent.stream("Go.") as run:
        await run.result()
        reader = RunReader(run)
        seen: list[Event[Any]] = []
        lags: list[int] = []
        async for event in reader:
            seen.append(event)
            lags.append(reader.lag)

    assert [event.type for event in seen] == [event.type for event in run.recording.events]
    assert lags == [*range(len(seen) - 1, -1, -1)]


async def test_a_reader_waits_for_what_comes() -> None:
    agent = Agent(Mock("Late.", delay=0.02))
    async with agent.stream("Go.") as run:
        types = [event.type async for event in RunReader(run)]

    assert types[-1] == "agentfootprint.integrity.disposition"
    assert run.is_over


async def test_an_answer_goes_on_as_a_stream() -> None:
    agent = desk(REFUND, "Done.")
    paused = question(await agent.run("Refund."))

    stream = resume_stream(agent, paused, approve(by="dana"))
    assert not isinstance(stream, RunResult)
    async with stream as run:
        types = [event.type async for event in run]
        result = await run.result()

    assert (result.text, RAN) == ("Done.", ["refund 480"])
    assert types[0] == "agentfootprint.pause.resume"


async def test_a_refused_answer_leaves_the_question_as_it_was() -> None:
    agent = desk(REFUND, "Done.")
    paused = question(await agent.run("Refund."))

    with pytest.raises(DecisionRequiredError):
        resume_stream(agent, paused, "yes")

    assert (await agent.resume(paused, approve(by="dana"))).text == "Done."


async def test_the_stream_of_an_answer_is_entered_once_and_what_it_ran_runs_once() -> None:
    agent = desk(REFUND, "Done.")
    stream = resume_stream(agent, question(await agent.run("Refund.")), approve(by="dana"))
    assert not isinstance(stream, RunResult)
    async with stream as run:
        result = await run.result()
    before = len(result.recording.events)

    with pytest.raises(ConfigError, match=r"a second time"):
        async with stream:
            pass

    assert RAN == ["refund 480"]
    assert len(result.recording.events) == before


async def test_leaving_the_stream_of_an_answer_stops_it() -> None:
    agent = desk(REFUND, "Done.", provider=Mock([REFUND, "Done."], cursor="history", delay=0.01))
    paused = question(await agent.run("Refund."))
    stream = resume_stream(agent, paused, approve(by="dana"))
    assert not isinstance(stream, RunResult)

    async with stream as run:
        await asyncio.sleep(0)

    assert run.is_over
    assert agent.inflight == ()


async def test_an_agent_that_is_told_more_is_heard_where_it_was() -> None:
    heard: list[str] = []

    def reply(request: LLMRequest) -> str:
        heard.append(request.system_prompt or "")
        return "Noted."

    agent = Agent(Mock(reply), context=[Fact("own", "Open.")], id="shop")
    ends: list[str] = []
    agent.on("agentfootprint.agent.turn_end", lambda event: ends.append(event.meta.run_id))

    told = with_context(agent, [Fact("more", "Sunny.")])
    async with told.stream("Go.") as run:
        assert agent.inflight == (run,)
        await run.result()
    await agent.run("Go.")

    assert len(ends) == 2
    assert agent.inflight == ()
    assert ["Sunny." in each for each in heard] == [True, False]
    assert all("Open." in each for each in heard)


async def test_an_agent_that_is_told_more_takes_up_what_another_asked() -> None:
    agent = desk(REFUND, "Done.")
    paused = question(await with_context(agent, [Fact("more", "Sunny.")]).run("Refund."))

    assert (await agent.resume(paused, approve(by="dana"))).text == "Done."


def test_a_piece_that_cant_stand_beside_the_agents_own_is_refused() -> None:
    with pytest.raises(ConfigError):
        with_context(Agent(Mock("x"), context=[Fact("own", "Open.")]), [Fact("own", "Closed.")])
