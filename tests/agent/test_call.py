"""Tests of agentfootprint.agent.call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest

from agentfootprint import Agent, Limits, LLMMessage, Mock, RecordOptions, RunCheckpointError, Usage, tool
from agentfootprint.agent import DeadlineExceededError, RunCancelledError
from agentfootprint.events import Event
from agentfootprint.llm import LLMChunk, LLMRequest, LLMResponse, ProviderOverloadedError, StreamTruncatedError


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {order_id}: shipped."


class Streaming:
    """A provider that gives the chunks it was told, raises the errors among them, and says when it was let go."""

    name = "streaming"

    def __init__(self, *script: str | LLMChunk | Exception | asyncio.Event) -> None:
        self.script = script
        self.log: list[str] = []

    async def complete(self, request: LLMRequest, hooks: Any = None) -> LLMResponse:
        self.log.append("asked as a whole")
        return LLMResponse("whole")

    async def stream(self, request: LLMRequest, hooks: Any = None) -> AsyncIterator[LLMChunk]:
        try:
            for index, item in enumerate(self.script):
                if isinstance(item, Exception):
                    raise item
                if isinstance(item, asyncio.Event):
                    item.set()
                    await asyncio.Event().wait()
                else:
                    yield LLMChunk(token_index=index, content=item) if isinstance(item, str) else item
        finally:
            await asyncio.sleep(0)
            self.log.append("let go")


def done(response: LLMResponse | None) -> LLMChunk:
    return LLMChunk(token_index=9, content="", done=True, response=response)


def listening(agent: Agent[Any, Any], log: list[str], types: Iterable[str]) -> None:
    for kind in types:
        agent.on(f"agentfootprint.{kind}", lambda event: log.append(event.type.rpartition(".")[2]))


def others() -> set[asyncio.Task[Any]]:
    current = asyncio.current_task()
    return {task for task in asyncio.all_tasks() if task is not current}


async def test_half_of_a_surrogate_pair_is_replaced_wherever_a_model_wrote_it() -> None:
    thought = {"kind": "openai", "summarySteps": ["hm\ud83d"]}
    last = LLMChunk(token_index=1, content="", done=True, response=LLMResponse("a\ud83d", raw_thinking=thought))
    heard: list[str] = []
    agent = Agent(Mock([[LLMChunk(token_index=0, content="a\ud83d"), last]]))
    agent.on("agentfootprint.stream.token", lambda event: heard.append(event.payload.content))
    agent.on("agentfootprint.stream.thinking_end", lambda event: heard.append(event.payload.blocks[0].content))

    result = await agent.run("hi")

    assert (result.text, heard) == ("a\ufffd", ["a\ufffd", "hm\ufffd"])
    assert result.recording.calls[0].content == "a\ufffd"


async def test_pieces_of_thinking_are_told_apart_from_the_text_and_numbered_by_themselves() -> None:
    """THK-6: every piece, never in the text."""
    hm, so = (LLMChunk(token_index=n, content="", thinking_delta=text) for n, text in enumerate(("Hm", ", so")))
    both = LLMChunk(token_index=2, content="Yes", thinking_delta=".")
    agent = Agent(Streaming(hm, so, both, "!", done(LLMResponse("Yes!"))))
    heard: list[tuple[str, int, str]] = []
    for kind in ("token", "thinking_delta"):
        agent.on(
            f"agentfootprint.stream.{kind}",
            lambda event: heard.append(
                (event.type.rpartition(".")[2], event.payload.token_index, event.payload.content)
            ),
        )

    async with agent.stream("Is it so?") as run:
        text = "".join([piece async for piece in run.text()])

    assert text == "Yes!"
    assert heard == [
        *(("thinking_delta", 0, "Hm"), ("thinking_delta", 1, ", so"), ("token", 0, "Yes")),
        *(("thinking_delta", 2, "."), ("token", 1, "!")),
    ]


async def test_a_piece_of_thinking_that_is_no_text_is_the_providers_mistake() -> None:
    odd = LLMChunk(token_index=0, content="", thinking_delta=5)  # pyright: ignore[reportArgumentType]  the mistake

    with pytest.raises(RunCheckpointError) as raised:
        await Agent(Streaming(odd, done(LLMResponse("Yes.")))).run("Is it so?")

    assert "holds a int where its text belongs" in str(raised.value.cause)


async def test_the_pieces_of_an_answer_arrive_in_order_and_numbered_without_the_empty_ones() -> None:
    provider = Streaming("One ", "", "word", ".", done(LLMResponse("One word.")))
    heard: list[Event[Any]] = []
    agent = Agent(provider)
    agent.on("agentfootprint.stream.*", heard.append)

    result = await agent.run("Go.")

    tokens = [event.payload for event in heard[1:-1]]
    assert [heard[0].type, heard[-1].type] == ["agentfootprint.stream.llm_start", "agentfootprint.stream.llm_end"]
    assert [(token.token_index, token.content, token.iteration) for token in tokens] == [
        (0, "One ", 1),
        (1, "word", 1),
        (2, ".", 1),
    ]
    assert result.text == "One word."


@pytest.mark.parametrize(
    ("script", "error", "log"),
    [
        (("a", done(LLMResponse("a")), "never"), None, ["token", "let go", "llm_end"]),
        (("a", done(None)), None, ["token", "let go", "asked as a whole", "llm_end"]),
        (("a", "b"), StreamTruncatedError, ["token", "token", "let go", "fatal"]),
        (
            ("a", ProviderOverloadedError("Busy.", provider="streaming")),
            ProviderOverloadedError,
            ["token", "let go", "fatal"],
        ),
        (("a", LookupError("theirs")), LookupError, ["token", "let go", "fatal"]),
    ],
    ids=["whole", "no response", "cut", "vendor error", "other error"],
)
async def test_however_a_stream_ends_it_is_let_go_before_the_run_goes_on(
    script: Any, error: type[Exception] | None, log: list[str]
) -> None:
    provider = Streaming(*script)
    agent = Agent(provider)
    listening(agent, provider.log, ("stream.token", "stream.llm_end", "error.fatal"))

    if error is None:
        await agent.run("Go.")
    else:
        with pytest.raises(RunCheckpointError) as caught:
            await agent.run("Go.")
        assert isinstance(caught.value.cause, error)

    assert provider.log == log
    assert (others(), agent.inflight) == (set(), ())


async def test_what_arrived_of_a_stream_that_was_cut_is_in_the_error_and_no_answer() -> None:
    with pytest.raises(RunCheckpointError) as caught:
        await Agent(Streaming("The answer ", "is ")).run("Go.")

    assert isinstance(caught.value.cause, StreamTruncatedError)
    assert caught.value.cause.text == "The answer is "


async def test_a_reader_of_a_run_that_fails_sees_all_that_happened_and_then_the_error() -> None:
    provider = Streaming("a", ProviderOverloadedError("Busy.", provider="streaming"))

    async with Agent(provider).stream("Go.") as run:
        types = [event.type.rpartition(".")[2] async for event in run]
        with pytest.raises(RunCheckpointError, match="Busy"):
            await run.result()

    assert types[-4:] == ["llm_start", "token", "fatal", "disposition"]
    assert others() == set()


@pytest.mark.parametrize("way", ["leave", "cancel", "task", "deadline"])
async def test_whatever_stops_a_run_stops_its_model_call_and_nothing_is_heard_after_its_end(way: str) -> None:
    speaking = asyncio.Event()
    provider = Streaming("a", speaking)
    agent = Agent(provider)
    listening(agent, provider.log, ("stream.llm_end", "error.fatal", "integrity.disposition"))

    if way == "leave":
        async with agent.stream("Go.") as run:
            async for event in run:
                if event.type.endswith("token"):
                    break
    elif way == "cancel":
        handle = agent.start("Go.")
        await speaking.wait()
        await handle.cancel("enough")
        with pytest.raises(RunCancelledError, match=r"enough"):
            await handle.result()
    elif way == "task":
        task = asyncio.create_task(agent.run("Go."))
        await speaking.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        with pytest.raises(DeadlineExceededError):
            await agent.run("Go.", limits=Limits(deadline=0.1))

    assert provider.log == ["let go", "fatal", "disposition"]
    assert (others(), agent.inflight) == (set(), ())


def requests_of(script: list[Any], **options: Any) -> list[LLMRequest]:
    seen: list[LLMRequest] = []
    replies = iter(script)

    def model(request: LLMRequest) -> Any:
        seen.append(request)
        return next(replies)

    Agent(Mock(model), **options).run_sync("Where is A-1?")
    return seen


def test_the_second_request_holds_the_turn_in_order() -> None:
    calls = (*Mock.call("lookup", order_id="A-1").tool_calls, *Mock.call("nope").tool_calls)

    first, second = requests_of(
        [LLMResponse("Let me look.", tool_calls=calls, stop_reason="tool_use"), "Shipped."],
        system="Be brief.",
        tools=[lookup],
    )

    assert [(m.role, m.content) for m in first.messages] == [("user", "Where is A-1?")]
    assert [(m.role, m.content, m.tool_name) for m in second.messages] == [
        ("user", "Where is A-1?", None),
        ("assistant", "Let me look.", None),
        ("tool", "Order A-1: shipped.", "lookup"),
        ("tool", "Unknown tool: nope", "nope"),
    ]
    assert [m.tool_call_id for m in second.messages[2:]] == [call.id for call in second.messages[1].tool_calls]
    assert (first.system_prompt, second.system_prompt, second.model) == ("Be brief.", "Be brief.", "mock-model")


def test_what_there_is_none_of_is_absent_from_the_request() -> None:
    (request,) = requests_of(["Hi."])

    assert (request.system_prompt, request.tools, request.temperature) == (None, None, None)


@pytest.mark.parametrize(("record", "text"), [(True, None), (RecordOptions(system_prompt=True), "Sys. 😀")])
def test_the_start_of_a_call_says_what_was_sent_and_the_prompt_only_when_asked(record: Any, text: str | None) -> None:
    heard: list[Any] = []
    agent = Agent(Mock("x"), system="Sys. 😀", tools=[lookup], record=record)
    agent.on("agentfootprint.stream.llm_start", lambda event: heard.append(event.payload))

    agent.run_sync("hi")

    (start,) = heard
    assert (start.system_prompt_chars, start.system_prompt_text) == (7, text)
    assert (start.messages_count, start.tools_count, [each.name for each in start.tools]) == (1, 1, ["lookup"])


@pytest.mark.parametrize(
    ("usages", "known", "totals"),
    [
        ([Usage(input=10, output=1), Usage(input=20, output=2)], True, (30, 3)),
        ([Usage(input=10, output=1), Usage(known=False)], False, (10, 1)),
    ],
    ids=["all known", "one unknown"],
)
def test_tokens_add_up_over_the_calls_of_a_run(usages: list[Usage], known: bool, totals: tuple[int, int]) -> None:
    call = Mock.call("lookup", order_id="1").tool_calls
    script = [LLMResponse(tool_calls=call, usage=usages[0]), LLMResponse("Done.", usage=usages[1])]
    reported: list[Any] = []
    agent = Agent(Mock(script), tools=[lookup])
    agent.on("agentfootprint.stream.llm_end", lambda event: reported.append(event.payload.usage.usage_reported))

    result = agent.run_sync("hi")

    state = result.recording.snapshot["sharedState"]
    assert result.usage.known is known
    assert (state["totalInputTokens"], state["totalOutputTokens"]) == totals
    assert reported == [None, None if known else False]


THOUGHT = {"kind": "anthropic", "blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]}


def test_thinking_travels_with_the_turn_it_belongs_to() -> None:
    call = Mock.call("lookup", order_id="1").tool_calls
    heard: list[Any] = []
    agent = Agent(Mock([LLMResponse(tool_calls=call, raw_thinking=THOUGHT), "Done."]), tools=[lookup])
    agent.on("agentfootprint.stream.thinking_end", lambda event: heard.append(event.payload))

    result = agent.run_sync("hi")

    assert [(b.content, b.signature) for b in result.messages[1].thinking_blocks] == [("Hm.", "s")]
    assert [(end.iteration, end.block_count, end.total_chars) for end in heard] == [(1, 1, 3)]
    assert result.messages[-1] == LLMMessage("assistant", "Done.")


def test_thinking_that_cannot_be_read_is_told_and_does_not_end_the_run() -> None:
    class Handler:
        id, provider_names = "broken", ("streaming",)

        def normalize(self, raw: object) -> list[Any]:
            raise KeyError("blocks")

    provider = Streaming(done(LLMResponse("Done.", raw_thinking=THOUGHT)))
    provider.thinking_handler = Handler()  # type: ignore[attr-defined]  feature-detected
    heard: list[Any] = []
    agent = Agent(provider)
    agent.on("agentfootprint.agent.thinking_parse_failed", lambda event: heard.append(event.payload))

    result = agent.run_sync("hi")

    assert result.text == "Done."
    assert [(each.provider_name, each.error_name, each.iteration) for each in heard] == [("streaming", "KeyError", 1)]
    assert "Hm." not in heard[0].error
