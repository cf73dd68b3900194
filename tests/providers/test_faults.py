"""Tests of agentfootprint.providers.faults."""

from __future__ import annotations

import json

import pytest

from agentfootprint.llm import (
    ProviderAuthError,
    ProviderConnectionError,
    ProviderError,
    ProviderOverloadedError,
    ProviderRateLimitError,
    ProviderStreamError,
    ProviderTimeoutError,
)
from agentfootprint.providers.faults import (
    Vendor,
    in_band_error,
    request_id_of,
    retry_after_of,
    status_error,
    transport_error,
)

KEY = "sk-marker-0123456789"
VENDOR = Vendor("vendor", {"overloaded_error": 529}, "https://user:pass@host.example:8/v1", (KEY,))


def test_an_error_of_ours_passes_as_it_is() -> None:
    ours = ProviderAuthError("no", provider="vendor")

    assert transport_error(VENDOR, ours, phase="connect") is ours


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (TimeoutError(), ProviderTimeoutError),
        (ConnectionResetError(), ProviderConnectionError),
        (json.JSONDecodeError("bad", "the raw text", 0), ProviderStreamError),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), ProviderStreamError),
        (KeyError("choices"), ProviderStreamError),
    ],
)
def test_what_a_client_raises_is_told_by_its_kind_and_never_by_its_text(
    error: Exception, wanted: type[ProviderError]
) -> None:
    told = transport_error(VENDOR, error, phase="stream")

    assert type(told) is wanted
    assert "raw text" not in str(told)


def test_an_error_of_an_unknown_kind_is_wrapped_with_its_words_and_without_the_key() -> None:
    error = ZeroDivisionError(f"divided {KEY}")

    told = transport_error(VENDOR, error, phase="connect")

    assert (type(told), told.retryable, told.status) == (ProviderError, None, None)
    assert "ZeroDivisionError: divided [redacted apiKey]" in str(told)
    assert KEY not in str(error)


def test_an_address_is_told_without_who_asks() -> None:
    told = transport_error(VENDOR, ConnectionRefusedError(), phase="connect")

    assert "https://host.example:8" in str(told)
    assert "pass" not in str(told)


def test_a_failure_inside_an_answer_takes_the_status_of_its_type_or_of_a_code_that_is_one() -> None:
    busy = in_band_error(VENDOR, {"error": {"type": "overloaded_error", "message": f"busy {KEY}"}})
    limited = in_band_error(VENDOR, {"code": 429, "message": "slowly"})
    strange = in_band_error(VENDOR, "what")

    assert (type(busy), busy.status, busy.phase) == (ProviderOverloadedError, 529, "stream")
    assert "busy [redacted apiKey]" in str(busy)
    assert (type(limited), limited.retryable) == (ProviderRateLimitError, True)
    assert (type(strange), strange.status) == (ProviderStreamError, None)


def test_a_status_that_nobody_knows_and_a_body_of_any_kind_are_told() -> None:
    bodies: list[object] = [None, 7, {"error": None}, {"message": 7}, "x" * 5_000]
    for body in bodies:
        told = status_error(VENDOR, 599, body)
        assert (told.status, told.retryable) == (599, True)
        assert len(str(told)) < 400


def test_waits_and_ids_stand_in_the_headers() -> None:
    assert retry_after_of({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert retry_after_of({"retry-after-ms": "soon", "retry-after": "9"}) == 9.0
    assert retry_after_of({}) is None
    assert retry_after_of(None) is None
    assert request_id_of({"request-id": "a"}) == "a"
    assert request_id_of(None) is None
