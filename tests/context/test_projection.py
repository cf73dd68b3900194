"""Tests of agentfootprint.context.projection."""

from __future__ import annotations

import json

import pytest

from agentfootprint import Fact, tool
from agentfootprint.context import (
    Always,
    Content,
    ContextDefinitionError,
    ContextPlan,
    Injection,
    SystemPrompt,
    TurnContext,
    Until,
    project,
)
from agentfootprint.llm import InjectedBy, LLMMessage
from agentfootprint.tools import static_tools
from agentfootprint.trace import thaw


@tool
def refund(order_id: str) -> str:
    """Refund an order. Use it once it is decided."""
    return order_id


TURN = TurnContext(iteration=1, max_iterations=5, user_message="q", history=())


def test_what_crosses_is_plain_data_without_functions() -> None:
    piece = Injection(
        "desk",
        trigger=Always(),
        inject=Content(system_prompt="Decide.", messages=[LLMMessage("assistant", "hm")], tools=[refund]),
        description="the desk",
        cache="while-active",
    )

    (active,) = ContextPlan(SystemPrompt(""), [piece], caching=True).evaluate(TURN).active

    wire = thaw(active)
    assert json.loads(json.dumps(wire)) == wire
    assert (wire["inject"]["systemPrompt"], wire["inject"]["messages"]) == (
        "Decide.",
        [{"role": "assistant", "content": "hm"}],
    )
    assert [(each["schema"]["name"], each["injectionId"]) for each in wire["inject"]["tools"]] == [("refund", "desk")]
    assert {key: wire[key] for key in wire if key != "inject"} == {
        "id": "desk",
        "flavor": "custom",
        "description": "the desk",
        "cache": "while-active",
    }


def test_the_policy_of_the_cache_crosses_in_every_form() -> None:
    until = Fact("a", "A.", cache=Until(lambda _: False)).to_injection()
    silent = Injection("b", trigger=Always(), inject=Content(system_prompt="B."), cache=None)

    assert project(until, "A.").cache == "until"
    assert "cache" not in thaw(project(silent, "B."))


def test_bookkeeping_of_a_message_stays_outside() -> None:
    marked = LLMMessage("assistant", "x", injected_by=InjectedBy("other", "fact", 1))
    piece = Injection("a", trigger=Always(), inject=Content(messages=[marked]))

    assert thaw(project(piece, None))["inject"] == {"messages": [{"role": "assistant", "content": "x"}]}


def test_a_source_of_tools_is_no_tool_of_a_piece() -> None:
    piece = Injection("a", trigger=Always(), inject=Content(tools=[static_tools([refund])]))  # type: ignore[list-item]  # a caller without a checker

    with pytest.raises(ContextDefinitionError, match=r"source of tools stands among the tools of 'a'"):
        ContextPlan(SystemPrompt(""), [piece], caching=True)


def test_pieces_are_listed_under_every_slot_they_stand_in() -> None:
    piece = Injection(
        "desk",
        trigger=Always(),
        inject=Content(system_prompt="Decide.", messages=[LLMMessage("assistant", "hm")], tools=[refund]),
    )

    now = ContextPlan(SystemPrompt(""), [piece, Fact("plain", "P.")], caching=True).evaluate(TURN)

    names = {slot: [entry["id"] for entry in entries] for slot, entries in thaw(now.by_slot).items()}
    assert names == {"systemPrompt": ["desk", "plain"], "messages": ["desk"], "tools": ["desk"]}
