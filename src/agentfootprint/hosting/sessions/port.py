"""What must a session store do, and what may it do besides?

Two methods are the port; everything else is asked for with `isinstance` on a `Supports...` protocol, or with the
functions here. Every method is a coroutine that raises when it is awaited, never when it is called (SES-11).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from agentfootprint.hosting.errors import InvalidSessionIdError, SessionRetentionUnavailableError
from agentfootprint.hosting.sessions.envelope import Envelope, envelope_owner

__all__ = [
    "ExpiryPolicy",
    "ForgetOlder",
    "Forgotten",
    "Retention",
    "SessionPage",
    "SessionRow",
    "SessionStore",
    "SupportsForget",
    "SupportsListing",
    "SupportsRetention",
    "SupportsWake",
    "Sweep",
    "WakeReason",
    "check_session_id",
    "session_retention",
    "stored_owner",
    "wake_session",
]

PAGE: Final = 50
"""Sessions on a page, when the caller does not say."""
SWEPT: Final = 1000
"""Sessions in a sweep, when the caller does not say."""


@runtime_checkable
class SessionStore(Protocol):
    """Where conversations wait between two requests. Session ids are opaque: never cut, folded or normalised."""

    async def hydrate(self, session_id: str) -> Envelope | None:
        """What is stored for a session, with its `version`; `None` only when nothing is (SES-2)."""
        ...

    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        """Store a session whole, in one atomic step with the check of its owner and version.

        Args:
            session_id: The session.
            envelope: What to store; its own `version` is not looked at.
            expect: The version that must be stored now; 0 when nothing may be; `None` replaces what is there.

        Returns:
            The new version: greater than any the session has had.

        Raises:
            StaleVersionError: Another version is stored; nothing was written.
            SessionOwnershipConflictError: The session is another's; nothing was written.
        """
        ...


WakeReason: TypeAlias = Literal["invoke", "resume", "artifact", "transcript"]
"""Why a session is about to be read."""


@runtime_checkable
class SupportsWake(Protocol):
    """A store that wants to know beforehand which session is about to be read (SES-6)."""

    async def on_wake(self, session_id: str, reason: WakeReason) -> None:
        """Get ready; an error fails the request."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session in a listing."""

    session_id: str
    saved_at: int
    """When, in ms since 1970."""
    format: str
    message_count: int
    """How many messages its transcript has."""

    def to_wire(self) -> dict[str, Any]:
        """The row as JSON."""
        return {
            "sessionId": self.session_id,
            "savedAt": self.saved_at,
            "format": self.format,
            "messageCount": self.message_count,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    """Some sessions of one user, newest first."""

    sessions: tuple[SessionRow, ...]
    cursor: str | None = None
    """Give it to get the next page; `None` when there is none."""


@runtime_checkable
class SupportsListing(Protocol):
    """A store that knows whose its sessions are; it has both methods or neither."""

    async def list_by_user(self, user: str, *, cursor: str | None = None, limit: int = PAGE) -> SessionPage:
        """The sessions of a user, newest first, then by session id from the last (SES-7).

        Args:
            user: As `owner_key` writes it.
            cursor: That of the page before; one that is stale or foreign starts again at the newest.
            limit: How many at most.
        """
        ...

    async def owner_of(self, session_id: str) -> str | None:
        """Whose a session is; `None` for one that is nobody's or not there (SES-8)."""
        ...


@runtime_checkable
class SupportsForget(Protocol):
    """A store that deletes a session when it is asked to."""

    async def forget(self, session_id: str) -> None:
        """Delete a session and all that is known of it; nothing happens when there is none."""
        ...


class Forgotten(NamedTuple):
    """What a sweep did."""

    forgotten: int
    """How many sessions it deleted."""
    more: bool
    """Whether there are more that are old enough."""


class ForgetOlder(Protocol):
    """The call that deletes old sessions."""

    async def __call__(self, before: int, limit: int = SWEPT) -> Forgotten:
        """Delete sessions that were saved strictly before a moment, with all that is known of them.

        Args:
            before: In ms since 1970.
            limit: How many at most.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Old sessions are deleted when somebody calls this; the library never does by itself (SES-9)."""

    forget_older_than: ForgetOlder
    deleted_by: Literal["this-store"] = "this-store"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryPolicy:
    """Old sessions are deleted by what the store stores in: there is nothing to call (SES-9)."""

    active: bool
    """Whether it deletes now."""
    expires_on: str
    """Which time it goes by."""
    enable_with: str
    """What an operator does to turn it on."""
    deleted_by: Literal["the-backend"] = "the-backend"


Retention: TypeAlias = Sweep | ExpiryPolicy


@runtime_checkable
class SupportsRetention(Protocol):
    """A store that says who deletes old sessions."""

    def retention(self) -> Retention:
        """Who does. No I/O."""
        ...


def session_retention(store: SessionStore) -> Retention:
    """Who deletes the old sessions of a store (SES-9).

    Raises:
        SessionRetentionUnavailableError: It does not say.
    """
    if not isinstance(store, SupportsRetention):
        raise SessionRetentionUnavailableError(type(store).__name__)
    return store.retention()


async def wake_session(store: SessionStore, session_id: str, reason: WakeReason) -> None:
    """Tell a store, once a request and before `hydrate`, which session is about to be read (SES-6)."""
    if isinstance(store, SupportsWake):
        await store.on_wake(session_id, reason)


async def stored_owner(store: SessionStore, session_id: str, envelope: Envelope | None) -> str | None:
    """Whose a session is: whom its conversation names (OWN-5), or else whom the store's index does.

    After a turn that named nobody, only the index still knows the owner. It is asked second: another implementation
    leaves the tenant out of it.
    """
    owner = None if envelope is None else envelope_owner(envelope)
    if owner is not None or not isinstance(store, SupportsListing):
        return owner
    return await store.owner_of(session_id)


def check_session_id(session_id: str) -> str:
    """Refuse what no store can keep as it is (SES-10).

    Raises:
        InvalidSessionIdError: It is no text, is empty, or holds half of a surrogate pair.
    """
    if not isinstance(session_id, str) or not session_id:  # pyright: ignore[reportUnnecessaryIsInstance]  it comes from a wire
        raise InvalidSessionIdError("The session id is no text, or an empty one.")
    if not session_id.isascii():
        try:
            session_id.encode()
        except UnicodeEncodeError:
            raise InvalidSessionIdError("The session id holds half of a surrogate pair.") from None
    return session_id
