"""Tests of agentfootprint.agent.running.pairs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint import Agent, RunCheckpointError, approve, tool
from agentfootprint.agent.running.pairs import PairGuard
from agentfootprint.llm import (
    BrokenPairError,
    CallPosition,
    LLMMessage,
    LLMRequest,
    LLMResponse,
    ToolCall,
    verify_pairs,
)
from agentfootprint.trace import FrozenList
from tests.agent.pausing.together.till import paused

USER = LLMMessage("user", "Go on.")


def turn(*ids: str) -> LLMMessage:
    return LLMMessage("assistant", "", tool_calls=tuple(ToolCall(id_, "look", {}) for id_ in ids))


def answer(id_: str) -> LLMMessage:
    return LLMMessage("tool", "seen", tool_call_id=id_, tool_name="look")


def window(*messages: LLMMessage) -> FrozenList:
    return FrozenList(list(messages), len(messages))


def test_a_conversation_whose_batches_are_whole_may_be_sent() -> None:
    guard = PairGuard()

    assert guard.check(window(USER, turn("a", "a", ""), answer("a"), answer("a"), answer(""), USER)) == ()


def test_results_in_another_order_than_their_calls_are_as_good() -> None:
    assert PairGuard().check(window(USER, turn("a", "b"), answer("b"), answer("a"))) == ()


def test_calls_without_a_result_are_named() -> None:
    found = PairGuard().check(window(USER, turn("a", "b"), answer("a"), USER))

    assert [tuple(place) for place in found] == [(1, 1)]


@pytest.mark.parametrize(
    ("messages", "index"),
    [
        ((answer("a"),), 0),
        ((turn("a"), answer("a"), answer("a")), 2),
        ((turn("a"), answer("a"), USER, answer("b")), 3),
        ((answer("a"), turn("a")), 0),
    ],
)
def test_a_result_that_answers_nothing_is_refused_with_its_place(messages: tuple[LLMMessage, ...], index: int) -> None:
    with pytest.raises(BrokenPairError) as broken:
        PairGuard().check(window(*messages))

    assert broken.value.index == index


def test_what_is_added_is_looked_at_once() -> None:
    guard = PairGuard()
    history = window(USER, turn("a"), answer("a"))
    guard.check(history)
    history.buf[1] = turn("never looked at again")  # nobody may, and so nobody looks

    assert guard.check(history.extend([turn("b"), answer("b")])) == ()
    with pytest.raises(BrokenPairError):
        guard.check(history.extend([answer("c")]))


def test_another_list_is_looked_at_from_its_beginning() -> None:
    guard = PairGuard()
    guard.check(window(USER, turn("a"), answer("a")))

    with pytest.raises(BrokenPairError):
        guard.check(window(answer("a"), USER, USER))


def test_calls_without_a_result_are_named_every_time() -> None:
    guard, history = PairGuard(), window(turn("a"), USER)

    assert len(guard.check(history)) == 1
    assert len(guard.check(history.extend([turn("b"), answer("b")]))) == 1


messages = st.one_of(
    st.just(USER),
    st.lists(st.sampled_from(["a", "b", ""]), max_size=3).map(lambda ids: turn(*ids)),
    st.sampled_from(["a", "b", ""]).map(answer),
)


@given(st.lists(messages, max_size=8), st.integers(0, 8))
def test_it_finds_what_the_verifier_at_the_doors_finds_however_the_conversation_came_to_be(
    said: list[LLMMessage], cut: int
) -> None:
    guard, whole = PairGuard(), window()
    first = whole.extend(said[:cut])

    def verified(check: Any, history: Any) -> Any:
        try:
            return check(history)
        except BrokenPairError as broken:
            return broken.index, broken.reason

    verified(guard.check, first)
    history = first.extend(said[cut:])

    def all_of_it(each: FrozenList) -> tuple[CallPosition, ...]:
        return verify_pairs(tuple(each)).unanswered

    assert verified(guard.check, history) == verified(all_of_it, history)


class Listening:
    name = "listening"
    is_free = True

    def __init__(self) -> None:
        self.requests: list[LLMRequest] = []

    async def complete(self, request: LLMRequest, hooks: Any = None) -> LLMResponse:
        self.requests.append(request)
        if len(self.requests) == 1:
            return LLMResponse("", tool_calls=(ToolCall("a", "pay", {"n": 1}),), stop_reason="tool_use")
        return LLMResponse("Done.")


@tool(check_in="always")
def pay(n: int) -> str:
    """Pay."""
    return f"paid {n}"


async def stored(model: Listening) -> tuple[Agent[Any, str], dict[str, Any]]:
    agent = Agent(model, tools=[pay])
    question = paused(await agent.run("Pay."))
    return agent, json.loads(question.checkpoint.to_json())


async def test_a_request_in_which_a_result_answers_nothing_never_leaves() -> None:
    model = Listening()
    agent, wire = await stored(model)
    wire["sharedState"]["history"].insert(0, {"role": "tool", "content": "ok", "toolCallId": "z", "toolName": "pay"})

    with pytest.raises(RunCheckpointError) as failed:
        await agent.resume(wire, approve(by="dana"))

    assert isinstance(failed.value.cause, BrokenPairError)
    assert failed.value.cause.index == 0
    assert len(model.requests) == 1


async def test_a_request_in_which_a_call_has_no_result_says_that_it_was_not_executed() -> None:
    model = Listening()
    agent, wire = await stored(model)
    call = {"id": "old", "name": "pay", "args": {"n": 0}}
    wire["sharedState"]["history"].insert(0, {"role": "assistant", "content": "", "toolCalls": [call]})

    result = await agent.resume(wire, approve(by="dana"))

    sent = list(model.requests[1].messages)
    assert result.text == "Done."
    assert verify_pairs(sent).unanswered == ()
    assert sent[1].tool_call_id == "old"
    assert "was not executed" in sent[1].content
    assert sent[1].not_dispatched is None


def test_a_run_with_many_iterations_looks_at_each_message_once() -> None:
    looked: list[int] = []

    class Counted(list[LLMMessage]):
        def __getitem__(self, at: Any) -> Any:
            looked.append(at)
            return list[Any].__getitem__(self, at)

    guard, history = PairGuard(), FrozenList(Counted([USER]), 1)
    for place in range(50):
        history = history.extend([turn(f"c{place}"), answer(f"c{place}")])
        guard.check(history)

    assert looked == list(range(101))
