"""Where do sessions wait when they need not outlive the process?

Invariants: every method does its whole work between two awaits, so it is atomic in its event loop; nothing is copied,
since envelopes are frozen. One store serves one event loop.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from agentfootprint.hosting.errors import StaleVersionError
from agentfootprint.hosting.sessions.asking import check_expected, check_limit
from agentfootprint.hosting.sessions.envelope import Envelope, check_envelope, envelope_owner, envelope_transcript
from agentfootprint.hosting.sessions.owning import resolve_session_owner
from agentfootprint.hosting.sessions.port import (
    PAGE,
    SWEPT,
    Forgotten,
    SessionPage,
    SessionRow,
    Sweep,
    check_session_id,
)

__all__ = ["InMemorySessions"]

_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class _Kept:
    envelope: Envelope
    version: int
    owner: str | None


class InMemorySessions:
    """A `SessionStore` in a dict: for tests, and for sessions that may end with the process.

    Example:
        >>> import asyncio
        >>> store = InMemorySessions()
        >>> data = {"version": 1, "runId": "r", "history": [], "lastCompletedIteration": 0}
        >>> asyncio.run(store.persist("s-1", Envelope(format="conversation-v1", data=data, saved_at=0), expect=0))
        1
    """

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}
        self._versions = itertools.count(1)  # of all sessions, so that one that comes back has no version again

    async def hydrate(self, session_id: str) -> Envelope | None:
        """What is stored for a session, with its version; `None` when nothing is."""
        kept = self._kept.get(check_session_id(session_id))
        return None if kept is None else kept.envelope

    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        """Store a session whole.

        Args:
            session_id: The session.
            envelope: What to store.
            expect: The version that must be stored now; 0 when nothing may be; `None` replaces what is there.

        Returns:
            The new version.

        Raises:
            StaleVersionError: Another version is stored.
            SessionOwnershipConflictError: The session is another's.
            InvalidEnvelopeError: The data is not what its format says.
        """
        check_session_id(session_id)
        check_expected(expect)
        envelope = check_envelope(envelope, session_id=session_id)
        before = self._kept.get(session_id)
        owner = resolve_session_owner(session_id, before.owner if before else None, envelope_owner(envelope))
        if expect is not None and expect != (before.version if before else 0):
            raise StaleVersionError(session_id)
        version = next(self._versions)
        self._kept[session_id] = _Kept(replace(envelope, version=version), version, owner)
        return version

    async def owner_of(self, session_id: str) -> str | None:
        """Whose a session is; `None` for one that is nobody's or not there."""
        kept = self._kept.get(check_session_id(session_id))
        return None if kept is None else kept.owner

    async def list_by_user(self, user: str, *, cursor: str | None = None, limit: int = PAGE) -> SessionPage:
        """The sessions of a user, newest first; the cursor is how many came before.

        Args:
            user: As `owner_key` writes it.
            cursor: That of the page before.
            limit: How many at most.
        """
        check_limit(limit)
        mine = [(one.envelope.saved_at, key, one) for key, one in self._kept.items() if user and one.owner == user]
        mine.sort(key=lambda row: row[:2], reverse=True)
        start = _offset(cursor)
        start = start if start < len(mine) else 0
        rows = tuple(
            SessionRow(
                session_id=key,
                saved_at=saved_at,
                format=kept.envelope.format,
                message_count=len(envelope_transcript(kept.envelope)),
            )
            for saved_at, key, kept in mine[start : start + limit]
        )
        end = start + len(rows)
        return SessionPage(sessions=rows, cursor=str(end) if end < len(mine) else None)

    async def forget(self, session_id: str) -> None:
        """Delete a session; nothing happens when there is none."""
        self._kept.pop(check_session_id(session_id), None)

    def retention(self) -> Sweep:
        """Old sessions are deleted when the sweep is called."""
        return Sweep(forget_older_than=self._forget_older_than)

    async def _forget_older_than(self, before: int, limit: int = SWEPT) -> Forgotten:
        check_limit(limit)
        old = [key for key, kept in self._kept.items() if kept.envelope.saved_at < before]
        for key in old[:limit]:
            del self._kept[key]
        return Forgotten(min(len(old), limit), len(old) > limit)


def _offset(cursor: str | None) -> int:
    """How many rows a cursor skips; one that no page gave skips none."""
    if cursor is None or not (cursor.isascii() and cursor.isdecimal() and len(cursor) < _DIGITS):
        return 0
    return int(cursor)
