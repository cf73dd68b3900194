"""How is a service of AWS called: its client made on first use, and its refusals told apart?

Invariants: boto3 is imported when something is sent or checked, never before; an error is told by the code the service
gives it, because its message may quote what was sent.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from agentfootprint._optional import optional
from agentfootprint.observe.export.batching import SendFailed

__all__ = ["made_client", "sent"]

_PASSES: Final = frozenset(
    (
        "InternalFailure",
        "RequestLimitExceeded",
        "ServiceUnavailable",
        "ServiceUnavailableException",
        "SlowDown",
        "Throttled",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    )
)
"""Codes of refusals that pass."""
_SERVER_ERROR: Final = 500


def made_client(service: str, *, needed_by: str, region: str | None) -> Any:  # noqa: ANN401  boto3 makes its clients at run time
    """A client of a service, by the surrounding configuration.

    Raises:
        MissingExtraError: boto3 is not installed; names the extra.
    """
    with optional("boto3", extra="aws", needed_by=needed_by):
        boto3 = importlib.import_module("boto3")
    return boto3.client(service) if region is None else boto3.client(service, region_name=region)


def sent(call: Callable[[], Mapping[str, Any]], count: int) -> Mapping[str, Any]:
    """The answer to a call that sends so many things.

    Raises:
        SendFailed: It was refused, or nobody answered; what may pass is to be tried again.
    """
    try:
        return call()
    except Exception as error:
        code = _code_of(error)
        if code is None:
            raise SendFailed(f"nobody answered ({type(error).__name__})", again=True) from error
        if code in _PASSES or _status_of(error) >= _SERVER_ERROR:
            raise SendFailed(code, again=True) from error
        raise SendFailed(code, lost=count) from error


def _code_of(error: Exception) -> str | None:
    """What a service said, in its code for it; `None` when no service answered."""
    answer: object = getattr(error, "response", None)
    if not isinstance(answer, Mapping):
        return None
    said: object = cast("Mapping[str, Any]", answer).get("Error")
    code: object = cast("Mapping[str, Any]", said).get("Code") if isinstance(said, Mapping) else None
    return code if isinstance(code, str) and code else type(error).__name__


def _status_of(error: Exception) -> int:
    answer: Any = getattr(error, "response", None)
    found: object = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return found if isinstance(found, int) else 0
