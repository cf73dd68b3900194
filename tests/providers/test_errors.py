"""Tests of agentfootprint.providers.errors."""

from __future__ import annotations

import pickle

from agentfootprint.providers.errors import UnsupportedThinkingError


def test_thinking_that_a_model_refuses_is_a_wrong_request_that_says_how_to_mend_it() -> None:
    error = UnsupportedThinkingError("anthropic", "claude-3-haiku", "no-thinking")

    assert str(error) == (
        "[anthropic] The model 'claude-3-haiku' does not think. Leave thinking out, or use a model that thinks. "
        "[ERR_UNSUPPORTED_THINKING]"
    )
    assert (error.retryable, error.reason) == (False, "no-thinking")
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)
