"""Tests of agentfootprint.llm.faults."""

from __future__ import annotations

import datetime as dt
import time
from http import HTTPStatus
from typing import Any

import pytest

from agentfootprint.llm import (
    ContextWindowExceededError,
    MissingCredentialError,
    classify_error,
    error_bucket,
    facts_of,
    humanize_llm_error,
    parse_retry_after,
)
from agentfootprint.llm.errors import (
    ProviderConnectionError,
    ProviderOverloadedError,
    ProviderPermissionError,
    ProviderRateLimitError,
    ProviderStreamError,
    ProviderTimeoutError,
)


class VendorError(Exception):
    """An error as SDKs raise them: whatever it knows stands in attributes."""

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.__dict__.update(facts)


class Reply:
    status_code = 503


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (VendorError("x", status_code=429), 429),
        (VendorError("x", status=HTTPStatus.NOT_FOUND), 404),
        (VendorError("x", response=Reply()), 503),
        (VendorError("x", response={"ResponseMetadata": {"HTTPStatusCode": 400}}), 400),
        (VendorError("x", **{"$metadata": {"httpStatusCode": 500}}), 500),
        (VendorError("422 Unprocessable"), 422),
        (VendorError("error 422"), None),
        (VendorError("x", status=200), None),
        (VendorError("x", status=True), None),
        ({"message": "x", "statusCode": 401}, 401),
    ],
)
def test_a_status_is_found_under_any_of_its_names(error: object, status: int | None) -> None:
    assert facts_of(error).status == status


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (None, "ok"),
        (ConnectionResetError("x"), "5xx-transient"),
        (TimeoutError(), "5xx-transient"),
        (ProviderStreamError("x", provider="p"), "5xx-transient"),
        (ProviderRateLimitError("x", provider="p"), "rate-limit"),
        (ContextWindowExceededError("p", status=503), "context-window"),
        (ValueError("x"), "unknown"),
    ],
)
def test_rules_see_the_kind_of_an_error(error: object, kind: str) -> None:
    assert classify_error(error) == kind


@pytest.mark.parametrize(
    ("error", "bucket"),
    [
        (ProviderConnectionError("x", provider="p"), "network"),
        (ConnectionRefusedError(), "network"),
        (MissingCredentialError("anthropic", variable="KEY"), "auth"),
        (ProviderPermissionError("x", provider="p"), "auth"),
        (ProviderTimeoutError("x", provider="p"), "timeout"),
        (ProviderOverloadedError("x", provider="p"), "server"),
        (ContextWindowExceededError("p"), "bad-request"),
        (ValueError(), "unknown"),
    ],
)
def test_people_read_a_sentence_that_fits(error: object, bucket: str) -> None:
    assert error_bucket(error) == bucket
    assert humanize_llm_error(error).endswith(".")


def test_an_error_that_nobody_knows_is_quoted_as_a_failed_call() -> None:
    assert humanize_llm_error(ValueError("weird thing")) == "The model call failed: weird thing"


def test_the_fix_of_our_own_errors_is_not_read_as_a_symptom() -> None:
    odd = ProviderStreamError("Odd thing.", provider="p", fix="Check the API key and the quota.")

    assert error_bucket(odd) == "raw"


@pytest.mark.parametrize("header", ["-1", "soon", "", "1e3", "inf", "nan", "\u0661", "Wed, 99 Oct 2026"])
def test_a_wait_that_makes_no_sense_is_none(header: str) -> None:
    assert parse_retry_after(header) is None


def test_a_wait_may_have_fractions_and_zones() -> None:
    now = dt.datetime(2026, 10, 21, 7, tzinfo=dt.UTC)

    assert parse_retry_after("0.25") == 0.25
    assert parse_retry_after("Wed, 21 Oct 2026 09:00:30 +0200", now=now) == 30.0


@pytest.mark.parametrize("text", ["model " * 200_000, "rate" * 250_000, "timed " * 160_000, "connection " * 90_000])
def test_words_are_looked_for_in_linear_time(text: str) -> None:
    began = time.process_time()
    error_bucket(ValueError(text))

    assert time.process_time() - began < 2.0


def test_an_error_that_causes_itself_is_read_once() -> None:
    loop: dict[str, Any] = {"message": "x"}
    loop["error"] = loop

    assert classify_error(loop) == "unknown"
