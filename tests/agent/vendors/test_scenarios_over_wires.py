"""Tests of whole runs over the vendors' wires: nothing is refused, every call answered once, nothing of ours sent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, cast

import pytest
from pydantic import BaseModel

from agentfootprint import (
    Agent,
    Decision,
    Fact,
    Gates,
    Limits,
    Output,
    PauseCheckpoint,
    RunCheckpointError,
    RunResult,
    ask_human,
    tool,
)
from agentfootprint.agent import Act, PolicyHaltError, RuleOutcome, ToolCallView, approve, ask, before_tool, decline
from agentfootprint.providers import AnthropicProvider, HttpOptions, OllamaProvider, OpenAIProvider
from agentfootprint.security import PermissionDecision, PermissionRequest
from agentfootprint.testing import AnthropicWire, Call, Failure, FakeVendor, OllamaWire, OpenAIWire, Reply, Wire

VENDORS: Final[Mapping[str, tuple[Wire, type[Any]]]] = {
    "anthropic": (AnthropicWire(), AnthropicProvider),
    "openai": (OpenAIWire(), OpenAIProvider),
    "ollama": (OllamaWire(), OllamaProvider),
}
BOOKKEEPING: Final = (
    *("notDispatched", "not_dispatched", "injectedBy", "injected_by", "pausedCall", "haltedCall", "ephemeral"),
    *("argsError", "args_error", "toolCallId", "toolName", "cacheMarkers", "iteration", "agentfootprint"),
)
"""Keys of the library's own that no vendor may see."""


@tool
async def look(order: str) -> str:
    """Look an order up."""
    return f"{order}: shipped"


@tool
async def fail(order: str) -> str:
    """Fail."""
    raise LookupError(f"no {order}")


@tool
async def nothing() -> None:
    """Return nothing."""


@tool
async def inquire(question: str) -> str:
    """Ask a person."""
    ask_human(question)


@tool(check_in="always")
async def refund(amount: float) -> str:
    """Refund an amount."""
    return f"refunded {amount:g}"


TOOLS: Final = [look, fail, nothing, inquire, refund]


@pytest.fixture(params=VENDORS)
def vendor(request: pytest.FixtureRequest) -> FakeVendor:
    return FakeVendor(VENDORS[request.param][0])


@pytest.fixture
def at(vendor: FakeVendor) -> Any:
    """Makes the provider that speaks to the vendor."""
    kind = next(kind for wire, kind in VENDORS.values() if wire == vendor.wire)
    key = None if kind is OllamaProvider else "key-of-a-test"
    return lambda: kind("test-model", http=HttpOptions(api_key=key, base_url=vendor.base_url))


def looks(*orders: str, ids: str = "call") -> list[Call]:
    return [Call("look", {"order": order}, id=f"{ids}_{order}") for order in orders]


def agent_of(provider: Any, **given: Any) -> Agent[Any, Any]:
    settings: dict[str, Any] = {
        "tools": TOOLS,
        "system": "You look after orders.",
        "context": [Fact("today", "May 1.")],
    }
    return Agent(provider, **(settings | given))


def check(vendor: FakeVendor) -> None:
    """Nothing was refused, each proposed call is answered once, in order, and no key of ours was sent."""
    assert vendor.refused == []
    for body in vendor.bodies:
        keys = set(_keys(body))
        assert not keys & set(BOOKKEEPING)
        assert unanswered(body["messages"]) == []


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[str, object]", value).items():
            if key not in ("input", "arguments", "parameters", "input_schema"):  # the application's own
                yield key
                yield from _keys(item)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _keys(item)


def unanswered(messages: list[dict[str, Any]]) -> list[object]:
    """Calls whose answers do not follow them at once, one each, in order; of any vendor's form."""
    open_: list[object] = []
    for message in messages:
        answers = list(_answers(message))
        for answer in answers:
            if not open_ or open_.pop(0) != answer:
                return [answer]
        if not answers and open_:
            return open_
        open_ += _calls(message)
    return open_


def _calls(message: dict[str, Any]) -> Iterator[object]:
    for call in message.get("tool_calls") or ():
        yield call.get("id") or call["function"]["name"]
    yield from (block["id"] for block in _blocks(message) if block["type"] == "tool_use")


def _answers(message: dict[str, Any]) -> Iterator[object]:
    if message["role"] == "tool":
        yield message.get("tool_call_id") or message["tool_name"]
    yield from (block["tool_use_id"] for block in _blocks(message) if block["type"] == "tool_result")


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content: Any = message.get("content")
    return cast("list[dict[str, Any]]", content) if isinstance(content, list) else []


def said(vendor: FakeVendor) -> str:
    """All that the vendor was sent last, as text."""
    return json.dumps(vendor.bodies[-1], ensure_ascii=False)


async def test_a_turn_without_tools(vendor: FakeVendor, at: Any) -> None:
    vendor.then(Reply("Good day."))
    async with vendor:
        result = await agent_of(at(), tools=[]).run("Hello.")

    check(vendor)
    assert result.text == "Good day."


@pytest.mark.parametrize("parallel", [False, True], ids=["in turn", "side by side"])
async def test_calls_of_one_reply_are_answered_in_order(vendor: FakeVendor, at: Any, parallel: Any) -> None:
    calls = [*looks("A", "B"), Call("fail", {"order": "C"}, id="call_C"), Call("nothing", {}, id="call_D")]
    vendor.then(
        Reply("Let me look.", calls=calls),
        Reply(calls=[Call("unknown", {}, id="call_E"), Call("look", {"wrong": 1}, id="call_F")]),
        Reply("Both have shipped."),
    )
    async with vendor:
        agent = agent_of(at(), limits=Limits(parallel_tools=parallel))
        result = await agent.run("Where are A and B?")
        replay = await agent.replay(result.recording)

    check(vendor)
    assert result.text == "Both have shipped."
    assert [record.ok for record in result.tool_calls] == [True, True, False, True, False, False]
    assert replay.difference is None
    assert len(vendor.requests) == 3


async def test_thoughts_go_back_as_they_came(vendor: FakeVendor, at: Any) -> None:
    signature = "c2lnbmVk" if isinstance(vendor.wire, AnthropicWire) else ""
    thinking = "" if isinstance(vendor.wire, OpenAIWire) else "I should look."
    vendor.then(Reply(calls=looks("A"), thinking=thinking, signature=signature), Reply("Shipped."))
    async with vendor:
        agent = agent_of(at())
        result = await agent.run("Where is A?")
        replay = await agent.replay(result.recording)

    check(vendor)
    assert replay.difference is None
    assert ("I should look." in said(vendor)) == bool(signature)  # only who signs a thought wants it back


async def test_the_budget_ends_with_a_wrap_up(vendor: FakeVendor, at: Any) -> None:
    vendor.then(Reply(calls=looks("A", ids="a")), Reply(calls=looks("B", "C", ids="b")), Reply("A has shipped."))
    async with vendor:
        result = await agent_of(at(), limits=Limits(iterations=2)).run("Where are all?")

    check(vendor)
    assert result.text == "A has shipped."
    assert result.stopped_early is not None
    assert not vendor.bodies[-1].get("tools")


class Order(BaseModel):
    """An answer with a type."""

    id: str
    days: int


@pytest.mark.parametrize("strategy", ["instruct", "tool-forced"])
async def test_an_answer_that_does_not_fit_is_asked_for_again(
    vendor: FakeVendor, at: Any, strategy: Literal["instruct", "tool-forced"]
) -> None:
    if strategy == "tool-forced" and not isinstance(vendor.wire, AnthropicWire):
        pytest.skip("a server of this wire, other than the vendor's own, is not known to carry a forced tool choice")
    right = {"id": "A", "days": 3}
    if strategy == "instruct":
        vendor.then(Reply("Soon."), Reply('{"id": "A"}'), Reply(json.dumps(right)))
    else:
        vendor.then(
            Reply(calls=[Call("respond_with_schema", {"id": "A"}, id="call_1")]),
            Reply(calls=[Call("respond_with_schema", right, id="call_2")]),
        )
    async with vendor:
        output = Output(Order, strategy=strategy, retries=2)
        tools = TOOLS if strategy == "instruct" else []
        agent = agent_of(at(), tools=tools, output=output)
        result = await agent.run("When does A come?")
        replay = await agent.replay(result.recording)

    check(vendor)
    assert result.output == Order(id="A", days=3)
    assert replay.difference is None


async def test_a_reply_that_the_limit_cut_runs_nothing(vendor: FakeVendor, at: Any) -> None:
    stop = "max_tokens" if isinstance(vendor.wire, AnthropicWire) else "length"
    vendor.then(Reply("Let me", calls=looks("A", "B"), stop=stop), Reply("I could not look."))
    async with vendor:
        result = await agent_of(at()).run("Where are A and B?")

    check(vendor)
    assert [record.dispatched for record in result.tool_calls] == [False, False]


async def test_denied_calls_are_answered_too(vendor: FakeVendor, at: Any) -> None:
    vendor.then(Reply(calls=looks("A", "B")), Reply("I may not look at A."))
    async with vendor:
        result = await agent_of(at(), gates=Gates(permission=Guard())).run("Where are A and B?")

    check(vendor)
    assert [record.denied for record in result.tool_calls] == [True, False]


class Guard:
    """A checker that denies one order, and halts on another."""

    name = "guard"

    def check(self, request: PermissionRequest) -> PermissionDecision:
        order = request.context.get("order")
        if order == "HALT":
            return PermissionDecision("halt", reason="enough")
        return PermissionDecision("deny" if order == "A" else "allow", reason="private")


async def test_what_a_halt_left_is_taken_up_by_the_next_turn(vendor: FakeVendor, at: Any) -> None:
    vendor.then(Reply(calls=looks("B", "HALT", "C")), Reply("What else?"))
    async with vendor:
        agent = agent_of(at(), gates=Gates(permission=Guard()))
        conversation = agent.conversation()
        with pytest.raises(PolicyHaltError):
            await conversation.run("Where are all?")
        result = await conversation.run("Never mind.")

    check(vendor)
    assert result.text == "What else?"


@before_tool(name="careful")
def careful(view: ToolCallView) -> RuleOutcome:
    """Has a person decide about every look at B."""
    return ask("May I?") if view.args.get("order") == "B" else RuleOutcome("allow")


@pytest.mark.parametrize("answer", [approve(by="dana"), decline(by="dana", note="no")], ids=["approved", "declined"])
async def test_questions_about_calls_are_answered_in_any_process(vendor: FakeVendor, at: Any, answer: Decision) -> None:
    vendor.then(
        Reply(calls=[*looks("A", "B", "C"), Call("refund", {"amount": 5}, id="call_5")]),
        Reply(calls=[Call("refund", {"amount": 5}, id="call_6"), *looks("D", ids="more")]),
        Reply("Done."),
    )
    gates = Gates(act=Act(before_tool=[careful]))
    async with vendor:
        first = await agent_of(at(), gates=gates).run("Look at all, and refund 5.")
        second = await agent_of(at(), gates=gates).resume(stored(first), answer)
        last = await agent_of(at(), gates=gates).resume(stored(second), answer)
        agent = agent_of(at(), gates=gates)
        replays = [
            await agent.replay(first.recording),
            await agent.replay(second.recording, paused=stored(first)),
            await agent.replay(last.recording, paused=stored(second)),
        ]

    check(vendor)
    assert last.text == "Done."
    assert [replay.difference for replay in replays] == [None] * 3
    assert len(vendor.requests) == 3


async def test_a_question_of_a_tool_is_answered_or_given_up(vendor: FakeVendor, at: Any) -> None:
    question = Call("inquire", {"question": "Vip?"}, id="call_q")
    vendor.then(Reply(calls=[*looks("A"), question, *looks("B")]), Reply("A vip."), Reply("As you like."))
    async with vendor:
        agent = agent_of(at())
        first = await agent.run("Who is A?")
        answered = await agent.resume(stored(first), "yes")
        given_up = await agent.run("Never mind.", continue_from=first)

    check(vendor)
    assert (answered.text, given_up.text) == ("A vip.", "As you like.")


def stored(result: RunResult[Any]) -> PauseCheckpoint:
    """The checkpoint as another process reads it."""
    assert result.paused is not None
    return PauseCheckpoint.from_json(result.paused.checkpoint.to_json())


async def test_a_conversation_goes_on(vendor: FakeVendor, at: Any) -> None:
    vendor.then(Reply(calls=looks("A")), Reply("Shipped."), Reply(calls=looks("B")), Reply("B too."))
    async with vendor:
        agent = agent_of(at())
        conversation = agent.conversation()
        await conversation.run("Where is A?")
        result = await conversation.run("And B?")
        replay = await agent.replay(result.recording)

    check(vendor)
    assert result.text == "B too."
    assert "Where is A?" in said(vendor)
    assert replay.difference is None


async def test_a_turn_that_the_vendor_failed_is_tried_again(vendor: FakeVendor, at: Any) -> None:
    vendor.then(Reply(calls=looks("A", "B")), Failure(400, message="no"), Reply("Both shipped."))
    async with vendor:
        agent = agent_of(at())
        with pytest.raises(RunCheckpointError) as failed:
            await agent.run("Where are A and B?")
        result = await agent.resume_on_error(failed.value.checkpoint)

    check(vendor)
    assert result.text == "Both shipped."
    assert said(vendor).count("Where are A and B?") == 1
