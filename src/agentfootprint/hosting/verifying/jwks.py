"""Does this JSON Web Token come from our identity provider, is it for us, and whom does it name?

Invariants: only asymmetric algorithms, and only those that were agreed; issuer and audience are always checked; a token
that can't be judged now is not refused (IDV-6); no error keeps the token, not in its cause, context or frames (IDV-4).
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import urlsplit

from agentfootprint._optional import optional
from agentfootprint.hosting.errors import (
    IdentityFailure,
    IdentityNotVerifiedError,
    VerifierConfigError,
    VerifierUnavailableError,
)
from agentfootprint.hosting.verifying.keys import KeySource
from agentfootprint.hosting.verifying.port import VerifiedIdentity
from agentfootprint.trace import JsonObject, freeze

__all__ = ["Jwks", "JwksOptions"]

_NAME: Final = "Jwks"
_USUAL: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
_ALLOWED: Final = frozenset((*_USUAL, "EdDSA", "Ed25519"))
_BY_CLAIM: Final[Mapping[str, IdentityFailure]] = {
    "nbf": "not-yet-valid",
    "iat": "not-yet-valid",
    "aud": "wrong-audience",
    "iss": "wrong-issuer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JwksOptions:
    """The rarer options of `Jwks`; times in seconds."""

    algorithms: Sequence[str] = _USUAL
    """Which signatures are accepted; `EdDSA` and `Ed25519` may be added. `none` and shared secrets never are."""
    leeway: float = 0.0
    """How far clocks may disagree."""
    cache_for: float = 600.0
    """How long keys are used without asking for new ones."""
    stale_for: float = 3600.0
    """How long, from their fetch, they are used on while the provider can't be reached; at least `cache_for`."""
    timeout: float = 5.0
    """For one fetch of the keys."""
    allow_http: bool = False
    """Whether the URL may be plain http, for development."""
    tenant_claim: str | None = None
    """The claim that names the tenant; a token without it is then refused."""
    require_exp: bool = True
    """Whether a token that never expires is refused."""


class Jwks:
    """An `IdentityVerifier` for JSON Web Tokens signed with the published keys of an identity provider.

    It needs the extra `server` (joserfc, httpx). Keys are fetched with the first token. It can't see a revocation.

    Args:
        url: The provider's key set, such as `https://idp.example/.well-known/jwks.json`.
        issuer: What `iss` must be; one of several when a list is given.
        audience: What `aud` must be or hold; one of several when a list is given.
        user_claim: The claim that names the user.
        roles_claim: The claim that lists roles, as a list or as one text with spaces between.
        allow_anonymous: Whether a request without a token is let in as nobody; one with a bad token never is.
        options: The rarer options.

    Raises:
        VerifierConfigError: An option is missing or can't work; nothing is left half-configured.
        MissingExtraError: The extra is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        issuer: str | Sequence[str],
        audience: str | Sequence[str],
        user_claim: str = "sub",
        roles_claim: str = "roles",
        allow_anonymous: bool = False,
        options: JwksOptions | None = None,
    ) -> None:
        options = options or JwksOptions()
        _check_url(url, allow_http=options.allow_http)
        self._issuers, self._audiences = _texts("issuer", issuer), _texts("audience", audience)
        for name, claim in (("user_claim", user_claim), ("roles_claim", roles_claim)):
            if not isinstance(claim, str) or not claim:  # pyright: ignore[reportUnnecessaryIsInstance]  settings come from files
                raise VerifierConfigError(name, f"`{name}` names no claim.", fix="Give the claim's name.")
        _check_options(options)
        self._user_claim, self._roles_claim = user_claim, roles_claim
        self._options = options
        self.allow_anonymous: Final = allow_anonymous
        """Whether a request without a token is let in as nobody."""
        with optional("joserfc", extra="server", needed_by=_NAME):
            importlib.import_module("joserfc.jwt")  # so that a missing extra is found when the service starts
        with optional("httpx", extra="server", needed_by=_NAME):
            importlib.import_module("httpx")
        self._keys = KeySource(
            url,
            verifier=_NAME,
            cache_for=options.cache_for,
            stale_for=max(options.stale_for, options.cache_for),
            timeout=options.timeout,
        )

    def __repr__(self) -> str:
        return f"Jwks(issuer={list(self._issuers)!r}, audience={list(self._audiences)!r})"

    async def verify(self, token: str) -> VerifiedIdentity:
        """Whom the token proves.

        Raises:
            IdentityNotVerifiedError: It proves nobody; `failure` says why.
            VerifierUnavailableError: The keys can't be fetched, so it was not judged.
        """
        verdict = await self._judged(token)
        del token  # what is raised below keeps this frame, and a log of it may show its variables
        if isinstance(verdict, VerifiedIdentity):
            return verdict
        raise verdict

    async def _judged(self, token: str) -> VerifiedIdentity | IdentityNotVerifiedError | VerifierUnavailableError:
        """The verdict. Refusals are returned: what was raised has the token in its frames."""
        from joserfc.errors import ExpiredTokenError, InvalidClaimError

        try:
            claims = await self._claims(token)
            self._check_claims(claims)
            return self._identity(claims)
        except VerifierUnavailableError as down:
            return VerifierUnavailableError(down.verifier)
        except ExpiredTokenError:
            return IdentityNotVerifiedError("expired")
        except InvalidClaimError as wrong:
            return IdentityNotVerifiedError(_BY_CLAIM.get(str(wrong.claim), "unverifiable"))
        except Exception:  # noqa: BLE001  bytes of a stranger, through three parsers
            return IdentityNotVerifiedError("unverifiable")

    async def _claims(self, token: str) -> dict[str, Any]:
        """The claims of a token with a good signature."""
        from joserfc import jwt
        from joserfc.errors import InvalidKeyIdError

        algorithms = list(self._options.algorithms)
        keys = await self._keys.current()
        try:
            return jwt.decode(token, keys, algorithms).claims
        except InvalidKeyIdError:
            newer = await self._keys.after_unknown(keys)
            if newer is None:
                raise
        return jwt.decode(token, newer, algorithms).claims

    def _check_claims(self, claims: dict[str, Any]) -> None:
        from joserfc.jwt import JWTClaimsRegistry

        registry = JWTClaimsRegistry(
            leeway=math.ceil(self._options.leeway),
            iss={"essential": True, "values": list(self._issuers)},
            aud={"essential": True, "values": list(self._audiences)},
            exp={"essential": self._options.require_exp},
        )
        registry.validate(claims)

    def _identity(self, claims: dict[str, Any]) -> VerifiedIdentity | IdentityNotVerifiedError:
        user_id = claims.get(self._user_claim)
        tenant_claim = self._options.tenant_claim
        tenant = None if tenant_claim is None else claims.get(tenant_claim)
        if not _is_name(user_id) or (tenant_claim is not None and not _is_name(tenant)):
            return IdentityNotVerifiedError("unverifiable")
        return VerifiedIdentity(
            user_id=cast("str", user_id),
            roles=_roles(claims.get(self._roles_claim)),
            claims=cast("JsonObject", freeze(claims)),
            tenant=cast("str | None", tenant),
        )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _roles(found: object) -> tuple[str, ...]:
    if isinstance(found, str):
        return tuple(found.split())
    if isinstance(found, list):
        return tuple(role for role in cast("list[object]", found) if isinstance(role, str) and role)
    return ()


def _check_url(url: str, *, allow_http: bool) -> None:
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname)
    except (ValueError, AttributeError, TypeError):
        named, parts = False, urlsplit("")
    if not named or not (parts.scheme == "https" or (allow_http and parts.scheme == "http")):
        raise VerifierConfigError(
            "url",
            "The URL of the key set is no absolute https URL.",
            fix="Give it whole, such as https://idp.example/.well-known/jwks.json; for development there is "
            "JwksOptions(allow_http=True).",
        )


def _texts(option: str, given: str | Sequence[str]) -> tuple[str, ...]:
    listed: Sequence[object] = (given,) if isinstance(given, str) else tuple(given or ())
    if not listed or not all(_is_name(text) for text in listed):
        raise VerifierConfigError(
            option,
            f"`{option}` is empty, so tokens of anybody would do.",
            fix=f"Say what the token's {option} must be.",
        )
    return tuple(str(text) for text in listed)


def _check_options(options: JwksOptions) -> None:
    if not options.algorithms or isinstance(options.algorithms, str) or not set(options.algorithms) <= _ALLOWED:
        raise VerifierConfigError(
            "options.algorithms",
            "The algorithms are none, or not all asymmetric.",
            fix=f"Choose from {', '.join(sorted(_ALLOWED))}.",
        )
    for name in ("leeway", "cache_for", "stale_for", "timeout"):
        value: object = getattr(options, name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
            raise VerifierConfigError(
                f"options.{name}", f"`{name}` is no number of seconds from 0.", fix="Give a time in seconds."
            )
    if options.timeout == 0:
        raise VerifierConfigError("options.timeout", "A timeout of 0 lets nothing through.", fix="Give seconds.")
    if options.tenant_claim == "":
        raise VerifierConfigError("options.tenant_claim", "`tenant_claim` names no claim.", fix="Leave it out.")
