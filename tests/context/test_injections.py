"""Tests of agentfootprint.context.injections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint import Fact, Instruction
from agentfootprint.context import Always, Content, ContextDefinitionError, Injection
from agentfootprint.llm import LLMMessage, ToolCall

MAKERS: list[Callable[..., Any]] = [Fact, Instruction]


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
@pytest.mark.parametrize(
    ("options", "field", "words"),
    [
        ({"slot": "messages"}, "role", "nobody says it"),
        ({"slot": "messages", "role": "tool"}, "role", "a tool message answers a call"),
        ({"role": "tool"}, "role", "a tool message answers a call"),
        ({"slot": "messages", "role": "developer"}, "role", "'developer'"),
        ({"role": "assistant"}, "role", "where nobody speaks"),
        ({"slot": "system-prompt", "role": "system"}, "role", "where nobody speaks"),
        ({"slot": "tools", "role": "assistant"}, "slot", "'tools'"),
    ],
    ids=repr,
)
def test_a_message_needs_one_who_says_it_and_nothing_else_has_one(
    maker: Callable[..., Any], options: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(ContextDefinitionError, match=words) as caught:
        maker("a", "Secret words.", **options)

    assert (caught.value.piece, caught.value.field) == ("a", field)
    assert "Secret" not in str(caught.value)


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_a_piece_of_the_messages_slot_is_a_message_and_no_prompt(role: Any) -> None:
    piece = Fact("a", "Words.", slot="messages", role=role).to_injection()

    assert (piece.inject.system_prompt, piece.inject.messages) == (None, (LLMMessage(role, "Words."),))
    assert (piece.flavor, piece.cache) == ("fact", "always")


@pytest.mark.parametrize("text", ["", " \n"], ids=["empty", "blank"])
def test_a_message_without_text_is_refused_where_it_is_written(text: str) -> None:
    with pytest.raises(ContextDefinitionError, match=r"'a' has no text"):
        Fact("a", text, slot="messages", role="assistant")
    with pytest.raises(ContextDefinitionError, match=r"'a' with the role 'user' has no text"):
        Injection("a", trigger=Always(), inject=Content(messages=[LLMMessage("user", text)]))


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (LLMMessage("tool", "r", tool_call_id="c"), "a tool message answers a call"),
        (LLMMessage("assistant", "x", tool_calls=[ToolCall("c", "t", {})]), "proposes tool calls"),
        ({"role": "user", "content": "x"}, "is a dict"),
    ],
    ids=["tool", "calls", "dict"],
)
def test_a_raw_injection_passes_the_same_checks(message: Any, words: str) -> None:
    with pytest.raises(ContextDefinitionError, match=words):
        Injection("a", trigger=Always(), inject=Content(messages=[message]))


def test_something_that_is_no_trigger_is_refused() -> None:
    never: Any = "always"

    with pytest.raises(ContextDefinitionError, match=r"The trigger of 'a' is a str") as caught:
        Injection("a", trigger=never, inject=Content(system_prompt="x"))

    assert caught.value.field == "trigger"


def test_content_takes_lists_over() -> None:
    messages = [LLMMessage("user", "x")]

    content = Content(messages=messages)
    messages.append(LLMMessage("user", "y"))

    assert content.messages == (LLMMessage("user", "x"),)


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
@pytest.mark.parametrize("id_", [5, None, b"tone"])
def test_an_id_that_is_no_text_is_refused(maker: Callable[..., Any], id_: Any) -> None:
    with pytest.raises(ContextDefinitionError, match=type(id_).__name__) as caught:
        maker(id_, "Be brief.")

    assert caught.value.field == "id"


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
@pytest.mark.parametrize("text", [5, None, b"Be brief."])
def test_what_is_no_text_is_refused_where_the_text_belongs(maker: Callable[..., Any], text: Any) -> None:
    with pytest.raises(ContextDefinitionError) as caught:
        maker("tone", text)

    assert caught.value.field == "text"
