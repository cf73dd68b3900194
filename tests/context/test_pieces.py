"""Tests of agentfootprint.context.pieces."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agentfootprint.context import (
    Always,
    Content,
    ContextDefinitionError,
    Fact,
    Injection,
    Instruction,
    OnToolReturn,
    Steering,
    When,
)


def test_a_fact_is_always_in_and_cacheable() -> None:
    piece = Fact("customer", "Dana Reyes, customer since 2022.").to_injection()

    assert isinstance(piece.trigger, Always)
    assert (piece.flavor, piece.cache, piece.inject.system_prompt) == (
        "fact",
        "always",
        "Dana Reyes, customer since 2022.",
    )


def test_a_fact_with_a_rule_is_in_while_the_rule_holds() -> None:
    def rule(turn: Any) -> bool:
        return turn.iteration > 1

    piece = Fact("late", "Only later.", when=rule).to_injection()

    assert piece.trigger == When(rule)


def test_steering_and_instructions_have_their_own_flavor_and_cache_policy() -> None:
    steering = Steering("tone", "Be kind.").to_injection()
    instruction = Instruction("cite", "Cite sources.").to_injection()

    assert (steering.flavor, steering.cache) == ("steering", "always")
    assert (instruction.flavor, instruction.cache) == ("instructions", "never")


def test_an_instruction_can_follow_a_tool_by_name_or_pattern() -> None:
    piece = Instruction("after", "Now decide.", on_tool_return=re.compile("^lookup")).to_injection()

    assert isinstance(piece.trigger, OnToolReturn)
    assert piece.trigger.matches("lookup_order")
    assert not piece.trigger.matches("find_lookup")


@pytest.mark.parametrize("text", ["", "  \n"], ids=["empty", "blank"])
def test_a_piece_without_text_is_refused_where_it_is_written(text: str) -> None:
    with pytest.raises(ContextDefinitionError, match=r"'policy' has no text") as caught:
        Steering("policy", text)

    assert (caught.value.piece, caught.value.field) == ("policy", "text")


def test_a_piece_without_an_id_is_refused() -> None:
    with pytest.raises(ContextDefinitionError, match=r"empty id"):
        Fact(" ", "Text.")


def test_an_instruction_needs_exactly_one_of_text_and_template() -> None:
    with pytest.raises(ContextDefinitionError, match=r"exactly one of text and template"):
        Instruction("both", "a", template="b")
    with pytest.raises(ContextDefinitionError, match=r"exactly one of text and template"):
        Instruction("neither")


def test_an_instruction_with_two_conditions_is_refused() -> None:
    with pytest.raises(ContextDefinitionError, match=r"two conditions"):
        Instruction("both", "a", when=lambda _: True, on_tool_return="lookup")


def test_a_template_may_name_only_facts_that_every_turn_has() -> None:
    with pytest.raises(ContextDefinitionError, match=r"'colour', which no turn has.*Use one of: action, actionBudget"):
        Instruction("budget", template="{{action}} of {{ colour }}")


def test_a_template_is_never_cached() -> None:
    with pytest.raises(ContextDefinitionError, match=r"changes with every pass"):
        Instruction("budget", template="{{action}}", cache="always")


def test_a_template_without_placeholders_is_ordinary_text() -> None:
    assert not Instruction("plain", template="Be brief.", cache="always").to_injection().templated


def test_an_async_rule_is_refused_because_a_coroutine_is_always_true() -> None:
    async def rule(turn: Any) -> bool:
        return False

    with pytest.raises(ContextDefinitionError, match=r"async function"):
        Fact("late", "Only later.", when=rule)


def test_a_raw_injection_says_when_and_what() -> None:
    piece = Injection("raw", trigger=Always(), inject=Content(system_prompt="Words."))

    assert piece.to_injection() is piece
    assert piece.cache == "never"
