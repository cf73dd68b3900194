"""Tests of agentfootprint.llm.mock."""

from __future__ import annotations

import asyncio
import gc
import random
import time
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.errors import ConfigError
from agentfootprint.llm import (
    CURRENT_HOOKS,
    CallHooks,
    InjectedBy,
    LLMChunk,
    LLMMessage,
    LLMProvider,
    LLMRequest,
    LLMResponse,
    Mock,
    ProviderContractError,
    ProviderRateLimitError,
    RequestMessages,
    ScriptExhaustedError,
    StreamTruncatedError,
    SupportsSeed,
    SupportsStream,
    ToolCall,
    ToolSchema,
    Usage,
    WireToolManifest,
)
from agentfootprint.trace import FrozenList, thaw

EMPTY = FrozenList([], 0)


def ask(*messages: LLMMessage, **more: Any) -> LLMRequest:
    return LLMRequest(model="mock-model", messages=messages, **more)


async def chunks_of(model: Mock, request: LLMRequest) -> list[LLMChunk]:
    return [chunk async for chunk in model.stream(request)]


def test_a_mock_is_a_provider_that_streams_and_takes_a_seed() -> None:
    model = Mock()

    assert isinstance(model, LLMProvider)
    assert isinstance(model, SupportsStream)
    assert isinstance(model, SupportsSeed)
    assert (model.name, model.default_model) == ("mock", "mock-model")
    assert model.thinking_handler is not None
    assert model.thinking_handler.id == "mock"


async def test_one_text_is_always_said() -> None:
    model = Mock("Paris.")

    assert [(await model.complete(ask())).content for _ in range(3)] == ["Paris."] * 3


async def test_without_a_script_it_echoes_the_person_and_not_the_library() -> None:
    said = LLMMessage("user", "hello")
    hint = LLMMessage("user", "a hint", injected_by=InjectedBy("h", "fact", 1))
    nudge = LLMMessage("user", "try again", ephemeral=True)

    assert (await Mock().complete(ask(said, hint, nudge))).content == "echo: hello"
    assert (await Mock().complete(ask())).content == ""


async def test_a_list_is_played_in_order_by_both_doors_and_then_refused() -> None:
    model = Mock(["one", "two"])

    first = await model.complete(ask())
    second = await chunks_of(model, ask())
    with pytest.raises(ScriptExhaustedError, match=r"\[mock\] .*2 replies.*number 3") as caught:
        await model.complete(ask())

    assert (first.content, second[-1].response and second[-1].response.content) == ("one", "two")
    assert (caught.value.scripted, caught.value.number, caught.value.retryable) == (2, 3, False)
    model.reset()
    assert (await model.complete(ask())).content == "one"


async def test_a_scripted_error_is_raised_in_its_turn() -> None:
    failure = ProviderRateLimitError("Slow down.", provider="mock", status=429)
    model = Mock([failure, "fine", failure])

    with pytest.raises(ProviderRateLimitError) as caught:
        await model.complete(ask())
    assert caught.value is failure
    assert (await model.complete(ask())).content == "fine"
    with pytest.raises(ProviderRateLimitError):
        await chunks_of(model, ask())


async def test_scripted_chunks_are_streamed_as_given() -> None:
    done = LLMChunk(token_index=2, content="", done=True, response=LLMResponse("Hm. Yes.", raw_thinking={"kind": "x"}))
    chunks = [LLMChunk(token_index=0, content="", thinking_delta="hm"), LLMChunk(token_index=1, content="Yes."), done]

    assert await chunks_of(Mock([chunks]), ask()) == chunks
    assert await Mock([chunks]).complete(ask()) is done.response


async def test_a_terminal_chunk_without_a_response_is_completed_from_the_text() -> None:
    chunks = [LLMChunk(token_index=0, content="Yes."), LLMChunk(token_index=1, content="", done=True)]

    assert await chunks_of(Mock([chunks]), ask()) == chunks
    assert (await Mock([chunks]).complete(ask())).content == "Yes."


async def test_scripted_chunks_without_an_end_are_a_cut_stream() -> None:
    cut = [LLMChunk(token_index=0, content="Half"), LLMChunk(token_index=1, content=" an")]
    model = Mock([cut, cut])
    got: list[LLMChunk] = []

    async def read() -> None:
        async for chunk in model.stream(ask()):
            got.append(chunk)  # noqa: PERF401  what came before the error is asked for

    with pytest.raises(StreamTruncatedError) as caught:
        await read()

    assert got == cut
    assert caught.value.text == "Half an"
    with pytest.raises(StreamTruncatedError):
        await model.complete(ask())


async def test_a_function_reads_the_request() -> None:
    def model(request: LLMRequest) -> str:
        return "APPROVED" if "VIP" in (request.system_prompt or "") else "DECLINED"

    assert (await Mock(model).complete(ask(system_prompt="Dana is VIP."))).content == "APPROVED"
    assert (await Mock(model).complete(ask())).content == "DECLINED"


async def test_a_function_may_ask_for_a_tool() -> None:
    def model(request: LLMRequest) -> LLMResponse | str:
        done = any(message.role == "tool" for message in request.messages)
        return "It has shipped." if done else Mock.call("lookup", order_id="A-1")

    first = await Mock(model).complete(ask())
    second = await Mock(model).complete(ask(LLMMessage("tool", "shipped", tool_call_id="mock-call-1")))

    assert thaw(first.tool_calls[0]) == {"id": "mock-call-1", "name": "lookup", "args": {"order_id": "A-1"}}
    assert first.stop_reason == "tool_use"
    assert second.content == "It has shipped."


async def test_a_function_that_says_nothing_usable_is_refused_by_the_type() -> None:
    model: Any = Mock(lambda _request: None)  # pyright: ignore[reportArgumentType]

    with pytest.raises(ProviderContractError, match="NoneType") as caught:
        await model.complete(ask())

    assert "Mock.call" in caught.value.fix


async def wordings(model: Mock, calls: int = 4) -> list[str]:
    return [(await model.complete(ask())).content for _ in range(calls)]


def rolled(_request: LLMRequest, chance: random.Random) -> str:
    return str(chance.random())


async def test_chance_is_fixed_by_the_seed_and_the_number_of_the_call() -> None:
    model = Mock(rolled, seed=7)

    first = await wordings(model)

    assert len(set(first)) == 4
    assert await wordings(Mock(rolled, seed=7)) == first
    assert await wordings(Mock(rolled, seed=8)) != first
    assert await wordings(Mock(rolled)) != await wordings(Mock(rolled))


async def test_a_mock_with_another_seed_begins_anew_and_leaves_the_first_alone() -> None:
    model = Mock([*"abcdef"], seed=1)
    await model.complete(ask())

    twin = model.with_seed(2)

    assert await wordings(twin, 2) == ["a", "b"]
    assert await wordings(model, 2) == ["b", "c"]
    assert await wordings(Mock(rolled).with_seed(7)) == await wordings(Mock(rolled, seed=7))


async def test_a_default_parameter_of_a_scripted_function_is_left_alone() -> None:
    def model(_request: LLMRequest, text: str = "mine") -> str:
        return text

    assert (await Mock(model).complete(ask())).content == "mine"


def test_only_a_script_without_a_function_is_deterministic_by_construction() -> None:
    assert Mock("x").deterministic
    assert Mock(["x"]).deterministic
    assert not Mock(rolled, seed=1).deterministic


async def test_calls_of_one_reply_get_different_ids() -> None:
    both = LLMResponse(tool_calls=[*Mock.call("a").tool_calls, *Mock.call("b", x=1).tool_calls])
    model = Mock(["", both, LLMResponse(tool_calls=[ToolCall("", "c", {})])])
    await model.complete(ask())

    ids = [[call.id for call in (await model.complete(ask())).tool_calls] for _ in range(2)]

    assert ids == [["mock-call-2", "mock-call-2-2"], [""]]


async def test_usage_is_estimated_replaced_or_withheld() -> None:
    request = ask(LLMMessage("user", "12345"), system_prompt="abcd")

    assert (await Mock("hello world").complete(request)).usage == Usage(input=3, output=3)
    assert (await Mock("x", usage=Usage(cache_read=7)).complete(request)).usage == Usage(
        input=3, output=1, cache_read=7
    )
    assert (await Mock("x", usage=Usage(known=False)).complete(request)).usage == Usage(known=False)
    own = LLMResponse("x", usage=Usage(input=1, output=2))
    assert (await Mock([own], usage=Usage(input=9)).complete(request)).usage == own.usage


async def test_what_a_response_states_is_kept() -> None:
    stated = LLMResponse(
        "x", stop_reason="refusal", provider_ref="r", raw_thinking=[1], wire_manifest=WireToolManifest(("other",))
    )

    got = await Mock([stated]).complete(ask(tools=[ToolSchema("t", "d", {})]))

    assert (got.stop_reason, got.provider_ref, got.raw_thinking) == ("refusal", "r", [1])
    assert got.wire_manifest == stated.wire_manifest


@given(st.text(alphabet=st.sampled_from("ab \n\té"), max_size=20))
def test_the_chunks_of_a_stream_join_to_the_text(text: str) -> None:
    chunks = asyncio.run(chunks_of(Mock(text), ask()))

    words = chunks[:-1]
    done = chunks[-1]
    assert "".join(chunk.content for chunk in words) == (text if text.strip() else "")
    assert [chunk.token_index for chunk in chunks] == list(range(len(chunks)))
    assert all(not chunk.done and chunk.response is None for chunk in words)
    assert (done.done, done.content, done.response and done.response.content) == (True, "", text)


@given(st.lists(st.text(max_size=9), max_size=12), st.integers(0, 12), st.booleans())
def test_counting_what_is_new_equals_counting_the_whole(texts: list[str], seen: int, hooked: bool) -> None:
    messages = [LLMMessage("assistant" if i % 3 else "user", text) for i, text in enumerate(texts)]
    grown = EMPTY.extend(messages)
    hooks = CallHooks() if hooked else None
    model = Mock(lambda request: Mock.call("t", seen=len(request.messages)))

    async def counted(history: FrozenList) -> Usage | None:
        request = LLMRequest(model="m", messages=RequestMessages(history))
        return (await model.complete(request, hooks)).usage

    async def scenario() -> None:
        for history in (grown[:seen], grown, grown.tail(min(seen, len(texts))), grown):
            chars = sum(len(message.content) for message in history)
            assert await counted(history) == Usage(input=-(-chars // 4), output=0)

    asyncio.run(scenario())


async def test_an_iteration_costs_the_same_at_any_length() -> None:
    async def spent(turns: int) -> float:
        """Seconds for the last 200 of so many turns, the best of three."""
        best = float("inf")
        for _ in range(3):
            model, hooks = Mock(lambda _request: Mock.call("t")), CallHooks("r")
            history, view, began = EMPTY, RequestMessages(EMPTY), 0.0
            for turn in range(turns):
                if turn == turns - 200:
                    began = time.process_time()
                history = history.append(LLMMessage("assistant", "a")).append(LLMMessage("tool", "b"))
                view = view.over(history)
                await model.complete(LLMRequest(model="m", messages=view), hooks)
            best = min(best, time.process_time() - began)
        return best

    assert await spent(4000) < 3 * await spent(400)


async def test_a_history_is_not_held_beyond_its_run() -> None:
    class Buffer(list[Any]):
        """A list that can be asked whether it is still there."""

    def history() -> tuple[FrozenList, weakref.ref[Buffer]]:
        buffer = Buffer([LLMMessage("user", "q")])
        return FrozenList(buffer, 1), weakref.ref(buffer)

    model = Mock([Mock.call("t"), "Done."])
    messages, alive = history()
    hooks: CallHooks | None = CallHooks()
    await model.complete(LLMRequest(model="m", messages=RequestMessages(messages)), hooks)
    await model.complete(LLMRequest(model="m", messages=RequestMessages(messages)))
    del messages, hooks
    gc.collect()

    assert alive() is None


async def test_a_cursor_of_the_run_keeps_interleaved_runs_apart() -> None:
    model = Mock(["one", "two"], cursor="run")
    left, right = CallHooks("l"), CallHooks("r")

    said = [(await model.complete(ask(), hooks)).content for hooks in (left, right, left, right)]

    assert said == ["one", "one", "two", "two"]
    with pytest.raises(ScriptExhaustedError):
        await model.complete(ask(), left)


async def test_a_cursor_of_the_run_survives_a_wrapper_that_drops_the_hooks() -> None:
    model = Mock(["one", "two"], cursor="run")

    async def run() -> list[str]:
        CURRENT_HOOKS.set(CallHooks())
        said = [(await model.complete(ask())).content]
        await asyncio.sleep(0)
        return [*said, (await model.complete(ask())).content]

    assert await asyncio.gather(run(), run()) == [["one", "two"]] * 2


async def test_a_cursor_of_the_history_goes_on_in_another_process() -> None:
    script: list[str | LLMResponse] = [Mock.call("a"), "two"]
    answered = [LLMMessage("user", "q"), LLMMessage("assistant", ""), LLMMessage("tool", "ok")]

    assert (await Mock(script, cursor="history").complete(ask(*answered[:1]))).tool_calls
    assert (await Mock(script, cursor="history").complete(ask(*answered))).content == "two"


async def test_a_hundred_runs_of_one_mock_do_not_mix() -> None:
    model = Mock(lambda request: request.messages[-1].content.upper(), delay=(0.0, 0.003), seed=3)

    async def run(number: int) -> bool:
        history = EMPTY
        for turn in range(5):
            text = f"run {number} turn {turn}"
            history = history.append(LLMMessage("user", text))
            got = await model.complete(LLMRequest(model="m", messages=RequestMessages(history)), CallHooks(str(number)))
            chars = sum(len(message.content) for message in history)
            if (got.content, got.usage) != (text.upper(), Usage(input=-(-chars // 4), output=-(-len(text) // 4))):
                return False
        return True

    assert all(await asyncio.gather(*map(run, range(100))))


@pytest.mark.parametrize("door", [Mock.complete, chunks_of])
async def test_waiting_can_be_cancelled(door: Callable[[Mock, LLMRequest], Any]) -> None:
    task = asyncio.ensure_future(door(Mock("x", delay=60.0), ask()))
    await asyncio.sleep(0)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_delays_are_drawn_from_their_span_by_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", note)
    for _ in range(2):
        await chunks_of(Mock("two words", delay=(0.5, 1.0), chunk_delay=(0.0, 0.25), seed=5), ask())
    await chunks_of(Mock("two words", delay=2.0), ask())

    assert waits[:3] == waits[3:6]
    assert 0.5 <= waits[0] <= 1.0
    assert all(0 <= wait <= 0.25 for wait in waits[1:3])
    assert waits[6:] == [2.0]


@pytest.mark.parametrize(
    ("option", "make"),
    [
        ("Mock.script", lambda: Mock(7)),  # pyright: ignore[reportArgumentType]
        ("Mock.script", lambda: Mock(LLMResponse("x"))),  # pyright: ignore[reportArgumentType]
        ("Mock.script", lambda: Mock([7])),  # pyright: ignore[reportArgumentType]
        ("Mock.script", lambda: Mock([["x"]])),  # pyright: ignore[reportArgumentType]
        ("Mock.script", lambda: Mock([ValueError])),  # pyright: ignore[reportArgumentType]
        ("Mock.cursor", lambda: Mock("x", cursor="agent")),  # pyright: ignore[reportArgumentType]
        ("Mock.delay", lambda: Mock("x", delay="1")),  # pyright: ignore[reportArgumentType]
        ("Mock.delay", lambda: Mock("x", delay=-1)),
        ("Mock.delay", lambda: Mock("x", delay=(2.0, 1.0))),
        ("Mock.delay", lambda: Mock("x", delay=float("nan"))),
        ("Mock.chunk_delay", lambda: Mock("x", chunk_delay=(0.0, float("inf")))),
    ],
)
def test_a_mock_that_could_not_answer_is_refused_when_it_is_made(option: str, make: Callable[[], Mock]) -> None:
    with pytest.raises(ConfigError) as caught:
        make()

    assert caught.value.option == option


def test_an_asynchronous_function_is_refused_when_the_mock_is_made() -> None:
    async def model(_request: LLMRequest) -> str:
        return "x"

    with pytest.raises(ConfigError, match="asynchronous"):
        Mock(model)  # pyright: ignore[reportArgumentType]
