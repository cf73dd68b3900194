"""Did the prompt not fit into the model's context window, and by how much?

Invariants: recognised by unmistakable phrases only, whatever the status (ERR-6, DEC-7); a rate limit, a bad
`max_tokens` and a cap on output are something else (ERR-7); a number that was not said is never made up (ERR-8).
"""

from __future__ import annotations

import re
from typing import Final

from agentfootprint.llm.errors import ContextWindowExceededError
from agentfootprint.llm.faults import facts_of, member, message_of, nested

__all__ = ["context_window_error", "looks_like_context_window_exceeded"]

_PHRASES: Final = re.compile(
    r"context_length_exceeded"
    r"|maximum context length"
    r"|exceeds? the context window"
    r"|prompt is too long"
    r"|exceeds? (?:the )?context limit"
    r"|input (?:is )?too long for (?:the )?requested model"
    r"|input tokens exceed the configured limit"
    r"|exceeds? the maximum (?:allowed )?(?:number of )?input tokens"
    r"|input token count[^.]{0,80}?exceeds the maximum number of tokens allowed",
    re.IGNORECASE,
)

_N: Final = r"(\d[\d,_ ]{0,30})"
_OVER: Final = re.compile(_N + r"tokens > " + _N + r"maximum", re.IGNORECASE | re.ASCII)
_SUM: Final = re.compile(_N + r"\+ " + _N + r"> " + _N, re.ASCII)
_PARENTHESES: Final = re.compile(
    r"token count \(([\d,_ ]{0,30})\) exceeds the maximum number of tokens allowed(?: \(([\d,_ ]{0,30})\))?",
    re.IGNORECASE | re.ASCII,
)
_LIMIT: Final = re.compile(
    r"(?:maximum context length is|configured limit of|limit of) " + _N + r"(?:tokens)?", re.IGNORECASE | re.ASCII
)
_ACTUAL: Final = re.compile(
    r"(?:resulted in|requested|you (?:sent|submitted|provided)) " + _N, re.IGNORECASE | re.ASCII
)


def looks_like_context_window_exceeded(error: object, *, body: str = "") -> bool:
    """Whether an error says that the prompt did not fit; for errors of custom providers too (ERR-10).

    Args:
        error: The error, or an object that describes one.
        body: The raw body of the answer, if it was read.
    """
    return isinstance(error, ContextWindowExceededError) or any(_PHRASES.search(text) for text in _texts(error, body))


def context_window_error(
    error: object, provider: str, *, status: int | None = None, body: str = ""
) -> ContextWindowExceededError | None:
    """The error to raise instead, with the sizes the vendor gave, or `None` when it is another failure.

    Args:
        error: What the call raised; raise the result `from` it.
        provider: Name of the provider.
        status: The HTTP status, where the error does not carry it.
        body: The raw body of the answer, if it was read.
    """
    if isinstance(error, ContextWindowExceededError):
        return error
    if not looks_like_context_window_exceeded(error, body=body):
        return None
    texts = _texts(error, body)
    limit = actual = None
    for text in texts:
        said_actual, said_limit = _sizes(text)
        actual = actual or said_actual
        limit = limit or said_limit
    return ContextWindowExceededError(
        provider,
        limit_tokens=limit,
        actual_tokens=actual,
        status=facts_of(error).status or status,
        vendor_text=message_of(error),
    )


def _texts(error: object, body: str) -> list[str]:
    texts: list[object] = [body]
    for item in nested(error):
        texts += [message_of(item), member(item, "code", "Code"), member(item, "type"), member(item, "name")]
        texts += [member(item, "message", "Message")]
    return [text for text in texts if isinstance(text, str) and text]


def _sizes(text: str) -> tuple[int | None, int | None]:
    """Tokens of the prompt and of the window."""
    if over := _OVER.search(text):
        return _int(over[1]), _int(over[2])
    if total := _SUM.search(text):
        prompt, reply = _int(total[1]), _int(total[2])
        return (None if prompt is None or reply is None else prompt + reply), _int(total[3])
    if pair := _PARENTHESES.search(text):
        return _int(pair[1]), _int(pair[2])
    actual, limit = _ACTUAL.search(text), _LIMIT.search(text)
    return _int(actual[1] if actual else None), _int(limit[1] if limit else None)


def _int(digits: str | None) -> int | None:
    plain = re.sub(r"[,_ ]", "", digits or "")
    return int(plain) or None if plain else None
