"""Which error of ours is a vendor's failure, whatever form it comes in?

Invariants: the status decides, wherever it stands (08b s.21); a prompt that did not fit is told by its words alone
(ERR-6); a vendor's words are quoted up to 200 characters, without the key; an error of ours passes as it is (ERR-2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, NamedTuple, cast
from urllib.parse import urlsplit

from agentfootprint.llm import (
    ProviderAuthError,
    ProviderBadRequestError,
    ProviderConnectionError,
    ProviderError,
    ProviderModelNotFoundError,
    ProviderOverloadedError,
    ProviderPermissionError,
    ProviderRateLimitError,
    ProviderServerError,
    ProviderStreamError,
    ProviderTimeoutError,
    context_window_error,
    parse_retry_after,
)
from agentfootprint.providers.secrets import redact, scrub

__all__ = ["Vendor", "in_band_error", "request_id_of", "retry_after_of", "status_error", "transport_error"]

_QUOTED: Final = 200  # characters of a vendor's own words (ERR-4)
_SERVER: Final = 500
_CLASSES: Final[Mapping[int, type[ProviderError]]] = {
    401: ProviderAuthError,
    403: ProviderPermissionError,
    404: ProviderModelNotFoundError,
    429: ProviderRateLimitError,
    503: ProviderOverloadedError,
    529: ProviderOverloadedError,
}
_WORTH_RETRYING: Final = frozenset((408, 409))  # though they are 4xx
_SPENT: Final = "insufficient_quota"  # a 429 that no waiting mends
_TIMEOUTS: Final = frozenset(("APITimeoutError", "TimeoutException", "TimeoutError"))
_CONNECTIONS: Final = frozenset(("APIConnectionError", "TransportError", "RequestError", "OSError"))
_UNREADABLE: Final = frozenset(("ValueError", "LookupError", "ValidationError", "APIResponseValidationError"))


class Vendor(NamedTuple):
    """What an adapter says of its vendor to those who turn failures into errors."""

    provider: str
    """Name of the provider."""
    statuses: Mapping[str, int]
    """HTTP status by the vendor's own code or type, for failures that come without one (ADP-12)."""
    address: str = ""
    """Where it was called, for failures of the connection."""
    secrets: Sequence[str] = ()
    """The key in force, and what else must not be told."""


def request_id_of(headers: Mapping[str, str] | None) -> str | None:
    """The vendor's id of a call (ADP-18)."""
    return None if headers is None else headers.get("x-request-id") or headers.get("request-id")


def retry_after_of(headers: Mapping[str, str] | None) -> float | None:
    """Seconds the server asks to wait (ADP-17)."""
    if headers is None:
        return None
    exact = headers.get("retry-after-ms", "")
    if exact.replace(".", "", 1).isdecimal() and exact.isascii():
        return float(exact) / 1000
    return parse_retry_after(headers.get("retry-after", ""))


def status_error(
    vendor: Vendor,
    status: int | None,
    body: object,
    *,
    headers: Mapping[str, str] | None = None,
    phase: str = "headers",
) -> ProviderError:
    """The error of an answer that is none.

    Args:
        vendor: Who failed.
        status: The HTTP status, or the one the vendor's type stands for; `None` when it stands for none.
        body: The vendor's error object, or the text that came in its place.
        headers: Of the answer, by name in lower case.
        phase: Where in the call it was.
    """
    said, code, kind = _said(body)
    said = redact(said, vendor.secrets)
    request_id = request_id_of(headers)
    described = {"message": said, "code": code, "type": kind}
    too_long = context_window_error(described, vendor.provider, status=status)
    if too_long is not None:
        too_long.request_id, too_long.vendor_code, too_long.phase = request_id, code or kind, phase
        return too_long
    spent = _SPENT in (code, kind)
    retryable = False if spent else True if status in _WORTH_RETRYING else None
    return _class_of(status)(
        _sentence(status, said),
        provider=vendor.provider,
        status=status,
        retryable=retryable,
        retry_after=retry_after_of(headers),
        request_id=request_id,
        vendor_code=code or kind,
        phase=phase,
        fix="Raise the account's limit or add credit; waiting does not help." if spent else None,
    )


def in_band_error(vendor: Vendor, body: object, *, headers: Mapping[str, str] | None = None) -> ProviderError:
    """The error of a failure inside an answer of status 200, by the vendor's own type (ADP-12, DEC-15)."""
    _text, code, kind = _said(body)
    status = next(
        (vendor.statuses[word] for word in (code, kind) if word is not None and word in vendor.statuses), None
    )
    if status is None and code is not None and code.isdecimal() and int(code) in range(400, 600):
        status = int(code)
    return status_error(vendor, status, body, headers=headers, phase="stream")


def transport_error(vendor: Vendor, error: Exception, *, phase: str) -> ProviderError:
    """The error for what an SDK or an HTTP client raised; raise it `from` that, once `scrub` went over it.

    SDKs are told by the names of their classes, so that none is imported here.

    Args:
        vendor: Who was called.
        error: What was raised.
        phase: `connect` before the answer began, `stream` after.
    """
    if isinstance(error, ProviderError):
        return error
    scrub(error, vendor.secrets)
    names = {kind.__name__ for kind in type(error).__mro__}
    status = getattr(error, "status_code", None)
    if names & _TIMEOUTS:
        return ProviderTimeoutError("No answer came in time.", provider=vendor.provider, phase=phase)
    if names & _CONNECTIONS:
        return _connection_error(vendor, phase)
    if names & _UNREADABLE:
        return ProviderStreamError("The answer can't be read.", provider=vendor.provider, phase="decode")
    if isinstance(status, int) or "APIError" in names:
        return _sdk_error(vendor, error, status if isinstance(status, int) else None, phase)
    text = redact(str(error), vendor.secrets)[:_QUOTED]
    quoted = f": {text}" if text else ""
    return ProviderError(f"The call failed with {type(error).__name__}{quoted}.", provider=vendor.provider, phase=phase)


def _sdk_error(vendor: Vendor, error: Exception, status: int | None, phase: str) -> ProviderError:
    """The error for an SDK's own, which holds the vendor's answer."""
    headers = cast("Mapping[str, str] | None", getattr(getattr(error, "response", None), "headers", None))
    body: object = getattr(error, "body", None)
    said = cast("object", body) if isinstance(body, Mapping) else str(error)
    if status is None or status < HTTPStatus.BAD_REQUEST:
        return in_band_error(vendor, said, headers=headers)
    return status_error(vendor, status, said, headers=headers, phase="stream" if phase == "stream" else "headers")


def _connection_error(vendor: Vendor, phase: str) -> ProviderError:
    if phase == "stream":
        return ProviderConnectionError(
            "The connection broke before the answer was whole.",
            provider=vendor.provider,
            phase=phase,
            fix="Call again; if it goes on, check the network.",
        )
    where = urlsplit(vendor.address)
    address = f" to {where.scheme}://{where.netloc.rpartition('@')[2]}" if where.netloc else ""
    return ProviderConnectionError(
        f"No connection{address} could be made, or it broke.", provider=vendor.provider, phase=phase
    )


def _class_of(status: int | None) -> type[ProviderError]:
    if status is None:
        return ProviderStreamError
    if status in _CLASSES:
        return _CLASSES[status]
    return ProviderServerError if status >= _SERVER else ProviderBadRequestError


def _sentence(status: int | None, said: str) -> str:
    try:
        named = "The vendor sent an error" if status is None else f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        named = str(status)
    quoted = " ".join(said.split())[:_QUOTED]
    return f"{named}: {quoted}" if quoted else f"{named}."


def _said(body: object) -> tuple[str, str | None, str | None]:
    """Words, code and type of a vendor's error object; of a wrapped one too."""
    if not isinstance(body, Mapping):
        return (body if isinstance(body, str) else ""), None, None
    source = cast("Mapping[str, Any]", body)
    inner = source.get("error")
    if isinstance(inner, (Mapping, str)) and inner:
        return _said(cast("object", inner))
    message, code, kind = source.get("message"), source.get("code"), source.get("type")
    return (
        message if isinstance(message, str) else "",
        str(code) if isinstance(code, (str, int)) and not isinstance(code, bool) else None,
        kind if isinstance(kind, str) else None,
    )
