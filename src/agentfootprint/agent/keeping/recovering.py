"""Can a run that failed succeed when it is taken up again, or would it only fail the same way?

Read from what an error says of itself, never by importing an SDK. What is not known to be hopeless may be tried.
"""

from __future__ import annotations

import re
from typing import Final

from agentfootprint.errors import AgentFootprintError
from agentfootprint.llm import MissingCredentialError, facts_of, looks_like_context_window_exceeded

__all__ = ["can_resume", "retry_after_of", "why_not"]

_REFUSED: Final = frozenset((400, 404, 422))
_UNAUTHORISED: Final = frozenset((401, 403))
_CREDENTIAL_NAMES: Final = re.compile(
    r"ExpiredToken|InvalidClientTokenId|UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch|AccessDenied"
    r"|Credential|AuthenticationError|PermissionDenied|InvalidApiKey|InvalidAccessKey|UnauthorizedException"
)
"""Names of exceptions and error codes that speak of keys and tokens."""
_KEY_WORDS: Final = re.compile(
    r"(?:incorrect|invalid|missing|no|expired|revoked) (?:x-)?api[ _-]?key|api[ _-]?key[^.]{0,40}"
    r"(?:not valid|invalid|incorrect|expired|missing|not set|revoked)|invalid x-api-key"
    r"|security token[^.]{0,40}(?:invalid|expired)|unable to locate credentials",
    re.IGNORECASE,
)
"""Wordings about a key. The bare word "unauthorized" is not among them: a back end behind a tool may say it."""


def can_resume(error: BaseException) -> bool:
    """Whether `resume_on_error` can plausibly succeed after this error (AGT-111).

    Args:
        error: What the run raised, or the cause of it.

    Returns:
        False when the prompt does not fit the model, the credentials are refused or the request is malformed: the same
        conversation would be refused again. True otherwise.
    """
    return why_not(_cause(error)) is None


def why_not(error: object) -> str | None:
    """Why taking the run up again can't help, in words; `None` when it may.

    Args:
        error: The error, or an object that describes one.
    """
    if looks_like_context_window_exceeded(error):
        return "the conversation does not fit into the model's context window"
    facts = facts_of(error)
    names = (facts.name, facts.code or "")
    if (
        isinstance(error, MissingCredentialError)
        or facts.status in _UNAUTHORISED
        or any(map(_CREDENTIAL_NAMES.search, names))
        or _KEY_WORDS.search(facts.message)
    ):
        return "the model provider refuses the credentials"
    if facts.status in _REFUSED:
        return f"the model provider refuses the request (status {facts.status})"
    return None


def retry_after_of(error: object) -> float | None:
    """How many seconds the provider asked to wait, if it did."""
    found = getattr(error, "retry_after", None)
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def _cause(error: BaseException) -> BaseException:
    """The error that a run's own error is about."""
    inner: object = getattr(error, "cause", None)
    return inner if isinstance(error, AgentFootprintError) and isinstance(inner, BaseException) else error
