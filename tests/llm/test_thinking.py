"""Tests of agentfootprint.llm.thinking."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.llm import THINKING_HANDLERS, ThinkingBlock, ThinkingHandler, find_thinking_handler

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="<think>/ abTHINK", max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["type", "kind", "thinking", "text", "blocks", "content", "summarySteps", "signature", "data"]
            ),
            inner | st.sampled_from(["thinking", "redacted_thinking", "inline", "field", "anthropic", "openai"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)
every_handler = pytest.mark.parametrize("handler", THINKING_HANDLERS, ids=lambda handler: handler.id)


@every_handler
def test_nothing_thought_gives_no_blocks(handler: ThinkingHandler) -> None:
    assert handler.normalize(None) == []


@every_handler
@given(raw=JUNK)
def test_garbage_never_raises(handler: ThinkingHandler, raw: Any) -> None:
    blocks = handler.normalize(raw)

    assert all(isinstance(block, ThinkingBlock) for block in blocks)


def test_no_two_handlers_claim_one_provider() -> None:
    claimed = [name for handler in THINKING_HANDLERS for name in handler.provider_names]

    assert len(claimed) == len(set(claimed))
    assert [handler.id for handler in THINKING_HANDLERS] == sorted(handler.id for handler in THINKING_HANDLERS)
    assert {name: getattr(find_thinking_handler(name), "id", None) for name in ("mock", "anthropic+retry")} == {
        "mock": "mock",
        "anthropic+retry": None,
    }


def test_a_signature_is_kept_byte_for_byte() -> None:
    handler = find_thinking_handler("anthropic")
    assert handler is not None

    blocks = handler.normalize([{"type": "thinking", "thinking": " a ", "signature": " Éq==\n"}])

    assert blocks == [ThinkingBlock("thinking", " a ", signature=" Éq==\n")]


def test_a_redacted_payload_is_read_from_where_the_wire_has_it() -> None:
    handler = find_thinking_handler("anthropic")
    assert handler is not None

    blocks = handler.normalize([{"type": "redacted_thinking", "data": "D", "signature": "old"}])

    assert blocks == [ThinkingBlock("redacted_thinking", "", signature="D")]


def test_many_open_tags_are_read_in_linear_time() -> None:
    handler = find_thinking_handler("ollama")
    assert handler is not None

    assert len(handler.normalize({"kind": "inline", "content": "<think>" * 100_000})) == 1
    assert len(handler.normalize({"kind": "inline", "content": "<THINK>ß</think>" * 50_000})) == 50_000
