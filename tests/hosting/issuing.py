"""An identity provider on the loopback that signs tokens and publishes its keys, for tests."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from functools import cache
from types import TracebackType
from typing import Any, Self

from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

__all__ = ["AUDIENCE", "ISSUER", "Issuer", "rsa_key"]

ISSUER = "https://idp.example/"
AUDIENCE = "desk"


@cache
def rsa_key(kid: str) -> RSAKey:
    """A key pair, made once."""
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig"}, private=True, auto_kid=False)


class Issuer:
    """Use it as `async with Issuer() as idp`; what it answers may be changed while it serves."""

    def __init__(self) -> None:
        self.key_ids = ["k1"]
        self.more_keys: list[dict[str, Any]] = []
        self.status = 200
        self.body: bytes | None = None
        self.hangs = False
        self.fetches = 0
        self.port = 0
        self._over = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/jwks.json"

    def token(self, claims: Mapping[str, Any] | None = None, *, kid: str | None = "k1", signed_by: str = "k1") -> str:
        """A token; `None` as a claim leaves it out."""
        whole = {"iss": ISSUER, "aud": AUDIENCE, "exp": int(time.time()) + 600, "sub": "alice", **(claims or {})}
        header = {"alg": "RS256"} if kid is None else {"alg": "RS256", "kid": kid}
        return jwt.encode(header, {k: v for k, v in whole.items() if v is not None}, rsa_key(signed_by))

    def token_by(self, key: OctKey | ECKey, alg: str, kid: str = "k1") -> str:
        """A token by another kind of key."""
        claims = {"iss": ISSUER, "aud": AUDIENCE, "exp": int(time.time()) + 600, "sub": "alice"}
        return jwt.encode({"alg": alg, "kid": kid}, claims, key, algorithms=[alg])

    def document(self) -> dict[str, Any]:
        return {"keys": [*(dict(rsa_key(kid).as_dict(private=False)) for kid in self.key_ids), *self.more_keys]}

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            self.fetches += 1
            if self.hangs:
                await self._over.wait()
                return
            body = json.dumps(self.document()).encode() if self.body is None else self.body
            head = f"HTTP/1.1 {self.status} Said\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
            head += "location: /elsewhere\r\n" if 300 <= self.status < 400 else ""
            writer.write(head.encode() + b"\r\n" + body)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went
        finally:
            writer.close()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._server.close()
        await self._server.wait_closed()
