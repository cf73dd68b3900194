"""Tests of `vectors/providers`: the mock, what errors say of themselves, thinking blocks, what calls cost."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from typing import Any

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.llm import (
    LLMRequest,
    LLMResponse,
    Mock,
    ScriptExhaustedError,
    ToolCall,
    ToolSchema,
    Usage,
    classify_error,
    context_window_error,
    error_bucket,
    find_thinking_handler,
    messages_from_wire,
    parse_retry_after,
)
from agentfootprint.resilience import CostBudget, Spending, StaticPricing, charge, checked_budget
from agentfootprint.trace import thaw
from tests.vectors.harness import Case, assert_same, load

PROVIDERS = load("providers")
COVERED = (
    "classify_error",
    "context_window_detection",
    "cost",
    "humanize_llm_error",
    "mock_provider",
    "retry_after",
    "thinking_normalize",
)
ELSEWHERE = (  # test_providers_{anthropic,openai,ollama,environment}.py
    *("anthropic_request", "anthropic_response", "anthropic_sse_stream"),
    *("openai_chat_request", "openai_chat_response", "openai_chat_stream", "azure_url"),
    *("ollama_request", "ollama_response", "ollama_stream", "provider_from_env"),
    "tool_session_key",  # test_tool_sessions.py
)
NOW = dt.datetime(2026, 10, 21, 7, tzinfo=dt.UTC)


class VendorError(Exception):
    """An error with the members that a vector gives it."""

    def __init__(self, described: dict[str, Any]) -> None:
        super().__init__(described.pop("message", ""))
        self.__dict__.update(described)


def reply(given: Any) -> str | LLMResponse:
    if isinstance(given, str):
        return given
    return LLMResponse(
        given.get("content", ""),
        tool_calls=[ToolCall(call["id"], call["name"], call["args"]) for call in given.get("toolCalls", ())],
        stop_reason=given.get("stopReason", "stop"),
    )


def mock(options: dict[str, Any]) -> Mock:
    script = [reply(one) for one in options["replies"]] if "replies" in options else options.get("reply")
    usage = Usage.from_wire(options["usage"]) if "usage" in options else None
    return Mock(script, usage=usage, stop_reason=options.get("stopReason", "stop"))


def request(given: dict[str, Any]) -> LLMRequest:
    return LLMRequest(
        model=given["model"],
        messages=messages_from_wire(given["messages"]),
        system_prompt=given.get("systemPrompt"),
        tools=[ToolSchema(one["name"], one["description"], one["inputSchema"]) for one in given.get("tools", ())],
    )


async def perform(model: Mock, operation: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    asked = request(operation["request"])
    if "error" in expected:
        with pytest.raises(ScriptExhaustedError) as caught:
            await model.complete(asked)
        for word in expected["error"]["messageMentions"]:
            assert word in str(caught.value)
        return expected
    if operation["method"] == "stream":
        return {"chunks": [chunk.to_wire() async for chunk in model.stream(asked)]}
    return {"response": (await model.complete(asked)).to_wire()}


@pytest.mark.parametrize("case", PROVIDERS.cases("mock_provider"))
def test_mock_provider(case: Case) -> None:
    model = mock(case.input["options"])

    async def run() -> list[dict[str, Any]]:
        pairs = zip(case.input["operations"], case.expected["results"], strict=True)
        return [await perform(model, operation, expected) for operation, expected in pairs]

    assert_same({"results": asyncio.run(run())}, case.expected)


@pytest.mark.parametrize("case", PROVIDERS.cases("classify_error"))
def test_classify_error(case: Case) -> None:
    given = case.input

    assert classify_error(None if given.get("value", given) is None else VendorError(given)) == case.expected


@pytest.mark.parametrize("case", PROVIDERS.cases("context_window_detection"))
def test_context_window_detection(case: Case) -> None:
    found = context_window_error(VendorError(case.input), "openai")

    answer = found and {
        "name": found.wire_name,
        "code": found.code,
        "provider": found.provider,
        "limitTokens": found.limit_tokens,
        "actualTokens": found.actual_tokens,
        "status": found.status,
    }
    assert_same(answer, case.expected)


@pytest.mark.parametrize("case", PROVIDERS.cases("retry_after"))
def test_retry_after(case: Case) -> None:
    seconds = parse_retry_after(case.input, now=NOW)

    assert_same(None if seconds is None else seconds * 1000, case.expected)


@pytest.mark.parametrize("case", PROVIDERS.cases("humanize_llm_error"))
def test_humanize_llm_error(case: Case) -> None:
    assert error_bucket(VendorError(case.input)) == case.expected


@pytest.mark.parametrize("case", PROVIDERS.cases("thinking_normalize"))
def test_thinking_normalize(case: Case) -> None:
    handler = find_thinking_handler(case.input["handler"])
    assert handler is not None

    assert_same(thaw(handler.normalize(case.input["raw"])), case.expected)


def prices(given: dict[str, dict[str, float] | str]) -> StaticPricing:
    """The prices of a vector; a text is `Nx MODEL`, that many times what another model costs."""
    table = {model: kinds for model, kinds in given.items() if not isinstance(kinds, str)}
    for model, said in given.items():
        if isinstance(said, str):
            times, _, other = said.partition("x ")
            table[model] = {kind: int(times) * price for kind, price in table[other].items()}
    return StaticPricing(table)


def budget(given: Any, pricing: StaticPricing) -> CostBudget | None:
    match given:
        case {"usd": usd, "onExceed": action}:
            given = CostBudget(usd, on_exceed=action)
        case "NaN":
            given = float("nan")
        case _:
            pass
    return checked_budget(given, pricing=pricing)


def rounded(value: object) -> Any:
    """The same with floats to 12 places, as the file asks."""
    return json.loads(json.dumps(value), parse_float=lambda text: round(float(text), 12))


@pytest.mark.parametrize("case", PROVIDERS.cases("cost"))
def test_cost(case: Case) -> None:
    given = case.input
    if "costBudgetRaw" in given:
        with pytest.raises(ConfigError, match="cost budget") as refused:
            budget(given["costBudgetRaw"], StaticPricing({"small": {"input": 0.001}}))
        assert (refused.value.option, case.expected) == ("limits.cost", {"outcome": "refused"})
        return
    pricing = prices(given["pricing"])
    spending, told = Spending(), list[dict[str, Any]]()

    for call in given["calls"]:
        usage = Usage.from_wire(call["usage"])
        spending, events = charge(
            spending,
            usage,
            model=call["model"],
            provider=call["provider"],
            pricing=pricing,
            budget=budget(given["costBudget"], pricing),
        )
        told += [{"type": event.type, "payload": thaw(event)} for event in events]

    assert_same(rounded({"events": told}), rounded(case.expected))


@pytest.mark.parametrize("file", PROVIDERS.not_built(*COVERED, *ELSEWHERE))
def test_the_topic_is_built(file: str) -> None:
    pytest.fail(f"{file} is neither covered nor skipped")
