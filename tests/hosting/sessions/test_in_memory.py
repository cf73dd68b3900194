"""Tests of agentfootprint.hosting.sessions.in_memory."""

from __future__ import annotations

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.hosting import (
    Envelope,
    InMemorySessions,
    InvalidEnvelopeError,
    SessionStoreHarness,
    StaleVersionError,
    format_outcomes,
    run_session_store_conformance,
)
from tests.hosting.sessions.stored import paused, said, text_of

CANT_BE_CORRUPTED = {"unreadable-is-not-absent": "It holds envelopes as objects: nothing unreadable gets in."}


async def test_it_keeps_every_law_of_the_port() -> None:
    harness = SessionStoreHarness(name="memory", create_store=InMemorySessions, declared=CANT_BE_CORRUPTED)

    outcomes = await run_session_store_conformance(harness)

    assert all(one.outcome in ("passed", "declared") for one in outcomes), format_outcomes("memory", outcomes)
    assert sum(one.outcome == "declared" for one in outcomes) == 1


async def test_what_fails_its_format_is_not_stored() -> None:
    store = InMemorySessions()

    with pytest.raises(InvalidEnvelopeError):
        await store.persist("s", Envelope(format="flowchart-v1", data={}, saved_at=1))

    assert await store.hydrate("s") is None


async def test_a_paused_session_is_listed_with_its_format() -> None:
    store = InMemorySessions()
    await store.persist("s", paused(by="alice"))

    page = await store.list_by_user("alice")

    assert [row.to_wire() for row in page.sessions] == [
        {"sessionId": "s", "savedAt": 1000, "format": "flowchart-v1", "messageCount": 1}
    ]


@pytest.mark.parametrize("cursor", ["", "-1", "two", "9" * 5000, "99", "\u0662"])
async def test_a_cursor_that_no_page_gave_starts_at_the_newest(cursor: str) -> None:
    store = InMemorySessions()
    for n in range(3):
        await store.persist(f"s-{n}", said(by="alice", saved_at=n))

    page = await store.list_by_user("alice", cursor=cursor, limit=2)

    assert [row.session_id for row in page.sessions] == ["s-2", "s-1"]
    assert page.cursor == "2"


async def test_a_session_that_comes_back_has_no_version_again() -> None:
    store = InMemorySessions()
    first = await store.persist("s", said("first"))
    await store.forget("s")
    await store.persist("s", said("second"))

    with pytest.raises(StaleVersionError, match="'s'"):
        await store.persist("s", said("third"), expect=first)

    assert text_of(await store.hydrate("s")) == "second"


@pytest.mark.parametrize("expect", [-1, True, 1.0, "1"])
async def test_an_expected_version_that_no_store_gives_is_refused(expect: int) -> None:
    with pytest.raises(ConfigError):
        await InMemorySessions().persist("s", said(), expect=expect)


@pytest.mark.parametrize("limit", [0, -1, True, 2.5])
async def test_a_limit_that_is_none_is_refused(limit: int) -> None:
    store = InMemorySessions()

    with pytest.raises(ConfigError):
        await store.list_by_user("alice", limit=limit)
    with pytest.raises(ConfigError):
        await store.retention().forget_older_than(1, limit=limit)


async def test_nobody_has_no_listing_of_what_is_nobodys() -> None:
    store = InMemorySessions()
    await store.persist("s", said())

    assert (await store.list_by_user("")).sessions == ()
