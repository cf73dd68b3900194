"""Tests of agentfootprint.context.skill_pieces."""

from __future__ import annotations

from typing import Any, cast

import pytest

from agentfootprint import Agent, ConfigError, Mock, tool
from agentfootprint.context import ContextDefinitionError, OnReadSkill, Skill, SkillInjection, SkillOptions, SkillStep


@tool
def refund(order_id: str) -> str:
    """Refund an order. Use it once it is decided."""
    return order_id


def test_a_skill_waits_to_be_read_and_may_be_cached_while_it_is_in() -> None:
    piece = Skill("billing", "Refunds.", body="Check first.", tools=[refund], scope_tools=True).to_injection()

    assert isinstance(piece, SkillInjection)
    assert isinstance(piece.trigger, OnReadSkill)
    assert (piece.flavor, piece.description, piece.cache) == ("skill", "Refunds.", "while-active")
    assert (piece.surface_mode, piece.auto_activate) == ("auto", "currentSkill")


def test_a_step_is_over_a_tool_of_the_skill_by_name_or_itself() -> None:
    steps = [SkillStep(refund, "Do it."), SkillStep("refund", "Again.")]

    piece = Skill("billing", "Refunds.", body="B.", tools=[refund], steps=steps).to_injection()

    assert [each.tool_name for each in cast("SkillInjection", piece).steps] == ["refund", "refund"]
    assert cast("SkillInjection", piece).on_skip == "advance"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"body": " "}, "body"),
        ({"surface": "hidden"}, "surface"),
        ({"steps": []}, "steps"),
        ({"steps": [SkillStep("other", "n")]}, "steps"),
        ({"steps": [SkillStep("refund", " ")], "tools": [refund]}, "steps"),
        ({"options": SkillOptions(on_skip="hold")}, "on_skip"),
        ({"options": SkillOptions(consumes=[])}, "consumes"),
    ],
    ids=["body", "surface", "no-step", "step-of-another", "step-without-note", "on-skip", "consumes"],
)
def test_a_mistake_fails_where_it_is_written(options: dict[str, Any], field: str) -> None:
    given: dict[str, Any] = {"body": "B.", **options}

    with pytest.raises(ContextDefinitionError, match=r"The skill 'billing'") as caught:
        Skill("billing", "Refunds.", **given)

    assert caught.value.field == field


def test_an_unknown_option_is_no_option() -> None:
    with pytest.raises(TypeError, match=r"via_tool_name"):
        Skill("billing", "Refunds.", body="B.", via_tool_name="other")  # type: ignore[call-arg]  # INJ-6


def test_an_agent_refuses_what_it_could_never_let_in() -> None:
    with pytest.raises(ConfigError, match=r"The skill 'billing'.*mounts no skills"):
        Agent(Mock("x"), context=[Skill("billing", "Refunds.", body="B.")])
