"""Tests of agentfootprint.hosting.sessions.sqlite."""

from __future__ import annotations

import asyncio
import itertools
import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfootprint.errors import ConfigError
from agentfootprint.hosting import (
    Envelope,
    InvalidEnvelopeError,
    SessionOwnershipConflictError,
    SessionStoreBusyError,
    SessionStoreClosedError,
    SessionStoreHarness,
    SqliteSessions,
    StaleVersionError,
    UnknownEnvelopeFormatError,
    UnreadableEnvelopeError,
    UnreadableSessionFileError,
    format_outcomes,
    run_session_store_conformance,
)
from tests.hosting.sessions.stored import paused, said, text_of


def change(path: Path, statement: str, *values: object) -> None:
    """What another program does to the file."""
    connection = sqlite3.connect(path)
    try:
        connection.execute(statement, values)
        connection.commit()
    finally:
        connection.close()


async def test_it_keeps_every_law_of_the_port(tmp_path: Path) -> None:
    numbers, paths = itertools.count(), dict[SqliteSessions, Path]()

    def create() -> SqliteSessions:
        path = tmp_path / "made" / f"{next(numbers)}.db"
        store = SqliteSessions(path)
        paths[store] = path
        return store

    def corrupt(store: SqliteSessions, session_id: str) -> None:
        change(paths[store], "UPDATE agent_sessions SET envelope = '{oops' WHERE session_id = ?", session_id)

    harness = SessionStoreHarness(
        name="sqlite", create_store=create, dispose=lambda store: store.aclose(), corrupt=corrupt
    )

    outcomes = await run_session_store_conformance(harness)

    assert {one.outcome for one in outcomes} == {"passed"}, format_outcomes("sqlite", outcomes)


async def test_what_was_stored_is_there_in_another_store_on_the_file(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteSessions(path) as store:
        version = await store.persist("s", paused("hi", by="alice"))
        assert store.journal_mode == "wal"

    async with SqliteSessions(str(path)) as store:
        read = await store.hydrate("s")

        assert text_of(read) == "hi"
        assert read is not None
        assert read.version == version
        assert await store.owner_of("s") == "alice"


@pytest.mark.parametrize("path", ["", "  ", ":memory:", "a\0b"])
def test_a_path_that_names_no_file_is_refused(path: str) -> None:
    with pytest.raises(ConfigError):
        SqliteSessions(path)


@pytest.mark.parametrize("timeout", [-1.0, float("nan"), float("inf")])
def test_a_timeout_that_is_none_is_refused(timeout: float) -> None:
    with pytest.raises(ConfigError):
        SqliteSessions("sessions.db", busy_timeout=timeout)


async def test_closing_is_idempotent_and_any_later_use_names_what_was_wanted(tmp_path: Path) -> None:
    store = SqliteSessions(tmp_path / "sessions.db")
    written = asyncio.create_task(store.persist("s", said()))
    await asyncio.sleep(0)
    await asyncio.gather(store.aclose(), store.aclose())
    await store.aclose()

    assert await written == 1
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("open", store.open),
        ("hydrate", lambda: store.hydrate("s")),
        ("persist", lambda: store.persist("s", said())),
        ("list", lambda: store.list_by_user("alice")),
        ("forget", lambda: store.forget("s")),
        ("sweep", lambda: store.retention().forget_older_than(5)),
    ]
    for verb, call in calls:
        with pytest.raises(SessionStoreClosedError, match=f"can't {verb}") as caught:
            await call()
        assert caught.value.verb == verb


async def test_the_event_loop_and_the_shared_pool_do_none_of_its_work(tmp_path: Path) -> None:
    """DEC-50."""
    async with SqliteSessions(tmp_path / "sessions.db") as store:
        await asyncio.gather(*(store.persist(f"s-{n}", said()) for n in range(20)))

        mine = [thread for thread in threading.enumerate() if thread.name.startswith("agentfootprint-sessions")]

        assert len(mine) == 1


@pytest.mark.parametrize(
    ("stored", "error"),
    [
        ("{oops", UnreadableEnvelopeError),
        ("", UnreadableEnvelopeError),
        ("null", UnreadableEnvelopeError),
        ("[]", UnreadableEnvelopeError),
        ("{}", UnknownEnvelopeFormatError),
        ('{"format":"conversation-v9","data":{},"savedAt":1}', UnknownEnvelopeFormatError),
        ('{"format":"conversation-v1","data":{},"savedAt":1}', InvalidEnvelopeError),
        ('{"format":"conversation-v1","data":{"version":1}}', InvalidEnvelopeError),
    ],
)
async def test_what_can_not_be_read_is_refused_and_not_replaced_by_a_fresh_start(
    tmp_path: Path, stored: str, error: type[Exception]
) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteSessions(path) as store:
        await store.persist("s", said())
        change(path, "UPDATE agent_sessions SET envelope = ?", stored)

        with pytest.raises(error) as caught:
            await store.hydrate("s")
        with pytest.raises(StaleVersionError):
            await store.persist("s", said("fresh"), expect=0)

    assert isinstance(caught.value, TypeError)


async def test_text_that_is_no_utf8_is_unreadable_and_the_others_stay_readable(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteSessions(path) as store:
        await store.persist("s", said(by="alice"))
        await store.persist("t", said("fine", by="alice"))
        change(path, "UPDATE agent_sessions SET envelope = CAST(x'ff7b' AS TEXT) WHERE session_id = 's'")

        with pytest.raises(UnreadableEnvelopeError):
            await store.hydrate("s")

        assert text_of(await store.hydrate("t")) == "fine"
        assert len((await store.list_by_user("alice")).sessions) == 2


async def test_a_file_that_is_damaged_while_it_is_used_is_named(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteSessions(path) as store:
        for n in range(50):
            await store.persist(f"s-{n}", said("x" * 4000))
    with path.open("r+b") as file:
        file.seek(4096 * 10)
        file.write(os.urandom(4096 * 20))

    async with SqliteSessions(path) as store:
        outcomes = await asyncio.gather(*(store.hydrate(f"s-{n}") for n in range(50)), return_exceptions=True)

    assert None not in outcomes  # unreadable is not absent
    broken = [one for one in outcomes if isinstance(one, UnreadableSessionFileError)]
    assert broken
    assert {one.file_problem for one in broken} == {"damaged"}


async def test_a_second_writer_waits_and_then_fails_loudly_with_nothing_written(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteSessions(path, busy_timeout=0.05) as store:
        version = await store.persist("s", said("first"))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(SessionStoreBusyError):
            await store.persist("s", said("second"))
        assert text_of(await store.hydrate("s")) == "first"  # readers don't wait
        other.execute("ROLLBACK")
        other.close()

        assert await store.persist("s", said("third"), expect=version) > version


async def test_another_owner_is_refused_whole_also_on_an_old_version(tmp_path: Path) -> None:
    async with SqliteSessions(tmp_path / "sessions.db") as store:
        await store.persist("s", said("mine", by="alice", tenant="acme"))

        for by, tenant, expect in (("alice", "other", None), ("bob", "acme", 0), ("alice", None, 99)):
            with pytest.raises(SessionOwnershipConflictError) as caught:
                await store.persist("s", said("taken", by=by, tenant=tenant), expect=expect)
            assert not {"alice", "bob", "acme", "other", "mine"} & set(str(caught.value).replace("'", " ").split())

        assert text_of(await store.hydrate("s")) == "mine"
        assert await store.owner_of("s") == "%/acme/alice"
        assert (await store.list_by_user("alice")).sessions == ()


async def test_an_owner_that_another_implementation_indexed_without_its_tenant_keeps_the_session(
    tmp_path: Path,
) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteSessions(path) as store:
        await store.persist("s", said("mine", by="alice", tenant="acme"))
        change(path, "UPDATE agent_sessions SET owner = 'alice'")

        with pytest.raises(SessionOwnershipConflictError):
            await store.persist("s", said("taken", by="alice", tenant="other"))
        with pytest.raises(SessionOwnershipConflictError):
            await store.persist("s", said("taken", by="alice"))
        await store.persist("s", said("again", by="alice", tenant="acme"))

        assert await store.owner_of("s") == "%/acme/alice"


async def test_a_write_of_another_implementation_counts_as_a_version(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    async with SqliteSessions(path) as store:
        first = await store.persist("s", said("first"))
        change(path, "UPDATE agent_sessions SET saved_at = 5")
        with pytest.raises(StaleVersionError):
            await store.persist("s", said("second"), expect=first)
        change(path, "DELETE FROM agent_sessions")
        change(path, "INSERT INTO agent_sessions VALUES ('s', 'conversation-v1', 1, 'x', NULL, NULL)")
        with pytest.raises(StaleVersionError):
            await store.persist("s", said("second"), expect=first)
        with pytest.raises(StaleVersionError):
            await store.persist("s", said("second"), expect=0)


@pytest.mark.parametrize(
    "cursor", ["", "x", ":", "1:s-1", "1000:gone", "1000:other", "9" * 30 + ":s-1", "1000:\udc80", "-5:s-1"]
)
async def test_a_cursor_that_is_stale_or_foreign_starts_at_the_newest(tmp_path: Path, cursor: str) -> None:
    async with SqliteSessions(tmp_path / "sessions.db") as store:
        for n in range(3):
            await store.persist(f"s-{n}", said(by="alice"))
        await store.persist("other", said(by="bob"))

        page = await store.list_by_user("alice", cursor=cursor, limit=2)

        assert [row.session_id for row in page.sessions] == ["s-2", "s-1"]
        assert page.cursor == "1000:s-1"


@pytest.mark.parametrize("user", ["", "\ud800", "nobody"])
async def test_whoever_has_no_sessions_gets_an_empty_page(tmp_path: Path, user: str) -> None:
    async with SqliteSessions(tmp_path / "sessions.db") as store:
        await store.persist("s", said())

        page = await store.list_by_user(user)

        assert page.sessions == ()
        assert page.cursor is None


async def test_a_session_id_with_a_colon_is_a_cursor_too(tmp_path: Path) -> None:
    async with SqliteSessions(tmp_path / "sessions.db") as store:
        for name in ("a:1", "b:2:c", "d"):
            await store.persist(name, said(by="alice"))

        first = await store.list_by_user("alice", limit=2)
        second = await store.list_by_user("alice", limit=2, cursor=first.cursor)

        assert first.cursor == "1000:b:2:c"
        assert [row.session_id for row in second.sessions] == ["a:1"]


async def test_numbers_that_no_column_holds_do_not_overflow(tmp_path: Path) -> None:
    async with SqliteSessions(tmp_path / "sessions.db") as store:
        await store.persist("s", said(by="alice", saved_at=2**53))
        sweep = store.retention().forget_older_than

        assert len((await store.list_by_user("alice", limit=2**63)).sessions) == 1
        assert tuple(await sweep(-(2**80))) == (0, False)
        assert tuple(await sweep(2**80, limit=2**80)) == (1, False)
        with pytest.raises(InvalidEnvelopeError, match="savedAt"):
            await store.persist("s", said(saved_at=2**63))


async def test_a_cancelled_write_is_done_whole_or_not_at_all(tmp_path: Path) -> None:
    async with SqliteSessions(tmp_path / "sessions.db") as store:
        tasks = [asyncio.create_task(store.persist(f"s-{n}", said(f"{n}"))) for n in range(50)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

        found = [text_of(await store.hydrate(f"s-{n}")) for n in range(50)]

        assert found[1::2] == [f"{n}" for n in range(1, 50, 2)]
        assert all(text in (None, f"{n}") for n, text in enumerate(found))


WRITER = """
import asyncio, sys
from agentfootprint.hosting import SqliteSessions, StaleVersionError
from tests.hosting.sessions.stored import said, text_of

async def main(path, name, turns):
    async with SqliteSessions(path, busy_timeout=30) as store:
        for turn in range(turns):
            await store.persist(f"{name}-{turn}", said(f"{name}-{turn}", by=name))
            while True:  # count together: each adds one to what is there
                read = await store.hydrate("shared")
                count = int(text_of(read) or 0) + 1
                try:
                    await store.persist("shared", said(str(count)), expect=read.version if read else 0)
                    break
                except StaleVersionError:
                    pass

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


async def test_two_processes_on_one_file_lose_nothing(tmp_path: Path) -> None:
    path, turns = tmp_path / "sessions.db", 25
    program = [sys.executable, "-c", WRITER, str(path)]
    root = Path(__file__).parents[3]
    writers = [
        await asyncio.create_subprocess_exec(*program, name, str(turns), cwd=root, stderr=asyncio.subprocess.PIPE)
        for name in ("alice", "bob")
    ]

    for writer in writers:
        _, complaint = await writer.communicate()
        assert writer.returncode == 0, complaint.decode()

    async with SqliteSessions(path) as store:
        assert text_of(await store.hydrate("shared")) == str(2 * turns)
        for name in ("alice", "bob"):
            assert len((await store.list_by_user(name, limit=100)).sessions) == turns


ALPHABET = st.sampled_from("aAbB/\\%_-.:?*' \"\0éÉß\u017f\ufb01\u0301\u200b😀") | st.characters(
    exclude_categories=["Cs"]
)
IDS = st.lists(st.text(ALPHABET, min_size=1, max_size=6), min_size=2, max_size=6, unique=True)


@given(ids=IDS)
@settings(max_examples=40)
def test_no_two_session_ids_share_a_key(tmp_path_factory: pytest.TempPathFactory, ids: list[str]) -> None:
    """SES-10."""

    async def stored() -> list[str | None]:
        async with SqliteSessions(tmp_path_factory.mktemp("ids") / "sessions.db") as store:
            for session_id in ids:
                await store.persist(session_id, said(session_id, by="alice"))
            listed = {row.session_id for row in (await store.list_by_user("alice")).sessions}
            assert listed == set(ids)
            return [text_of(await store.hydrate(session_id)) for session_id in ids]

    assert asyncio.run(stored()) == ids


async def test_another_implementation_finds_what_it_would_have_written(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    data: dict[str, Any] = {"version": 1, "runId": "é😀", "history": []}
    async with SqliteSessions(path) as store:
        await store.persist("s", Envelope(format="conversation-v1", data=data, saved_at=5))

    connection = sqlite3.connect(path)
    row = connection.execute("SELECT * FROM agent_sessions").fetchone()
    connection.close()

    envelope = '{"format":"conversation-v1","data":{"version":1,"runId":"é😀","history":[]},"savedAt":5}'
    assert row == ("s", "conversation-v1", 5, envelope, None, 0)


async def test_a_close_whose_caller_is_cancelled_still_closes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    store = SqliteSessions(path)
    await store.persist("s", said())
    writing = asyncio.create_task(store.persist("t", said()))
    await asyncio.sleep(0)
    closing = asyncio.create_task(store.aclose())
    await asyncio.sleep(0)

    closing.cancel()
    await asyncio.gather(writing, closing, return_exceptions=True)
    for thread in threading.enumerate():
        if thread.name.startswith("agentfootprint-sessions"):
            await asyncio.to_thread(thread.join, 5)

    assert not path.with_name("sessions.db-wal").exists()  # the last connection that closes takes it away
