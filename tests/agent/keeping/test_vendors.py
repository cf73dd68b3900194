"""Tests of conversations that go on at strict vendors, however the turn before ended."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agentfootprint import Limits, RunCheckpointError
from agentfootprint.agent import Conversation, DeadlineExceededError
from agentfootprint.providers import AnthropicProvider, HttpOptions, OllamaProvider, OpenAIProvider
from agentfootprint.testing import (
    AnthropicWire,
    Call,
    Failure,
    FakeVendor,
    OllamaWire,
    OpenAIWire,
    Reply,
    Wire,
)
from tests.agent.keeping.desk import desk

LOOK = Reply(calls=[Call("look", {"order": "A"}, id="call_1")])
STUCK = Reply(
    calls=[
        Call("look", {"order": "A"}, id="call_1"),
        Call("hang", {"what": "x"}, id="call_2"),
        Call("look", {"order": "B"}, id="call_3"),
    ]
)
ASKS = Reply(
    calls=[
        Call("look", {"order": "A"}, id="call_1"),
        Call("ask", {"question": "Vip?"}, id="call_2"),
        Call("look", {"order": "B"}, id="call_3"),
    ]
)
FAILS = Failure(400, message="try it differently")
ENDINGS: dict[str, list[Any]] = {
    "answer": [LOOK, Reply("Shipped.")],
    "error": [FAILS],
    "late error": [LOOK, FAILS],
    "cut": [Reply("Half an ans", stop="max_tokens")],
    "deadline": [STUCK],
    "cancel": [STUCK],
    "abandoned": [ASKS],
    "answered": [ASKS, Reply("A vip.")],
    "budget": [LOOK, LOOK],
}


def provider_at(wire: Wire, url: str) -> Any:
    options = HttpOptions(api_key="key-of-a-test", base_url=url)
    if isinstance(wire, OllamaWire):
        return OllamaProvider("test-model", http=HttpOptions(base_url=url))
    kind = AnthropicProvider if isinstance(wire, AnthropicWire) else OpenAIProvider
    return kind("test-model", http=options)


async def first_turn(conversation: Conversation[Any, Any], ending: str) -> None:
    if ending in ("error", "late error"):
        with pytest.raises(RunCheckpointError):
            await conversation.run("Refund A?")
    elif ending == "deadline":
        with pytest.raises(DeadlineExceededError):
            await conversation.run("Refund A?")
    elif ending == "cancel":
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(conversation.run("Refund A?"), 0.3)
    else:
        paused = (await conversation.run("Refund A?")).paused
        if ending == "abandoned":
            await conversation.abandon_pause()
        elif paused is not None:
            await conversation.resume(paused, "yes")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("wire", [AnthropicWire(), OpenAIWire(), OllamaWire()], ids=lambda wire: type(wire).__name__)
async def test_a_vendor_takes_the_next_message_however_the_turn_before_ended(wire: Wire, ending: str) -> None:
    limits = {
        "deadline": Limits(deadline=0.3),
        "budget": Limits(iterations=1, wrap_up=False),
    }.get(ending)
    async with FakeVendor(wire, [*ENDINGS[ending], Reply("Fine.")]) as vendor:
        agent = desk(provider_at(wire, vendor.base_url), limits=limits)
        conversation = agent.conversation()
        await first_turn(conversation, ending)

        stored = json.loads(json.dumps(conversation.to_wire()))
        later = await Conversation.from_wire(stored, agent=desk(provider_at(wire, vendor.base_url))).run("And B?")

    assert vendor.refused == []
    assert later.text == "Fine."
    sent = json.dumps(vendor.bodies)
    assert not {"notDispatched", "injectedBy", "pausedCall", "cause"} & set(sent.replace('"', " ").split())
    assert "And B?" in json.dumps(vendor.bodies[-1])
    assert "Refund A?" in json.dumps(vendor.bodies[-1])
