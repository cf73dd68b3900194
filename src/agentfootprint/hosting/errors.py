"""What does the room behind the wire refuse, and what can the caller do about it?

No message holds a token, a header, a claim, a principal, an owner or a word of a conversation. A session id is opaque
to this room and does stand in messages (09 s.13): who builds ids out of something private keeps them from the wire.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from agentfootprint.errors import AgentFootprintError, ConfigError

__all__ = [
    "IdentityFailure",
    "IdentityNotVerifiedError",
    "InvalidEnvelopeError",
    "InvalidSessionIdError",
    "SessionFileProblem",
    "SessionNotFoundError",
    "SessionOwnershipConflictError",
    "SessionRetentionUnavailableError",
    "SessionStoreBusyError",
    "SessionStoreClosedError",
    "SessionStoreError",
    "StaleVersionError",
    "UnknownEnvelopeFormatError",
    "UnreadableEnvelopeError",
    "UnreadableSessionFileError",
    "VerifierConfigError",
    "VerifierUnavailableError",
]

IdentityFailure: TypeAlias = Literal[
    "no-token",
    "expired",
    "not-yet-valid",
    "wrong-audience",
    "wrong-issuer",
    "unverifiable",
    "claimed-another-user",
]
"""Why a caller's identity was not accepted: a closed list (IDV-3)."""

_SENTENCES: dict[IdentityFailure, tuple[str, str]] = {
    "no-token": ("The request carries no bearer token.", "Send one as `Authorization: Bearer <token>`."),
    "expired": (
        "The bearer token has expired.",
        "Get a new one from the identity provider and send the request again.",
    ),
    "not-yet-valid": (
        "The bearer token is not valid yet.",
        "Wait until it is, and compare the clocks of the identity provider and of this service.",
    ),
    "wrong-audience": (
        "The bearer token was issued for another service.",
        "Ask the identity provider for one whose audience is this service.",
    ),
    "wrong-issuer": (
        "The bearer token comes from an identity provider that this service does not trust.",
        "Sign in with the provider that this service names.",
    ),
    "unverifiable": (
        "The bearer token could not be verified.",
        "Sign in again and send the token exactly as it was issued.",
    ),
    "claimed-another-user": (
        "The request names another user than its bearer token proves.",
        "Leave the user id out; it is read from the token.",
    ),
}


class IdentityNotVerifiedError(AgentFootprintError, PermissionError):
    """Who is calling could not be proven; nothing was run (IDV-2)."""

    code = "ERR_IDENTITY_NOT_VERIFIED"

    def __init__(self, failure: IdentityFailure, *, claimed_user: bool = False) -> None:
        self.failure: IdentityFailure = failure
        """Why, as one of a closed list."""
        self.claimed_user = claimed_user
        """Whether the request named a user by itself."""
        problem, fix = _SENTENCES[failure]
        super().__init__(problem, fix=fix)


class VerifierUnavailableError(AgentFootprintError, ConnectionError):
    """What is needed to judge a token could not be reached, so the token was never judged (IDV-6)."""

    code = "ERR_IDENTITY_VERIFIER_UNAVAILABLE"

    def __init__(self, verifier: str) -> None:
        self.verifier = verifier
        super().__init__(
            f"The identity verifier {verifier!r} can't be asked now.",
            fix="Send the request again in a moment; the token itself was not refused.",
        )


class VerifierConfigError(ConfigError, TypeError):
    """A verifier was given options with which it could not keep anybody out; it was not made (IDV-4)."""

    code = "ERR_VERIFIER_CONFIG"


class SessionNotFoundError(AgentFootprintError, LookupError):
    """There is no such session for this caller: missing, another's and nobody's look the same (OWN-5, DEC-60)."""

    code = "ERR_SESSION_NOT_FOUND"

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(f"There is no session {session_id!r}.", fix="Start one without a session id.")


class SessionOwnershipConflictError(AgentFootprintError, PermissionError):
    """A turn of one person was about to be stored in the session of another; nothing was written (OWN-1)."""

    code = "ERR_SESSION_OWNERSHIP_CONFLICT"

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(
            f"The session {session_id!r} belongs to somebody else.", fix="Use a session of your own, under another id."
        )


class StaleVersionError(AgentFootprintError, RuntimeError):
    """A session was written meanwhile, or exists already; nothing was written."""

    code = "ERR_STALE_VERSION"

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(
            f"The session {session_id!r} was changed since it was read.",
            fix="Hydrate it again, and run the turn on what is there now.",
        )


class InvalidSessionIdError(AgentFootprintError, ValueError):
    """A session id that no store can keep as it is: no text, empty, or half of a surrogate pair (SES-10)."""

    code = "ERR_INVALID_SESSION_ID"

    def __init__(self, problem: str) -> None:
        super().__init__(problem, fix="Use a text that is not empty and is valid Unicode, such as a UUID.")


class UnreadableEnvelopeError(AgentFootprintError, TypeError):
    """Something is stored for the session, and it is no envelope; never taken for an absent session (SES-2)."""

    code = "ERR_UNREADABLE_ENVELOPE"

    def __init__(self, session_id: str | None, stored_preview: str, shape: str) -> None:
        self.session_id = session_id
        self.stored_preview = stored_preview
        """The first 64 characters of it, for a person at the store: never log it, it may hold what was said."""
        self.shape = shape
        """What may be logged: what kind of value it is, and how long."""
        whose = "A stored session" if session_id is None else f"What is stored for the session {session_id!r}"
        super().__init__(
            f"{whose} can't be read: it is {shape}, not an envelope.",
            fix="Look at it in the store; mend it or forget the session. It is never replaced by a fresh one.",
        )


class InvalidEnvelopeError(AgentFootprintError, TypeError):
    """An envelope does not hold what its format says, or another format than was asked for; `field` says where."""

    code = "ERR_INVALID_ENVELOPE"

    def __init__(self, field: str, problem: str, *, fix: str) -> None:
        self.field = field
        super().__init__(problem, fix=fix)


class UnknownEnvelopeFormatError(AgentFootprintError, TypeError):
    """An envelope has a format that this release does not know, or none (SES-1)."""

    code = "ERR_UNKNOWN_ENVELOPE_FORMAT"

    def __init__(self, found: str | None, known: tuple[str, ...]) -> None:
        self.found = found
        self.known = known
        said = "has no format" if found is None else f"has the format {found!r}, which is not known here"
        super().__init__(f"The envelope {said}.", fix=f"Known are {', '.join(known)}; a newer release may read others.")


class SessionRetentionUnavailableError(AgentFootprintError, LookupError):
    """A session store does not say who deletes old sessions (SES-9)."""

    code = "ERR_SESSION_RETENTION_UNAVAILABLE"

    def __init__(self, store: str) -> None:
        self.store = store
        super().__init__(
            f"The session store {store} does not say who deletes old sessions.",
            fix="Give it a `retention()` that returns a Sweep or an ExpiryPolicy, or delete where it stores.",
        )


class SessionStoreError(AgentFootprintError, OSError):
    """A session store could not do what it was asked to, and did nothing."""

    code = "ERR_SESSION_STORE"


class SessionStoreBusyError(SessionStoreError):
    """Another writer held the store for longer than the store waits; nothing was written (SES-12)."""

    code = "ERR_SESSION_STORE_BUSY"


class SessionStoreClosedError(SessionStoreError):
    """A session store was used after it was closed (SES-14)."""

    code = "ERR_SESSION_STORE_CLOSED"

    def __init__(self, verb: str) -> None:
        self.verb = verb
        super().__init__(f"The session store is closed and can't {verb}.", fix="Open a new one on the same file.")


SessionFileProblem: TypeAlias = Literal["cannot-open", "not-our-schema", "newer-schema", "damaged"]
"""Why a file can't be used as a session store."""

_FILE_SENTENCES: dict[SessionFileProblem, tuple[str, str]] = {
    "cannot-open": (
        "can't be opened as a SQLite database",
        "Check the path and its permissions; a file that is no database is never overwritten.",
    ),
    "not-our-schema": (
        "holds tables of these names that are not those of a session store",
        "Give the session store a file of its own.",
    ),
    "newer-schema": ("was written by a newer release", "Upgrade agentfootprint, or give it another file."),
    "damaged": ("is damaged", "Restore it from a backup, or recover it with the sqlite3 command's `.recover`."),
}


class UnreadableSessionFileError(SessionStoreError):
    """A file can't be used as a session store; it was left as it is (SES-13)."""

    code = "ERR_UNREADABLE_SESSION_FILE"

    def __init__(self, path: str, file_problem: SessionFileProblem) -> None:
        self.path = path
        self.file_problem: SessionFileProblem = file_problem
        """Which of the four."""
        said, fix = _FILE_SENTENCES[file_problem]
        super().__init__(f"The session file {path!r} {said}.", fix=fix)
