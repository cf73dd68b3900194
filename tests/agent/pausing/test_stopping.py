"""Tests of agentfootprint.agent.pausing.stopping."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, Mock, ToolCall, ask_human, tool
from agentfootprint.agent import InvalidAskComponentError
from agentfootprint.llm import LLMResponse
from agentfootprint.trace import thaw
from tests.agent.pausing.desk import desk, question


async def test_what_landed_before_the_question_is_committed_with_it() -> None:
    calls = (ToolCall("c1", "look", {"order": "A"}), ToolCall("c2", "ask", {"question": "?"}))
    agent = desk(LLMResponse("Let me see.", tool_calls=calls, stop_reason="tool_use"))

    result = await agent.run("Go.")

    state = thaw(result.recording.snapshot["sharedState"])
    assert [message["role"] for message in state["history"]] == ["user", "assistant", "tool"]
    assert state["toolResults"] == [{"toolName": "look", "result": "A: shipped", "toolCallId": "c1"}]
    assert state["lastToolResult"] == {"toolName": "look", "result": "A: shipped"}
    assert (state["pausedToolCallId"], state["pausedToolName"], state["pausedToolIndex"]) == ("c2", "ask", 1)
    assert state["pausedToolArgs"] == {"question": "?"}
    assert state["pausedToolStartMs"] >= state["turnStartMs"] - 1  # two clocks, each cut to whole milliseconds
    types = [event.type.removeprefix("agentfootprint.") for event in result.recording.events]
    assert types[-3:] == ["stream.tool_start", "pause.request", "integrity.disposition"]


async def test_an_agent_whose_tools_never_ask_has_no_key_of_a_pause() -> None:
    result = await desk(Mock.call("look", order="A"), "Done.").run("Go.")

    state = result.recording.snapshot["sharedState"]
    assert {key for key in state if key.startswith("paused")} == {
        "pausedToolCallId",
        "pausedToolName",
        "pausedToolStartMs",
    }


async def test_what_the_pause_noted_is_taken_back_by_the_answer() -> None:
    agent = desk(Mock.call("ask", question="?"), "Done.")

    result = await agent.resume(question(await agent.run("Go.")), "y")

    state = result.recording.snapshot["sharedState"]
    assert {key: state[key] for key in state if key.startswith("paused")} == {
        "pausedToolCallId": "",
        "pausedToolName": "",
        "pausedToolStartMs": 0,
    }


def asking_with(component: Any) -> Agent[Any, str]:
    @tool
    async def asks() -> str:
        """Ask. Use it always."""
        ask_human("Which?", data={"component": component})

    return Agent(Mock([Mock.call("asks"), "Done."], cursor="history"), tools=[asks])


async def test_a_question_may_nominate_a_component_and_the_answer_says_which_collected_it() -> None:
    agent = asking_with({"componentId": "picker", "props": {"rows": 3}})
    paused = question(await agent.run("Go."))

    result = await agent.resume(paused, "row 1")
    assert paused.data["component"] == {"componentId": "picker", "props": {"rows": 3}}
    assert result.recording.events[0].payload.component_id == "picker"


@pytest.mark.parametrize("component", ["picker", {"componentId": " "}, {"componentId": "p", "propsRef": "art_1"}])
async def test_a_component_that_cannot_be_shown_fails_the_run(component: Any) -> None:
    with pytest.raises(InvalidAskComponentError) as refused:
        await asking_with(component).run("Go.")

    assert refused.value.door == "ask_human"
