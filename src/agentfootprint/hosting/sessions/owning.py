"""Whose is a session, and may this turn be stored in it?

Invariants: one transition rule for every store (OWN-1); the owner is read from the conversation, never passed beside it
(OWN-2); `owner_key` is injective over pairs of tenant and user, so equal user ids of two tenants never meet (OWN-6).
"""

from __future__ import annotations

from typing import Final

from agentfootprint.hosting.errors import SessionNotFoundError, SessionOwnershipConflictError
from agentfootprint.identity import encode_identity_field

__all__ = ["owner_key", "require_owner", "resolve_session_owner"]

_PAIR: Final = "%/"
"""How a key of two parts begins. A plain user id that begins so is written in two parts as well."""


def owner_key(user_id: str, *, tenant: str | None = None) -> str:
    """The name under which a store lists the sessions of a user.

    Without a tenant it is the user id itself, as another implementation writes it.

    Args:
        user_id: The user; an empty one has no key.
        tenant: The customer the user belongs to; an empty one counts as left out.

    Raises:
        ValueError: The user id is empty.

    Example:
        >>> owner_key("alice"), owner_key("alice", tenant="acme")
        ('alice', '%/acme/alice')
    """
    if not user_id:
        raise ValueError("An empty user id has no key: nobody is None.")
    if not tenant and not user_id.startswith(_PAIR):
        return user_id
    return f"{_PAIR}{encode_identity_field(tenant)}/{encode_identity_field(user_id)}"


def resolve_session_owner(session_id: str, stored: str | None, incoming: str | None) -> str | None:
    """Who owns a session after a turn (OWN-1): the first who signs, for ever; nobody is `None` or empty.

    Args:
        session_id: Named in the error.
        stored: The owner so far.
        incoming: Whom the turn names.

    Raises:
        SessionOwnershipConflictError: The turn names somebody else; the message names neither.
    """
    if not incoming or stored == incoming:
        return stored or None
    if stored:
        raise SessionOwnershipConflictError(session_id)
    return incoming


def require_owner(session_id: str, stored: str | None, caller: str | None) -> None:
    """Let only the owner open a session, behind a verifier: the anonymous open only what is nobody's (OWN-5).

    Call it before anything of the envelope is read or run.

    Args:
        session_id: Named in the error.
        stored: The owner, as `owner_of` or `envelope_owner` says.
        caller: The `owner_key` of the verified caller; `None` for an anonymous one.

    Raises:
        SessionNotFoundError: It is somebody else's: the same error as for one that does not exist.
    """
    if (stored or None) != (caller or None):
        raise SessionNotFoundError(session_id)
