"""Tests of agentfootprint.security.policy."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.security import PermissionPolicy, PermissionRequest, PermissionRules

ROLES = {"clerk": ["look"], "lead": ["look", "refund"]}


def asked(target: str, capability: str = "tool_call") -> PermissionRequest:
    return PermissionRequest(capability=capability, target=target, context={}, history=(), iteration=1)


def test_a_role_may_call_what_it_lists() -> None:
    policy = PermissionPolicy.from_roles(ROLES, "clerk")

    assert (policy.is_allowed("look"), policy.is_allowed("refund")) == (True, False)
    assert policy.check(asked("look")).policy_rule_id == "clerk.allowlist"
    assert policy.check(asked("refund")).policy_rule_id == "clerk.allowlist.miss"


def test_another_role_of_the_same_policy_keeps_its_rules() -> None:
    rules = PermissionRules(skills={"lead": ["faq"]})

    policy = PermissionPolicy.from_roles(ROLES, "clerk", rules=rules).with_active_role("lead")

    assert (policy.active_role, policy.roles, policy.allowed_tool_ids()) == (
        "lead",
        ("clerk", "lead"),
        ("look", "refund"),
    )
    assert policy.check(asked("skill:payroll", "skill_read")).result == "deny"


def test_a_policy_keeps_a_copy_of_its_lists() -> None:
    tools = ["look"]
    policy = PermissionPolicy.from_roles({"clerk": tools}, "clerk")

    tools.append("refund")

    assert not policy.is_allowed("refund")


def test_an_unknown_role_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"no role 'boss'.*'clerk', 'lead'"):
        PermissionPolicy.from_roles(ROLES, "boss")


@pytest.mark.parametrize("roles", [["clerk"], {"clerk": "look"}, {"clerk": 3}, {"clerk": [3]}, {3: ["look"]}])
def test_what_is_no_list_of_names_is_refused(roles: Any) -> None:
    with pytest.raises(ConfigError, match="roles"):
        PermissionPolicy.from_roles(roles, "clerk")


def test_an_unknown_capability_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no capability 'root'"):
        PermissionRules(capabilities={"clerk": ["root"]})


def test_a_listed_capability_makes_no_tool_callable() -> None:
    rules = PermissionRules(capabilities={"clerk": ["user_data"]})
    policy = PermissionPolicy.from_roles(ROLES, "clerk", rules=rules)

    assert policy.check(asked("look", "user_data")).result == "allow"
    assert policy.check(asked("refund", "user_data")).policy_rule_id == "clerk.allowlist.miss"
