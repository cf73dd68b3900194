"""Tests of agentfootprint.agent.gating.rules."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Act, Gates, after_tool, allow, before_tool, deny, on_message
from agentfootprint.agent import MessageRule, MessageView, RuleOutcome, ToolCallView, ToolResultView, ToolRule
from agentfootprint.agent.gating.rules import hook_of
from agentfootprint.errors import ConfigError


class Both(ToolRule):
    name = "both"

    def on_tool_call(self, call: ToolCallView) -> RuleOutcome:
        return allow()

    def on_tool_result(self, call: ToolResultView) -> RuleOutcome:
        return allow()


@before_tool(name="calls")
def calls(call: ToolCallView) -> RuleOutcome:
    return deny(call.tool_name)


@after_tool(name="results")
def results(call: ToolResultView) -> RuleOutcome:
    return deny(call.tool_name)


@on_message(name="messages")
def messages(message: MessageView) -> RuleOutcome:
    return deny(message.phase)


def test_a_function_becomes_a_rule_with_one_hook() -> None:
    assert isinstance(calls, ToolRule)
    assert isinstance(messages, MessageRule)
    assert hook_of(calls, "on_tool_call") is not None
    assert hook_of(calls, "on_tool_result") is None
    assert hook_of(results, "on_tool_call") is None


def test_an_inherited_hook_says_nothing() -> None:
    assert hook_of(ToolRule(), "on_tool_call") is None
    assert hook_of(MessageRule(), "on_message") is None


def test_a_rule_listed_twice_speaks_once() -> None:
    both = Both()

    act = Act(before_tool=[calls, both], after_tool=[both, results], input=[messages], output=[messages])

    assert act.tool_rules == (calls, both, results)
    assert act.message_rules == (messages,)


def test_a_rule_in_the_wrong_place_is_refused_with_the_right_one() -> None:
    misplaced: Any = results

    with pytest.raises(ConfigError, match=r"'results' in act\.before_tool.*act\.after_tool") as caught:
        Act(before_tool=[misplaced])

    assert caught.value.option == "act.before_tool"


def test_a_rule_without_a_hook_is_refused() -> None:
    class Idle(ToolRule):
        name = "idle"

    with pytest.raises(ConfigError, match="Write its on_tool_call"):
        Act(before_tool=[Idle()])


def test_a_rule_without_a_name_is_refused_by_its_place() -> None:
    class Nameless(MessageRule):
        def on_message(self, message: MessageView) -> RuleOutcome:
            return allow()

    with pytest.raises(ConfigError, match=r"Entry 1 of act\.output, a Nameless, has no name"):
        Act(output=[messages, Nameless()])


@pytest.mark.parametrize("given", ["rule", None, 3])
def test_what_is_no_list_of_rules_is_refused(given: Any) -> None:
    with pytest.raises(ConfigError, match=r"act\.input is a"):
        Act(input=given)


def test_a_place_that_does_not_exist_is_refused() -> None:
    places: Any = {"befor_tool": []}

    with pytest.raises(TypeError, match="befor_tool"):
        Act(**places)


@pytest.mark.parametrize("given", [[calls], calls, {"before_tool": [calls]}])
def test_rules_come_in_an_act(given: Any) -> None:
    with pytest.raises(ConfigError, match=r"gates\.act is of the type"):
        Gates(act=given)


@pytest.mark.parametrize("given", [print, object(), {"check": 1}])
def test_a_checker_has_a_name_and_a_check(given: Any) -> None:
    with pytest.raises(ConfigError, match=r"gates\.permission"):
        Gates(permission=given)
