"""Does a store list each session of a user once, newest first, and say who deletes the old ones?"""

from __future__ import annotations

from agentfootprint.hosting.cases.case import Listing, Retaining, expect, opened, said
from agentfootprint.hosting.sessions.envelope import CONVERSATION
from agentfootprint.hosting.sessions.port import ExpiryPolicy, SessionStore, SupportsListing

__all__ = ["handed_back", "newest_first", "pages", "retention"]

_THEN = 1_700_000_000_000


async def pages(store: Listing) -> None:
    """Five sessions of one moment, two a page: each once, nobody else's, and the last page says it is the last."""
    ids = [f"s-{n}" for n in (3, 1, 5, 2, 4)]
    for session_id in ids:
        await store.persist(session_id, said(session_id, by="alice", saved_at=_THEN))
    await store.persist("other", said("other", by="bob", saved_at=_THEN))
    seen, cursor = await _walk(store, "alice", limit=2, most=len(ids) + 1)
    expect(
        sorted(seen) == sorted(ids),
        "Paging lost a session, or gave one twice, or gave another's.",
        "Order by time and id.",
    )
    expect(cursor is None, "The last page has a cursor.", "Give one only when there are more.")
    again, _ = await _walk(store, "alice", limit=2, most=len(ids) + 1)
    expect(again == seen, "The order of equal times is not the same twice.", "Break ties by the session id.")
    top = [row.session_id for row in (await store.list_by_user("alice", cursor="not a cursor", limit=2)).sessions]
    expect(top == seen[:2], "A foreign cursor did not start at the newest.", "Start again at the top.")
    nobody = await store.list_by_user("carol")
    expect(
        nobody.sessions == () and nobody.cursor is None, "Somebody without sessions has some.", "Answer an empty page."
    )


async def _walk(store: SupportsListing, user: str, *, limit: int, most: int) -> tuple[list[str], str | None]:
    """The ids of all pages, and the cursor of the last; stops when there are more pages than there can be."""
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(most):
        page = await store.list_by_user(user, cursor=cursor, limit=limit)
        expect(len(page.sessions) <= limit, "A page is longer than was asked for.", "Keep to the limit.")
        seen += [row.session_id for row in page.sessions]
        cursor = page.cursor
        if cursor is None:
            break
    return seen, cursor


async def newest_first(store: Listing) -> None:
    """The order is that of the envelopes' times: not of writing, not of ids."""
    times = (1, 2, 3, 4)
    for user, written, sign in (("alice", times, 1), ("bob", times[::-1], -1)):
        for n in written:
            key = f"{user}-{5 + sign * n}"
            await store.persist(key, said(key, by=user, saved_at=_THEN + n))
        rows = (await store.list_by_user(user)).sessions
        found = [(row.session_id, row.saved_at, row.format, row.message_count) for row in rows]
        wanted = [(f"{user}-{5 + sign * n}", _THEN + n, CONVERSATION, 2) for n in times[::-1]]
        expect(
            found == wanted, "The newest session is not first, or a row is not that of its session.", "Sort by savedAt."
        )


async def handed_back(store: Listing) -> None:
    """An id in a listing opens the session it stands for, and is no second way to another."""
    ids = ["plain", "Plain", "a/b", "a b", "a_b", "a%2Fb", "session-plain"]
    kept: list[str] = []
    for session_id in ids:
        try:
            await store.persist(session_id, said(session_id, by="alice"))
        except Exception:  # noqa: BLE001, S112  an id may be refused, by any error
            continue
        kept.append(session_id)
    rows = (await store.list_by_user("alice")).sessions
    found = [await opened(store, row.session_id) for row in rows]
    law = "List the id that the session was stored under."
    expect(sorted(str(one) for one in found) == sorted(kept), "A listed id opens another conversation.", law)
    for row, text in zip(rows, found, strict=True):
        if row.session_id in kept:
            continue
        await store.persist(row.session_id, said("rewritten", by="alice"))
        changed = [one for one in kept if one != text and await opened(store, one) != one]
        expect(not changed, "Writing to a listed id landed on another session.", law)


async def retention(store: Retaining) -> None:
    """Who deletes is said; a sweep deletes what is older, and nothing else."""
    told = store.retention()
    if isinstance(told, ExpiryPolicy):
        expect(told.expires_on and told.enable_with, "Nothing says how expiry is turned on.", "Say both.")
        return
    for n in (1, 2, 3):
        await store.persist(f"s-{n}", said(f"s-{n}", by="alice", saved_at=n * 1000))
    law = "Delete what was saved strictly before, by the envelope's own time."
    expect(tuple(await told.forget_older_than(2000)) == (1, False), "A sweep did not say what it did.", law)
    expect(await store.hydrate("s-1") is None, "An old session was not deleted.", law)
    expect(await opened(store, "s-2") == "s-2", "A session of that very moment was deleted.", law)
    expect(tuple(await told.forget_older_than(2000)) == (0, False), "A second sweep found something.", law)
    await _index_is_swept(store)
    done = tuple(await told.forget_older_than(9000, limit=1))
    expect(done == (1, True), "A sweep with a limit did not say that there are more.", "Look for one row more.")
    expect(tuple(await told.forget_older_than(9000)) == (1, False), "What was left was not deleted.", law)


async def _index_is_swept(store: SessionStore) -> None:
    if isinstance(store, SupportsListing):
        ids = sorted(row.session_id for row in (await store.list_by_user("alice")).sessions)
        expect(ids == ["s-2", "s-3"], "A session that was swept is still listed.", "Delete the index entry too.")
