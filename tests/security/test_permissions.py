"""Tests of agentfootprint.security.permissions."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.security import PermissionDecision, PermissionPolicy, PermissionRequest, checker_governs


@pytest.mark.parametrize(("result", "allows"), [("allow", True), ("gate_open", True), ("deny", False), ("halt", False)])
def test_a_decision_says_whether_the_call_goes_on(result: Any, allows: bool) -> None:
    assert PermissionDecision(result).allows is allows


def test_another_word_is_no_decision() -> None:
    word: Any = "maybe"

    with pytest.raises(ConfigError, match=r"'maybe'.*allow, deny, halt, gate_open"):
        PermissionDecision(word)


def test_a_text_of_a_decision_is_a_text() -> None:
    code: Any = 17

    with pytest.raises(ConfigError, match=r"The reason of a permission decision is a int\."):
        PermissionDecision("halt", reason=code)


def test_the_agent_asks() -> None:
    request = PermissionRequest(capability="tool_call", target="look", context={}, history=(), iteration=1)

    assert request.actor == "agent"
    assert request.identity is None
    assert request.sequence == ()


class Silent:
    name = "silent"

    def check(self, request: PermissionRequest) -> PermissionDecision:
        return PermissionDecision("allow", rationale=request.target)


def test_a_checker_that_says_nothing_governs_calls_alone() -> None:
    assert checker_governs(Silent(), "tool_call")
    assert not checker_governs(Silent(), "user_data")


def test_a_policy_governs_what_it_has_rules_about() -> None:
    policy = PermissionPolicy.from_roles({"clerk": []}, "clerk")

    assert checker_governs(policy, "tool_call")
    assert not checker_governs(policy, "external_net")
