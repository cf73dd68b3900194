"""Tests of `vectors/providers`: bodies, answers and streams of OpenAI's Chat Completions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai
import pytest

from agentfootprint.llm import LLMChunk, LLMRequest, LLMResponse, ToolSchema, messages_from_wire
from agentfootprint.llm import errors as llm_errors
from agentfootprint.providers.openai import AzureOpenAIProvider, OpenAIProvider
from agentfootprint.providers.openai.azure import azure_base
from agentfootprint.providers.options import HttpOptions
from tests.vectors.harness import Case, assert_same, load

PROVIDERS = load("providers")
ADDED = ("inputIncludesCache", "outputIncludesThinking", "usageReported")  # DEC-6, DEC-42


class ThrownError(httpx2.TransportError):
    """What the SDK's HTTP client raises where a vector says `__throw`."""


class Body(httpx2.AsyncByteStream):
    """The chunks of a vector as the events of a stream, which breaks where the vector says so."""

    def __init__(self, chunks: list[dict[str, Any]]) -> None:
        self.chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            if "__throw" in chunk:
                raise ThrownError(chunk["__throw"])
            yield f"data: {json.dumps(chunk)}\n\n".encode()
        yield b"data: [DONE]\n\n"


class Asked:
    """An OpenAI of one answer, and the bodies it was asked with."""

    def __init__(self, answer: httpx2.Response) -> None:
        self.answer = answer
        self.bodies: list[Any] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.bodies.append(json.loads(request.content))
        return self.answer

    def client(self) -> openai.AsyncOpenAI:
        transport = httpx2.MockTransport(self)
        return openai.AsyncOpenAI(
            api_key="key-of-a-vector", max_retries=0, http_client=httpx2.AsyncClient(transport=transport)
        )


def request_of(given: dict[str, Any]) -> LLMRequest:
    choice = given.get("toolChoice")
    return LLMRequest(
        model=given["model"],
        messages=messages_from_wire(given["messages"]),
        system_prompt=given.get("systemPrompt"),
        tools=[ToolSchema(one["name"], one["description"], one["inputSchema"]) for one in given.get("tools", ())],
        temperature=given.get("temperature"),
        max_tokens=given.get("maxTokens"),
        stop=given.get("stop"),
        tool_choice=None if choice is None else choice["name"],
    )


def plain(response: LLMResponse) -> dict[str, Any]:
    """The response as the vectors write it: without the keys that Python adds."""
    wire = response.to_wire()
    wire["usage"] = {key: value for key, value in wire["usage"].items() if key not in ADDED}
    wire.pop("wireManifest", None)
    return wire


def plain_chunk(chunk: LLMChunk) -> dict[str, Any]:
    wire = chunk.to_wire()
    return wire if chunk.response is None else {**wire, "response": plain(chunk.response)}


def error_class(name: str) -> type[Exception]:
    return getattr(llm_errors, name)


ANY = LLMRequest(model="openai", messages=messages_from_wire([{"role": "user", "content": "hi"}]))
WHOLE = {"id": "r", "choices": [{"index": 0, "message": {"content": "x"}, "finish_reason": "stop"}]}
PIECES = [{"id": "r", "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]}]
STREAM = {"content-type": "text/event-stream"}


@pytest.mark.parametrize("case", PROVIDERS.cases("openai_chat_request"))
def test_request(case: Case) -> None:
    options, stream = case.input["options"], case.input["stream"]
    asked = Asked(
        httpx2.Response(200, stream=Body(PIECES), headers=STREAM) if stream else httpx2.Response(200, json=WHOLE)
    )

    async def run() -> bool:
        http = HttpOptions(client=asked.client(), base_url=options.get("baseURL"))
        model = OpenAIProvider(options.get("defaultModel"), http=http)
        model = model.with_options(default_max_tokens=options.get("defaultMaxTokens"))
        if stream:
            [_ async for _ in model.stream(request_of(case.input["request"]))]
        else:
            await model.complete(request_of(case.input["request"]))
        return model.carries_forced_tool_choice

    forced = asyncio.run(run())

    expected = case.expected
    expected.pop("rule", None)
    assert_same({"wireBody": asked.bodies[0], "carriesForcedToolChoice": forced}, expected)


@pytest.mark.parametrize("case", PROVIDERS.cases("openai_chat_response"))
def test_response(case: Case) -> None:
    asked = Asked(httpx2.Response(200, json=case.input["completion"]))
    model = OpenAIProvider(http=HttpOptions(client=asked.client())).with_options(on_malformed_args="raise")
    expected = case.expected

    if "raises" in expected:
        with pytest.raises(error_class(expected["raises"])) as caught:
            asyncio.run(model.complete(ANY))
        assert getattr(caught.value, "phase", None) == expected.get("phase", getattr(caught.value, "phase", None))
    else:
        assert_same({"response": plain(asyncio.run(model.complete(ANY)))}, expected)


@pytest.mark.parametrize("case", PROVIDERS.cases("openai_chat_stream"))
def test_stream(case: Case) -> None:
    asked = Asked(httpx2.Response(200, stream=Body(case.input["sdkChunks"]), headers=STREAM))
    model = OpenAIProvider(http=HttpOptions(client=asked.client())).with_options(on_malformed_args="raise")
    expected = case.expected
    chunks: list[dict[str, Any]] = []

    async def run() -> None:
        async for chunk in model.stream(ANY):
            chunks.append(plain_chunk(chunk))  # noqa: PERF401  those before an error are compared too

    if "raises" in expected:
        with pytest.raises(error_class(expected["raises"])):
            asyncio.run(run())
    elif "error" in expected:
        with pytest.raises(llm_errors.ProviderError, match=r"^\[openai\] ") as caught:
            asyncio.run(run())
        assert caught.value.wire_name == expected["error"]["name"]
        assert_same(chunks, expected["chunks"])
    else:
        asyncio.run(run())
        assert_same(chunks, expected["chunks"])


@pytest.mark.parametrize("case", PROVIDERS.cases("azure_url"))
def test_azure_url(case: Case) -> None:
    given = case.input
    urls: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        urls.append(str(request.url))
        return httpx2.Response(200, json=WHOLE)

    async def call() -> None:
        base = azure_base(given["endpoint"])
        client = openai.AsyncOpenAI(
            api_key="key-of-a-vector",
            base_url=base,
            http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(answer)),
        )
        http = HttpOptions(client=client)
        model = AzureOpenAIProvider(
            given["deployment"], endpoint=given["endpoint"], api_version=given["apiVersion"], http=http
        )
        await model.complete(ANY)

    if given["fn"] == "base":
        assert azure_base(given["endpoint"]) == case.expected
    else:
        asyncio.run(call())
        assert urls == [case.expected]
