"""Tests that the installed SDK of OpenAI has what the adapter touches (CUS-4)."""

from __future__ import annotations

import inspect

import httpx2
import openai


def test_the_client_takes_what_it_is_given() -> None:
    made = inspect.signature(openai.AsyncOpenAI).parameters
    asked = inspect.signature(openai.AsyncOpenAI.post).parameters

    assert {"api_key", "base_url", "max_retries", "timeout", "default_headers"} <= set(made)
    assert {"path", "cast_to", "content", "options", "stream", "stream_cls"} <= set(asked)
    assert {"api_key"} <= set(inspect.signature(openai.AsyncOpenAI.with_options).parameters)
    assert inspect.iscoroutinefunction(openai.AsyncOpenAI.close)
    assert callable(openai.Omit)
    assert callable(httpx2.Timeout)


def test_its_errors_have_the_names_by_which_they_are_told() -> None:
    for name in ("APIError", "APIStatusError", "APIConnectionError", "APITimeoutError", "APIResponseValidationError"):
        assert issubclass(getattr(openai, name), openai.OpenAIError)
