"""Who is calling, as something other than the caller's word says?

Invariants: a token is judged once a request; it stands in no error, cause, context or repr (IDV-4); a bad token is
refused even where the anonymous are let in (IDV-3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from agentfootprint.hosting.errors import IdentityNotVerifiedError, VerifierUnavailableError
from agentfootprint.hosting.sessions.owning import owner_key
from agentfootprint.trace import JsonObject

__all__ = ["IdentityVerifier", "SupportsRequestProof", "VerifiedIdentity", "bearer_token", "verify_request"]


def _no_claims() -> JsonObject:
    return {}


@dataclass(frozen=True, slots=True)
class VerifiedIdentity:
    """A caller whose identity was proven. Its repr shows nothing of it (IDV-5)."""

    user_id: str = field(repr=False)
    roles: tuple[str, ...] = field(default=(), repr=False)
    claims: JsonObject = field(default_factory=_no_claims, repr=False)
    """What else the proof says: for admission and permission checks, never for logs or events."""
    tenant: str | None = field(default=None, repr=False)

    @property
    def owner(self) -> str:
        """The name under which the caller's sessions are kept."""
        return owner_key(self.user_id, tenant=self.tenant)


@runtime_checkable
class IdentityVerifier(Protocol):
    """Proves who sent a token.

    Optional and looked for by name: `allow_anonymous: bool`, whether callers without a token are let in as nobody, and
    `verify_request` (see `SupportsRequestProof`).
    """

    async def verify(self, token: str) -> VerifiedIdentity:
        """Who the token proves.

        Raises:
            IdentityNotVerifiedError: It proves nobody. Raise it `from None`: a cause may quote the token.
            VerifierUnavailableError: It can't be judged now.
        """
        ...


@runtime_checkable
class SupportsRequestProof(Protocol):
    """A verifier whose proof is not a bearer token: a client certificate, a key in a header (IDV-1)."""

    async def verify_request(self, headers: Mapping[str, str], scope: Mapping[str, Any]) -> VerifiedIdentity | None:
        """Who the request proves; `None` when it offers no proof at all.

        Args:
            headers: The request's headers under lower-case names.
            scope: What the server knows of the connection.
        """
        ...


def bearer_token(headers: Mapping[str, str]) -> str | None:
    """The token of `Authorization: Bearer <token>`, trimmed; `None` when there is none (IDV-1).

    Args:
        headers: Names and the scheme in any case.

    Example:
        >>> bearer_token({"authorization": "bearer  abc "}), bearer_token({"authorization": "Basic abc"})
        ('abc', None)
    """
    for name, value in headers.items():
        if name.lower() == "authorization":
            scheme, space, token = value.partition(" ")
            return (token.strip() or None) if space and scheme.lower() == "bearer" else None
    return None


async def verify_request(
    verifier: IdentityVerifier | None,
    headers: Mapping[str, str],
    *,
    claimed_user_id: str | None = None,
    allow_anonymous: bool | None = None,
    scope: Mapping[str, Any] | None = None,
) -> VerifiedIdentity | None:
    """Prove who sent a request, once, before anything is read or run (IDV-2).

    Args:
        verifier: `None` when this door verifies nobody: then nothing is proven, and a claim is the transport's word.
        headers: The request's headers.
        claimed_user_id: Whom the request names by itself.
        allow_anonymous: Whether a request without a token is let in as nobody; by default as the verifier says.
        scope: What the server knows of the connection, for verifiers that look at more than the token.

    Returns:
        The proven caller; `None` for nobody.

    Raises:
        IdentityNotVerifiedError: The caller could not be proven, or names another; `failure` says why.
        VerifierUnavailableError: The token can't be judged now.
    """
    if verifier is None:
        return None
    identity = await _proof(verifier, headers, scope or {})
    del headers, scope  # what is raised below keeps this frame, and a log of it may show its variables
    claimed = bool(claimed_user_id)
    if isinstance(identity, VerifierUnavailableError):
        raise identity
    if isinstance(identity, IdentityNotVerifiedError):
        raise IdentityNotVerifiedError(identity.failure, claimed_user=claimed)
    if identity is None:
        if allow_anonymous is None:
            allow_anonymous = getattr(verifier, "allow_anonymous", False) is True
        if claimed or not allow_anonymous:
            raise IdentityNotVerifiedError("no-token", claimed_user=claimed)
        return None
    if claimed and claimed_user_id != identity.user_id:
        raise IdentityNotVerifiedError("claimed-another-user", claimed_user=True)
    return identity


async def _proof(
    verifier: IdentityVerifier, headers: Mapping[str, str], scope: Mapping[str, Any]
) -> VerifiedIdentity | IdentityNotVerifiedError | VerifierUnavailableError | None:
    """What the verifier says; `None` when the request offers nothing to judge.

    Refusals are returned, as new errors: cause, context and frames of what was raised may hold the token.
    """
    try:
        if isinstance(verifier, SupportsRequestProof):
            lowered = {name.lower(): value for name, value in headers.items()}
            identity = await verifier.verify_request(lowered, scope)
            return None if identity is None else _somebody(identity)
        token = bearer_token(headers)
        return None if token is None else _somebody(await verifier.verify(token))
    except IdentityNotVerifiedError as refused:
        return IdentityNotVerifiedError(refused.failure)
    except VerifierUnavailableError as down:
        return VerifierUnavailableError(down.verifier)
    except Exception:  # noqa: BLE001  a verifier of somebody else may raise anything
        return IdentityNotVerifiedError("unverifiable")


def _somebody(identity: object) -> VerifiedIdentity | IdentityNotVerifiedError:
    """The identity, if it names anybody."""
    if isinstance(identity, VerifiedIdentity) and type(identity.user_id) is str and identity.user_id:
        return identity
    return IdentityNotVerifiedError("unverifiable")
