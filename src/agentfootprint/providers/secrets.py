"""Which key is in force, and how does it stay out of every error?

Invariants: a key is asked for once a request, never at construction (ADP-4); it is replaced literally, by no pattern,
in an error and in everything behind it (ERR-3).
"""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Final, cast

from agentfootprint.llm import MissingCredentialError, ProviderAuthError
from agentfootprint.providers.options import ApiKey

__all__ = ["KeySource", "environment", "redact", "scrub"]

_SHORTEST: Final = 8  # characters; a shorter text would be found in honest words (ERR-3)
_MARK: Final = "[redacted apiKey]"
_CHAIN: Final = 16  # errors behind an error that are looked at


def environment(*variables: str) -> str | None:
    """The first of the environment variables that holds something; a blank one is unset (ADP-3)."""
    for variable in variables:
        value = os.environ.get(variable, "").strip()
        if value:
            return value
    return None


class KeySource:
    """Where an adapter's key comes from.

    Args:
        provider: Name of the provider.
        given: What the caller gave: a key, or a function that gives one.
        variable: The environment variable that holds it otherwise.
        label: The vendor's name as people write it.

    Raises:
        MissingCredentialError: There is none, or a blank one was given (ADP-3).
    """

    __slots__ = ("_given", "_provider")

    def __init__(self, provider: str, given: ApiKey | None, *, variable: str, label: str) -> None:
        self._provider = provider
        found = environment(variable) if given is None else given
        if found is None or (isinstance(found, str) and not found.strip()):
            raise MissingCredentialError(provider, variable=variable, label=label)
        self._given: ApiKey = found

    async def current(self) -> str:
        """The key for the next request.

        Raises:
            ProviderAuthError: The function gave something that is no key; only its kind is said (ERR-5).
        """
        if isinstance(self._given, str):
            return self._given
        asked = self._given()
        given = cast("object", await asked if inspect.isawaitable(asked) else asked)
        if isinstance(given, str) and given.strip():
            return given
        kind = "an empty string" if isinstance(given, str) else "None" if given is None else f"a {type(given).__name__}"
        raise ProviderAuthError(
            f"The function that gives the key gave {kind}.",
            provider=self._provider,
            fix="Let it give the key as a text.",
            phase="connect",
        )


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret of at least 8 characters replaced."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST and secret in text:
            text = text.replace(secret, _MARK)
    return text


def scrub(error: BaseException, secrets: Sequence[str]) -> None:
    """Take the secrets out of an error and of what stands behind it: words, and attributes that hold words."""
    known = [secret for secret in secrets if len(secret) >= _SHORTEST]
    if not known:
        return
    for item in _behind(error):
        if any(isinstance(arg, str) for arg in item.args):
            item.args = tuple(_clean(arg, known) for arg in item.args)
        for name, value in list(vars(item).items()):
            clean = _clean(value, known) if not hasattr(value, "headers") else _clean_exchange(value, known)
            if clean is not value:
                setattr(item, name, clean)


def _clean_exchange(exchange: object, secrets: Sequence[str]) -> object:
    """The request or response that an SDK's error holds, its headers cleaned; `None` when its body tells a secret."""
    parts: list[object] = [exchange]
    with contextlib.suppress(RuntimeError):  # a response without a request
        parts.append(getattr(exchange, "request", None))
    for part in parts:
        headers: object = getattr(part, "headers", None)
        if isinstance(headers, MutableMapping):
            known = cast("MutableMapping[str, str]", headers)
            for name, value in list(known.items()):
                if redact(value, secrets) != value:
                    known[name] = _MARK
    with contextlib.suppress(RuntimeError):  # a body that was never read
        body: object = getattr(exchange, "content", b"")
        if isinstance(body, bytes) and any(secret.encode() in body for secret in secrets):
            return None
    return exchange


def _behind(error: BaseException) -> Iterator[BaseException]:
    todo: list[BaseException] = [error]
    seen: set[int] = set()
    while todo and len(seen) < _CHAIN:
        item = todo.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        yield item
        todo += [one for one in (item.__cause__, item.__context__) if one is not None]


def _clean(value: object, secrets: Sequence[str]) -> object:
    """The value without the secrets; the very value when there are none in it."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, Mapping):
        source = cast("Mapping[Any, Any]", value)
        fresh = {key: _clean(item, secrets) for key, item in source.items()}
        return fresh if any(fresh[key] is not source[key] for key in fresh) else source
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        cleaned = [_clean(item, secrets) for item in items]
        if all(new is old for new, old in zip(cleaned, items, strict=True)):
            return items
        return cleaned if isinstance(value, list) else tuple(cleaned)
    return value
