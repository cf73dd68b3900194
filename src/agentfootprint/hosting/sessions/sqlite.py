"""Where do sessions wait so that they outlive the process, on one machine?

In a SQLite file, shared with another implementation. All work is done on one thread of the store's own. Reading the
owner and the version, deciding and writing are one transaction that begins as a writer, so several stores, in several
processes, may use one file: a second writer waits, then fails loudly (SES-12, SES-14).
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from agentfootprint.errors import ConfigError
from agentfootprint.hosting.errors import (
    InvalidEnvelopeError,
    SessionStoreClosedError,
    StaleVersionError,
    UnknownEnvelopeFormatError,
    UnreadableEnvelopeError,
)
from agentfootprint.hosting.sessions.asking import check_expected, check_limit
from agentfootprint.hosting.sessions.envelope import (
    Envelope,
    check_envelope,
    decode_envelope,
    encode_envelope,
    envelope_owner,
    envelope_transcript,
    envelope_user,
)
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
from agentfootprint.hosting.sessions.sqlite_file import open_session_file, transaction, translated
from agentfootprint.hosting.sessions.worker import OneThread

__all__ = ["SqliteSessions"]

T = TypeVar("T")

_READ: Final = """
SELECT s.envelope, v.version, s.owner
FROM agent_sessions s LEFT JOIN agent_session_versions v ON v.session_id = s.session_id WHERE s.session_id = ?
"""
_WRITE: Final = """
INSERT INTO agent_sessions (session_id, format, saved_at, envelope, owner, message_count) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (session_id) DO UPDATE SET format = excluded.format, saved_at = excluded.saved_at,
  envelope = excluded.envelope, owner = excluded.owner, message_count = excluded.message_count
"""
_LIST: Final = """
SELECT session_id, saved_at, format, message_count FROM agent_sessions
WHERE owner = ? {after} ORDER BY saved_at DESC, session_id DESC LIMIT ?
"""
_OLD: Final = """
SELECT session_id FROM agent_sessions WHERE typeof(saved_at) = 'integer' AND saved_at < ?
ORDER BY saved_at, session_id LIMIT ?
"""
_BIGGEST: Final = 2**63 - 1  # what a column holds
_DIGITS: Final = 19  # a number of fewer is less than that


class SqliteSessions:
    """A `SessionStore` in a SQLite file, which is opened at first use.

    Use it as `async with SqliteSessions(path) as store`, or call `aclose` when the service ends.

    Args:
        path: The file; it and the folders above it are made when they are not there.
        busy_timeout: How long to wait for another writer, in seconds.

    Raises:
        ConfigError: The path names no file, or the timeout is no time.
    """

    def __init__(self, path: Path | str, *, busy_timeout: float = 5.0) -> None:
        text = str(path)
        if not text.strip() or text == ":memory:":
            raise ConfigError(
                "path", "A session file needs a path.", fix="Name a file, or use InMemorySessions() for none at all."
            )
        if "\0" in text:
            raise ConfigError("path", "The path of the session file holds a NUL.", fix="Name a file.")
        if not math.isfinite(busy_timeout) or busy_timeout < 0:
            raise ConfigError(
                "busy_timeout", "The timeout is not a number of seconds from 0.", fix="Give one, such as 5.0."
            )
        self._path = Path(text)
        self._busy_timeout = busy_timeout
        self._thread = OneThread("agentfootprint-sessions")
        self._connection: sqlite3.Connection | None = None
        self._journal_mode: str | None = None
        self._is_closed = False

    def __repr__(self) -> str:
        return f"SqliteSessions({str(self._path)!r})"

    @property
    def journal_mode(self) -> str | None:
        """The journal mode that the file really has (`wal` where the file system can); `None` until it is open."""
        return self._journal_mode

    async def open(self) -> None:
        """Open the file now instead of at first use, so that a service finds out when it starts.

        Raises:
            UnreadableSessionFileError: The file is no session store, or one of a newer release.
        """
        await self._do("open", lambda _: None)

    async def hydrate(self, session_id: str) -> Envelope | None:
        """What is stored for a session, with its version; `None` only when nothing is.

        Raises:
            UnreadableEnvelopeError: Something is stored that is no envelope.
        """
        check_session_id(session_id)
        return await self._do("hydrate", lambda connection: _hydrate(connection, session_id))

    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        """Store a session whole, in one transaction with the check of its owner and version.

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
            SessionStoreBusyError: Another writer held the file for too long.
        """
        check_session_id(session_id)
        check_expected(expect)
        return await self._do("persist", lambda connection: _persist(connection, session_id, envelope, expect))

    async def owner_of(self, session_id: str) -> str | None:
        """Whose a session is; `None` for one that is nobody's or not there."""
        check_session_id(session_id)
        return await self._do("say whose a session is", lambda connection: _owner(connection, session_id))

    async def list_by_user(self, user: str, *, cursor: str | None = None, limit: int = PAGE) -> SessionPage:
        """The sessions of a user, newest first; the cursor is `<savedAt>:<sessionId>` of the last row.

        Args:
            user: As `owner_key` writes it.
            cursor: That of the page before; one whose row is gone or was another's starts again at the newest.
            limit: How many at most.
        """
        check_limit(limit)
        return await self._do("list", lambda connection: _list(connection, user, cursor, limit))

    async def forget(self, session_id: str) -> None:
        """Delete a session; nothing happens when there is none."""
        check_session_id(session_id)
        await self._do("forget", lambda connection: _forget(connection, [session_id]))

    def retention(self) -> Sweep:
        """Old sessions are deleted when the sweep is called."""
        return Sweep(forget_older_than=self._forget_older_than)

    async def _forget_older_than(self, before: int, limit: int = SWEPT) -> Forgotten:
        check_limit(limit)
        return await self._do("sweep", lambda connection: _sweep(connection, before, limit))

    async def aclose(self) -> None:
        """Finish what was asked for, and close the file. Closing again does nothing; any other use is refused."""
        if self._is_closed:
            return
        self._is_closed = True
        await self._thread.finish(self._close)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _do(self, verb: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Work on the open file, on the store's thread."""
        if self._is_closed:
            raise SessionStoreClosedError(verb)

        def on_the_thread() -> T:
            if self._connection is None:
                self._connection, self._journal_mode = open_session_file(self._path, busy_timeout=self._busy_timeout)
            with translated(self._path):
                return work(self._connection)

        return await self._thread.run(on_the_thread)

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _hydrate(connection: sqlite3.Connection, session_id: str) -> Envelope | None:
    row = connection.execute(_READ, (session_id,)).fetchone()
    return None if row is None else decode_envelope(row[0], session_id=session_id, version=row[1] or 0)


def _owner(connection: sqlite3.Connection, session_id: str) -> str | None:
    row = connection.execute("SELECT owner FROM agent_sessions WHERE session_id = ?", (session_id,)).fetchone()
    return None if row is None else row[0] or None


def _persist(connection: sqlite3.Connection, session_id: str, envelope: Envelope, expect: int | None) -> int:
    envelope = check_envelope(envelope, session_id=session_id)
    text, count, incoming = encode_envelope(envelope), len(envelope_transcript(envelope)), envelope_owner(envelope)
    if envelope.saved_at > _BIGGEST:
        raise InvalidEnvelopeError("savedAt", "The envelope's 'savedAt' is no time.", fix="Give ms since 1970.")
    with transaction(connection):
        stored, version, indexed = connection.execute(_READ, (session_id,)).fetchone() or (None, 0, None)
        owner = resolve_session_owner(session_id, _indexed_owner(indexed, incoming, stored), incoming)
        if expect is not None and expect != version:
            raise StaleVersionError(session_id)
        row = (session_id, envelope.format, envelope.saved_at, text, owner, count)
        connection.execute(_WRITE, row)
        return int(connection.execute(_READ, (session_id,)).fetchone()[1])


def _indexed_owner(indexed: str | None, incoming: str | None, stored: object) -> str | None:
    """The owner that the index names, with the tenant that another implementation leaves out of its index."""
    if not indexed or not incoming:
        return indexed
    if indexed == incoming and (indexed.startswith("%/") or '"tenant"' not in str(stored)):
        return indexed  # nothing is left out, as far as can be told without reading all of it
    try:
        before = decode_envelope(stored)
    except (UnreadableEnvelopeError, InvalidEnvelopeError, UnknownEnvelopeFormatError):
        return indexed
    user = envelope_user(before)
    return envelope_owner(before) if user is not None and user[0] == indexed else indexed


def _list(connection: sqlite3.Connection, user: str, cursor: str | None, limit: int) -> SessionPage:
    if not _is_unicode(user):
        return SessionPage(sessions=())
    place, most = _place(connection, user, cursor), min(limit + 1, _BIGGEST)
    if place is None:
        found = connection.execute(_LIST.format(after=""), (user, most)).fetchall()
    else:
        after = "AND (saved_at, session_id) < (?, ?)"
        found = connection.execute(_LIST.format(after=after), (user, *place, most)).fetchall()
    rows = tuple(
        SessionRow(session_id=key, saved_at=saved_at, format=form, message_count=count or 0)
        for key, saved_at, form, count in found[:limit]
    )
    more = len(found) > limit
    return SessionPage(sessions=rows, cursor=f"{rows[-1].saved_at}:{rows[-1].session_id}" if more else None)


def _is_unicode(text: str) -> bool:
    """Whether SQLite can be asked about a text: it can't about half of a surrogate pair, which it never stores."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _place(connection: sqlite3.Connection, user: str, cursor: str | None) -> tuple[int, str] | None:
    """Where a page begins; `None` is the top, also for a cursor whose row is not there any more."""
    digits, colon, session_id = (cursor or "").partition(":")
    if not colon or not (digits.isascii() and digits.isdecimal() and len(digits) < _DIGITS):
        return None
    if not _is_unicode(session_id):
        return None
    place = int(digits), session_id
    here = "SELECT 1 FROM agent_sessions WHERE owner = ? AND saved_at = ? AND session_id = ?"
    return None if connection.execute(here, (user, *place)).fetchone() is None else place


def _forget(connection: sqlite3.Connection, session_ids: list[str]) -> None:
    with transaction(connection):
        connection.executemany("DELETE FROM agent_sessions WHERE session_id = ?", [(key,) for key in session_ids])


def _sweep(connection: sqlite3.Connection, before: int, limit: int) -> Forgotten:
    with transaction(connection):
        wanted = max(0, min(before, _BIGGEST)), min(limit + 1, _BIGGEST)
        found: list[tuple[Any]] = connection.execute(_OLD, wanted).fetchall()
        old = found[:limit]
        connection.executemany("DELETE FROM agent_sessions WHERE session_id = ?", old)
    return Forgotten(len(old), len(found) > limit)
