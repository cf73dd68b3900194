"""Tests of agentfootprint.agui.threads.stored."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest

from agentfootprint import Identity
from agentfootprint.agui.errors import AgUiRefusedError
from agentfootprint.agui.threads import stored
from agentfootprint.agui.threads.stored import open_thread, thread_identity, thread_key
from agentfootprint.hosting import Envelope, InMemorySessions, SessionStore, SqliteSessions

OWNER = Identity(conversation_id="t", principal="alice", tenant="acme")
KEY = thread_key(OWNER)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("a/b", "c"), ("a", "b/c")),
        (("", "x"), (None, "x")),
        (("_", "x"), (None, "x")),
        (("a%2Fb", "c"), ("a/b", "c")),
    ],
)
def test_threads_of_different_people_have_different_keys(
    first: tuple[str | None, str], second: tuple[str | None, str]
) -> None:
    def key(principal: str | None, thread: str) -> str:
        return thread_key(thread_identity(thread, Identity(conversation_id="", principal=principal)))

    same = {(first[0] or None, first[1])} == {(second[0] or None, second[1])}
    assert (key(*first) == key(*second)) is same


def test_the_conversation_that_an_identity_names_is_not_the_thread() -> None:
    assert thread_identity("t", Identity(conversation_id="other", principal="alice", tenant="acme")) == OWNER
    assert thread_identity("t", None) == Identity(conversation_id="t")


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_of_two_claims_one_wins(kind: str, tmp_path: Path) -> None:
    store: SessionStore = InMemorySessions() if kind == "memory" else SqliteSessions(tmp_path / "s.db")
    threads = [await open_thread(store, KEY, OWNER) for _ in range(4)]

    ends = await asyncio.gather(*(each.claim(f"r-{n}") for n, each in enumerate(threads)), return_exceptions=True)

    refused = [each for each in ends if each is not None]
    assert len(refused) == 3
    assert {getattr(each, "reason", None) for each in refused} == {"thread_busy"}
    assert all("alice" not in str(each) and "acme" not in str(each) for each in refused)
    if isinstance(store, SqliteSessions):
        await store.aclose()


async def test_a_claim_holds_until_it_is_given_up() -> None:
    store = InMemorySessions()
    first = await open_thread(store, KEY, OWNER)
    await first.claim("r-1")
    second = await open_thread(store, KEY, OWNER)

    with pytest.raises(AgUiRefusedError, match=r"Another run goes on"):
        await second.claim("r-2")
    await first.release()

    third = await open_thread(store, KEY, OWNER)
    await third.claim("r-3")
    assert third.conversation is None
    assert third.pending is None


async def test_a_claim_ends_by_itself_and_is_renewed_by_its_run_only(monkeypatch: pytest.MonkeyPatch) -> None:
    store = InMemorySessions()
    first = await open_thread(store, KEY, OWNER)
    await first.claim("r-1")
    later = stored.now_ms() + int(stored.CLAIM_SECONDS * 1000) + 1
    monkeypatch.setattr(stored, "now_ms", lambda: later)
    second = await open_thread(store, KEY, OWNER)

    await second.claim("r-2")

    with pytest.raises(AgUiRefusedError):
        await first.renew()
    await second.renew()
    assert second.is_claimed


class Unsure(InMemorySessions):
    """A store whose nth write is done, and said to have failed."""

    def __init__(self, *which: int) -> None:
        super().__init__()
        self._which, self._count = which, 0

    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        self._count += 1
        version = await super().persist(session_id, envelope, expect=expect)
        if self._count in self._which:
            raise OSError
        return version


async def test_a_renewal_that_was_done_although_the_store_could_not_say_so_is_no_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = itertools.count(stored.now_ms(), 1_000)
    monkeypatch.setattr(stored, "now_ms", lambda: next(clock))
    store = Unsure(2, 4)
    thread = await open_thread(store, KEY, OWNER)
    await thread.claim("r-1")
    for _ in range(2):
        with pytest.raises(OSError, match=r"^$"):
            await thread.renew()

    await thread.renew()

    await thread.release()
    assert not (await open_thread(store, KEY, OWNER)).is_claimed


async def test_what_another_wrote_beside_a_claim_is_not_written_over() -> None:
    store = InMemorySessions()
    thread = await open_thread(store, KEY, OWNER)
    await thread.claim("r-1")
    kept = await store.hydrate(KEY)
    assert kept is not None
    await store.persist(KEY, Envelope.now(kept.format, {**kept.data, "ours": "too"}))

    with pytest.raises(AgUiRefusedError) as caught:
        await thread.release()

    assert caught.value.reason == "thread_busy"
    assert caught.value.__context__ is None


@pytest.mark.parametrize(("back_s", "holds"), [(300, True), (86_400, False)])
async def test_a_clock_that_is_set_back_far_does_not_make_a_claim_hold_for_ever(
    back_s: int, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = InMemorySessions()
    await (await open_thread(store, KEY, OWNER)).claim("r-dead")
    now = stored.now_ms()
    monkeypatch.setattr(stored, "now_ms", lambda: now - back_s * 1000)

    assert (await open_thread(store, KEY, OWNER)).is_claimed is holds


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_threads_whose_names_only_look_alike_are_two(kind: str, tmp_path: Path) -> None:
    store: SessionStore = InMemorySessions() if kind == "memory" else SqliteSessions(tmp_path / "s.db")
    composed, apart = (thread_identity(each, OWNER) for each in ("caf\u00e9", "cafe\u0301"))

    await (await open_thread(store, thread_key(composed), composed)).claim("r-1")

    assert not (await open_thread(store, thread_key(apart), apart)).is_claimed
    if isinstance(store, SqliteSessions):
        await store.aclose()
