"""Tests of agentfootprint.agent.keeping.recovering."""

from __future__ import annotations

import pytest

from agentfootprint import RunCheckpointError
from agentfootprint.agent import can_resume
from agentfootprint.llm import (
    ContextWindowExceededError,
    MissingCredentialError,
    ProviderAuthError,
    ProviderOverloadedError,
    ProviderRateLimitError,
)
from tests.agent.keeping.desk import Scripted, desk

HOPELESS = [
    ContextWindowExceededError("x"),
    ProviderAuthError("no", provider="x", status=401),
    PermissionError("unable to locate credentials"),
    RuntimeError("400 bad request"),
]
HOPEFUL = [
    ProviderOverloadedError("Busy.", provider="x"),
    ProviderRateLimitError("Too many.", provider="x"),
    ConnectionError("socket hang up"),
    RuntimeError("the back end said: unauthorized"),
    TimeoutError(),
    KeyError("token"),
]


@pytest.mark.parametrize("error", HOPELESS, ids=lambda error: type(error).__name__)
def test_what_would_be_refused_again_is_not_worth_another_try(error: Exception) -> None:
    assert not can_resume(error)


@pytest.mark.parametrize("error", HOPEFUL, ids=lambda error: type(error).__name__)
def test_what_may_pass_is(error: Exception) -> None:
    assert can_resume(error)


async def test_the_error_of_a_run_says_it_of_its_cause_with_the_wait_that_was_asked_for() -> None:
    busy = ProviderRateLimitError("Too many.", provider="x", retry_after=7.5)
    refused = ProviderAuthError("no", provider="x", status=401)
    caught: list[RunCheckpointError] = []
    for cause in (busy, refused):
        with pytest.raises(RunCheckpointError) as failed:
            await desk(Scripted(cause)).run("Go.")
        assert failed.value.__cause__ is failed.value.cause is cause
        caught.append(failed.value)

    assert [(error.can_resume, can_resume(error), error.retry_after) for error in caught] == [
        (True, True, 7.5),
        (False, False, None),
    ]
    assert "refuses the credentials" in str(caught[1])
    assert MissingCredentialError.code != caught[1].code
