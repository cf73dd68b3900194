"""Tests of `vectors/providers`: bodies, answers and streams of Ollama's native API."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from agentfootprint.llm import LLMChunk, LLMRequest, LLMResponse, ToolSchema, messages_from_wire
from agentfootprint.llm import errors as llm_errors
from agentfootprint.providers.ollama import OllamaProvider, OllamaUnavailableError
from agentfootprint.providers.options import HttpOptions
from tests.vectors.harness import Case, assert_same, load

PROVIDERS = load("providers")
ADDED = ("usageReported",)  # DEC-6
ANY = LLMRequest(model="ollama", messages=messages_from_wire([{"role": "user", "content": "hi"}]))
ADDRESS = "http://localhost:11434"


class Daemon:
    """An Ollama of one answer, and what it was asked."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/api/tags":
            tags = self.given.get("tags")
            return httpx.Response(500) if tags is None else httpx.Response(200, json=tags)
        self.requests.append(request)
        return httpx.Response(self.given["status"], text=self.given["body"])

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(self))


def provider(daemon: Daemon, **http: Any) -> OllamaProvider:
    options = HttpOptions(client=daemon.client(), base_url=http.get("baseUrl") or ADDRESS)
    return OllamaProvider("qwen3", http=options).with_options(on_malformed_args="raise")


def request_of(given: dict[str, Any]) -> LLMRequest:
    return LLMRequest(
        model=given["model"],
        messages=messages_from_wire(given["messages"]),
        system_prompt=given.get("systemPrompt"),
        tools=[ToolSchema(one["name"], one["description"], one["inputSchema"]) for one in given.get("tools", ())],
        temperature=given.get("temperature"),
        max_tokens=given.get("maxTokens"),
        stop=given.get("stop"),
        thinking=given["thinking"]["budget"] if "thinking" in given else None,
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


@pytest.mark.parametrize("case", PROVIDERS.cases("ollama_request"))
def test_request(case: Case) -> None:
    given = case.input
    options, stream = given["options"], given["stream"]
    daemon = Daemon({"status": 200, "body": '{"message":{"content":"x"},"done":true}'})

    async def run() -> None:
        model = provider(daemon, **options).with_options(
            default_max_tokens=options.get("defaultMaxTokens"),
            think=options.get("think"),
            keep_alive=options.get("keepAlive"),
        )
        if stream:
            [_ async for _ in model.stream(request_of(given["request"]))]
        else:
            await model.complete(request_of(given["request"]))

    asyncio.run(run())

    [asked] = daemon.requests
    assert "authorization" not in asked.headers
    headers = {"content-type": asked.headers["content-type"]}
    found = {"url": str(asked.url), "headers": headers, "wireBody": json.loads(asked.content)}
    assert_same(found, case.expected)


def check_error(error: llm_errors.ProviderError, expected: dict[str, Any]) -> None:
    """The facts of an error; its words only need to hold what helps."""
    assert error.wire_name == expected["name"]
    if isinstance(error, OllamaUnavailableError):
        models = expected.get("availableModels")
        assert (error.reason, error.base_url, error.model) == (
            expected["reason"],
            expected["baseUrl"],
            expected["model"],
        )
        assert error.available_models == (None if models is None else tuple(models))
        for word in (error.base_url, "ollama pull qwen3", *(models or ())):
            assert word in str(error)
    else:
        assert error.status == expected["status"]
        assert "out of memory" in str(error)


@pytest.mark.parametrize("case", PROVIDERS.cases("ollama_response"))
def test_response(case: Case) -> None:
    given, expected = case.input, case.expected
    model = provider(Daemon(given))

    async def run() -> list[LLMResponse]:
        return [await model.complete(ANY) for _ in range(given.get("n", 1))]

    if "raises" in expected:
        with pytest.raises(getattr(llm_errors, expected["raises"])) as caught:
            asyncio.run(run())
        assert getattr(caught.value, "tool", None) == expected["toolName"]
    elif "error" in expected:
        with pytest.raises(llm_errors.ProviderError) as caught:
            asyncio.run(run())
        check_error(caught.value, expected["error"])
    else:
        found = [plain(response) for response in asyncio.run(run())]
        assert_same(found, expected.get("responses") or [expected["response"]])


@pytest.mark.parametrize("case", PROVIDERS.cases("ollama_stream"))
def test_stream(case: Case) -> None:
    model, expected = provider(Daemon(case.input)), case.expected

    async def run() -> list[dict[str, Any]]:
        return [plain_chunk(chunk) async for chunk in model.stream(ANY)]

    if "raises" in expected:
        with pytest.raises(getattr(llm_errors, expected["raises"])):
            asyncio.run(run())
    else:
        assert_same(asyncio.run(run()), expected["chunks"])
