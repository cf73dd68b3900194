"""Tests of agentfootprint.agui.options."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.agui import AgUiOptions
from agentfootprint.errors import ConfigError


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"reasoning": "some"}, "reasoning"),
        ({"encrypted_reasoning": True}, "encrypted_reasoning"),
        ({"state": True}, "state"),
        ({"messages_snapshot": "sometimes"}, "messages_snapshot"),
        ({"text": "all"}, "text"),
        ({"result": "json"}, "result"),
        ({"on_disconnect": "wait"}, "on_disconnect"),
        ({"max_lag": 0}, "max_lag"),
        ({"max_lag": True}, "max_lag"),
        ({"custom": "shop.*"}, "custom"),
        ({"custom": [1]}, "custom"),
        ({"custom": ["*.tool_end"]}, "custom"),
        ({"custom": ["agentfootprint.context.injected"]}, "custom"),
        ({"custom": ["agentfootprint.stream.llm_end"]}, "custom"),
        ({"custom": ["agentfootprint.stream.llm_*"]}, "custom"),
        ({"custom": ["agentfootprint.context.injected*"]}, "custom"),
        ({"custom": ["agentfootprint.checkin.request"]}, "custom"),
        ({"custom": ["agentfootprint.stream.thinking_end"], "custom_unsafe": True}, "custom"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_by_its_name(given: dict[str, Any], option: str) -> None:
    with pytest.raises(ConfigError, match=rf"AgUiOptions\.{option} ") as caught:
        AgUiOptions(**given)

    assert caught.value.option == f"AgUiOptions.{option}"


def test_the_default_forwards_progress_budgets_and_shown_artifacts() -> None:
    options = AgUiOptions()

    assert options.forwards("agentfootprint.stream.tool_progress")
    assert options.forwards("agentfootprint.agent.budget_exhausted")
    assert options.forwards("agentfootprint.artifacts.presented")
    assert not options.forwards("agentfootprint.agent.turn_start")


@pytest.mark.parametrize(
    "held", ["context.injected", "stream.llm_start", "stream.llm_end", "checkin.request", "stream.thinking_delta"]
)
def test_a_wildcard_leaves_out_what_holds_content(held: str) -> None:
    options = AgUiOptions(custom=["*"])

    assert not options.forwards(f"agentfootprint.{held}")
    assert options.forwards("agentfootprint.agent.turn_start")
    assert options.forwards("shop.basket.filled")


def test_content_is_forwarded_when_it_is_asked_for_and_reasoning_only_with_reasoning() -> None:
    options = AgUiOptions(custom=["agentfootprint.stream.llm_end", "agentfootprint.*"], custom_unsafe=True)

    assert options.forwards("agentfootprint.stream.llm_end")
    assert options.forwards("agentfootprint.context.injected")
    assert not options.forwards("agentfootprint.stream.thinking_end")
    assert AgUiOptions(custom=["*"], reasoning="full").forwards("agentfootprint.stream.thinking_end")


def test_options_keep_their_own_list_of_types() -> None:
    given = ["shop.*"]
    options = AgUiOptions(custom=given)

    given.append("agentfootprint.*")

    assert not options.forwards("agentfootprint.agent.turn_start")
