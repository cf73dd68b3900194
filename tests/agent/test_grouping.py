"""Tests of agentfootprint.agent.grouping."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, Fact, LLMMessage, Mock, RunCheckpointError, tool
from agentfootprint.llm import LLMResponse, ToolCall
from tests.agent.keeping.desk import Scripted


@tool
async def look(order: str) -> str:
    """Look an order up."""
    return f"{order}: shipped"


def asks(order: str) -> LLMResponse:
    return LLMResponse("", tool_calls=(ToolCall("c1", "look", {"order": order}),))


def said(role: str = "user") -> Fact:
    return Fact("hint", "Orders have six digits.", slot="messages", role=role)  # type: ignore[arg-type]


def test_a_turn_of_the_loop_stands_in_one_mount() -> None:
    agent = Agent(Mock([asks("A1"), "Shipped."]), tools=[look], mode="dynamic-grouped")

    recording = agent.run_sync("Where is A1?").recording

    assert [call.step for call in recording.calls] == ["sf-llm-call/call-llm#20", "sf-llm-call/call-llm#44"]
    tops = list(dict.fromkeys(bundle.runtime_stage_id for bundle in recording.bundles))
    assert tops == [
        *("seed#0", "sf-llm-call#1", "sf-route#23", "tool-calls#24"),
        *("sf-llm-call#25", "sf-route#47", "final#48"),
    ]


def test_the_other_modes_have_no_such_mount() -> None:
    for mode in ("dynamic", "classic"):
        recording = Agent(Mock("Hi."), mode=mode).run_sync("Hello").recording

        assert recording.calls[0].step == "call-llm#18"


@pytest.mark.parametrize("mode", ["dynamic", "dynamic-grouped"])
def test_what_was_said_before_a_call_that_failed_stays_said(mode: Any) -> None:
    provider = Scripted(RuntimeError("down"))
    agent = Agent(provider, mode=mode, context=[said()])

    with pytest.raises(RunCheckpointError) as failed:
        agent.run_sync("Where is A1?")

    assert [(each.role, each.content) for each in failed.value.checkpoint.history] == provider.sent[0]


def test_the_state_of_the_top_is_that_of_the_dynamic_mode() -> None:
    states: list[dict[str, Any]] = [
        dict(Agent(Mock([asks("A1"), "Shipped."]), tools=[look], mode=mode).run_sync("Q").recording.snapshot)
        for mode in ("dynamic", "dynamic-grouped")
    ]
    bare: list[dict[str, Any]] = [{**state["sharedState"], "turnStartMs": 0, "runIdentity": None} for state in states]
    plain, grouped = bare

    assert grouped == plain
    assert all(isinstance(message, LLMMessage) for message in grouped["history"])
