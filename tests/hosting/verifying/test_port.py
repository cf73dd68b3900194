"""Tests of agentfootprint.hosting.verifying.port."""

from __future__ import annotations

import logging
import pickle
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.hosting import (
    IdentityNotVerifiedError,
    IdentityVerifier,
    SupportsRequestProof,
    VerifiedIdentity,
    VerifierUnavailableError,
    bearer_token,
    verify_request,
)

MARKER = "tok-marker-4711"
Judge = Callable[[str], Awaitable[VerifiedIdentity]]


class Verifier:
    """A verifier that does what it is told."""

    def __init__(self, judge: Judge, *, allow_anonymous: bool = False) -> None:
        self.judge = judge
        self.allow_anonymous = allow_anonymous
        self.asked = 0

    async def verify(self, token: str) -> VerifiedIdentity:
        self.asked += 1
        return await self.judge(token)


async def alice(token: str) -> VerifiedIdentity:
    return VerifiedIdentity("alice", ("admin",), {"secret": token}, tenant="acme")


async def raises(token: str) -> VerifiedIdentity:
    raise RuntimeError(f"cannot parse {token}")


def parsed(token: str) -> None:
    raise ValueError(token)


async def raises_ours(token: str) -> VerifiedIdentity:
    try:
        parsed(token)
    except ValueError as cause:
        raise IdentityNotVerifiedError("expired") from cause
    return VerifiedIdentity("alice")


async def raises_ours_in_a_handler(token: str) -> VerifiedIdentity:
    try:
        parsed(token)
    except ValueError:
        raise IdentityNotVerifiedError("wrong-issuer")  # noqa: B904  what a careless verifier does
    return VerifiedIdentity("alice")


async def down(token: str) -> VerifiedIdentity:
    try:
        parsed(token)
    except ValueError as cause:
        raise VerifierUnavailableError("idp") from cause
    return VerifiedIdentity("alice")


async def nobody(token: str) -> VerifiedIdentity:
    return VerifiedIdentity("")


async def nothing(token: str) -> VerifiedIdentity:
    return cast("VerifiedIdentity", None)


async def a_mapping(token: str) -> VerifiedIdentity:
    return cast("VerifiedIdentity", {"user_id": "alice"})


async def a_number(token: str) -> VerifiedIdentity:
    return VerifiedIdentity(cast("str", 7))


JUDGES = [raises, raises_ours, raises_ours_in_a_handler, down, nobody, nothing, a_mapping, a_number]


def headers(token: str = MARKER) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("judge", [*JUDGES, alice], ids=lambda judge: judge.__name__)
async def test_the_token_never_travels(judge: Judge, caplog: pytest.LogCaptureFixture) -> None:
    """IDV-4: not in errors, causes, contexts, frames, reprs or logs."""
    caplog.set_level(logging.DEBUG)
    claimed = "bob" if judge is alice else None

    with pytest.raises((IdentityNotVerifiedError, VerifierUnavailableError)) as caught:
        await verify_request(Verifier(judge), headers(), claimed_user_id=claimed)

    error = caught.value
    whole = traceback.TracebackException.from_exception(error, capture_locals=True)
    whole.stack = traceback.StackSummary.from_list(list(whole.stack)[1:])  # the first frame is this test's own
    told = [*whole.format(), repr(error), str(error), repr(vars(error)), repr(pickle.dumps(error)), caplog.text]
    assert error.__cause__ is None
    assert error.__context__ is None
    assert MARKER not in "".join(told)


async def test_the_proven_caller_shows_nothing_of_itself() -> None:
    proven = await verify_request(Verifier(alice), headers())

    assert proven is not None
    assert repr(proven) == "VerifiedIdentity()"
    assert (proven.user_id, proven.roles, proven.owner) == ("alice", ("admin",), "%/acme/alice")


async def test_a_request_is_judged_once() -> None:
    verifier = Verifier(alice)

    await verify_request(verifier, headers())

    assert verifier.asked == 1


@pytest.mark.parametrize(
    ("judge", "failure"), [(raises, "unverifiable"), (raises_ours, "expired"), (nobody, "unverifiable")]
)
async def test_a_bad_token_is_refused_also_where_the_anonymous_are_let_in(judge: Judge, failure: str) -> None:
    """IDV-3."""
    with pytest.raises(IdentityNotVerifiedError) as caught:
        await verify_request(Verifier(judge, allow_anonymous=True), headers())

    assert caught.value.failure == failure


async def test_the_verifier_says_whether_nobody_may_come_in_and_the_door_may_say_otherwise() -> None:
    strict, open_to_all = Verifier(alice), Verifier(alice, allow_anonymous=True)

    assert await verify_request(open_to_all, {}) is None
    assert await verify_request(strict, {}, allow_anonymous=True) is None
    for call in (verify_request(strict, {}), verify_request(open_to_all, {}, allow_anonymous=False)):
        with pytest.raises(IdentityNotVerifiedError) as caught:
            await call
        assert caught.value.failure == "no-token"


async def test_a_setting_that_is_no_truth_value_lets_nobody_in() -> None:
    with pytest.raises(IdentityNotVerifiedError):
        await verify_request(Verifier(alice, allow_anonymous=cast("bool", "false")), {})


async def test_a_claim_without_a_token_is_refused_also_where_the_anonymous_are_let_in() -> None:
    with pytest.raises(IdentityNotVerifiedError) as caught:
        await verify_request(Verifier(alice, allow_anonymous=True), {}, claimed_user_id="alice")

    assert caught.value.claimed_user


async def test_whoever_claims_another_is_refused_without_being_told_who_was_proven() -> None:
    with pytest.raises(IdentityNotVerifiedError) as caught:
        await verify_request(Verifier(alice), headers(), claimed_user_id="bob")

    assert caught.value.failure == "claimed-another-user"
    assert not {"alice", "bob"} & set(str(caught.value).split())


class Certificates:
    """Proves callers by what the connection says."""

    async def verify(self, token: str) -> VerifiedIdentity:
        raise AssertionError("the connection is the proof here")

    async def verify_request(self, headers: Mapping[str, str], scope: Mapping[str, Any]) -> VerifiedIdentity | None:
        name = scope.get("client_cert_name")
        return None if name is None else VerifiedIdentity(f"{name}@{headers['x-realm']}")


async def test_a_proof_may_be_another_than_a_token() -> None:
    verifier = Certificates()
    assert isinstance(verifier, IdentityVerifier)
    assert isinstance(verifier, SupportsRequestProof)

    proven = await verify_request(verifier, {"X-Realm": "acme"}, scope={"client_cert_name": "alice"})

    assert proven is not None
    assert proven.user_id == "alice@acme"
    with pytest.raises(IdentityNotVerifiedError, match="no bearer token"):
        await verify_request(verifier, headers())


@given(scheme=st.text(max_size=8), rest=st.text(max_size=12))
def test_no_header_breaks_the_reader_of_tokens(scheme: str, rest: str) -> None:
    token = bearer_token({"Authorization": f"{scheme} {rest}"})

    if token is not None:
        assert token == token.strip() != ""
        assert scheme.lower() == "bearer" or " " in scheme
