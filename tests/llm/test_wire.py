"""Tests of agentfootprint.llm.wire."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.llm import (
    ArgsError,
    CallRef,
    InjectedBy,
    InvalidMessageError,
    LLMMessage,
    NotDispatched,
    ThinkingBlock,
    ToolCall,
    message_from_wire,
    messages_from_wire,
)
from agentfootprint.trace import ValueRefusedError, thaw

WORD = st.text(max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | WORD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=3),
    max_leaves=5,
)
REF = st.builds(CallRef, WORD, WORD)
CALL = st.builds(
    ToolCall,
    WORD,
    WORD,
    st.dictionaries(WORD, JSON, max_size=3),
    args_error=st.none() | st.builds(ArgsError, WORD, st.integers(0, 99), st.none() | st.integers(0, 9)),
)
BLOCK = st.builds(ThinkingBlock, st.sampled_from(["thinking", "redacted_thinking"]), WORD, summary=st.booleans())
MESSAGE = st.builds(
    LLMMessage,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    WORD,
    tool_call_id=st.none() | WORD,
    tool_name=st.none() | WORD,
    tool_calls=st.lists(CALL, max_size=2),
    thinking_blocks=st.lists(BLOCK, max_size=2),
    ephemeral=st.booleans(),
    injected_by=st.none() | st.builds(InjectedBy, WORD, WORD, st.integers(0, 9), st.none() | WORD),
    not_dispatched=st.none()
    | st.builds(NotDispatched, paused_call=st.none() | REF, halted_call=st.none() | REF, cause=st.none() | WORD),
)


@given(MESSAGE)
def test_a_message_reads_back_as_it_was_written(message: LLMMessage) -> None:
    assert message_from_wire(thaw(message)) == message


def test_a_message_is_read_as_itself_and_unknown_keys_are_ignored() -> None:
    message = LLMMessage("user", "hi")

    assert message_from_wire(message) is message
    assert message_from_wire({"role": "user", "content": "hi", "later": {"x": 1}, "toolCalls": None}) == message


def test_a_stored_call_with_arguments_that_json_cannot_hold_is_refused() -> None:
    call = {"id": "c", "name": "t", "args": {"a": float("nan")}}

    with pytest.raises(ValueRefusedError):
        message_from_wire({"role": "assistant", "content": "", "toolCalls": [call]})


@pytest.mark.parametrize(
    ("field", "raw"),
    [
        ("message", "hi"),
        ("role", {"content": "secret-text"}),
        ("role", {"role": ["user"], "content": "secret-text"}),
        ("content", {"role": "user"}),
        ("content", {"role": "user", "content": ["secret-text"]}),
        ("toolCalls", {"role": "assistant", "content": "", "toolCalls": "secret-text"}),
        ("toolCalls[]", {"role": "assistant", "content": "", "toolCalls": ["secret-text"]}),
        ("toolCalls[].args", {"role": "assistant", "content": "", "toolCalls": [{"id": "c", "name": "t"}]}),
        (
            "toolCalls[].args",
            {"role": "assistant", "content": "", "toolCalls": [{"id": "c", "name": "t", "args": "x"}]},
        ),
        ("notDispatched", {"role": "tool", "content": "secret-text", "notDispatched": True}),
        ("thinkingBlocks[].type", {"role": "assistant", "content": "", "thinkingBlocks": [{"type": "x"}]}),
    ],
)
def test_what_is_no_history_is_refused_by_index_and_field_only(field: str, raw: Any) -> None:
    with pytest.raises(InvalidMessageError, match="Message 1 ") as caught:
        messages_from_wire([{"role": "user", "content": "q"}, raw])

    assert (caught.value.index, caught.value.field) == (1, field)
    assert "secret-text" not in str(caught.value)
