"""Tests of `vectors/hosting`: stored sessions and their owners, bearer tokens, proven callers, the suite's cases."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

import pytest
from joserfc.jwk import OctKey

from agentfootprint.errors import AgentFootprintError
from agentfootprint.hosting import (
    IdentityNotVerifiedError,
    IdentityVerifier,
    Jwks,
    JwksOptions,
    UnknownEnvelopeFormatError,
    UnreadableEnvelopeError,
    VerifiedIdentity,
    VerifierUnavailableError,
    bearer_token,
    check_envelope,
    envelope_owner,
    envelope_transcript,
    read_conversation,
    read_paused,
    resolve_session_owner,
    session_store_cases,
    verify_request,
)
from tests.hosting.issuing import AUDIENCE, ISSUER, Issuer
from tests.vectors.harness import Case, assert_same, load

HOSTING = load("hosting")
COVERED = (
    "bearer-token",
    "envelope",
    "jwks-identity",
    "session-conformance-cases",
    "session-owner",
    "verify-request-identity",
)
ELSEWHERE = ("composition-streams",)  # test_compose.py


def verdict(call: Any, stored: object) -> Any:
    """What a reader does with a stored value, as the vector says it."""
    try:
        call(stored)
    except UnreadableEnvelopeError as refused:
        return {"name": "UnreadableEnvelopeError", "code": refused.code, "type_error": TypeError in type(refused).mro()}
    except TypeError:
        return {"name": "TypeError", "type_error": True}
    return "ok"


@pytest.mark.parametrize("case", HOSTING.cases("envelope"))
def test_envelope(case: Case) -> None:
    """SES-1 to SES-4."""
    stored = case.input["stored"]

    found = {
        "check": verdict(check_envelope, stored),
        "read_conversation": verdict(read_conversation, stored),
        "read_paused": verdict(read_paused, stored),
        "owner": envelope_owner(stored),
        "transcript": list(envelope_transcript(stored)),
    }

    assert_same(found, case.expected)
    if case.get("departure") is not None:
        for reader in (check_envelope, read_conversation, read_paused):
            with pytest.raises(UnknownEnvelopeFormatError):
                reader(stored)


@pytest.mark.parametrize("case", HOSTING.cases("session-owner"))
def test_session_owner(case: Case) -> None:
    """OWN-1."""
    stored, incoming = case.input["stored"], case.input["incoming"]

    try:
        found: dict[str, Any] = {"owner": resolve_session_owner("s-1", stored, incoming)}
    except AgentFootprintError as refused:
        names = "s-1" not in str(refused) or any(name in str(refused) for name in (stored, incoming))
        session_id = getattr(refused, "session_id", None)
        error = {"name": type(refused).__name__, "code": refused.code, "session_id": session_id}
        found = {"error": {**error, "names_a_principal": names}}

    assert_same(found, case.expected)


@pytest.mark.parametrize("case", HOSTING.cases("bearer-token"))
def test_bearer_token(case: Case) -> None:
    """IDV-1."""
    assert bearer_token(case.input["headers"]) == case.expected["token"]


class Says:
    """The verifiers of the vector."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    async def verify(self, token: str) -> VerifiedIdentity:
        match self.kind:
            case "alice":
                return VerifiedIdentity("alice", ("r",), {"email": "a@x"})
            case "empty":
                return VerifiedIdentity("")
            case "none":
                return cast("VerifiedIdentity", None)
            case "expired":
                raise IdentityNotVerifiedError("expired")
            case "down":
                raise VerifierUnavailableError("idp")
            case _:
                raise RuntimeError(f"could not read {token}")


def identity_of(proven: VerifiedIdentity | None) -> dict[str, Any]:
    if proven is None:
        return {"identity": None}
    return {"identity": {"userId": proven.user_id, "roles": list(proven.roles), "claims": proven.claims}}


@pytest.mark.parametrize("case", HOSTING.cases("verify-request-identity"))
async def test_verify_request_identity(case: Case) -> None:
    """IDV-2, IDV-3."""
    given = case.input
    verifier = None if given["verifier"] is None else Says(given["verifier"])

    try:
        proven = await verify_request(
            verifier,
            given["headers"],
            claimed_user_id=given["claimed_user_id"],
            allow_anonymous=given["allow_anonymous"],
        )
        found = identity_of(proven)
    except IdentityNotVerifiedError as refused:
        error = {"name": type(refused).__name__, "code": refused.code, "failure": refused.failure}
        holds = "tok-secret" in f"{refused} {refused!r}"
        found = {"error": {**error, "claimed_user": refused.claimed_user, "message_holds_token": holds}}
    except VerifierUnavailableError as refused:
        holds = "tok-secret" in f"{refused} {refused!r}"
        found = {"error": {"name": type(refused).__name__, "code": refused.code, "message_holds_token": holds}}

    assert_same(found, case.expected)


def constructed(options: dict[str, Any]) -> IdentityVerifier:
    return Jwks(
        options.get("jwksUrl", "https://idp.example/jwks.json"),
        issuer=options.get("issuer", ISSUER),
        audience=options.get("audience", AUDIENCE),
    )


def in_seconds(seconds: int) -> int:
    return int(time.time()) + seconds


TOKENS: dict[tuple[str, str | None], Callable[[Issuer], str]] = {
    ("ERR_JWT_EXPIRED", None): lambda idp: idp.token({"exp": in_seconds(-60)}),
    ("ERR_JWT_CLAIM_VALIDATION_FAILED", "aud"): lambda idp: idp.token({"aud": "another service"}),
    ("ERR_JWT_CLAIM_VALIDATION_FAILED", "iss"): lambda idp: idp.token({"iss": "https://elsewhere.example/"}),
    ("ERR_JWT_CLAIM_VALIDATION_FAILED", "nbf"): lambda idp: idp.token({"nbf": in_seconds(300)}),
    ("ERR_JWS_SIGNATURE_VERIFICATION_FAILED", None): lambda idp: idp.token(signed_by="k2"),
    ("ERR_JWKS_NO_MATCHING_KEY", None): lambda idp: idp.token(kid="unknown"),
    ("ERR_JOSE_ALG_NOT_ALLOWED", None): lambda idp: idp.token_by(OctKey.generate_key(256), "HS256"),
    ("ERR_JWKS_TIMEOUT", None): lambda idp: idp.token(),
}
"""Real tokens that end in the outcomes which the vector names in another library's words."""


@pytest.mark.parametrize("case", HOSTING.cases("jwks-identity"))
async def test_jwks_identity(case: Case) -> None:
    """IDV-6."""
    if "construct" in case.input:
        if "construction_error" in case.expected:
            with pytest.raises(TypeError):
                constructed(case.input["construct"])
        else:
            constructed(case.input["construct"])
        return
    options = case.input["options"]
    async with Issuer() as idp:
        verification = case.input["verification"]
        if "payload" in verification:
            token = idp.token({"sub": None, **verification["payload"]})
        else:
            thrown = verification["throw"]
            token = TOKENS[thrown["code"], thrown.get("claim")](idp)
            idp.hangs = thrown["code"] == "ERR_JWKS_TIMEOUT"
        verifier = Jwks(
            idp.url,
            issuer=ISSUER,
            audience=AUDIENCE,
            user_claim=options.get("userIdClaim", "sub"),
            roles_claim=options.get("rolesClaim", "roles"),
            options=JwksOptions(allow_http=True, timeout=0.1 if idp.hangs else 5.0),
        )

        try:
            proven = await verifier.verify(token)
            registered = ("iss", "aud", "exp")  # a real token has these besides
            claims = {key: value for key, value in proven.claims.items() if key not in registered}
            found: dict[str, Any] = {
                "identity": {"userId": proven.user_id, "roles": list(proven.roles), "claims": claims}
            }
        except IdentityNotVerifiedError as refused:
            found = {"error": {"name": type(refused).__name__, "code": refused.code, "failure": refused.failure}}
            found["error"]["has_cause"] = (refused.__cause__ or refused.__context__) is not None
        except VerifierUnavailableError as refused:
            found = {"error": {"name": type(refused).__name__, "code": refused.code}}
            found["error"]["has_cause"] = (refused.__cause__ or refused.__context__) is not None

    assert_same(found, case.expected)


MEMBERS = {"forget": "forget", "ownerOf": "owner_of", "listByUser": "list_by_user", "retention": "retention"}


@pytest.mark.parametrize("case", HOSTING.cases("session-conformance-cases"))
def test_session_conformance_cases(case: Case) -> None:
    """Names, members and hooks, in the order of the file; our own cases come after them."""
    ours = session_store_cases()[case.number]

    assert ours.name == case.name
    assert list(ours.members) == [MEMBERS[name] for name in case.input["members"]]
    assert list(ours.harness_needs) == case.input["harness_needs"]


@pytest.mark.parametrize("file", HOSTING.not_built(*COVERED, *ELSEWHERE))
def test_the_topic_is_built(file: str) -> None:
    pytest.fail(f"{file} is neither covered nor skipped")
