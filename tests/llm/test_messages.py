"""Tests of agentfootprint.llm.messages."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any, cast

import msgspec
import pytest

from agentfootprint.llm import (
    ArgsError,
    CallRef,
    InjectedBy,
    InvalidMessageError,
    LLMMessage,
    LLMResponse,
    NotDispatched,
    ThinkingBlock,
    ToolCall,
    ToolSchema,
    whole_text,
)
from agentfootprint.trace import FrozenDict, ValueRefusedError, freeze, thaw

FULL = LLMMessage(
    "assistant",
    "Let me look.",
    tool_calls=[ToolCall("c1", "lookup", {"order": {"id": 4411}}, provider_meta={"sig": "=="})],
    thinking_blocks=[ThinkingBlock("thinking", "hm", signature="S")],
    injected_by=InjectedBy("tone", "instruction", 2, "when angry"),
)


def test_a_message_is_written_with_what_it_has_and_nothing_else() -> None:
    assert thaw(LLMMessage("user", "")) == {"role": "user", "content": ""}
    assert thaw(FULL) == {
        "role": "assistant",
        "content": "Let me look.",
        "toolCalls": [{"id": "c1", "name": "lookup", "args": {"order": {"id": 4411}}, "providerMeta": {"sig": "=="}}],
        "thinkingBlocks": [{"type": "thinking", "content": "hm", "signature": "S"}],
        "injectedBy": {"injectionId": "tone", "flavor": "instruction", "iteration": 2, "reason": "when angry"},
    }


def test_the_mark_of_a_call_that_never_ran_is_an_object() -> None:
    paused = NotDispatched(paused_call=CallRef("c1", "ask"))
    halted = NotDispatched(halted_call=CallRef("c1", "pay"), cause="halt")

    assert thaw(LLMMessage("tool", "x", tool_call_id="c2", tool_name="b", not_dispatched=paused)) == {
        "role": "tool",
        "content": "x",
        "toolCallId": "c2",
        "toolName": "b",
        "notDispatched": {"pausedCall": {"toolCallId": "c1", "toolName": "ask"}},
    }
    assert thaw(halted) == {"haltedCall": {"toolCallId": "c1", "toolName": "pay"}, "cause": "halt"}
    assert thaw(LLMMessage("tool", "x", not_dispatched=NotDispatched(cause="cut")))["notDispatched"] == {"cause": "cut"}


def test_a_call_without_arguments_still_has_the_key() -> None:
    assert thaw(ToolCall("", "now", {})) == {"id": "", "name": "now", "args": {}}
    assert thaw(ToolCall("c", "now", {}, args_error=ArgsError("no JSON object", 12)))["argsError"] == {
        "problem": "no JSON object",
        "rawLength": 12,
    }


def test_what_the_vendor_sent_is_told_from_what_it_did_not_send() -> None:
    assert "providerMeta" not in thaw(ToolCall("c", "t", {}))
    assert thaw(ToolCall("c", "t", {}, provider_meta=None))["providerMeta"] is None


def test_arguments_are_frozen_once_and_then_shared() -> None:
    given = {"tags": ["a"]}
    call = ToolCall("c", "t", given)
    given["tags"].append("b")

    assert thaw(call.args) == {"tags": ["a"]}
    assert isinstance(call.args, FrozenDict)
    assert ToolCall("d", "t", call.args).args is call.args
    assert ToolSchema("t", "d", call.args).input_schema is call.args


def test_a_message_is_a_frozen_value_that_no_collector_has_to_visit() -> None:
    message = LLMMessage("user", "hi")

    assert freeze(message) is message
    assert not gc.is_tracked(message)
    with pytest.raises(AttributeError):
        message.content = "other"  # pyright: ignore[reportAttributeAccessIssue]


def test_lists_are_kept_as_tuples() -> None:
    assert isinstance(FULL.tool_calls, tuple)
    assert isinstance(FULL.thinking_blocks, tuple)
    assert LLMMessage("user", "hi", tool_calls=[]) == LLMMessage("user", "hi")


def through_pickle(message: LLMMessage) -> LLMMessage:
    return pickle.loads(pickle.dumps(message))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, through_pickle])
def test_a_message_survives_copies_and_processes(again: Any) -> None:
    twin = again(FULL)

    assert twin == FULL
    assert twin.tool_calls[0].args == FULL.tool_calls[0].args
    assert "provider_meta" in repr(twin)


def test_a_message_may_be_made_from_another() -> None:
    bare = msgspec.structs.replace(FULL, injected_by=None)

    assert bare.tool_calls is FULL.tool_calls
    assert bare != FULL


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("role", lambda: LLMMessage("developer", "x")),  # pyright: ignore[reportArgumentType]
        ("content", lambda: LLMMessage("user", None)),  # pyright: ignore[reportArgumentType]
        ("toolCallId", lambda: LLMMessage("tool", "x", tool_call_id=7)),  # pyright: ignore[reportArgumentType]
        ("toolCalls[]", lambda: LLMMessage("assistant", "", tool_calls=[{"id": "c"}])),  # pyright: ignore[reportArgumentType]
        ("toolCalls[].id", lambda: ToolCall(None, "t", {})),  # pyright: ignore[reportArgumentType]
        ("thinkingBlocks[].content", lambda: ThinkingBlock("thinking", None)),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_is_no_message_is_refused_by_its_field(field: str, make: Any) -> None:
    with pytest.raises(InvalidMessageError) as caught:
        make()

    assert caught.value.field == field
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LLMMessage("user", "\ud800"),
        lambda: ThinkingBlock("thinking", "hm", signature="\ud800"),
        lambda: ToolCall("c", "t", {}, provider_meta={"a": "\ud800"}),
    ],
)
def test_what_json_can_not_hold_is_refused_where_it_enters(make: Any) -> None:
    with pytest.raises(ValueRefusedError):
        make()


def deep() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(100_000):
        found = {"a": found}
    return found


@pytest.mark.parametrize(
    ("given", "problem", "length"),
    [
        ({"a": ["\ud800"]}, "a text with a lone surrogate, at a[0]", 0),
        ({"a": {"b": float("nan")}}, "a number that is not finite, at a.b", 0),
        ({"\ud800": float("nan")}, "a number that is not finite, at \ufffd", 0),
        (deep(), "a value nested too deeply", 0),
        ([1, 2], "they are a list and no object", 0),
        (7, "they are a number and no object", 0),
        (True, "they are true or false and no object", 0),
        (None, "they are null and no object", 0),
        (object(), "they are something else and no object", 0),
        ("secret-text", "they are a text and no object", 11),
    ],
    ids=lambda part: part if isinstance(part, str) and part.isascii() else "",
)
def test_arguments_that_a_model_got_wrong_are_a_fact_about_the_call(given: Any, problem: str, length: int) -> None:
    call = ToolCall("c", "t", given)

    assert (call.args, call.args_error) == ({}, ArgsError(problem, length))
    assert msgspec.structs.replace(call, id="d").args_error == call.args_error


def test_the_adapter_s_own_words_about_arguments_stay() -> None:
    told = ArgsError("it ends in the middle", 12, 3)

    assert ToolCall("c", "t", cast("Any", None), args_error=told).args_error == told


def test_a_blank_text_of_arguments_is_no_arguments() -> None:
    call = ToolCall("c", "t", cast("Any", " "))

    assert (call.args, call.args_error) == ({}, None)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("plain", "plain"),
        ("é😀", "é😀"),
        ("a\ud83d", "a\ufffd"),
        ("\ude00b", "\ufffdb"),
        ("\ud83d\ud83dx", "\ufffd\ufffdx"),
        ("é\ud83d\ude00\ude00", "é😀\ufffd"),
    ],
    ids=ascii,
)
def test_half_of_a_surrogate_pair_that_a_model_wrote_is_replaced(text: str, whole: str) -> None:
    assert whole_text(text) == whole
    assert LLMResponse(text).content == whole
    assert ThinkingBlock("thinking", text).content == whole
    assert (ToolCall(text, text, {}).id, ToolCall(text, text, {}).name) == (whole, whole)


def test_a_message_without_marks_can_be_a_key() -> None:
    assert len({LLMMessage("user", "hi"), LLMMessage("user", "hi")}) == 1
