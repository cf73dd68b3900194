"""Tests of agentfootprint.llm.request."""

from __future__ import annotations

import gc

import pytest

from agentfootprint.llm import (
    CacheMarker,
    LLMChunk,
    LLMMessage,
    LLMRequest,
    LLMResponse,
    ToolCall,
    ToolSchema,
    Usage,
    WireToolManifest,
)
from agentfootprint.trace import FrozenList


def test_a_request_is_written_without_what_it_does_not_say() -> None:
    request = LLMRequest(model="m", messages=[LLMMessage("user", "hi")])

    assert request.to_wire() == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def test_a_request_is_written_with_all_that_it_says() -> None:
    request = LLMRequest(
        model="m",
        messages=FrozenList([], 0),  # pyright: ignore[reportArgumentType]  registered as a sequence
        system_prompt="Be terse.",
        tools=[ToolSchema("t", "d", {"type": "object"})],
        temperature=0,
        max_tokens=5,
        stop=["END"],
        cache_markers=[CacheMarker("system", 0, "short")],
        thinking=0,
        tool_choice="t",
    )

    assert request.to_wire() == {
        "model": "m",
        "messages": [],
        "systemPrompt": "Be terse.",
        "tools": [{"name": "t", "description": "d", "inputSchema": {"type": "object"}}],
        "temperature": 0,
        "maxTokens": 5,
        "stop": ["END"],
        "cacheMarkers": [{"field": "system", "boundaryIndex": 0, "ttl": "short"}],
        "thinking": {"budget": 0},
        "toolChoice": {"type": "tool", "name": "t"},
    }


def test_what_is_empty_counts_as_absent() -> None:
    request = LLMRequest(model="m", messages=[], system_prompt="", tools=[], stop=(), cache_markers=[])

    assert request == LLMRequest(model="m", messages=[])
    assert request.tools is None


def test_a_response_without_usage_is_unknown_and_not_free() -> None:
    response = LLMResponse("hi", tool_calls=[ToolCall("c", "t", {})], provider_ref="r-1")

    assert isinstance(response.tool_calls, tuple)
    assert response.usage is None
    assert response.to_wire() == {
        "content": "hi",
        "toolCalls": [{"id": "c", "name": "t", "args": {}}],
        "usage": {"input": 0, "output": 0, "usageReported": False},
        "stopReason": "stop",
        "providerRef": "r-1",
    }


def test_a_chunk_is_written_with_its_response() -> None:
    manifest = WireToolManifest(("a",))
    response = LLMResponse("", usage=Usage(input=1, output=0), raw_thinking=[1], wire_manifest=manifest)

    assert LLMChunk(token_index=0, content="", thinking_delta="hm").to_wire() == {
        "tokenIndex": 0,
        "content": "",
        "done": False,
        "thinkingDelta": "hm",
    }
    assert LLMChunk(token_index=1, content="", done=True, response=response).to_wire()["response"] == {
        "content": "",
        "toolCalls": [],
        "usage": {"input": 1, "output": 0},
        "stopReason": "stop",
        "rawThinking": [1],
        "wireManifest": {"toolNames": ["a"]},
    }


@pytest.mark.parametrize(
    "made", [LLMRequest(model="m", messages=()), LLMResponse(), LLMChunk(token_index=0, content="")]
)
def test_what_is_made_for_each_call_is_no_work_for_the_collector(made: object) -> None:
    assert not gc.is_tracked(made)
