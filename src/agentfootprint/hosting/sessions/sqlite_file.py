"""Is this file a session store, and may we use it?

The tables are shared with another implementation: `agent_sessions` and `agent_store_meta` (09 s.16). Versions stand in
a table beside them that triggers keep, so that they count whoever writes. A file that can't be used is left as it is,
and never taken for an empty store (SES-13).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from agentfootprint.errors import AgentFootprintError
from agentfootprint.hosting.errors import SessionStoreBusyError, SessionStoreError, UnreadableSessionFileError

__all__ = ["open_session_file", "transaction", "translated"]

_SCHEMA: Final = 1
_PAUSE: Final = 0.01  # seconds between two attempts to switch to WAL, for which SQLite itself does not wait

_REQUIRED: Final = {"session_id": "TEXT", "format": "TEXT", "saved_at": "INTEGER", "envelope": "TEXT"}
_ADDED: Final = {"owner": "TEXT", "message_count": "INTEGER"}
"""Columns that files of older releases lack."""

_SESSIONS: Final = """
CREATE TABLE agent_sessions (
  session_id TEXT PRIMARY KEY, format TEXT NOT NULL, saved_at INTEGER NOT NULL, envelope TEXT NOT NULL,
  owner TEXT, message_count INTEGER
) STRICT
"""
_INDEX: Final = "CREATE INDEX IF NOT EXISTS agent_sessions_owner ON agent_sessions (owner, saved_at DESC)"
_META: Final = "CREATE TABLE agent_store_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT"
_VERSIONS: Final = """
CREATE TABLE agent_session_versions (
  version INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL UNIQUE
) STRICT
"""
_NUMBER: Final = """
INSERT INTO agent_session_versions (session_id) SELECT session_id FROM agent_sessions
WHERE session_id NOT IN (SELECT session_id FROM agent_session_versions)
"""
_TRIGGERS: Final = {
    "agent_sessions_inserted": """
CREATE TRIGGER IF NOT EXISTS agent_sessions_inserted AFTER INSERT ON agent_sessions BEGIN
  DELETE FROM agent_session_versions WHERE session_id = new.session_id;
  INSERT INTO agent_session_versions (session_id) VALUES (new.session_id);
END
""",
    "agent_sessions_updated": """
CREATE TRIGGER IF NOT EXISTS agent_sessions_updated AFTER UPDATE ON agent_sessions BEGIN
  DELETE FROM agent_session_versions WHERE session_id IN (old.session_id, new.session_id);
  INSERT INTO agent_session_versions (session_id) VALUES (new.session_id);
END
""",
    "agent_sessions_deleted": """
CREATE TRIGGER IF NOT EXISTS agent_sessions_deleted AFTER DELETE ON agent_sessions BEGIN
  DELETE FROM agent_session_versions WHERE session_id = old.session_id;
END
""",
}


@contextmanager
def translated(path: Path, *, opening: bool = False) -> Generator[None]:
    """Turn what SQLite raises into the store's errors; its messages hold no values."""
    try:
        yield
    except AgentFootprintError:  # some are an OSError too
        raise
    except (sqlite3.Error, OSError) as error:
        raise _translation(error, path, opening=opening) from error


def _translation(error: Exception, path: Path, *, opening: bool) -> SessionStoreError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind, the rest details
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return SessionStoreBusyError(
            f"Another writer holds the session file {str(path)!r}.",
            fix="Try again, or give the store a longer `busy_timeout`.",
        )
    if opening:
        return UnreadableSessionFileError(str(path), "cannot-open")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return UnreadableSessionFileError(str(path), "damaged")
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return SessionStoreError(
        f"The session file {str(path)!r} could not be used: {name}.",
        fix="Check that its disk has room and that it may be written.",
    )


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Read, decide and write as one step that no other writer comes between; undone whole when anything raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def open_session_file(path: Path, *, busy_timeout: float) -> tuple[sqlite3.Connection, str]:
    """Open a session file, or make one; folders above it are made.

    Args:
        path: The file.
        busy_timeout: How long to wait for another writer, in seconds.

    Returns:
        The connection, and the journal mode that was really got.

    Raises:
        UnreadableSessionFileError: It is no database, no session store, or one of a newer release.
        SessionStoreBusyError: Another writer holds it.
    """
    with translated(path, opening=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None)
    try:
        connection.text_factory = _text
        with translated(path, opening=True):
            with transaction(connection):
                _check_meta(connection, path)
                _check_sessions(connection, path)
                _check_versions(connection)
            mode = _write_ahead(connection, time.monotonic() + busy_timeout)  # after the checks: it changes the file
            connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection, mode


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")  # what is no UTF-8 is unreadable, not an error of the whole query


def _write_ahead(connection: sqlite3.Connection, deadline: float) -> str:
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]).lower()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)


def _columns(connection: sqlite3.Connection, table: str) -> dict[str, tuple[str, bool]] | None:
    """The columns of a table as name to type and whether it is the key; `None` when there is no such thing."""
    found = connection.execute("SELECT type FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    if found is None:
        return None
    if found[0] != "table":
        return {}
    rows = connection.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,))
    return {str(name): (str(kind).upper(), bool(key)) for name, kind, key in rows}


def _check_meta(connection: sqlite3.Connection, path: Path) -> None:
    columns = _columns(connection, "agent_store_meta")
    if columns is None:
        connection.execute(_META)
    elif not {"key", "value"} <= columns.keys():
        raise UnreadableSessionFileError(str(path), "not-our-schema")
    row = connection.execute("SELECT value FROM agent_store_meta WHERE key = 'schema_version'").fetchone()
    if row is None:
        connection.execute("INSERT INTO agent_store_meta (key, value) VALUES ('schema_version', ?)", (str(_SCHEMA),))
        return
    try:
        version = int(row[0])
    except (TypeError, ValueError):
        version = 0
    if version > _SCHEMA:
        raise UnreadableSessionFileError(str(path), "newer-schema")
    if version < 1:
        raise UnreadableSessionFileError(str(path), "not-our-schema")


def _check_sessions(connection: sqlite3.Connection, path: Path) -> None:
    columns = _columns(connection, "agent_sessions")
    if columns is None:
        connection.execute(_SESSIONS)
    else:
        kinds = {name: kind for name, (kind, _) in columns.items()}
        keys = [name for name, (_, key) in columns.items() if key]
        ours = _REQUIRED | {name: kind for name, kind in _ADDED.items() if name in kinds}
        if keys != ["session_id"] or {name: kinds.get(name) for name in ours} != ours:
            raise UnreadableSessionFileError(str(path), "not-our-schema")
        for name, kind in _ADDED.items():
            if name not in kinds:
                connection.execute(f"ALTER TABLE agent_sessions ADD COLUMN {name} {kind}")
    connection.execute(_INDEX)


def _check_versions(connection: sqlite3.Connection) -> None:
    if _columns(connection, "agent_session_versions") is None:
        connection.execute(_VERSIONS)
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'agent_sessions'")
    if _TRIGGERS.keys() <= {str(row[0]) for row in found}:
        return
    for trigger in _TRIGGERS.values():
        connection.execute(trigger)
    connection.execute(_NUMBER)  # what was written while nobody counted
