"""Tests of agentfootprint.context.templates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint import Instruction
from agentfootprint.context import (
    ContextDefinitionError,
    ContextPlan,
    SystemPrompt,
    TurnContext,
    missing_facts,
    placeholders,
    render,
)

PLAIN = st.text(st.characters(exclude_characters="{}", exclude_categories=["Cs"]))


@given(PLAIN)
def test_a_text_without_placeholders_stays_as_it_is(text: str) -> None:
    assert placeholders(text) == ()
    assert render(text, iteration=1, max_iterations=None) == text


@given(PLAIN, PLAIN, st.integers(1, 50), st.integers(1, 50))
def test_facts_are_filled_in_and_nothing_else_is_touched(before: str, after: str, iteration: int, limit: int) -> None:
    template = f"{before}{{{{ actionsRemaining }}}}{after}"

    assert render(template, iteration=iteration, max_iterations=limit) == f"{before}{max(0, limit - iteration)}{after}"


def test_a_text_with_a_missing_fact_is_no_text_at_all() -> None:
    assert missing_facts("{{action}} of {{actionBudget}}", iteration=2, max_iterations=None) == ("actionBudget",)
    assert render("{{action}} of {{actionBudget}}", iteration=2, max_iterations=None) is None


def test_a_piece_whose_facts_are_missing_is_left_out_whole_and_names_them() -> None:
    plan = ContextPlan(
        SystemPrompt(""), [Instruction("left", template="{{action}}: {{actionsRemaining}} left")], caching=True
    )
    turn = TurnContext(iteration=2, user_message="q", history=())

    now = plan.evaluate(turn)

    (skipped,) = now.skipped
    assert (now.system_text, skipped.id, skipped.reason) == (None, "left", "unknown-fact")
    assert "actionsRemaining" in (skipped.error or "")
    assert turn.iterations_remaining is None


def test_a_template_is_never_a_message_nor_cached_unless_it_fills_in_nothing() -> None:
    with pytest.raises(ContextDefinitionError, match=r"one more message") as caught:
        Instruction("i", template="{{action}}", slot="messages", role="assistant")
    with pytest.raises(ContextDefinitionError, match=r"can't be cached"):
        Instruction("i", template="{{action}}", cache="always")

    plain = Instruction("i", template="No facts.", slot="messages", role="assistant", cache="always").to_injection()

    assert caught.value.field == "slot"
    assert (plain.templated, plain.inject.messages[0].content) == (False, "No facts.")
