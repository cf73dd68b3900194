"""Does a store give back what it was given, all of it, and nothing else?"""

from __future__ import annotations

import asyncio
import inspect

from agentfootprint.hosting.cases.case import Corrupt, Forgetting, expect, opened, said, text_of
from agentfootprint.hosting.errors import StaleVersionError
from agentfootprint.hosting.sessions.envelope import envelope_owner
from agentfootprint.hosting.sessions.port import SessionStore, SupportsForget

__all__ = [
    "absent",
    "forget",
    "large",
    "many_at_once",
    "optional_members",
    "round_trip",
    "stale_version",
    "unreadable",
]

_MEGABYTE = 1_048_576
_MANY = 100


async def absent(store: SessionStore) -> None:
    """A session that was never written."""
    expect(await store.hydrate("never-written") is None, "An absent session was given something.", "Return None.")


async def round_trip(store: SessionStore) -> None:
    """What went in comes out; a second write takes its place."""
    first = said("first", by="alice", saved_at=1_700_000_000_001)
    await store.persist("s", first)
    found = await store.hydrate("s")
    expect(found is not None, "A session that was persisted is absent.", "Keep what persist was given.")
    assert found is not None  # noqa: S101  for the type checker
    expect(found.format == first.format, "The format did not survive.", "Keep the envelope whole.")
    expect(found.saved_at == first.saved_at, "The time of saving did not survive.", "Keep the envelope's own.")
    expect(text_of(found) == "first", "The conversation did not survive.", "Keep the data whole.")
    expect(envelope_owner(found) == "alice", "The identity did not survive.", "Keep the data whole.")
    expect(found.to_wire() == first.to_wire(), "The envelope was changed.", "Keep keys that you do not know.")
    await store.persist("s", said("second", by="alice"))
    expect(await opened(store, "s") == "second", "A second write did not replace the first.", "Keep the newest.")


async def unreadable(store: SessionStore, corrupt: Corrupt) -> None:
    """Something that is no envelope is never taken for an absent session."""
    await store.persist("s", said("first"))
    done = corrupt(store, "s")
    if inspect.isawaitable(done):
        await done
    try:
        found = await store.hydrate("s")
    except Exception:  # noqa: BLE001  the store may refuse with any error of its own
        return
    expect(found is not None, "Something unreadable was taken for an absent session.", "Raise UnreadableEnvelopeError.")


async def forget(store: Forgetting) -> None:
    """A forgotten session is gone; forgetting again is fine."""
    await store.persist("gone", said("first", by="alice"))
    await store.persist("kept", said("other", by="alice"))
    await store.forget("gone")
    await store.forget("gone")
    expect(await store.hydrate("gone") is None, "A forgotten session is still there.", "Delete it.")
    expect(await opened(store, "kept") == "other", "Forgetting took another session too.", "Delete the one.")
    owner_of = getattr(store, "owner_of", None)
    if owner_of is not None:
        expect(await owner_of("gone") is None, "A forgotten session still has an owner.", "Delete the index entry.")
    listing = getattr(store, "list_by_user", None)
    if listing is not None:
        ids = [row.session_id for row in (await listing("alice")).sessions]
        expect(ids == ["kept"], "A forgotten session is still listed.", "Delete the index entry.")


async def optional_members(store: SessionStore) -> None:
    """Members that belong together are there together; who deletes is said without waiting."""
    lists, owns = (callable(getattr(store, name, None)) for name in ("list_by_user", "owner_of"))
    expect(owns or not lists, "The store lists sessions and can't say whose one is.", "Offer owner_of too.")
    retention = getattr(store, "retention", None)
    if callable(retention):
        answer = retention()
        if inspect.iscoroutine(answer):
            answer.close()
        expect(not inspect.isawaitable(answer), "retention() must be awaited.", "Answer without any I/O.")


async def stale_version(store: SessionStore) -> None:
    """A write that expects another version than is stored is refused whole."""
    law = "Compare and write in one atomic step, and raise StaleVersionError."
    first = await store.persist("s", said("first"), expect=0)
    found = await store.hydrate("s")
    expect(found is not None and found.version == first, "hydrate gave another version than persist.", law)
    await _refused(store, 0, "A session that may not exist yet was overwritten.")
    second = await store.persist("s", said("second"), expect=first)
    expect(second > first, "A later write did not get a greater version.", "Count upward, and never reuse one.")
    await _refused(store, first, "A write on an old version was accepted.")
    expect(await opened(store, "s") == "second", "A refused write was stored.", law)
    tries = [store.persist("s", said(f"try {n}"), expect=second) for n in range(8)]
    done = await asyncio.gather(*tries, return_exceptions=True)
    won = [one for one in done if isinstance(one, int)]
    lost = [one for one in done if isinstance(one, StaleVersionError)]
    expect(len(won) == 1 and len(lost) == len(done) - 1, "Two writes on one version were accepted.", law)
    if isinstance(store, SupportsForget):
        await store.forget("s")
        if await store.hydrate("s") is not None:
            return  # another case tells
        await store.persist("s", said("again"), expect=0)
        await _refused(store, won[0], "A session that came back has a version of before.")


async def _refused(store: SessionStore, version: int, problem: str) -> None:
    try:
        await store.persist("s", said("refused"), expect=version)
    except StaleVersionError:
        return
    expect(holds=False, problem=problem, law="Raise StaleVersionError, and write nothing.")


async def large(store: SessionStore) -> None:
    """A megabyte of every script survives, byte for byte."""
    alphabet = '\u00e9\u65e5\u672c\u8a9e\U0001f600\0\u2028"\\\n\u202e\u05d0\u05d1'
    text = (alphabet * (_MEGABYTE // len(alphabet.encode()) + 1))[:_MEGABYTE]
    await store.persist("s", said(text))
    expect(await opened(store, "s") == text, "A large conversation was changed.", "Store it whole, as UTF-8.")


async def many_at_once(store: SessionStore) -> None:
    """A hundred sessions, written and read at the same time, do not meet."""
    ids = [f"session {n}" for n in range(_MANY)]

    async def turn(session_id: str) -> str | None:
        await store.persist(session_id, said(f"first of {session_id}"))
        await store.persist(session_id, said(f"last of {session_id}"))
        return await opened(store, session_id)

    found = await asyncio.gather(*map(turn, ids))
    expect(
        found == [f"last of {one}" for one in ids],
        "Sessions met that have nothing to do with each other.",
        "Keep each.",
    )
