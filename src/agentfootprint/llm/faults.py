"""What does an error that a model call raised say about itself: its status, its kind, a sentence for people?

Invariants: pure; reads errors of ours, of vendors' SDKs and of custom providers by what they carry, never by importing
an SDK; what an error does not say stays unknown.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar, cast

from agentfootprint.errors import AgentFootprintError
from agentfootprint.llm.errors import (
    ContextWindowExceededError,
    MissingCredentialError,
    ProviderAuthError,
    ProviderBadRequestError,
    ProviderConnectionError,
    ProviderModelNotFoundError,
    ProviderOverloadedError,
    ProviderPermissionError,
    ProviderRateLimitError,
    ProviderServerError,
    ProviderStreamError,
    ProviderTimeoutError,
)

__all__ = [
    "ErrorBucket",
    "ErrorFacts",
    "ErrorKind",
    "classify_error",
    "error_bucket",
    "facts_of",
    "humanize_llm_error",
    "parse_retry_after",
]

ErrorKind: TypeAlias = Literal[
    "ok", "circuit-open", "schema-fail", "rate-limit", "5xx-transient", "context-window", "unknown"
]
"""What the rules of the reliability gate ask for (08b s.18)."""

ErrorBucket: TypeAlias = Literal["network", "auth", "rate-limit", "timeout", "server", "bad-request", "raw", "unknown"]
"""Which sentence people read (08 s.2.2)."""

_NESTED_LEVELS: Final = 4
_HTTP_ERROR = range(400, 600)
_SERVER_ERROR = range(500, 600)

_LEADING_STATUS: Final = re.compile(r"\s*(4\d\d)\b", re.ASCII)
_TRANSIENT_WORDS: Final = re.compile(r"ETIMEDOUT|ECONNRESET|ECONNREFUSED|EAI_AGAIN|socket hang up", re.IGNORECASE)
_RATE_WORDS: Final = re.compile(r"rate.?limit|too many requests", re.IGNORECASE)

_NETWORK_WORDS: Final = re.compile(
    r"fetch failed|connection (?:error|refused|reset|aborted)|ECONN\w+|ENOTFOUND|EAI_AGAIN|socket hang up|getaddrinfo"
    r"|name or service not known|network (?:error|is unreachable)|server disconnected",
    re.IGNORECASE,
)
_AUTH_WORDS: Final = re.compile(
    r"api[ _-]?key|unauthori[sz]ed|authenticat|invalid credential|permission denied|don't have access"
    r"|not authori[sz]ed",
    re.IGNORECASE,
)
_BUSY_WORDS: Final = re.compile(r"rate.?limit|too many requests|quota", re.IGNORECASE)
_TIMEOUT_WORDS: Final = re.compile(r"timed? ?out|timeout|ETIMEDOUT|deadline exceeded", re.IGNORECASE)
_SERVER_WORDS: Final = re.compile(r"overloaded|internal server error|service unavailable", re.IGNORECASE)
_REQUEST_WORDS: Final = re.compile(
    r"no such model|model not found|model .{0,80} does not exist|unknown model|bad request|invalid request",
    re.IGNORECASE,
)
_REJECTED_STATUS: Final = frozenset((400, 404, 422))

_SENTENCES: Final[Mapping[ErrorBucket, str]] = {
    "network": "Could not reach the model provider. Check the network and the provider's address.",
    "auth": "The model provider refused the credentials. Check the API key and its access to the model.",
    "rate-limit": "The model provider is limiting calls. Wait and try again, or ask for a higher limit.",
    "timeout": "The model provider did not answer in time. Try again, or allow more time.",
    "server": "The model provider failed. Try again later.",
    "bad-request": "The model provider rejected the request. Check the model's name and the options of the call.",
    "unknown": "The model call failed for an unknown reason.",
}


_OWN_KINDS: Final[Mapping[type[BaseException], ErrorKind]] = {
    ContextWindowExceededError: "context-window",
    ProviderRateLimitError: "rate-limit",
    ProviderOverloadedError: "5xx-transient",
    ProviderServerError: "5xx-transient",
    ProviderConnectionError: "5xx-transient",
    ProviderTimeoutError: "5xx-transient",
    ProviderStreamError: "5xx-transient",
    ConnectionError: "5xx-transient",
    TimeoutError: "5xx-transient",
}
_OWN_BUCKETS: Final[Mapping[type[BaseException], ErrorBucket]] = {
    ProviderConnectionError: "network",
    ConnectionError: "network",
    MissingCredentialError: "auth",
    ProviderAuthError: "auth",
    ProviderPermissionError: "auth",
    ProviderRateLimitError: "rate-limit",
    ProviderTimeoutError: "timeout",
    TimeoutError: "timeout",
    ProviderOverloadedError: "server",
    ProviderServerError: "server",
    ContextWindowExceededError: "bad-request",
    ProviderBadRequestError: "bad-request",
    ProviderModelNotFoundError: "bad-request",
}


class ErrorFacts(NamedTuple):
    """What an error carries."""

    message: str
    status: int | None
    code: str | None
    name: str


def member(source: object, *keys: str) -> object:
    """The first of the named attributes or keys that is there and is not `None`."""
    for key in keys:
        found = (
            cast("Mapping[str, Any]", source).get(key) if isinstance(source, Mapping) else getattr(source, key, None)
        )
        if found is not None:
            return found
    return None


def _http_error(found: object) -> int | None:
    return int(found) if isinstance(found, int) and int(found) in _HTTP_ERROR else None


def status_of(error: object) -> int | None:
    """The HTTP status an error carries, under any of the names that SDKs use (ERR-9)."""
    response = member(error, "response")
    aws = member(member(response, "ResponseMetadata"), "HTTPStatusCode")
    for found in (
        member(error, "status", "status_code", "statusCode"),
        member(member(error, "$metadata"), "httpStatusCode"),
        aws,
        member(response, "status_code", "status"),
    ):
        if (status := _http_error(found)) is not None:
            return status
    return None


def message_of(error: object) -> str:
    """The error's words."""
    if isinstance(error, AgentFootprintError):
        return error.problem  # without the fix, whose words speak of other things
    if isinstance(error, BaseException):
        return str(error)
    found = member(error, "message")
    return found if isinstance(found, str) else ""


def nested(error: object) -> Iterator[object]:
    """An error and what it wraps, outermost first, four levels deep at most."""
    level: list[object] = [error]
    seen: set[int] = set()
    for _ in range(_NESTED_LEVELS + 1):
        deeper: list[object] = []
        for item in level:
            if item is None or isinstance(item, (str, bytes, int, float)) or id(item) in seen:
                continue
            seen.add(id(item))
            yield item
            deeper += [member(item, "error", "Error"), member(item, "body"), member(item, "__cause__", "cause")]
            deeper.append(member(member(item, "response"), "Error"))
        level = deeper


def facts_of(error: object) -> ErrorFacts:
    """What an error, or an object that describes one, says of itself."""
    message = message_of(error)
    status = status_of(error)
    if status is None and (leading := _LEADING_STATUS.match(message)):
        status = int(leading[1])
    code = member(error, "code", "vendor_code")
    name = member(error, "name")
    return ErrorFacts(
        message=message,
        status=status,
        code=code if isinstance(code, str) else None,
        name=name if isinstance(name, str) else type(error).__name__,
    )


_Answer = TypeVar("_Answer")


def _of_class(error: object, table: Mapping[type[BaseException], _Answer]) -> _Answer | None:
    return next((table[kind] for kind in type(error).__mro__ if kind in table), None)


def classify_error(error: object) -> ErrorKind:  # noqa: PLR0911  one answer a kind
    """The kind of an error, for rules that decide what to do next; `ok` for none.

    Order: our own classes and codes, status, words of the network, words of rate limits.
    """
    if error is None:
        return "ok"
    facts = facts_of(error)
    if facts.code == "ERR_CIRCUIT_OPEN":
        return "circuit-open"
    if facts.code == "ERR_OUTPUT_SCHEMA":
        return "schema-fail"
    own = _of_class(error, _OWN_KINDS)
    if own is not None:
        return own
    if facts.status == 429:  # noqa: PLR2004  HTTP
        return "rate-limit"
    if facts.status in _SERVER_ERROR:
        return "5xx-transient"
    if _TRANSIENT_WORDS.search(facts.message):
        return "5xx-transient"
    return "rate-limit" if _RATE_WORDS.search(facts.message) else "unknown"


def error_bucket(error: object) -> ErrorBucket:  # noqa: PLR0911  one answer a bucket
    """Which sentence fits an error; the order of the questions matters (08 s.2.2)."""
    own = _of_class(error, _OWN_BUCKETS)
    if own is not None:
        return own
    message, status, _code, _name = facts_of(error)
    if _NETWORK_WORDS.search(message):
        return "network"
    if status in (401, 403) or _AUTH_WORDS.search(message):
        return "auth"
    if status == 429 or _BUSY_WORDS.search(message):  # noqa: PLR2004  HTTP
        return "rate-limit"
    if _TIMEOUT_WORDS.search(message):
        return "timeout"
    if status in _SERVER_ERROR or _SERVER_WORDS.search(message):
        return "server"
    if status in _REJECTED_STATUS or _REQUEST_WORDS.search(message):
        return "bad-request"
    return "raw" if message.strip() else "unknown"


def humanize_llm_error(error: object) -> str:
    """One sentence for people who did not write the code; for the outermost boundary of a run only.

    Args:
        error: What the model call raised. Rules and retries read the error itself, never this sentence.
    """
    bucket = error_bucket(error)
    return f"The model call failed: {message_of(error)}" if bucket == "raw" else _SENTENCES[bucket]


def parse_retry_after(header: str, *, now: dt.datetime | None = None) -> float | None:
    """Seconds that a `Retry-After` header asks to wait, or `None` when it says nothing usable.

    Args:
        header: A number of seconds, or an HTTP date; a date in the past asks for no wait.
        now: The clock, for dates; by default the system's.
    """
    text = header.strip()
    if re.fullmatch(r"\d+(?:\.\d+)?", text, re.ASCII):
        return float(text)
    from email.utils import parsedate_to_datetime  # only a stated wait needs it

    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=dt.UTC)
    return max(0.0, (when - (now or dt.datetime.now(dt.UTC))).total_seconds())
