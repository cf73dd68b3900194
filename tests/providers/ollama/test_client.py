"""Tests of agentfootprint.providers.ollama.client."""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint import Agent, tool
from agentfootprint.errors import ConfigError
from agentfootprint.llm import (
    CallHooks,
    LLMMessage,
    ProviderBadRequestError,
    ProviderConnectionError,
    ProviderError,
    ProviderModelNotFoundError,
    ProviderRateLimitError,
    ProviderServerError,
    ProviderStreamError,
    ProviderTimeoutError,
    StreamTruncatedError,
    ToolCall,
    find_thinking_handler,
)
from agentfootprint.providers import HttpOptions, OllamaProvider, OllamaUnavailableError
from agentfootprint.testing import Call, Failure, FakeVendor, Manner, OllamaWire, Reply
from tests.providers.chances import ask, asked, both

WIRE = OllamaWire()
PAIR = (Call("look_up", {"id": "A-1"}), Call("refund", {"id": "A-1", "why": "über 40 €"}))
LONG = "Order A-1 über 🌍 was sent to Zürich."


def model_at(vendor: FakeVendor, model: str = "qwen3", **http: Any) -> OllamaProvider:
    return OllamaProvider(model, http=HttpOptions(base_url=vendor.base_url, **http))


async def failure_of(*answers: Reply | Failure, streamed: bool = False, **http: Any) -> ProviderError:
    """What a call raises when the daemon answers so."""
    async with FakeVendor(WIRE, answers) as vendor, model_at(vendor, **http) as model:
        with pytest.raises(ProviderError) as caught:
            await asked(model, ask(), streamed=streamed)
        assert vendor.refused == []
    return caught.value


async def test_a_text_comes_whole_and_in_pieces_that_add_up_to_it() -> None:
    reply = Reply(("Order ", "A-1 ", "über 🌍."), usage={"prompt_eval_count": 11, "eval_count": 7})
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        whole, streamed, chunks = await both(model, ask(model="ollama", system_prompt="Be short."))

    assert whole == streamed
    assert "".join(chunk.content for chunk in chunks) == whole.content == "Order A-1 über 🌍."
    assert [chunk.token_index for chunk in chunks] == [0, 1, 2, 3]
    assert (whole.stop_reason, whole.provider_ref, whole.tool_calls) == ("stop", None, ())
    assert whole.usage is not None
    assert whole.usage.totals() == (11, 7)
    assert whole.wire_manifest is not None
    assert whole.wire_manifest.tool_names == ("look_up", "refund")
    assert vendor.bodies[0]["model"] == "qwen3"
    assert vendor.refused == []


async def test_usage_that_was_not_reported_is_unknown() -> None:
    async with FakeVendor(WIRE, [Reply("x", usage={}), Reply("x", usage={})]) as vendor, model_at(vendor) as model:
        whole, streamed, _ = await both(model, ask())

    assert (whole.usage, streamed.usage) == (None, None)


async def test_parallel_calls_have_ids_of_their_own_that_count_on() -> None:
    bare = Reply("Looking.", calls=PAIR)
    same = Reply(calls=[Call(call.name, call.args, id="c") for call in PAIR])
    async with FakeVendor(WIRE, [bare, bare, same, same]) as vendor, model_at(vendor) as model:
        minted, later, _ = await both(model, ask())
        whole, streamed, _ = await both(model, ask())

    assert [call.id for call in (*minted.tool_calls, *later.tool_calls)] == [f"ollama-call-{n}" for n in (1, 2, 3, 4)]
    assert (minted.content, minted.stop_reason) == ("Looking.", "tool_use")
    for response in (minted, later, whole, streamed):
        assert [(call.name, dict(call.args)) for call in response.tool_calls] == [(c.name, c.args) for c in PAIR]
    assert [call.id for call in whole.tool_calls] == [call.id for call in streamed.tool_calls] == ["c", "c-dup1"]


@pytest.mark.parametrize("args", ['{"id": "A', "nonsense", '"{}"', "[1]"])
async def test_malformed_arguments_are_a_fact_about_the_call(args: str) -> None:
    reply = Reply(calls=[Call("refund", args), Call("look_up", '{"id": "B"}')])
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        for response in (await both(model, ask()))[:2]:
            bad, good = response.tool_calls
            assert bad.args_error is not None
            assert (dict(bad.args), bad.args_error.raw_length) == ({}, len(args))
            assert (dict(good.args), good.args_error) == ({"id": "B"}, None)


async def test_thinking_comes_in_pieces_of_its_own_and_is_read_by_its_handler() -> None:
    reply = Reply("42", thinking="let me see")
    async with FakeVendor(WIRE, [reply, reply]) as vendor, model_at(vendor) as model:
        whole, streamed, chunks = await both(model, ask(thinking=100))
        quiet = model.with_options(think=False)
        vendor.then(reply)
        await quiet.complete(ask(thinking=100))

    handler = find_thinking_handler(model.name)
    assert handler is not None
    assert [block.content for block in handler.normalize(whole.raw_thinking)] == ["let me see"]
    assert whole == streamed
    assert "".join(chunk.thinking_delta or "" for chunk in chunks) == "let me see"
    assert [body["think"] for body in vendor.bodies] == [True, True, False]


@pytest.mark.parametrize(("stop", "wanted"), [(None, "stop"), ("length", "max_tokens"), ("unload", "unload")])
async def test_a_reason_to_stop_without_a_twin_keeps_the_vendors_word(stop: str | None, wanted: str) -> None:
    async with FakeVendor(WIRE, [Reply("", stop=stop), Reply("", stop=stop)]) as vendor, model_at(vendor) as model:
        whole, streamed, chunks = await both(model, ask())

    assert (whole.stop_reason, streamed.stop_reason, whole.content, len(chunks)) == (wanted, wanted, "", 1)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        (400, ProviderBadRequestError),
        (429, ProviderRateLimitError),
        (500, ProviderServerError),
        (502, ProviderServerError),
    ],
)
async def test_each_status_is_an_error_of_its_own(status: int, wanted: type[ProviderError], *, streamed: bool) -> None:
    error = await failure_of(Failure(status, message="out of memory", headers={"retry-after": "3"}), streamed=streamed)

    assert type(error) is wanted
    assert (error.status, error.retry_after, error.wire_name) == (status, 3.0, "OllamaProviderError")
    assert "out of memory" in str(error)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_model_that_is_not_there_says_how_to_get_it_and_what_is(*, streamed: bool) -> None:
    wire = OllamaWire(models=frozenset(("llama3.2:latest", "phi4")))
    async with FakeVendor(wire) as vendor, model_at(vendor, "qwen3:8b") as model:
        with pytest.raises(OllamaUnavailableError, match=r"llama3\.2:latest, phi4.*ollama pull qwen3:8b") as caught:
            await asked(model, ask(model="ollama"), streamed=streamed)

    error = caught.value
    assert isinstance(error, ProviderModelNotFoundError)
    assert (error.reason, error.model, error.retryable) == ("model-not-pulled", "qwen3:8b", False)
    assert error.available_models == ("llama3.2:latest", "phi4")
    assert pickle.loads(pickle.dumps(error)).available_models == error.available_models


async def test_nothing_listening_says_how_to_start_it() -> None:
    async with FakeVendor(WIRE) as vendor:
        nowhere = vendor.base_url
    async with OllamaProvider("qwen3", http=HttpOptions(base_url=nowhere)) as model:
        with pytest.raises(OllamaUnavailableError, match=r"ollama serve.*OLLAMA_HOST") as caught:
            await model.complete(ask())

    error = caught.value
    assert isinstance(error, ProviderConnectionError)
    assert (error.reason, error.base_url, error.retryable) == ("daemon-unreachable", nowhere, True)
    assert nowhere in str(error)


async def test_a_daemon_that_does_not_begin_to_answer_is_unreachable_and_a_timeout() -> None:
    error = await failure_of(Reply("x", manner=Manner(delay=30)), timeout=1)

    assert isinstance(error, OllamaUnavailableError)
    assert isinstance(error, ProviderTimeoutError)
    assert error.reason == "daemon-unreachable"


async def test_a_stream_that_falls_silent_is_a_timeout() -> None:
    error = await failure_of(Reply(LONG, manner=Manner(stall_frames=2)), streamed=True, timeout=1)

    assert (type(error), error.phase) == (ProviderTimeoutError, "stream")


async def test_a_connection_that_is_dropped_is_told_as_such() -> None:
    assert type(await failure_of(Failure(drop=True))) is ProviderConnectionError


@pytest.mark.parametrize("frames", [0, 1, 3])
async def test_an_error_inside_a_stream_is_raised(frames: int) -> None:
    reply = Reply(LONG, manner=Manner(failure_frames=frames, failure=Failure(message="the runner stopped")))

    error = await failure_of(reply, streamed=True)

    assert (type(error), error.phase) == (ProviderStreamError, "stream")
    assert "the runner stopped" in str(error)


async def test_an_error_inside_a_whole_answer_of_status_200_is_raised() -> None:
    error = await failure_of(Failure(200, body=b'{"error": "the runner stopped"}'))

    assert "the runner stopped" in str(error)


@pytest.mark.parametrize("ending", ["clean", "dropped", "reset"])
async def test_a_stream_that_is_cut_anywhere_is_never_taken_for_whole(ending: Any) -> None:
    async with FakeVendor(WIRE, [Reply(LONG, calls=PAIR)]) as vendor, model_at(vendor) as model:
        await asked(model, ask(), streamed=True)
        whole = sum(map(len, WIRE.frames(Reply(LONG, calls=PAIR), vendor.requests[0])))
    cuts = [*range(0, whole, 29), whole - 2, whole - 1]
    script = [Reply(LONG, calls=PAIR, manner=Manner(cut_bytes=cut, ending=ending)) for cut in cuts]
    heard: list[int] = []

    async with FakeVendor(WIRE, script) as vendor, model_at(vendor) as model:
        for cut in cuts:
            try:
                response = await asked(model, ask(), streamed=True)
            except (StreamTruncatedError, ProviderConnectionError):
                continue
            heard.append(cut)
            assert (response.content, [dict(c.args) for c in response.tool_calls]) == (LONG, [c.args for c in PAIR])

    assert set(heard) <= {whole - 1}, "only the end of the last line may be missing"


async def test_a_stream_survives_being_split_at_every_byte() -> None:
    reply = Reply((LONG, "\ud83d", "\ude00 \u2028"), calls=PAIR, manner=Manner(piece=1, crlf=True))
    async with FakeVendor(WIRE, [reply]) as vendor, model_at(vendor) as model:
        response = await asked(model, ask(), streamed=True)

    assert response.content == f"{LONG}\U0001f600 \u2028"
    assert [dict(call.args) for call in response.tool_calls] == [c.args for c in PAIR]


async def test_a_plain_request_that_is_answered_by_a_stream_is_refused() -> None:
    error = await failure_of(Reply("several pieces of it", manner=Manner(other_form=True)))

    assert type(error) is ProviderStreamError


async def test_leaving_a_stream_and_cancelling_a_call_stop_the_model() -> None:
    script = [Reply(LONG, manner=Manner(stall_frames=3)), Reply(LONG, manner=Manner(delay=60))]
    async with FakeVendor(WIRE, script) as vendor, model_at(vendor) as model:
        stream: Any = model.stream(ask())
        await anext(stream)
        await stream.aclose()
        await vendor.until(lambda: vendor.abandoned == [1])
        task = asyncio.create_task(model.complete(ask()))
        await vendor.until(lambda: len(vendor.requests) == 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await vendor.until(lambda: vendor.abandoned == [1, 2])


async def test_an_answer_can_be_held_to_a_schema() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"total": {"type": "number"}}}
    async with FakeVendor(WIRE, [Reply("{}")]) as vendor, model_at(vendor) as model:
        await model.with_options(output_schema=schema).complete(ask())

    assert vendor.bodies[0]["format"] == schema


async def test_an_agent_over_the_wire_answers_every_call() -> None:
    @tool
    def look_up(id: str) -> str:
        """Look one order up. Use it first."""
        return f"{id}: sent"

    script = [Reply(calls=[Call("look_up", {"id": "A-1"}), Call("look_up", {"id": "B-2"})]), Reply("Both were sent.")]
    async with FakeVendor(WIRE, script) as vendor, model_at(vendor) as model:
        result = await Agent(model, tools=[look_up]).run("Where are they?")

    assert result.text == "Both were sent."
    assert [message.get("tool_name") for message in vendor.bodies[1]["messages"][-2:]] == ["look_up", "look_up"]
    assert vendor.refused == []


async def test_a_request_that_goes_on_costs_only_what_is_new() -> None:
    hooks = CallHooks()
    said = [LLMMessage("user", "hi")]
    async with FakeVendor(WIRE, lambda _: Reply("x")) as vendor, model_at(vendor) as model:
        await model.complete(ask(said), hooks)
        said += [
            LLMMessage("assistant", "", tool_calls=[ToolCall("c", "look_up", {"id": 1})]),
            LLMMessage("tool", "ok", tool_call_id="c"),
        ]
        await model.complete(ask(said))
        await model.complete(ask(said), hooks)

    assert vendor.bodies[-1] == vendor.bodies[-2]


def test_an_address_may_come_from_the_environment_and_a_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="no key"):
        OllamaProvider("qwen3", http=HttpOptions(api_key="key-of-somebody"))
    monkeypatch.setenv("OLLAMA_HOST", "http://[box")
    with pytest.raises(ConfigError, match="base URL"):
        OllamaProvider("qwen3")


def test_a_missing_package_is_named_with_its_extra() -> None:
    program = """
import sys
sys.modules["httpx"] = None
from agentfootprint.errors import MissingExtraError
from agentfootprint.providers import OllamaProvider
try:
    OllamaProvider("qwen3")
except MissingExtraError as error:
    print(error.fix)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert 'pip install "agentfootprint[ollama]"' in done.stdout


def test_one_provider_serves_one_loop_after_another_and_leaves_nothing_open() -> None:
    def thrice(address: str) -> None:
        model = OllamaProvider("qwen3", http=HttpOptions(base_url=address))
        for _ in range(3):
            assert asyncio.run(model.complete(ask())).content == "x"

    async def serve(run: Callable[[str], None]) -> int:
        async with FakeVendor(WIRE, lambda _: Reply("x")) as vendor:
            await asyncio.to_thread(run, vendor.base_url)
            await vendor.until(lambda: vendor.connections == 0)
            return len(vendor.requests)

    assert asyncio.run(serve(thrice)) == 3
