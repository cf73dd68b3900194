"""Tests of agentfootprint.providers.anthropic.client."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from agentfootprint.errors import MissingExtraError
from agentfootprint.llm import (
    CallHooks,
    LLMMessage,
    MalformedToolArgsError,
    MissingCredentialError,
    ProviderError,
    SupportsStream,
    ToolCall,
    find_thinking_handler,
)
from agentfootprint.providers import AnthropicProvider, HttpOptions
from agentfootprint.testing import AnthropicWire, Call, FakeVendor, Manner, Reply
from tests.providers.anthropic.desks import PAIR, WIRE, ask, both, collected, model_at
from tests.providers.chances import KEY


async def test_a_text_comes_whole_and_in_pieces_that_add_up_to_it() -> None:
    usage = {"input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 5}
    reply = Reply(("Order ", "A-1 ", "über 🌍."), usage=usage, id="msg_7")
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        whole, streamed, chunks = await both(model, ask(system_prompt="Be short."))

    assert whole == streamed
    assert "".join(chunk.content for chunk in chunks) == whole.content == "Order A-1 über 🌍."
    assert [chunk.token_index for chunk in chunks] == [0, 1, 2, 3]
    assert (whole.stop_reason, whole.provider_ref, whole.tool_calls) == ("stop", "msg_7", ())
    assert whole.usage is not None
    assert (whole.usage.input, whole.usage.output, whole.usage.cache_read, whole.usage.cache_write) == (11, 7, 0, 5)
    assert whole.usage.totals() == (16, 7)
    assert whole.wire_manifest is not None
    assert whole.wire_manifest.tool_names == ("look_up", "refund")
    assert vendor.refused == []


async def test_usage_that_was_not_reported_is_unknown_and_what_was_thought_is_inside_the_output() -> None:
    usage = {"input_tokens": 1, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 6}}
    script = [Reply("x", usage={}), Reply("x", usage={}), Reply("x", usage=usage)]
    async with FakeVendor(WIRE, script) as vendor, model_at(vendor) as model:
        whole, streamed, _ = await both(model, ask())
        counted = (await model.complete(ask())).usage

    assert whole.usage is not None
    assert whole.usage == streamed.usage
    assert not whole.usage.known
    assert counted is not None
    assert (counted.thinking, counted.totals()) == (6, (1, 9))


@pytest.mark.parametrize("pieces", [1, 3, 999])
@pytest.mark.parametrize("interleave", [False, True])
async def test_parallel_calls_arrive_in_order_with_their_own_arguments(pieces: int, *, interleave: bool) -> None:
    calls = [Call(call.name, call.args, pieces=pieces) for call in PAIR]
    reply = Reply("Looking.", calls=calls, interleave=interleave)
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        whole, streamed, _ = await both(model, ask())

    assert [(call.name, dict(call.args)) for call in whole.tool_calls] == [(c.name, c.args) for c in PAIR]
    assert [(call.id, call.args) for call in whole.tool_calls] != [(call.id, call.args) for call in streamed.tool_calls]
    assert [call.args for call in whole.tool_calls] == [call.args for call in streamed.tool_calls]
    assert whole.stop_reason == streamed.stop_reason == "tool_use"
    assert whole.content == streamed.content == "Looking."


@pytest.mark.parametrize("args", [{}, "", "{}", "  "])
async def test_a_call_without_arguments_has_none(args: Any) -> None:
    async with FakeVendor(WIRE, [Reply(calls=[Call("refund", args)])]) as vendor, model_at(vendor) as model:
        chunks = [chunk async for chunk in model.stream(ask())]

    assert chunks[-1].response is not None
    (call,) = chunks[-1].response.tool_calls
    assert (dict(call.args), call.args_error) == ({}, None)


@pytest.mark.parametrize("args", ['{"id": "A', '{"id": }', "[1]", "null", '"{}"', '{"n": NaN}', '{"a": 1}{"b": 2}'])
async def test_arguments_that_are_no_object_are_a_fact_about_the_call_and_their_text_is_nowhere(args: str) -> None:
    async with FakeVendor(WIRE, [Reply(calls=[Call("refund", args)])] * 2) as vendor, model_at(vendor) as model:
        chunks = [chunk async for chunk in model.stream(ask())]
        with pytest.raises(MalformedToolArgsError) as caught:
            await collected(model.with_options(on_malformed_args="raise"))

    assert chunks[-1].response is not None
    (call,) = chunks[-1].response.tool_calls
    assert dict(call.args) == {}
    assert call.args_error is not None
    assert call.args_error.raw_length == len(args)
    assert (caught.value.tool, caught.value.raw_length, caught.value.block_index) == ("refund", len(args), 0)
    assert args not in str(caught.value)


@pytest.mark.parametrize("args", ["[1]", "not json", "null"])
async def test_such_arguments_are_told_on_the_whole_path_too(args: str) -> None:
    expected = args != "null"  # no value is no arguments where there is no text
    async with FakeVendor(WIRE, [Reply(calls=[Call("refund", args)])]) as vendor, model_at(vendor) as model:
        (call,) = (await model.complete(ask())).tool_calls

    assert dict(call.args) == {}
    assert (call.args_error is not None) is expected


async def test_ids_that_are_missing_or_repeated_are_made_whole() -> None:
    calls = [Call("refund", id=""), Call("refund", id="same"), Call("refund", id="same"), Call("refund", id="")]
    async with FakeVendor(WIRE, [Reply(calls=calls), Reply(calls=calls)]) as vendor, model_at(vendor) as model:
        whole, streamed, _ = await both(model, ask())

    assert [call.id for call in whole.tool_calls] == ["anthropic-call-1", "same", "same-dup1", "anthropic-call-2"]
    assert [call.id for call in streamed.tool_calls] == ["anthropic-call-3", "same", "same-dup1", "anthropic-call-4"]
    assert whole.tool_calls[2].provider_meta["wireId"] == "same"


@pytest.mark.parametrize(
    ("reply", "stop", "text"),
    [
        (Reply(), "stop", ""),
        (Reply(refusal="I can't."), "refusal", "I can't."),
        (Reply("cut", stop="max_tokens"), "max_tokens", "cut"),
        (Reply("so", stop="stop_sequence"), "stop_sequence", "so"),
        (Reply("later", stop="pause_turn"), "pause_turn", "later"),
        (Reply("x", stop="of_tomorrow"), "of_tomorrow", "x"),
    ],
)
async def test_the_reason_why_it_stopped_is_the_vendors(reply: Reply, stop: str, text: str) -> None:
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        whole, streamed, _ = await both(model, ask())

    assert (whole.stop_reason, whole.content) == (streamed.stop_reason, streamed.content) == (stop, text)


async def test_what_no_client_knows_is_passed_over() -> None:
    reply = Reply("Hello.", extra={"unknown": True}, manner=Manner(noise=True, crlf=True, piece=1))
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        whole, streamed, _ = await both(model, ask())

    assert whole.content == streamed.content == "Hello."


async def test_thinking_goes_by_apart_from_the_text_and_comes_back_byte_for_byte() -> None:
    signature, redacted = " Sig+/=\n", "UkVEQUNURUQ="
    first = Reply("So:", calls=PAIR[:1], thinking="hmm, müsste", signature=signature, redacted=redacted)
    async with FakeVendor(WIRE, [first, first, Reply("Done.")]) as vendor, model_at(vendor) as model:
        whole, streamed, chunks = await both(model, ask(thinking=2000))
        handler = model.thinking_handler
        assert handler is not None
        blocks = handler.normalize(streamed.raw_thinking)
        said = LLMMessage("assistant", "So:", tool_calls=streamed.tool_calls, thinking_blocks=blocks)
        told = LLMMessage("tool", "shipped", tool_call_id=streamed.tool_calls[0].id)
        await model.complete(ask([LLMMessage("user", "hi"), said, told], thinking=2000))

    assert "".join(chunk.thinking_delta or "" for chunk in chunks) == "hmm, müsste"
    assert all(chunk.content == "" for chunk in chunks if chunk.thinking_delta)
    assert whole.content == "So:"
    assert handler.normalize(whole.raw_thinking) == blocks
    assert vendor.refused == []
    assert vendor.bodies[2]["messages"][1]["content"][:2] == [
        {"type": "thinking", "thinking": "hmm, müsste", "signature": signature},
        {"type": "redacted_thinking", "data": redacted},
    ]


async def test_a_reply_that_ended_for_another_reason_hands_out_no_call_that_could_be_run() -> None:
    reply = Reply(calls=[Call("refund", {"id": "A-1"})], stop="refusal")
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        whole, streamed, _ = await both(model, ask())

    for response in (whole, streamed):
        assert response.tool_calls[0].args_error is not None
        assert dict(response.tool_calls[0].args) == {}


async def test_a_key_function_is_asked_once_a_request_and_a_stream_keeps_the_key_it_began_with() -> None:
    keys: Iterator[str] = iter(["key-number-one", "key-number-two", "key-number-three"])

    async def next_key() -> str:
        return next(keys)

    script = [Reply("Hello, you.")] * 3
    async with FakeVendor(AnthropicWire(), script) as vendor, model_at(vendor, api_key=next_key) as model:
        opened = model.stream(ask())
        await anext(opened)
        await model.complete(ask())
        rest = [chunk async for chunk in opened]
        await model.complete(ask())

    assert rest[-1].done
    assert [request.headers["authorization"] for request in vendor.requests] == [
        f"Bearer key-number-{number}" for number in ("one", "two", "three")
    ]


async def test_two_streams_of_one_provider_do_not_mix() -> None:
    wire = FakeVendor(WIRE, lambda got: Reply(got.body["messages"][0]["content"] * 9))
    async with wire as vendor, model_at(vendor) as model:

        async def whole(text: str) -> str:
            return "".join([chunk.content async for chunk in model.stream(ask(text))])

        assert await asyncio.gather(*map(whole, "abcdef")) == [letter * 9 for letter in "abcdef"]


async def test_a_history_that_grows_is_sent_as_if_it_were_new() -> None:
    hooks = CallHooks()
    async with FakeVendor(WIRE, [Reply("x")] * 4) as vendor, model_at(vendor) as model:
        messages = [LLMMessage("user", "one")]
        for step in range(2):
            call = ToolCall("same", "look_up", {"step": step})
            messages += [LLMMessage("assistant", "", tool_calls=[call]), LLMMessage("tool", "r", tool_call_id="same")]
            await model.complete(ask(messages), hooks)
            await model.complete(ask(messages))

    assert vendor.refused == []
    assert vendor.bodies[0] == vendor.bodies[1]
    assert vendor.bodies[2] == vendor.bodies[3]


def test_each_event_loop_gets_a_client_of_its_own_and_none_is_left_open() -> None:
    ready, stop, address = threading.Event(), threading.Event(), list[str]()
    left = list[int]()

    async def serve() -> None:
        async with FakeVendor(WIRE, lambda _: Reply("Hello.")) as vendor:
            address.append(vendor.base_url)
            ready.set()
            await asyncio.to_thread(stop.wait)
            await vendor.until(lambda: not vendor.connections)
            left.append(vendor.connections)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    model = AnthropicProvider(http=HttpOptions(api_key=KEY, base_url=address[0]))

    answers = [asyncio.run(model.complete(ask())).content for _ in range(3)]
    stop.set()
    thread.join()

    assert answers == ["Hello."] * 3
    assert left == [0]


async def test_a_closed_provider_refuses_by_name_and_leaves_a_given_client_open() -> None:
    async with FakeVendor(WIRE, [Reply("Hello.")] * 2) as vendor:
        given = anthropic.AsyncAnthropic(api_key=KEY, base_url=vendor.base_url, max_retries=0)
        model = AnthropicProvider(http=HttpOptions(client=given))
        assert (await model.complete(ask())).content == "Hello."
        await model.aclose()
        await model.aclose()
        with pytest.raises(ProviderError, match=r"\[anthropic\] The provider was closed"):
            await model.complete(ask())
        assert not given.is_closed()
        await given.close()


@pytest.mark.parametrize("value", [None, "", "   "])
def test_no_key_is_refused_at_construction_naming_the_variable(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("ANTHROPIC_API_KEY", value)

    with pytest.raises(MissingCredentialError, match="ANTHROPIC_API_KEY"):
        AnthropicProvider()


async def test_key_and_address_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeVendor(WIRE, [Reply("Hello.")]) as vendor:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", vendor.base_url)
        async with AnthropicProvider("claude-x") as model:
            await model.complete(ask())
        assert (model.default_model, vendor.bodies[0]["model"]) == ("claude-x", "claude-x")


def test_a_missing_package_is_told_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)

    with pytest.raises(MissingExtraError, match=r"agentfootprint\[anthropic\]"):
        AnthropicProvider(http=HttpOptions(api_key=KEY))


def test_the_adapter_is_there_without_loading_the_sdk() -> None:
    program = "import agentfootprint.providers.anthropic.client, sys; assert 'anthropic' not in sys.modules"

    subprocess.run([sys.executable, "-c", program], check=True)


def test_it_says_what_it_can() -> None:
    model = AnthropicProvider(http=HttpOptions(api_key=KEY))

    assert isinstance(model, SupportsStream)
    assert (model.name, model.carries_in_messages, model.carries_forced_tool_choice) == (
        "anthropic",
        ("user", "assistant"),
        True,
    )
    assert model.thinking_handler is find_thinking_handler("anthropic")


def test_every_part_of_the_sdk_that_is_used_is_there() -> None:
    client = anthropic.AsyncAnthropic(api_key=KEY)

    for owner, names in (
        (client, ("post", "close", "with_options", "is_closed", "api_key", "auth_token", "base_url")),
        (anthropic.AsyncStream, ("raw_events",)),
        (anthropic, ("Timeout", "APIStatusError", "APIConnectionError", "APITimeoutError")),
    ):
        assert [name for name in names if not hasattr(owner, name)] == []
