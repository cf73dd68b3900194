"""Tests of agentfootprint.agui.scopes."""

from __future__ import annotations

import pytest

from agentfootprint.agui.scopes import mount_scope


@pytest.mark.parametrize(
    ("address", "scope"),
    [
        ("seed#0", ""),
        ("sf-llm-call/call-llm#3", ""),
        ("step-a/sf-llm-call/sf-thinking/normalize#3", "step-a"),
        ("step-a/thinking-anthropic/normalize#3", "step-a"),
        ("final/x/stage#1", "final/x"),
        ("x/final/y/sf-route/z#4", "x/final/y"),
        ("", ""),
    ],
)
def test_a_scope_is_the_path_without_what_an_agent_is_made_of_at_its_end(address: str, scope: str) -> None:
    assert mount_scope(address) == scope
