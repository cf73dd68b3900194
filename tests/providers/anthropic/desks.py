"""What the tests of this room ask, and whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agentfootprint.llm import LLMChunk, LLMMessage, LLMRequest, LLMResponse, ProviderError, ToolSchema
from agentfootprint.providers import AnthropicProvider, HttpOptions
from agentfootprint.testing import AnthropicWire, Call, Failure, FakeVendor, Reply
from tests.providers.chances import KEY

WIRE = AnthropicWire(key=KEY)
PAIR = (Call("look_up", {"id": "A-1"}), Call("refund", {"id": "A-1", "why": "über 40 €"}))

LOOK_UP = ToolSchema("look_up", "Look one order up.", {"type": "object", "properties": {"id": {"type": "string"}}})
REFUND = ToolSchema("refund", "Refund one order.", {"type": "object"})


def model_at(vendor: FakeVendor, model: str | None = None, **http: Any) -> AnthropicProvider:
    """The adapter, talking to a fake vendor."""
    given: dict[str, Any] = {"api_key": KEY, "base_url": vendor.base_url, **http}
    return AnthropicProvider(model, http=HttpOptions(**given))


def ask(
    messages: str | Sequence[LLMMessage] = "hi", tools: Sequence[ToolSchema] = (LOOK_UP, REFUND), **given: Any
) -> LLMRequest:
    said = [LLMMessage("user", messages)] if isinstance(messages, str) else messages
    return LLMRequest(model="anthropic", messages=said, tools=tools, **given)


async def both(model: AnthropicProvider, request: LLMRequest) -> tuple[LLMResponse, LLMResponse, list[LLMChunk]]:
    """The answer as a whole, the streamed one, and its chunks."""
    whole = await model.complete(request)
    chunks = [chunk async for chunk in model.stream(request)]
    streamed = chunks[-1].response
    assert streamed is not None
    return whole, streamed, chunks


async def collected(model: AnthropicProvider) -> list[LLMChunk]:
    return [chunk async for chunk in model.stream(ask())]


async def failure_of(*answers: Reply | Failure, streamed: bool = False, **http: Any) -> ProviderError:
    """What a call raises when the vendor answers so."""
    async with FakeVendor(WIRE, answers) as vendor, model_at(vendor, **http) as model:
        with pytest.raises(ProviderError) as caught:
            await (collected(model) if streamed else model.complete(ask()))
        assert vendor.refused == []
        assert len(vendor.requests) == 1, "the SDK must not repeat a call"
    return caught.value
