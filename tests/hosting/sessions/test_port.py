"""Tests of agentfootprint.hosting.sessions.port."""

from __future__ import annotations

import pytest

from agentfootprint.hosting import (
    Envelope,
    InMemorySessions,
    InvalidSessionIdError,
    SessionRetentionUnavailableError,
    SessionStore,
    SqliteSessions,
    SupportsForget,
    SupportsListing,
    SupportsRetention,
    SupportsWake,
    Sweep,
    WakeReason,
    session_retention,
    stored_owner,
    wake_session,
)
from tests.hosting.sessions.stored import said


class Bare:
    """A store with the two methods of the port and nothing else."""

    def __init__(self) -> None:
        self.inner = InMemorySessions()

    async def hydrate(self, session_id: str) -> Envelope | None:
        return await self.inner.hydrate(session_id)

    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        return await self.inner.persist(session_id, envelope, expect=expect)


class Waking(Bare):
    def __init__(self) -> None:
        super().__init__()
        self.woken: list[tuple[str, str]] = []

    async def on_wake(self, session_id: str, reason: WakeReason) -> None:
        self.woken.append((session_id, reason))


def test_two_methods_are_the_whole_port() -> None:
    bare = Bare()

    assert isinstance(bare, SessionStore)
    assert not isinstance(bare, (SupportsListing, SupportsForget, SupportsRetention, SupportsWake))


@pytest.mark.parametrize("store", [InMemorySessions(), SqliteSessions("never-opened.db")], ids=["memory", "sqlite"])
def test_our_stores_offer_what_they_can(store: SessionStore) -> None:
    assert isinstance(store, SessionStore)
    assert isinstance(store, SupportsListing)
    assert isinstance(store, SupportsForget)
    assert isinstance(session_retention(store), Sweep)
    assert not isinstance(store, SupportsWake)


def test_a_store_that_does_not_say_who_deletes_is_named() -> None:
    with pytest.raises(SessionRetentionUnavailableError, match="Bare"):
        session_retention(Bare())


async def test_only_a_store_that_wants_to_know_is_woken() -> None:
    waking = Waking()

    await wake_session(Bare(), "s", "invoke")
    await wake_session(waking, "s", "resume")

    assert waking.woken == [("s", "resume")]


async def test_the_index_knows_the_owner_after_a_turn_that_named_nobody() -> None:
    store, bare = InMemorySessions(), Bare()
    for each in (store, bare):
        await each.persist("s", said(by="alice"))
        await each.persist("s", said())

    assert await stored_owner(store, "s", await store.hydrate("s")) == "alice"
    assert await stored_owner(bare, "s", await bare.hydrate("s")) is None
    assert await stored_owner(bare, "s", said(by="alice")) == "alice"
    assert await stored_owner(bare, "s", None) is None


@pytest.mark.parametrize("session_id", ["", "\ud800", "a\udfffb", None, 7, b"s"])
@pytest.mark.parametrize("store", [InMemorySessions(), SqliteSessions("never-opened.db")], ids=["memory", "sqlite"])
async def test_an_id_that_can_not_be_kept_is_refused_by_every_method(store: SqliteSessions, session_id: str) -> None:
    for call in (
        store.hydrate(session_id),
        store.persist(session_id, said()),
        store.owner_of(session_id),
        store.forget(session_id),
    ):
        with pytest.raises(InvalidSessionIdError) as caught:
            await call
        assert caught.value.__cause__ is None


async def test_the_tenant_that_an_index_leaves_out_still_keeps_equal_users_apart() -> None:
    """OWN-5, OWN-6."""

    class Tenantless(InMemorySessions):
        async def owner_of(self, session_id: str) -> str | None:
            owner = await super().owner_of(session_id)
            return owner and owner.rpartition("/")[2]

    store = Tenantless()
    await store.persist("s", said(by="alice", tenant="acme"))

    assert await stored_owner(store, "s", await store.hydrate("s")) == "%/acme/alice"
