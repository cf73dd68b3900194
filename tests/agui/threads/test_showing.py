"""Tests of agentfootprint.agui.threads.showing."""

from __future__ import annotations

import pytest

from agentfootprint import Agent, Fact, Mock, tool
from agentfootprint.agui.errors import AgUiThreadError
from agentfootprint.agui.threads.showing import message_models, message_wires, shown_history
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.trace import freeze


@tool
async def look(order: str) -> str:
    """Look an order up."""
    return f"{order}: shipped"


async def test_a_conversation_is_shown_without_what_the_library_put_there() -> None:
    twice = LLMResponse(tool_calls=(ToolCall("c", "look", {"order": "A"}), ToolCall("c", "look", {"order": "B"})))
    agent = Agent(
        Mock([twice, "Shipped."]),
        tools=[look],
        context=[Fact("said", "Orders end in a letter.", slot="messages", role="assistant")],
    )
    checkpoint = (await agent.run("Where?")).checkpoint

    shown = shown_history(checkpoint)

    assert [(each["role"], each["content"]) for each in shown][:4] == [
        ("user", "Where?"),
        ("assistant", ""),
        ("tool", "A: shipped"),
        ("tool", "B: shipped"),
    ]
    calls = [call["id"] for call in shown[1]["toolCalls"]]
    assert [each["toolCallId"] for each in shown[2:4]] == calls
    assert len({each["id"] for each in shown} | set(calls)) == len(shown) + 2
    assert [each["role"] for each in shown].count("user") == 1
    assert shown_history(checkpoint) == shown
    assert message_wires(message_models(shown)) == message_wires(message_models(message_wires(message_models(shown))))


def test_what_is_no_message_is_refused_without_its_words() -> None:
    with pytest.raises(AgUiThreadError) as caught:
        message_models([freeze({"role": "marker", "id": "x"})])

    assert "marker" not in str(caught.value)
