"""Tests of agentfootprint.agent.running.framing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint import Agent, Limits, Mock, RunCheckpointError
from agentfootprint.agent import DeadlineExceededError
from agentfootprint.llm import LLMRequest, LLMResponse


class Asking:
    """A model that asks another agent."""

    name = "asking"

    def __init__(self, other: Agent[Any, str]) -> None:
        self.other = other

    async def complete(self, request: LLMRequest, hooks: Any = None) -> LLMResponse:
        return LLMResponse((await self.other.run("?")).text)


class Silent:
    """A model that never answers."""

    name = "silent"

    async def complete(self, request: LLMRequest, hooks: Any = None) -> LLMResponse:
        await asyncio.Event().wait()
        raise AssertionError


async def test_the_time_of_another_run_that_is_up_is_a_failure_of_this_one() -> None:
    late = Agent(Silent(), limits=Limits(deadline=0.01))

    with pytest.raises(RunCheckpointError) as raised:
        await Agent(Asking(late)).run("Is it done?")

    cause = raised.value.cause
    assert isinstance(cause, DeadlineExceededError)
    assert cause.checkpoint is not None
    assert cause.checkpoint.message == "?"
    assert raised.value.checkpoint.message == "Is it done?"


async def test_a_run_whose_own_time_is_up_says_so_with_what_is_left_of_it() -> None:
    with pytest.raises(DeadlineExceededError) as raised:
        await Agent(Silent(), limits=Limits(deadline=0.01)).run("Is it done?")

    assert raised.value.checkpoint is not None
    assert raised.value.checkpoint.message == "Is it done?"


async def test_who_watches_runs_is_told_of_each_before_its_first_event() -> None:
    agent = Agent(Mock("Fine."))
    seen: list[int] = []
    agent.run_watchers.append(lambda recording: seen.append(len(recording.events)))

    await agent.run("?")
    await agent.run("?")

    assert seen == [0, 0]
