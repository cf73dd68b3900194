"""Which public keys does the identity provider sign with, right now?

Keys are kept for a while and fetched again when that is over, or when a token names one that is not among them, so that
a rotation is seen at once; that second reason counts at most once in 30 seconds, or a stranger's tokens would make us
hammer the provider. A failed fetch is not kept, but all who waited for it share its failure. Keys that are over their
time are used on while the provider is down, up to a limit; without any keys the verifier is unavailable, which is no
verdict on the token (IDV-6).
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint._optional import optional
from agentfootprint.hosting.errors import VerifierUnavailableError

if TYPE_CHECKING:
    from joserfc.jwk import Key, KeySet

__all__ = ["KeySource", "fetch_json", "read_keys"]

_LOG: Final = logging.getLogger(__name__)
_AGAIN: Final = 30.0  # seconds between two fetches that nobody's time table asks for
_BIGGEST: Final = 1_048_576  # bytes
_ASYMMETRIC: Final = frozenset({"RSA", "EC", "OKP"})


async def fetch_json(url: str, timeout: float) -> object:  # noqa: ASYNC109  the whole exchange is bounded, not one await
    """Get a small JSON document.

    Args:
        url: Where.
        timeout: For the whole of it, in seconds.

    Raises:
        httpx.HTTPError: It can't be reached, or answers with something other than success.
        ValueError: The answer is too big, or no JSON.
        TimeoutError: It took too long.
    """
    with optional("httpx", extra="server", needed_by="Jwks"):
        import httpx
    body = bytearray()
    async with (
        asyncio.timeout(timeout),
        httpx.AsyncClient(timeout=timeout) as client,
        client.stream("GET", url, headers={"accept": "application/json"}) as answer,
    ):
        answer.raise_for_status()
        async for piece in answer.aiter_bytes():
            body += piece
            if len(body) > _BIGGEST:
                raise ValueError("too big")
    return json.loads(bytes(body))


def read_keys(document: object) -> KeySet:
    """The public keys of a JWKS document that can check a signature; others in it are passed over.

    Raises:
        ValueError: There is none.
    """
    with optional("joserfc", extra="server", needed_by="Jwks"):
        from joserfc.errors import JoseError
        from joserfc.jwk import JWKRegistry, KeySet
    listed: object = cast("dict[str, Any]", document).get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("no list of keys")  # noqa: TRY004  it is the document that is wrong
    keys: list[Key] = []
    for entry in cast("list[object]", listed):
        if not isinstance(entry, dict):
            continue
        raw = cast("dict[str, Any]", entry)
        if raw.get("kty") not in _ASYMMETRIC or raw.get("use", "sig") != "sig":
            continue
        try:
            keys.append(JWKRegistry.import_key(raw))
        except (JoseError, ValueError, TypeError, KeyError):
            continue  # one key that is broken must not take the others with it
    if not keys:
        raise ValueError("no key that can check a signature")
    return KeySet(keys)


class KeySource:
    """The key set behind one URL, fetched when it is needed. One source serves one event loop.

    Args:
        url: The key set's URL.
        verifier: Named in errors.
        cache_for: How long keys are good for without asking again, in seconds.
        stale_for: How long, from their fetch, they are used on when asking again fails, in seconds.
        timeout: For one fetch, in seconds.
        fetch: Gets the document.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        url: str,
        *,
        verifier: str,
        cache_for: float,
        stale_for: float,
        timeout: float,
        fetch: Callable[[str, float], Awaitable[object]] = fetch_json,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url
        self._verifier = verifier
        self._cache_for, self._stale_for, self._timeout = cache_for, stale_for, timeout
        self._fetch, self._clock = fetch, clock
        self._keys: KeySet | None = None
        self._fetched_at = 0.0
        self._asked_again_at = -_AGAIN
        self._failed_at = -2 * _AGAIN
        self._failures = 0
        self._lock = asyncio.Lock()

    async def current(self) -> KeySet:
        """The keys, fetched first when their time is over.

        Raises:
            VerifierUnavailableError: There are none, and none can be fetched.
        """
        if self._keys is not None and self._lock.locked() and not self._is_over():
            return self._keys  # another request is asking for new ones already
        if self._keys is None or self._is_due():
            failures = self._failures
            async with self._lock:
                if self._keys is None and self._failures > failures:  # or all who wait would try, one after the other
                    raise VerifierUnavailableError(self._verifier)
                if self._keys is None or self._is_due():  # another may have fetched them meanwhile
                    await self._refresh()
        assert self._keys is not None  # noqa: S101  `_refresh` raises otherwise
        return self._keys

    async def after_unknown(self, seen: KeySet) -> KeySet | None:
        """The keys as they are now, for a token that names none of those seen; `None` when there is nothing newer.

        Raises:
            VerifierUnavailableError: The provider can't be asked now, so the token can't be judged.
        """
        async with self._lock:
            if self._keys is not None and self._keys is not seen:
                return self._keys
            now = self._clock()
            if now - self._asked_again_at < _AGAIN:
                if self._failed_at >= self._asked_again_at:
                    raise VerifierUnavailableError(self._verifier)
                return None
            self._asked_again_at = now
            try:
                self._keys, self._fetched_at = await self._document(), now
            except VerifierUnavailableError:
                self._failed_at = now
                raise
            return self._keys

    def _is_due(self) -> bool:
        now = self._clock()
        return self._is_over() or (now - self._fetched_at >= self._cache_for and now - self._failed_at >= _AGAIN)

    def _is_over(self) -> bool:
        """Whether the keys may not be used any more, whatever the provider does."""
        return self._clock() - self._fetched_at >= self._stale_for

    async def _refresh(self) -> None:
        now = self._clock()
        try:
            self._keys, self._fetched_at = await self._document(), now
        except VerifierUnavailableError:
            self._failed_at = now
            self._failures += 1
            if self._keys is None or self._is_over():
                self._keys = None
                raise

    async def _document(self) -> KeySet:
        try:
            return read_keys(await self._fetch(self._url, self._timeout))
        except Exception as error:  # noqa: BLE001  network, TLS and parsers each raise their own
            _LOG.warning("The key set of %s could not be fetched: %s", self._verifier, type(error).__name__)
        raise VerifierUnavailableError(self._verifier)  # outside of the handler: the cause says nothing to a caller
