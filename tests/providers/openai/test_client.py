"""Tests of agentfootprint.providers.openai.client."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import openai
import pytest

from agentfootprint import Agent, Mock, tool
from agentfootprint.errors import ConfigError, MissingExtraError
from agentfootprint.llm import (
    CallHooks,
    LLMMessage,
    MalformedToolArgsError,
    MissingCredentialError,
    ProviderAuthError,
    ProviderError,
    SupportsStream,
    ToolCall,
)
from agentfootprint.providers import HttpOptions, OpenAIProvider
from agentfootprint.testing import Call, FakeVendor, Manner, OpenAIWire, Reply
from tests.providers.chances import KEY, ask, both
from tests.providers.openai.desks import model_at

WIRE = OpenAIWire(key=KEY)
PAIR = (Call("look_up", {"id": "A-1"}), Call("refund", {"id": "A-1", "why": "über 40 €"}))
LONG = "Order A-1 über 🌍 was sent to Zürich."


async def test_a_text_comes_whole_and_in_pieces_that_add_up_to_it() -> None:
    usage = {
        "prompt_tokens": 11,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    reply = Reply(("Order ", "A-1 ", "über 🌍."), usage=usage, id="chatcmpl-7")
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        whole, streamed, chunks = await both(model, ask(system_prompt="Be short."))

    assert isinstance(model, SupportsStream)
    assert whole == streamed
    assert "".join(chunk.content for chunk in chunks) == whole.content == "Order A-1 über 🌍."
    assert [chunk.token_index for chunk in chunks] == [0, 1, 2, 3]
    assert (whole.stop_reason, whole.provider_ref, whole.tool_calls) == ("stop", "chatcmpl-7", ())
    assert whole.usage is not None
    assert (whole.usage.input, whole.usage.output, whole.usage.cache_read, whole.usage.thinking) == (11, 7, 4, 0)
    assert whole.usage.totals() == (11, 7)
    assert whole.wire_manifest is not None
    assert whole.wire_manifest.tool_names == ("look_up", "refund")
    assert vendor.refused == []


async def test_usage_that_was_not_reported_is_unknown() -> None:
    async with FakeVendor(WIRE, [Reply("x", usage={}), Reply("x", usage={})]) as vendor, model_at(vendor) as model:
        whole, streamed, _ = await both(model, ask())

    assert (whole.usage, streamed.usage) == (None, None)
    assert whole.to_wire()["usage"]["usageReported"] is False


@pytest.mark.parametrize("pieces", [1, 3, 999])
@pytest.mark.parametrize("interleave", [False, True])
async def test_parallel_calls_arrive_in_order_with_their_own_arguments(pieces: int, *, interleave: bool) -> None:
    calls = [Call(call.name, call.args, pieces=pieces) for call in PAIR]
    reply = Reply("Looking.", calls=calls, interleave=interleave)
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        whole, streamed, _ = await both(model, ask())

    assert [(call.name, dict(call.args)) for call in whole.tool_calls] == [(c.name, c.args) for c in PAIR]
    assert [call.args for call in whole.tool_calls] == [call.args for call in streamed.tool_calls]
    assert whole.stop_reason == streamed.stop_reason == "tool_use"
    assert whole.content == streamed.content == "Looking."


@pytest.mark.parametrize("extra", ["one_index", "no_index", "whole_calls", "object_args"])
async def test_calls_of_servers_with_manners_of_their_own_are_never_merged(extra: str) -> None:
    reply = Reply(calls=PAIR, extra={extra: True})
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        whole, streamed, _ = await both(model, ask())

    for response in (whole, streamed):
        assert [(call.name, dict(call.args)) for call in response.tool_calls] == [(c.name, c.args) for c in PAIR]


@pytest.mark.parametrize("extra", ["", "one_index", "no_index"])
async def test_calls_without_ids_get_some_and_calls_that_share_one_are_told_apart(extra: str) -> None:
    bare = Reply(calls=[Call(call.name, call.args, id="") for call in PAIR], extra={extra: True, "whole_calls": True})
    same = Reply(calls=[Call(call.name, call.args, id="c") for call in PAIR], extra={extra: True, "whole_calls": True})
    async with FakeVendor(WIRE, [bare, bare, same, same]) as vendor, model_at(vendor) as model:
        minted, minted_later, _ = await both(model, ask())
        whole, streamed, _ = await both(model, ask())

    assert [call.id for call in minted.tool_calls] == ["openai-call-1", "openai-call-2"]
    assert [call.id for call in minted_later.tool_calls] == ["openai-call-3", "openai-call-4"]
    for response in (whole, streamed):
        assert [call.id for call in response.tool_calls] == ["c", "c-dup1"]
        assert response.tool_calls[1].provider_meta == {"wireId": "c"}
        assert [dict(call.args) for call in response.tool_calls] == [c.args for c in PAIR]


@pytest.mark.parametrize("args", [{}, "", "{}", "  "])
async def test_a_call_without_arguments_has_none(args: Any) -> None:
    reply = Reply(calls=[Call("refund", args)])
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        for response in (await both(model, ask()))[:2]:
            (call,) = response.tool_calls
            assert (dict(call.args), call.args_error) == ({}, None)


@pytest.mark.parametrize("args", ['{"id": "A', "[1]", '"text"', "7", '{"a": NaN}', '{"id":"a"}{"id":"b"}'])
async def test_malformed_arguments_are_a_fact_about_the_call_and_told_without_their_text(args: str) -> None:
    reply = Reply(calls=[Call("refund", args, id="c1"), Call("look_up", {"id": "B"})])
    async with FakeVendor(WIRE, [reply, reply, reply]) as vendor, model_at(vendor) as model:
        for response in (await both(model, ask()))[:2]:
            bad, good = response.tool_calls
            assert bad.args_error is not None
            assert (dict(bad.args), bad.args_error.raw_length) == ({}, len(args))
            assert "A" not in bad.args_error.problem
            assert (dict(good.args), good.args_error) == ({"id": "B"}, None)
        with pytest.raises(MalformedToolArgsError) as caught:
            await model.with_options(on_malformed_args="raise").complete(ask())

    assert (caught.value.tool, caught.value.call_id, caught.value.raw_length) == ("refund", "c1", len(args))
    assert args not in str(caught.value)


@pytest.mark.parametrize(
    ("stop", "wanted"),
    [
        ("stop", "stop"),
        ("length", "max_tokens"),
        ("content_filter", "content_filter"),
        ("function_call", "function_call"),
    ],
)
async def test_a_reason_to_stop_without_a_twin_keeps_the_vendors_word(stop: str, wanted: str) -> None:
    async with FakeVendor(WIRE, [Reply("", stop=stop), Reply("", stop=stop)]) as vendor, model_at(vendor) as model:
        whole, streamed, chunks = await both(model, ask())

    assert (whole.stop_reason, streamed.stop_reason) == (wanted, wanted)
    assert (whole.content, len(chunks)) == ("", 1)


async def test_a_refusal_is_the_answer_and_the_reason() -> None:
    reply = Reply("", refusal="I can't help with that.")
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        whole, streamed, chunks = await both(model, ask())

    for response in (whole, streamed):
        assert (response.content, response.stop_reason) == ("I can't help with that.", "refusal")
    assert "".join(chunk.content for chunk in chunks) == streamed.content


@pytest.mark.parametrize("ref", ["", None])
async def test_the_request_id_stands_in_for_a_body_without_an_id(ref: str | None) -> None:
    reply = Reply("x", id=ref, manner=Manner(headers={"x-request-id": "req_9"}))
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        whole, streamed, _ = await both(model, ask())

    assert {whole.provider_ref, streamed.provider_ref} == ({"req_9"} if ref == "" else {"chatcmpl-1", "chatcmpl-2"})


async def test_leaving_a_stream_and_cancelling_a_call_hang_up() -> None:
    script = [Reply(LONG, manner=Manner(stall_frames=3)), Reply(LONG, manner=Manner(delay=60))]
    async with FakeVendor(WIRE, script) as vendor, model_at(vendor) as model:
        stream: Any = model.stream(ask())
        first = await anext(stream)
        await stream.aclose()
        await vendor.until(lambda: vendor.abandoned == [1])
        task = asyncio.create_task(model.complete(ask()))
        await vendor.until(lambda: len(vendor.requests) == 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await vendor.until(lambda: vendor.abandoned == [1, 2])

    assert first.content


async def test_two_streams_at_once_do_not_mix() -> None:
    def script(request: Any) -> Reply:
        return Reply(request.body["messages"][0]["content"] * 20, manner=Manner(piece=7))

    async def say(model: OpenAIProvider, word: str) -> str:
        return "".join([chunk.content async for chunk in model.stream(ask(word))])

    async with FakeVendor(WIRE, script) as vendor, model_at(vendor) as model:
        left, right = await asyncio.gather(say(model, "left "), say(model, "right "))

    assert (left, right) == ("left " * 20, "right " * 20)


async def test_a_key_may_be_a_function_and_is_asked_once_a_request() -> None:
    keys = iter(["first-key-1", "second-key-2"])

    async def give() -> str:
        return next(keys)

    async with FakeVendor(OpenAIWire(), [Reply("x"), Reply("y")]) as vendor, model_at(vendor, api_key=give) as model:
        await model.complete(ask())
        _ = [chunk async for chunk in model.stream(ask())]

    sent = [request.headers["authorization"] for request in vendor.requests]
    assert sent == ["Bearer first-key-1", "Bearer second-key-2"]


@pytest.mark.parametrize(("given", "kind"), [("", "an empty string"), (None, "None"), (7, "a int")])
async def test_a_function_that_gives_no_key_is_told_the_kind_of_what_it_gave(given: Any, kind: str) -> None:
    async with FakeVendor(WIRE) as vendor, model_at(vendor, api_key=lambda: given) as model:
        with pytest.raises(ProviderAuthError, match=kind):
            await model.complete(ask())

    assert vendor.requests == []


async def test_an_agent_over_the_wire_records_its_prompts_and_never_the_key() -> None:
    @tool
    def look_up(id: str) -> str:
        """Look one order up. Use it first."""
        return f"{id}: sent"

    script = [Reply(calls=[Call("look_up", {"id": "A-1"})]), Reply("It was sent.")]
    async with FakeVendor(WIRE, script) as vendor, model_at(vendor) as model:
        agent = Agent("gpt-4o", provider=model, tools=[look_up], system="Be short.")
        result = await agent.run("Where is A-1?")

    assert result.text == "It was sent."
    assert [message["role"] for message in vendor.bodies[1]["messages"]] == ["system", "user", "assistant", "tool"]
    assert vendor.bodies[1]["model"] == "gpt-4o"
    assert vendor.refused == []
    assert KEY not in repr(result.recording.to_wire())


async def test_a_request_that_goes_on_costs_only_what_is_new() -> None:
    hooks = CallHooks()
    said = [LLMMessage("user", "hi")]
    async with FakeVendor(WIRE, lambda _: Reply("x")) as vendor, model_at(vendor) as model:
        for turn in range(3):
            await model.complete(ask(said), hooks)
            calls = [ToolCall(f"c{turn}", "look_up", {"id": 1.0})]
            said += [LLMMessage("assistant", "", tool_calls=calls), LLMMessage("tool", "ok", tool_call_id=f"c{turn}")]
        fresh = await model.complete(ask(said))
        kept = await model.complete(ask(said), hooks)

    assert vendor.bodies[-1] == vendor.bodies[-2]
    assert vendor.bodies[-1]["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"id":1}'
    assert (fresh.content, kept.content) == ("x", "x")


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"total": {"type": "number"}},
    "required": ["total"],
    "additionalProperties": False,
}


async def test_an_answer_can_be_held_to_a_schema() -> None:
    async with FakeVendor(WIRE, [Reply('{"total": 3}')]) as vendor, model_at(vendor) as model:
        held = model.with_options(output_schema=SCHEMA, output_name="bill")
        response = await held.complete(ask())

    assert model.native_output
    assert response.content == '{"total": 3}'
    assert vendor.bodies[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "bill", "schema": SCHEMA, "strict": True},
    }
    assert vendor.refused == []


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "object", "properties": {}}, r"\$ leaves"),
        ({**SCHEMA, "required": []}, r"\$ does not require 'total'"),
        ({**SCHEMA, "properties": {"total": {"type": "array", "items": {"type": "object"}}}}, r"total\.items"),
    ],
)
def test_a_schema_that_the_vendor_would_not_take_is_refused_by_its_path(schema: Any, path: str) -> None:
    model = OpenAIProvider(http=HttpOptions(api_key=KEY))

    with pytest.raises(ConfigError, match=path):
        model.with_options(output_schema=schema)


@pytest.mark.parametrize("blank", [None, "", "  "])
def test_no_key_is_refused_at_once_with_the_variable(blank: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    if blank is not None:
        monkeypatch.setenv("OPENAI_API_KEY", blank)

    with pytest.raises(MissingCredentialError, match="OPENAI_API_KEY"):
        OpenAIProvider()


def test_a_base_url_that_is_none_and_another_api_are_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="base URL"):
        OpenAIProvider(http=HttpOptions(api_key=KEY, base_url="localhost"))
    with pytest.raises(ConfigError, match="api"):
        OpenAIProvider(api="responses", http=HttpOptions(api_key=KEY))  # type: ignore[arg-type]  refused at run time too


def test_a_missing_package_is_named_with_its_extra() -> None:
    program = """
import sys
sys.modules["openai"] = None
from agentfootprint.errors import MissingExtraError
from agentfootprint.providers import HttpOptions, OpenAIProvider
try:
    OpenAIProvider(http=HttpOptions(api_key="k" * 9))
except MissingExtraError as error:
    print(error.fix)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert 'pip install "agentfootprint[openai]"' in done.stdout
    assert issubclass(MissingExtraError, ImportError)


def test_a_client_of_ones_own_is_used_and_left_open() -> None:
    async def main() -> None:
        async with FakeVendor(WIRE, [Reply("x"), Reply("y")]) as vendor:
            client = openai.AsyncOpenAI(api_key=KEY, base_url=vendor.base_url)
            async with OpenAIProvider(http=HttpOptions(client=client, headers={"x-team": "blue"})) as model:
                await model.complete(ask())
            assert not client.is_closed()
            assert vendor.requests[0].headers["x-team"] == "blue"
            await client.close()

    asyncio.run(main())


async def test_a_closed_provider_refuses_by_name_and_closing_twice_does_nothing() -> None:
    async with FakeVendor(WIRE, [Reply("x")]) as vendor:
        model = model_at(vendor)
        await model.complete(ask())
        await model.aclose()
        await model.aclose()
        await vendor.until(lambda: vendor.connections == 0)
        with pytest.raises(ProviderError, match=r"\[openai\] The provider was closed"):
            await model.complete(ask())


def test_one_provider_serves_one_loop_after_another_and_leaves_nothing_open() -> None:
    model: list[OpenAIProvider] = []
    open_after: list[int] = []

    async def serve(run: Callable[[str], None]) -> None:
        async with FakeVendor(WIRE, lambda _: Reply("x")) as vendor:
            await asyncio.to_thread(run, vendor.base_url)
            await vendor.until(lambda: vendor.connections == 0)
            open_after.append(vendor.connections)

    def twice(address: str) -> None:
        model.append(OpenAIProvider(http=HttpOptions(api_key=KEY, base_url=address)))
        for _ in range(3):
            assert asyncio.run(model[0].complete(ask())).content == "x"

    asyncio.run(serve(twice))

    assert open_after == [0]


def test_a_mock_and_this_adapter_are_asked_alike() -> None:
    model = OpenAIProvider("gpt-4o", http=HttpOptions(api_key=KEY))

    assert model.default_model == "gpt-4o"
    assert model.carries_forced_tool_choice
    assert set(model.carries_in_messages) == set(Mock(["x"]).carries_in_messages)
