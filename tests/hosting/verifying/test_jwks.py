"""Tests of agentfootprint.hosting.verifying.jwks."""

from __future__ import annotations

import base64
import json
import logging
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey

from agentfootprint.errors import MissingExtraError
from agentfootprint.hosting import (
    IdentityNotVerifiedError,
    IdentityVerifier,
    Jwks,
    JwksOptions,
    VerifierConfigError,
    VerifierUnavailableError,
    verify_request,
)
from tests.hosting.issuing import AUDIENCE, ISSUER, Issuer

URL = "https://idp.example/jwks.json"


def verifier(idp: Issuer, **options: Any) -> Jwks:
    return Jwks(idp.url, issuer=ISSUER, audience=AUDIENCE, options=JwksOptions(allow_http=True, **options))


async def failure(idp: Issuer, token: str, **options: Any) -> str:
    with pytest.raises(IdentityNotVerifiedError) as caught:
        await verifier(idp, **options).verify(token)
    return caught.value.failure


def forged(claims: dict[str, Any], header: dict[str, Any], signature: bytes = b"") -> str:
    """A token that nobody signed."""

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    return f"{part(header)}.{part(claims)}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


async def test_a_token_of_the_provider_proves_its_user() -> None:
    async with Issuer() as idp:
        door = verifier(idp)
        token = idp.token({"roles": "read write", "aud": ["other", AUDIENCE]})

        first = await verify_request(door, {"authorization": f"Bearer {token}"})
        await door.verify(idp.token())

        assert isinstance(door, IdentityVerifier)
        assert first is not None
        assert (first.user_id, first.roles, first.tenant) == ("alice", ("read", "write"), None)
        assert first.claims["iss"] == ISSUER
        assert idp.fetches == 1


async def test_a_tenant_claim_makes_the_owner_a_pair_and_a_token_without_it_is_refused() -> None:
    """OWN-6."""
    async with Issuer() as idp:
        proven = await verifier(idp, tenant_claim="org").verify(idp.token({"org": "acme"}))

        assert proven.owner == "%/acme/alice"
        for org in (None, "", 7):
            assert await failure(idp, idp.token({"org": org}), tenant_claim="org") == "unverifiable"


async def test_elliptic_keys_check_tokens_too() -> None:
    key = ECKey.generate_key("P-256", {"kid": "ec", "use": "sig"}, auto_kid=False)
    async with Issuer() as idp:
        idp.more_keys = [dict(key.as_dict(private=False))]

        proven = await verifier(idp).verify(idp.token_by(key, "ES256", "ec"))

        assert proven.user_id == "alice"


@pytest.mark.parametrize(
    "token",
    [
        *("", ".", "..", "a.b.c", "x" * 100_000, "é.ü.ö", "\ud800", "null", "a.b.c.d.e"),
        forged({"sub": "alice"}, {"alg": "none"}),
        forged({"sub": "alice"}, {"alg": "RS256", "kid": "k1"}, b"x" * 256),
        forged({"sub": "alice"}, {"alg": "RS256", "kid": ["k1"]}, b"x" * 256),
        forged({"sub": "alice"}, {"alg": "RS256", "kid": "k1", "crit": ["b64"], "b64": False}, b"x"),
    ],
    ids=range(13),
)
async def test_garbage_and_forgeries_are_unverifiable(token: str) -> None:
    async with Issuer() as idp:
        assert await failure(idp, token) == "unverifiable"


async def test_a_public_key_used_as_a_shared_secret_does_not_sign() -> None:
    async with Issuer() as idp:
        public = json.dumps(idp.document()["keys"][0]).encode()
        key = OctKey.import_key(public, {"kid": "k1"})

        assert await failure(idp, idp.token_by(key, "HS256")) == "unverifiable"


async def test_a_shared_secret_among_the_published_keys_signs_nothing() -> None:
    key = OctKey.generate_key(256, {"kid": "shared"}, auto_kid=False)
    async with Issuer() as idp:
        idp.more_keys = [dict(key.as_dict(private=True))]

        assert await failure(idp, idp.token_by(key, "HS256", "shared")) == "unverifiable"


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"exp": -1}, "expired"),
        ({"exp": None}, "unverifiable"),
        ({"exp": "tomorrow"}, "unverifiable"),
        ({"iss": None}, "unverifiable"),
        ({"aud": None}, "unverifiable"),
        ({"iss": "https://idp.example"}, "wrong-issuer"),
        ({"iss": ["https://idp.example/"]}, "wrong-issuer"),
        ({"aud": "Desk"}, "wrong-audience"),
        ({"aud": {"desk": 1}}, "wrong-audience"),
        ({"iat": 300}, "not-yet-valid"),
        ({"nbf": 300}, "not-yet-valid"),
        ({"sub": 7}, "unverifiable"),
        ({"sub": None}, "unverifiable"),
    ],
)
async def test_each_claim_fails_in_its_own_way(claims: dict[str, Any], expected: str) -> None:
    now = int(time.time())
    timed = {
        key: value + now if key in ("exp", "iat", "nbf") and isinstance(value, int) else value
        for key, value in claims.items()
    }
    async with Issuer() as idp:
        assert await failure(idp, idp.token(timed)) == expected


async def test_clocks_may_disagree_by_the_leeway() -> None:
    async with Issuer() as idp:
        token = idp.token({"exp": int(time.time()) - 20})

        assert (await verifier(idp, leeway=60).verify(token)).user_id == "alice"


async def test_a_token_without_an_end_is_let_in_only_where_that_was_said() -> None:
    async with Issuer() as idp:
        assert (await verifier(idp, require_exp=False).verify(idp.token({"exp": None}))).user_id == "alice"


async def test_roles_that_are_no_texts_are_left_out() -> None:
    async with Issuer() as idp:
        door = verifier(idp)

        assert (await door.verify(idp.token({"roles": ["a", 7, "", None, "b"]}))).roles == ("a", "b")
        assert (await door.verify(idp.token({"roles": {"a": 1}}))).roles == ()
        assert (await door.verify(idp.token({"roles": ""}))).roles == ()


async def test_a_rotated_key_is_found_with_the_first_token_that_names_it() -> None:
    async with Issuer() as idp:
        door = verifier(idp)
        await door.verify(idp.token())
        idp.key_ids = ["k1", "k2"]

        proven = await door.verify(idp.token(kid="k2", signed_by="k2"))

        assert proven.user_id == "alice"
        assert idp.fetches == 2


@pytest.mark.parametrize("outage", ["refused", "hangs", "status", "redirect", "no json", "no keys", "empty", "huge"])
async def test_an_outage_of_the_provider_is_no_verdict_on_the_token(
    outage: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with Issuer() as idp:
        token = idp.token()
        if outage == "refused":
            await idp.__aexit__(None, None, None)
        idp.hangs = outage == "hangs"
        idp.status = {"status": 503, "redirect": 302}.get(outage, 200)
        huge = b" " * 2_000_000 + json.dumps(idp.document()).encode()
        idp.body = {"no json": b"<html>", "no keys": b'{"a":1}', "empty": b'{"keys":[]}', "huge": huge}.get(outage)
        with pytest.raises(VerifierUnavailableError) as caught:
            await verifier(idp, timeout=0.2).verify(token)

    error = caught.value
    assert (error.__cause__, error.__context__) == (None, None)
    whole = traceback.TracebackException.from_exception(error, capture_locals=True)
    ours = [frame for frame in whole.stack if "hosting/verifying" in frame.filename and "tests" not in frame.filename]
    assert ours
    assert all(token not in str(frame.locals) for frame in ours)
    assert token not in caplog.text


async def test_the_provider_that_comes_back_is_asked_at_once() -> None:
    """IDV-6: a failed fetch is not kept."""
    async with Issuer() as idp:
        door = verifier(idp)
        idp.status = 503
        with pytest.raises(VerifierUnavailableError):
            await door.verify(idp.token())
        idp.status = 200

        assert (await door.verify(idp.token())).user_id == "alice"


@pytest.mark.parametrize(
    ("make", "option"),
    [
        (lambda: Jwks("http://idp.example/jwks", issuer=ISSUER, audience=AUDIENCE), "url"),
        (lambda: Jwks("https:///jwks", issuer=ISSUER, audience=AUDIENCE), "url"),
        (lambda: Jwks("file:///etc/passwd", issuer=ISSUER, audience=AUDIENCE), "url"),
        (lambda: Jwks("https://[bad/jwks", issuer=ISSUER, audience=AUDIENCE), "url"),
        (lambda: Jwks(URL, issuer="", audience=AUDIENCE), "issuer"),
        (lambda: Jwks(URL, issuer=[""], audience=AUDIENCE), "issuer"),
        (lambda: Jwks(URL, issuer=ISSUER, audience=[]), "audience"),
        (lambda: Jwks(URL, issuer=ISSUER, audience=AUDIENCE, user_claim=""), "user_claim"),
        (lambda: Jwks(URL, issuer=ISSUER, audience=AUDIENCE, options=JwksOptions(algorithms=["HS256"])), "algorithms"),
        (lambda: Jwks(URL, issuer=ISSUER, audience=AUDIENCE, options=JwksOptions(algorithms=["none"])), "algorithms"),
        (lambda: Jwks(URL, issuer=ISSUER, audience=AUDIENCE, options=JwksOptions(algorithms=())), "algorithms"),
        (lambda: Jwks(URL, issuer=ISSUER, audience=AUDIENCE, options=JwksOptions(timeout=0)), "timeout"),
        (lambda: Jwks(URL, issuer=ISSUER, audience=AUDIENCE, options=JwksOptions(leeway=-1)), "leeway"),
        (lambda: Jwks(URL, issuer=ISSUER, audience=AUDIENCE, options=JwksOptions(tenant_claim="")), "tenant_claim"),
    ],
)
def test_a_door_that_could_keep_nobody_out_is_not_made(make: Callable[[], Jwks], option: str) -> None:
    with pytest.raises(VerifierConfigError) as caught:
        make()

    assert caught.value.option.endswith(option)


@pytest.mark.parametrize("package", ["joserfc", "httpx"])
def test_a_missing_extra_is_found_when_the_verifier_is_made(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [_Without(package), *sys.meta_path])

    with pytest.raises(MissingExtraError, match=r"agentfootprint\[server\]"):
        Jwks(URL, issuer=ISSUER, audience=AUDIENCE)


class _Without:
    """An importer that knows one package is not installed."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] == self.package:
            raise ModuleNotFoundError(f"No module named {self.package!r}", name=self.package)
