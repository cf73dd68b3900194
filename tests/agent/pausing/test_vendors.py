"""Tests of resumed conversations on strict vendors: each proposal answered once, and nothing of ours on the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentfootprint import Agent, Gates, PauseCheckpoint, approve, decline
from agentfootprint.providers import AnthropicProvider, HttpOptions, OpenAIProvider
from agentfootprint.testing import AnthropicWire, Call, FakeVendor, OpenAIWire, Reply, Wire
from tests.agent.pausing.desk import desk, look, question, refund

SCRIPT = [
    Reply(
        calls=[
            Call("look", {"order": "A"}, id="call_1"),
            Call("ask", {"question": "Vip?"}, id="call_2"),
            Call("look", {"order": "B"}, id="call_3"),
        ]
    ),
    Reply(calls=[Call("refund", {"amount": 480}, id="call_4"), Call("look", {"order": "C"}, id="call_5")]),
    Reply("Refunded."),
]


def provider_at(wire: Wire, url: str) -> Any:
    kind = AnthropicProvider if isinstance(wire, AnthropicWire) else OpenAIProvider
    return kind("test-model", http=HttpOptions(api_key="key-of-a-test", base_url=url))


@pytest.mark.parametrize("wire", [AnthropicWire(), OpenAIWire()], ids=["anthropic", "openai"])
async def test_a_vendor_takes_the_resumed_conversation(wire: Wire) -> None:
    async with FakeVendor(wire, list(SCRIPT)) as vendor:
        first = await desk(provider=provider_at(wire, vendor.base_url)).run("Refund A?")
        assert first.paused is not None
        stored = PauseCheckpoint.from_json(first.paused.checkpoint.to_json())
        second = await desk(provider=provider_at(wire, vendor.base_url)).resume(stored, "a vip")
        last = await desk(provider=provider_at(wire, vendor.base_url)).resume(question(second), approve(by="dana"))

    assert vendor.refused == []
    assert last.text == "Refunded."
    sent = json.dumps(vendor.bodies)
    assert not {"notDispatched", "not_dispatched", "injectedBy", "pausedCall"} & set(sent.replace('"', " ").split())
    assert len(vendor.bodies) == 3


@pytest.mark.parametrize("wire", [AnthropicWire(), OpenAIWire()], ids=["anthropic", "openai"])
async def test_a_vendor_takes_a_conversation_whose_calls_were_decided_together(wire: Wire) -> None:
    calls = [
        *(Call("look", {"order": "A"}, id="call_1"), Call("refund", {"amount": 480}, id="call_2")),
        *(Call("look", {"order": "B"}, id="call_3"), Call("refund", {"amount": "x"}, id="call_4")),
        *(Call("refund", {"amount": 300}, id="call_5"), Call("look", {"order": "C"}, id="call_6")),
    ]
    async with FakeVendor(wire, [Reply(calls=calls), Reply("Refunded.")]) as vendor:
        agents: list[Agent[Any, str]] = [
            Agent(provider_at(wire, vendor.base_url), tools=[look, refund], gates=Gates(ask_together=True))
            for _ in range(2)
        ]
        asked = question(await agents[0].run("Refund both."))
        stored = PauseCheckpoint.from_json(asked.checkpoint.to_json())
        last = await agents[1].resume(stored, [approve(by="dana"), decline(by="dana")])

    assert vendor.refused == []
    assert last.text == "Refunded."
    assert len(vendor.bodies) == 2
