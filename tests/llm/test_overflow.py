"""Tests of agentfootprint.llm.overflow."""

from __future__ import annotations

import time

import pytest

from agentfootprint.llm import ContextWindowExceededError, context_window_error, looks_like_context_window_exceeded


class VendorError(Exception):
    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.__dict__.update(facts)


@pytest.mark.parametrize(
    "error",
    [
        VendorError("Your request exceeds the context window of this model.", status=503),
        VendorError("server_error", body={"error": {"message": "maximum context length is 10 tokens"}}),
        VendorError("bad", response={"Error": {"Message": "Input is too long for requested model"}}),
        VendorError("wrapped", error=VendorError("x", code="context_length_exceeded")),
        VendorError("input length exceeds the maximum number of input tokens"),
    ],
)
def test_an_overflow_is_recognised_wherever_it_is_said_and_under_any_status(error: Exception) -> None:
    found = context_window_error(error, "mine")

    assert found is not None
    assert (found.provider, found.retryable) == ("mine", False)


def test_an_overflow_is_recognised_in_the_cause_and_in_the_raw_body() -> None:
    wrapped = VendorError("outer")
    wrapped.__cause__ = VendorError("prompt is too long: 3 tokens > 2 maximum")
    deep = VendorError("0", error={"error": {"error": {"error": {"error": {"message": "prompt is too long"}}}}})

    found = context_window_error(wrapped, "p", status=400)

    assert found is not None
    assert (found.actual_tokens, found.limit_tokens, found.status) == (3, 2, 400)
    assert looks_like_context_window_exceeded(VendorError("400"), body='{"code":"context_length_exceeded"}')
    assert not looks_like_context_window_exceeded(deep)


@pytest.mark.parametrize(
    "message",
    [
        "Rate limit reached: too many tokens per min",
        "This exceeds the maximum allowed number of tokens",
        "max_tokens is too large: 99999. This model supports at most 16384 completion tokens",
        "input token count of the first call. It exceeds the maximum number of tokens allowed",
    ],
)
def test_other_limits_are_something_else(message: str) -> None:
    assert context_window_error(VendorError(message, status=400), "p") is None


@pytest.mark.parametrize(
    ("message", "actual", "limit"),
    [
        ("prompt is too long: 250,000 tokens > 200_000 maximum", 250_000, 200_000),
        ("maximum context length is 4 097 tokens, however you requested 5 000 tokens", 5000, 4097),
        ("The input token count (7) exceeds the maximum number of tokens allowed ().", 7, None),
        ("The input token count () exceeds the maximum number of tokens allowed (9).", None, 9),
        ("prompt is too long: 0 tokens > 0 maximum", None, None),
        ("prompt is too long", None, None),
    ],
)
def test_sizes_are_read_and_never_made_up(message: str, actual: int | None, limit: int | None) -> None:
    found = context_window_error(VendorError(message), "p")

    assert found is not None
    assert (found.actual_tokens, found.limit_tokens) == (actual, limit)


def test_an_error_of_ours_is_not_wrapped_again() -> None:
    ours = ContextWindowExceededError("first")

    assert context_window_error(ours, "second") is ours


@pytest.mark.parametrize(
    "text", ["input token count " * 60_000, "1 " * 500_000, "1 tokens > " * 90_000, "limit of " * 110_000]
)
def test_texts_of_others_are_read_in_linear_time(text: str) -> None:
    began = time.process_time()
    context_window_error(VendorError(f"prompt is too long {text}"), "p")

    assert time.process_time() - began < 2.0
