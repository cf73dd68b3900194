"""Tests of agentfootprint.providers.anthropic.models."""

from __future__ import annotations

import pytest

from agentfootprint.providers.anthropic.models import ThinkingMode, thinking_mode


@pytest.mark.parametrize(
    ("model", "mode"),
    [
        ("claude-sonnet-4-5-20250929", "budget"),
        ("claude-sonnet-4-5", "budget"),
        ("claude-sonnet-4-0", "budget"),
        ("claude-sonnet-4-20250514", "budget"),
        ("claude-opus-4-1@20250805", "budget"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "budget"),
        ("anthropic/claude-haiku-4.5", "budget"),
        ("claude-3-7-sonnet-latest", "budget"),
        ("claude-3-5-haiku-latest", "none"),
        ("claude-3.5-sonnet", "none"),
        ("claude-3-opus-20240229", "none"),
        ("claude-opus-4-7", "adaptive"),
        ("claude-sonnet-4-55", "adaptive"),
        ("claude-opus-5", "adaptive"),
        ("our-own-name", "adaptive"),
        ("", "adaptive"),
    ],
)
def test_a_name_tells_the_mode_and_an_unknown_one_is_taken_for_a_newer_model(model: str, mode: ThinkingMode) -> None:
    assert thinking_mode(model) == mode
