"""Tests of agentfootprint.context.triggers."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint import Fact, Instruction
from agentfootprint.context import (
    Always,
    Content,
    ContextDefinitionError,
    ContextItem,
    Injection,
    OnReadSkill,
    OnToolReturn,
    ToolReturn,
    TurnContext,
    When,
)


def turn(iteration: int = 1, limit: int = 10, **facts: Any) -> TurnContext:
    return TurnContext(iteration=iteration, max_iterations=limit, user_message="Refund?", history=(), **facts)


@pytest.mark.parametrize(("iteration", "remaining"), [(1, 9), (9, 1), (10, 0), (12, 0)])
def test_what_is_left_of_the_limit_is_never_negative(iteration: int, remaining: int) -> None:
    assert turn(iteration).iterations_remaining == remaining


def test_the_last_result_is_that_of_the_last_call() -> None:
    first, last = ToolReturn("lookup", "found"), ToolReturn("pay", "paid", "c2", "unchanged")

    assert turn().last_tool_result is None
    assert turn(tool_results=(first, last)).last_tool_result is last


@pytest.mark.parametrize("name", ["iteration", "user_message", "history", "tool_results", "activated_ids", "deps"])
def test_a_turn_never_changes(name: str) -> None:
    returned: Any = ToolReturn("lookup", "found")

    with pytest.raises(AttributeError, match=r"immutable"):
        setattr(turn(), name, None)
    with pytest.raises(AttributeError, match=r"immutable"):
        returned.result = "mine"


@pytest.mark.parametrize(
    ("tool", "name", "matches"),
    [
        ("lookup", "lookup", True),
        ("lookup", "lookup_order", False),
        ("look.*", "lookup", False),
        (re.compile("look"), "my_lookup", True),
        (re.compile("^look"), "my_lookup", False),
        (re.compile("look", re.IGNORECASE), "LOOKUP", True),
        ("lookup", "", False),
    ],
    ids=str,
)
def test_a_name_is_equal_and_a_pattern_is_found(tool: Any, name: str, matches: bool) -> None:
    assert OnToolReturn(tool).matches(name) is matches


def test_each_kind_of_trigger_has_a_word_for_the_count() -> None:
    triggers = [Always(), When(lambda turn: True), OnToolReturn("lookup"), OnReadSkill()]

    assert [trigger.kind for trigger in triggers] == ["always", "rule", "on-tool-return", "llm-activated"]
    assert (Always(), OnToolReturn("x"), OnReadSkill()) == (Always(), OnToolReturn("x"), OnReadSkill())


async def later(turn: TurnContext) -> bool:
    return True


class Later:
    async def __call__(self, turn: TurnContext) -> bool:
        return True

    async def method(self, turn: TurnContext) -> bool:
        return True


class Now:
    def __call__(self, turn: TurnContext) -> bool:
        return True


def _fact(rule: Any) -> ContextItem:
    return Fact("late", "Late.", when=rule)


def _instruction(rule: Any) -> ContextItem:
    return Instruction("late", "Late.", when=rule)


def _injection(rule: Any) -> ContextItem:
    return Injection("late", trigger=When(rule), inject=Content(system_prompt="Late."))


MAKERS = {"fact": _fact, "instruction": _instruction, "injection": _injection}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (later, "async function"),
        (functools.partial(later), "async function"),
        (Later(), "async function"),
        (Later().method, "async function"),
        (True, "a bool, which can't be called"),
        ("turn.iteration > 1", "a str, which can't be called"),
    ],
    ids=["function", "partial", "callable", "method", "value", "text"],
)
def test_a_rule_that_cannot_be_asked_is_refused_where_it_is_written(
    make: Callable[[Any], ContextItem], rule: Any, words: str
) -> None:
    with pytest.raises(ContextDefinitionError, match=words) as caught:
        make(rule)

    assert (caught.value.piece, caught.value.field) == ("late", "when")
    assert "'late'" in caught.value.problem
    assert caught.value.fix


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    "rule", [Now(), Now().__call__, functools.partial(Now()), bool], ids=["callable", "method", "partial", "type"]
)
def test_whatever_can_be_asked_at_once_is_a_rule(make: Callable[[Any], ContextItem], rule: Any) -> None:
    assert make(rule).to_injection().trigger == When(rule)
