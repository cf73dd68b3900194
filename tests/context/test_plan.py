"""Tests of agentfootprint.context.plan."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import ConfigError
from agentfootprint.context import (
    ContextDefinitionError,
    ContextPlan,
    Fact,
    Instruction,
    Steering,
    SystemPrompt,
    ToolReturn,
    TurnContext,
    Until,
    slot_delta,
)
from agentfootprint.trace import thaw


def turn(iteration: int = 1, **facts: Any) -> TurnContext:
    return TurnContext(iteration=iteration, max_iterations=10, user_message="Refund?", history=(), **facts)


def plan(*context: Any, base: str = "You decide refunds.", caching: bool = True) -> ContextPlan:
    return ContextPlan(SystemPrompt(base), context, caching=caching)


def test_pieces_are_let_in_in_declaration_order_and_joined_by_a_blank_line() -> None:
    now = plan(Steering("tone", "Be kind."), Fact("user", "Name: Ann")).evaluate(turn())

    assert list(now.active_ids) == ["tone", "user"]
    assert now.system_text == "You decide refunds.\n\nBe kind.\n\nName: Ann"


def test_two_passes_that_let_in_the_same_pieces_are_the_same_pass() -> None:
    late = Fact("late", "Only later.", when=lambda t: t.iteration > 1)
    context = plan(Steering("tone", "Be kind."), late)

    first, second, third = context.evaluate(turn(1)), context.evaluate(turn(2)), context.evaluate(turn(3))

    assert list(first.active_ids) == ["tone"]
    assert list(second.active_ids) == ["tone", "late"]
    assert third is second


def test_a_rule_that_raises_leaves_its_piece_out_and_says_why() -> None:
    def rule(_: TurnContext) -> bool:
        raise LookupError("no such customer")

    now = plan(Fact("late", "Only later.", when=rule)).evaluate(turn())

    assert list(now.active_ids) == []
    assert [(each.id, each.reason, each.error) for each in now.skipped] == [
        ("late", "predicate-threw", "no such customer")
    ]


def test_a_rule_whose_verdict_has_no_truth_counts_as_one_that_raised() -> None:
    class Undecided:
        def __bool__(self) -> bool:
            raise ValueError("ambiguous")

    now = plan(Fact("late", "Only later.", when=lambda _: Undecided())).evaluate(turn())

    assert [(each.reason, each.error) for each in now.skipped] == [("predicate-threw", "ambiguous")]


def test_a_rule_that_returns_an_awaitable_counts_as_one_that_raised() -> None:
    async def later() -> bool:
        return True

    now = plan(Fact("late", "Only later.", when=lambda _: later())).evaluate(turn())

    assert [each.reason for each in now.skipped] == ["predicate-threw"]


def test_an_instruction_follows_the_tool_it_waits_for() -> None:
    context = plan(Instruction("after", "Now decide.", on_tool_return="lookup"))

    before = context.evaluate(turn())
    after = context.evaluate(turn(2, tool_results=(ToolReturn("lookup", "found"),)))

    assert (list(before.active_ids), list(after.active_ids)) == ([], ["after"])


def test_a_rule_can_look_at_the_callers_own_object() -> None:
    context = plan(Fact("vip", "A VIP.", when=lambda t: t.deps["vip"]))

    assert list(context.evaluate(turn(deps={"vip": True})).active_ids) == ["vip"]
    assert list(context.evaluate(turn(deps={"vip": False})).active_ids) == []


def test_a_template_is_filled_anew_in_each_pass() -> None:
    context = plan(
        Instruction("budget", template="Action {{action}} of {{ actionBudget }}, {{actionsRemaining}} left.")
    )

    assert context.evaluate(turn(1)).system_text == "You decide refunds.\n\nAction 1 of 10, 9 left."
    assert context.evaluate(turn(4)).system_text == "You decide refunds.\n\nAction 4 of 10, 6 left."


def test_two_pieces_of_one_id_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"id 'tone'"):
        plan(Steering("tone", "Be kind."), Fact("tone", "Kind people."))


def test_nested_lists_of_pieces_are_opened_one_level() -> None:
    context = plan([Steering("tone", "Be kind."), Fact("user", "Ann")], Fact("more", "More."))

    assert [piece.id for piece in context.pieces] == ["tone", "user", "more"]


def test_what_is_no_piece_of_context_is_refused_by_its_type() -> None:
    with pytest.raises(ContextDefinitionError, match=r"A str stands in context"):
        plan("Be kind.")


def test_the_cache_marker_ends_before_the_first_piece_that_may_not_be_cached() -> None:
    context = plan(Steering("tone", "Be kind."), Instruction("cite", "Cite."), Fact("user", "Ann"))

    assert thaw(context.evaluate(turn()).markers) == [
        {
            "field": "system",
            "boundaryIndex": 1,
            "ttl": "short",
            "reason": "system stable prefix (2 entries, ending at steering:tone)",
        }
    ]


def test_a_policy_that_ends_or_raises_does_not_cache() -> None:
    until = Fact("user", "Ann", cache=Until(lambda t: t.iteration > 1))
    broken = Fact("user", "Ann", cache=Until(lambda t: 1 / 0))

    assert plan(until).evaluate(turn(1)).markers[0].boundary_index == 1
    assert plan(until).evaluate(turn(2)).markers[0].boundary_index == 0
    assert plan(broken).evaluate(turn(1)).markers[0].boundary_index == 0


def test_without_caching_or_a_base_prompt_there_is_no_marker() -> None:
    assert len(plan(Fact("user", "Ann"), caching=False).evaluate(turn()).markers) == 0
    assert len(plan(Fact("user", "Ann"), base="").evaluate(turn()).markers) == 0


def test_a_delta_says_what_came_went_and_stayed() -> None:
    context = plan(
        Steering("tone", "Be kind."),
        Fact("first", "One.", when=lambda t: t.iteration == 1),
        Fact("second", "Two.", when=lambda t: t.iteration == 2),
    )

    delta = thaw(slot_delta(context.evaluate(turn(1)).by_slot, context.evaluate(turn(2)).by_slot))

    assert delta["systemPrompt"] == {"added": ["second"], "removed": ["first"], "kept": ["tone"]}
