"""Tests of agentfootprint.agent.gating.outcomes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from agentfootprint import allow, ask, deny
from agentfootprint.agent import AskComponent
from agentfootprint.errors import ConfigError
from agentfootprint.trace import ValueRefusedError


def test_a_pass_may_give_a_reason_and_replaces_nothing() -> None:
    assert (allow().value, allow().why) == (UNSET, None)
    assert (allow(None, "checked").value, allow(None, "checked").why) == (UNSET, "checked")


def test_a_replacement_is_frozen_and_needs_its_reason() -> None:
    args = {"order": ["A"]}
    outcome = allow(args, "masked")

    args["order"].append("B")

    assert outcome.value == {"order": ["A"]}
    with pytest.raises(ConfigError, match="gave no reason"):
        allow(args)


def test_what_cannot_be_recorded_replaces_nothing() -> None:
    with pytest.raises(ValueRefusedError):
        allow({"x": object()}, "why")


def test_an_empty_text_is_a_replacement() -> None:
    assert allow("", "blanked").value == ""


@pytest.mark.parametrize("blank", ["", "  ", None, 3])
def test_a_blank_reason_or_question_is_refused(blank: Any) -> None:
    with pytest.raises(ConfigError, match=r"deny\(reason\)"):
        deny(blank)
    with pytest.raises(ConfigError, match=r"ask\(question\)"):
        ask(blank)


def test_a_question_carries_what_it_is_shown_with() -> None:
    outcome = ask("Ship it?", detail={"total": 3}, component=AskComponent("panel"))

    assert (outcome.kind, outcome.why, outcome.detail) == ("ask", "Ship it?", {"total": 3})
    assert outcome.component == AskComponent("panel")
