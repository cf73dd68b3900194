"""Tests of `vectors/providers`: Anthropic's Messages API, through its own SDK against a fake vendor."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Any

import pytest

from agentfootprint.llm import CacheMarker, LLMChunk, LLMRequest, LLMResponse, ToolSchema, messages_from_wire
from agentfootprint.providers import HttpOptions
from agentfootprint.providers.anthropic import AnthropicProvider
from agentfootprint.testing import AnthropicWire, FakeVendor, Received, Reply
from tests.vectors.harness import Case, assert_same, load

PROVIDERS = load("providers")
ADDED = {"inputIncludesCache", "outputIncludesThinking", "usageReported"}  # DEC-6, DEC-42


@dataclasses.dataclass(frozen=True)
class Verbatim(AnthropicWire):
    """Sends what the vector says, and takes what the reference sent."""

    body: bytes = b'{"id": "m", "content": [], "stop_reason": "end_turn"}'

    def check(self, request: Received) -> None:
        return None

    def whole(self, reply: Reply, request: Received) -> bytes:
        return self.body

    def frames(self, reply: Reply, request: Received) -> list[bytes]:
        return [self.body]


def asked(given: dict[str, Any]) -> LLMRequest:
    thinking, choice = given.get("thinking"), given.get("toolChoice")
    return LLMRequest(
        model=given["model"],
        messages=messages_from_wire(given["messages"]),
        system_prompt=given.get("systemPrompt"),
        tools=[ToolSchema(one["name"], one["description"], one["inputSchema"]) for one in given.get("tools", ())],
        temperature=given.get("temperature"),
        max_tokens=given.get("maxTokens"),
        stop=given.get("stop"),
        cache_markers=[
            CacheMarker(one["field"], one["boundaryIndex"], one["ttl"], one.get("reason"))
            for one in given.get("cacheMarkers", ())
        ],
        thinking=None if thinking is None else thinking["budget"],
        tool_choice=None if choice is None else choice["name"],
    )


def hello(tools: list[str]) -> LLMRequest:
    schemas = [{"name": name, "description": "", "inputSchema": {"type": "object"}} for name in tools]
    return asked({"model": "anthropic", "messages": [{"role": "user", "content": "hi"}], "tools": schemas})


def answered(response: LLMResponse) -> dict[str, Any]:
    wire = response.to_wire()
    wire["usage"] = {name: value for name, value in wire["usage"].items() if name not in ADDED}
    return wire


def at(vendor: FakeVendor) -> AnthropicProvider:
    return AnthropicProvider(http=HttpOptions(api_key="sk-ant-vector", base_url=vendor.base_url))


@pytest.mark.parametrize("case", PROVIDERS.cases("anthropic_request"))
def test_anthropic_request(case: Case) -> None:
    parallel = case.input["options"].get("parallelToolCalls")

    async def sent() -> Any:
        async with FakeVendor(Verbatim(), [Reply()]) as vendor, at(vendor) as model:
            await model.with_options(parallel_tool_calls=parallel).complete(asked(case.input["request"]))
            return vendor.bodies[0]

    assert_same(asyncio.run(sent()), case.expected["wireBody"])


@pytest.mark.parametrize("case", PROVIDERS.cases("anthropic_response"))
def test_anthropic_response(case: Case) -> None:
    async def got() -> LLMResponse:
        wire = Verbatim(body=json.dumps(case.input["message"]).encode())
        async with FakeVendor(wire, [Reply()]) as vendor, at(vendor) as model:
            return await model.complete(hello(case.input["requestTools"]))

    assert_same(answered(asyncio.run(got())), case.expected["response"])


@pytest.mark.parametrize("piece", [None, 1])
@pytest.mark.parametrize("case", PROVIDERS.cases("anthropic_sse_stream"))
def test_anthropic_sse_stream(case: Case, piece: int | None) -> None:
    async def got() -> list[LLMChunk]:
        reply = dataclasses.replace(Reply(), manner=dataclasses.replace(Reply().manner, piece=piece))
        async with FakeVendor(Verbatim(body=case.input["sse"].encode()), [reply]) as vendor, at(vendor) as model:
            return [chunk async for chunk in model.stream(hello([]))]

    chunks = asyncio.run(got())

    # thinking goes by as chunks of its own (ANT-17), of which the reference has none
    told = [chunk for chunk in chunks if chunk.thinking_delta is None]
    for index, (chunk, expected) in enumerate(zip(told, case.expected["chunks"], strict=True)):
        wire = chunk.to_wire() | {"tokenIndex": index}
        if chunk.response is not None:
            wire["response"] = answered(chunk.response)
        assert_same(wire, expected)
    assert [chunk.token_index for chunk in chunks] == list(range(len(chunks)))
