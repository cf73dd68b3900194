"""Tests of agentfootprint.providers.openai.compatible."""

from __future__ import annotations

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.llm import LLMMessage, ProviderBadRequestError, ToolCall
from agentfootprint.providers import HttpOptions, OpenAICompatibleProvider, OpenAIProvider
from agentfootprint.providers.openai.request import EmptyContent
from agentfootprint.testing import Failure, FakeVendor, OpenAIWire, Reply
from tests.providers.chances import KEY, ask, asked, both
from tests.providers.openai.desks import compatible_at, model_at

WIRE = OpenAIWire(is_compatible=True)
SAID = [
    LLMMessage("user", "hi"),
    LLMMessage("assistant", "", tool_calls=[ToolCall("c", "look_up", {})]),
    LLMMessage("tool", "ok", tool_call_id="c"),
]


async def test_it_is_asked_with_the_older_options_and_without_a_key_of_openais(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with FakeVendor(WIRE, [Reply("x"), Reply("x")]) as vendor, compatible_at(vendor, "qwen") as model:
        whole, streamed, _ = await both(model, ask(SAID, model="openai", max_tokens=9))

    assert (whole.content, streamed.content) == ("x", "x")
    assert (vendor.bodies[0]["model"], vendor.bodies[0]["max_tokens"]) == ("qwen", 9)
    assert vendor.bodies[1]["stream_options"] == {"include_usage": True}
    assert "content" not in vendor.bodies[0]["messages"][1]
    assert vendor.refused == []
    assert all(KEY not in request.headers["authorization"] for request in vendor.requests)
    assert not model.carries_forced_tool_choice


@pytest.mark.parametrize(("empty", "sent"), [("null", None), ("text", ""), ("omit", "absent")])
async def test_a_turn_of_calls_without_text_is_said_as_the_server_wants_it(
    empty: EmptyContent, sent: str | None
) -> None:
    async with (
        FakeVendor(OpenAIWire(), [Reply("x")]) as vendor,
        OpenAICompatibleProvider(vendor.base_url, model="m", empty_content=empty) as model,
    ):
        await model.complete(ask(SAID))

    assert vendor.bodies[0]["messages"][1].get("content", "absent") == sent
    assert vendor.refused == []


async def test_a_server_that_does_not_know_how_to_report_usage_is_asked_without_from_then_on() -> None:
    wire = OpenAIWire(is_compatible=True, knows_usage=False)
    async with FakeVendor(wire, [Reply("x"), Reply("y")]) as vendor, compatible_at(vendor, "m") as model:
        first = await asked(model, ask(), streamed=True)
        second = await asked(model, ask(), streamed=True)

    assert (first.content, second.content, first.usage) == ("x", "y", None)
    assert ["stream_options" in body for body in vendor.bodies] == [True, False, False]


async def test_another_refusal_is_not_tried_again() -> None:
    async with FakeVendor(WIRE, [Failure(400, message="no")]) as vendor, compatible_at(vendor, "m") as model:
        with pytest.raises(ProviderBadRequestError):
            await asked(model, ask(), streamed=True)

    assert len(vendor.requests) == 1


async def test_without_a_model_there_is_nothing_to_ask() -> None:
    async with FakeVendor(WIRE) as vendor, compatible_at(vendor) as model:
        with pytest.raises(ConfigError, match="no model"):
            await model.complete(ask(model="openai"))

    assert vendor.requests == []


async def test_its_thinking_has_a_handler_that_reads_it() -> None:
    reply = Reply("42", thinking="let me see")
    async with FakeVendor(WIRE, [reply, reply]) as vendor, compatible_at(vendor, "m") as model:
        whole, streamed, chunks = await both(model, ask())

    assert model.thinking_handler is not None
    for response in (whole, streamed):
        assert [block.content for block in model.thinking_handler.normalize(response.raw_thinking)] == ["let me see"]
    assert "".join(chunk.thinking_delta or "" for chunk in chunks) == "let me see"


async def test_a_base_url_alone_makes_openai_a_compatible_server(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeVendor(WIRE, [Reply("x")]) as vendor:
        monkeypatch.setenv("OPENAI_BASE_URL", vendor.base_url)
        async with OpenAIProvider("m", http=HttpOptions(api_key=KEY)) as model:
            await model.complete(ask(SAID, max_tokens=9))
        modern = model_at(vendor)

    assert vendor.refused == []
    assert (model.carries_forced_tool_choice, modern.carries_forced_tool_choice) == (False, True)
