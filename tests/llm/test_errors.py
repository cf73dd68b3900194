"""Tests of agentfootprint.llm.errors."""

from __future__ import annotations

import copy
import pickle

import pytest

from agentfootprint.errors import AgentFootprintError
from agentfootprint.llm import errors
from agentfootprint.llm.errors import (
    BrokenPairError,
    ContextWindowExceededError,
    DimensionMismatchError,
    InvalidMessageError,
    MalformedToolArgsError,
    MissingCredentialError,
    ProviderError,
    ProviderRateLimitError,
    ProviderStreamError,
    ScriptExhaustedError,
    StreamTruncatedError,
    UnknownUsageError,
)

SPECIAL: list[AgentFootprintError] = [
    BrokenPairError(3, "duplicate"),
    ContextWindowExceededError("openai", limit_tokens=8192, actual_tokens=9000, status=400, vendor_text="too long"),
    DimensionMismatchError(1, 2),
    InvalidMessageError("content", "a text", index=2),
    MalformedToolArgsError("openai", tool="pay", call_id="c1", raw_length=17, block_index=1),
    MissingCredentialError("anthropic", variable="ANTHROPIC_API_KEY", label="Anthropic"),
    ScriptExhaustedError("mock", scripted=1, number=2),
    StreamTruncatedError("openai", text="Half an ans", calls=[("c1", '{"a": ')]),
    UnknownUsageError(),
]
FAMILY = [
    kind
    for name in errors.__all__
    if issubclass(kind := getattr(errors, name), ProviderError) and kind not in {type(one) for one in SPECIAL}
]
EVERY = [*SPECIAL, *(kind("It failed.", provider="openai", status=500) for kind in FAMILY)]


@pytest.mark.parametrize("error", EVERY, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickle_and_copy_with_its_facts(error: AgentFootprintError) -> None:
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert (str(twin), vars(twin)) == (str(error), vars(error))


@pytest.mark.parametrize("error", EVERY, ids=lambda error: type(error).__name__)
def test_an_error_says_what_to_do_and_has_a_code(error: AgentFootprintError) -> None:
    assert error.fix
    assert error.code != AgentFootprintError.code
    assert str(error).endswith(f"{error.fix} [{error.code}]")


def test_a_message_begins_with_its_provider() -> None:
    error = ProviderRateLimitError("Too many calls.", provider="openai", status=429, retry_after=2.5)

    assert error.problem == "[openai] Too many calls."
    assert (error.status, error.retry_after, error.retryable, error.phase) == (429, 2.5, True, "headers")


def test_whether_to_call_again_is_the_class_s_answer_unless_stated() -> None:
    assert ProviderError("x", provider="p").retryable is None
    assert ProviderRateLimitError("x", provider="p", retryable=False).retryable is False
    assert ContextWindowExceededError("p").retryable is False


def test_recordings_hold_one_name_for_a_vendor_s_errors() -> None:
    assert ProviderRateLimitError("x", provider="openai+retry").wire_name == "OpenAIProviderError"
    assert ProviderStreamError("x", provider="anthropic|openai").wire_name == "AnthropicProviderError"
    assert ProviderStreamError("x", provider="mine").wire_name == "ProviderStreamError"
    assert ContextWindowExceededError("openai").wire_name == "ContextWindowExceededError"


def test_what_had_arrived_of_a_cut_stream_is_an_attribute_and_no_word() -> None:
    error = StreamTruncatedError("openai", text="secret-text", calls=[("c1", '{"card": "secret-card')])

    assert isinstance(error, ProviderStreamError)
    assert (error.text, error.phase, error.retryable) == ("secret-text", "stream", True)
    assert "11 characters" in str(error)
    assert "secret" not in str(error)


def test_arguments_are_never_quoted() -> None:
    error = MalformedToolArgsError("openai", tool="pay", call_id="c1", raw_length=17)

    assert "'pay'" in str(error)
    assert "17 characters" in str(error)


def test_a_missing_key_names_its_variable() -> None:
    error = MissingCredentialError("anthropic", variable="ANTHROPIC_API_KEY", label="Anthropic")

    assert error.problem == "No key for Anthropic: ANTHROPIC_API_KEY is not set."
    assert (error.code, error.provider, error.phase) == ("ERR_NO_CREDENTIAL", "anthropic", "connect")


def test_a_prompt_that_did_not_fit_is_told_with_its_sizes_and_a_little_of_the_vendor() -> None:
    error = ContextWindowExceededError("openai", limit_tokens=272_000, actual_tokens=879_073, vendor_text="x" * 999)

    assert "879,073" in str(error)
    assert "272,000" in str(error)
    assert "x" * 200 in str(error)
    assert "x" * 201 not in str(error)
    assert "sliding window" in error.fix
