"""Tests of agentfootprint.hosting.sessions.sqlite_file."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from agentfootprint.hosting import (
    SessionFileProblem,
    SessionStoreBusyError,
    SqliteSessions,
    UnreadableSessionFileError,
)
from tests.hosting.sessions.stored import said, text_of

OLD_TABLE = """
CREATE TABLE agent_sessions (
  session_id TEXT PRIMARY KEY, format TEXT NOT NULL, saved_at INTEGER NOT NULL, envelope TEXT NOT NULL
) STRICT
"""
META = "CREATE TABLE agent_store_meta (key TEXT PRIMARY KEY, value TEXT)"


def make(path: Path, *statements: str) -> Path:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def content_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


async def refusal(path: Path) -> SessionFileProblem:
    """Why a file is refused; it must stay as it was."""
    before = content_of(path)
    store = SqliteSessions(path, busy_timeout=0.05)
    with pytest.raises(UnreadableSessionFileError) as caught:
        await store.hydrate("s")
    with pytest.raises(UnreadableSessionFileError):
        await store.persist("s", said())
    await store.aclose()
    assert content_of(path) == before
    return caught.value.file_problem


@pytest.mark.parametrize("content", [b"not a database, but long enough to look at: " * 50, b"\0" * 5000, b"{}"])
async def test_a_file_that_is_no_database_is_not_overwritten(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sessions.db"
    path.write_bytes(content)

    assert await refusal(path) == "cannot-open"


async def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert await refusal(tmp_path) == "cannot-open"


async def test_a_folder_that_can_not_be_made_is_no_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    assert await refusal(tmp_path / "file" / "sessions.db") == "cannot-open"


async def test_a_torn_file_is_refused_and_never_taken_for_an_empty_store(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteSessions(path) as store:
        for n in range(20):
            await store.persist(f"s-{n}", said("x" * 3000))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 + 100])

    store = SqliteSessions(path)
    outcomes = await asyncio.gather(*(store.hydrate(f"s-{n}") for n in range(20)), return_exceptions=True)
    await store.aclose()

    assert None not in outcomes
    assert any(isinstance(one, UnreadableSessionFileError) for one in outcomes)


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE agent_sessions (id INTEGER PRIMARY KEY, name TEXT)"],
        ["CREATE TABLE agent_sessions (session_id TEXT, format TEXT, saved_at INTEGER, envelope TEXT)"],
        ["CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, format TEXT, saved_at TEXT, envelope TEXT)"],
        ["CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, format TEXT, saved_at INTEGER, envelope BLOB)"],
        ["CREATE VIEW agent_sessions AS SELECT 1 AS session_id"],
        [OLD_TABLE, "CREATE TABLE agent_store_meta (name TEXT)"],
        [OLD_TABLE, META, "INSERT INTO agent_store_meta VALUES ('schema_version', 'one')"],
        [OLD_TABLE, META, "INSERT INTO agent_store_meta VALUES ('schema_version', '0')"],
    ],
)
async def test_tables_of_somebody_else_are_left_alone(tmp_path: Path, statements: list[str]) -> None:
    path = make(tmp_path / "sessions.db", *statements)

    assert await refusal(path) == "not-our-schema"


async def test_a_file_of_a_newer_release_is_left_alone(tmp_path: Path) -> None:
    path = make(
        *(tmp_path / "sessions.db", OLD_TABLE, META, "INSERT INTO agent_store_meta VALUES ('schema_version', '2')")
    )

    assert await refusal(path) == "newer-schema"


async def test_a_file_of_an_older_release_gets_what_it_lacks_and_lists_a_session_after_its_next_turn(
    tmp_path: Path,
) -> None:
    envelope = (
        '{"format":"conversation-v1","savedAt":7,"data":{"version":1,"runId":"r","history":'
        '[{"role":"user","content":"old"}],"identity":{"conversationId":"c","principal":"alice"}}}'
    )
    path = make(
        *(tmp_path / "sessions.db", OLD_TABLE, META, "INSERT INTO agent_store_meta VALUES ('schema_version', '1')"),
        f"INSERT INTO agent_sessions VALUES ('s', 'conversation-v1', 7, '{envelope}')",
    )

    async with SqliteSessions(path) as store:
        read = await store.hydrate("s")
        unlisted = await store.list_by_user("alice")
        assert read is not None
        await store.persist("s", said("new", by="alice"), expect=read.version)
        listed = await store.list_by_user("alice")

    assert text_of(read) == "old"
    assert unlisted.sessions == ()
    assert [row.session_id for row in listed.sessions] == ["s"]


async def test_tables_beside_ours_do_not_matter(tmp_path: Path) -> None:
    path = make(tmp_path / "sessions.db", "CREATE TABLE users (name TEXT)", "INSERT INTO users VALUES ('alice')")

    async with SqliteSessions(path) as store:
        await store.persist("s", said())

    connection = sqlite3.connect(path)
    assert connection.execute("SELECT * FROM users").fetchall() == [("alice",)]
    connection.close()


async def test_sessions_written_while_the_triggers_were_gone_get_a_version(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteSessions(path) as store:
        await store.persist("s", said())
    make(
        *(path, "DROP TRIGGER agent_sessions_inserted"),
        """INSERT INTO agent_sessions VALUES ('t', 'conversation-v1', 1,
           '{"format":"conversation-v1","savedAt":1,"data":{"version":1,"runId":"r","history":[]}}', NULL, 0)""",
    )

    async with SqliteSessions(path) as store:
        read = await store.hydrate("t")

    assert read is not None
    assert read.version


async def test_stores_that_open_one_new_file_at_once_all_open_it(tmp_path: Path) -> None:
    stores = [SqliteSessions(tmp_path / "sessions.db") for _ in range(8)]

    await asyncio.gather(*(store.open() for store in stores))

    assert {store.journal_mode for store in stores} == {"wal"}
    await asyncio.gather(*(store.aclose() for store in stores))


async def test_a_file_that_another_program_holds_is_busy_and_opens_later(tmp_path: Path) -> None:
    path = make(tmp_path / "sessions.db", "CREATE TABLE users (name TEXT)")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    store = SqliteSessions(path, busy_timeout=0.05)

    with pytest.raises(SessionStoreBusyError):
        await store.open()
    other.execute("ROLLBACK")
    other.close()

    await store.open()
    await store.aclose()
