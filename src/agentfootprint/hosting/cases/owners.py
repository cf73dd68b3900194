"""Does a store know whose a session is, and does nothing take it away?"""

from __future__ import annotations

import asyncio

from agentfootprint.hosting.cases.case import EnvironmentFailedError, Listing, expect, opened, said
from agentfootprint.hosting.errors import SessionOwnershipConflictError
from agentfootprint.hosting.sessions.envelope import envelope_owner

__all__ = ["contested", "derived", "filled_in", "kept", "missing_and_unowned", "not_taken"]


async def derived(store: Listing) -> None:
    """The owner is the principal inside; what is planted beside it is not looked at."""
    await store.persist("s", said("first", by="alice", planted={"owner": "mallory", "userId": "mallory"}))
    await store.persist("n", said("first", planted={"owner": "mallory", "userId": "mallory"}))
    law = "Read the owner from the conversation's identity."
    expect(await store.owner_of("s") == "alice", "The owner is not the one the conversation names.", law)
    expect(await store.owner_of("n") is None, "A planted owner was believed.", law)


async def filled_in(store: Listing) -> None:
    """Nobody's session becomes that of the first who signs."""
    await store.persist("s", said("first"))
    await store.persist("s", said("second", by="alice"))
    expect(await store.owner_of("s") == "alice", "The first who signed does not own the session.", "Fill the owner in.")


async def kept(store: Listing) -> None:
    """A turn that names nobody is stored, and takes nothing away."""
    await store.persist("s", said("first", by="alice"))
    await store.persist("s", said("second"))
    expect(await opened(store, "s") == "second", "A turn that names nobody was not stored.", "Store it.")
    expect(await store.owner_of("s") == "alice", "A turn that names nobody took the owner away.", "Keep the owner.")
    ids = [row.session_id for row in (await store.list_by_user("alice")).sessions]
    expect(ids == ["s"], "The session is not listed any more.", "Keep the owner in the index too.")


async def not_taken(store: Listing) -> None:
    """Another's turn is refused whole, in words that name nobody."""
    await store.persist("s", said("the secret plan", by="alice@example.org"))
    try:
        await store.persist("s", said("mine now", by="bob@example.org"))
    except Exception as refused:  # noqa: BLE001  the store may have an error of its own
        words = f"{refused} {refused!r}"
        named = [word for word in ("alice@example.org", "bob@example.org", "secret plan", "mine now") if word in words]
        expect(not named, "The refusal tells whose the session is, or what was said.", "Name the session id only.")
    else:
        expect(holds=False, problem="A session was taken by a different signer.", law="Refuse the write.")
    expect(await store.owner_of("s") == "alice@example.org", "A refused turn changed the owner.", "Write nothing.")
    expect(await opened(store, "s") == "the secret plan", "A refused turn was stored.", "Write nothing.")


async def contested(store: Listing) -> None:
    """Two sign a new session at the same time: index and conversation name one of them, and it is the same one."""
    tries = (store.persist("s", said(name, by=name)) for name in ("alice", "bob"))
    done = await asyncio.gather(*tries, return_exceptions=True)
    if all(isinstance(one, BaseException) for one in done):
        try:
            await store.persist("control", said("control", by="alice"))
        except Exception as failed:
            raise EnvironmentFailedError(
                "Neither of two writes was accepted, and a third on a session of its own was not either.",
                fix="Look at what the store stores in; this says nothing about the store.",
            ) from failed
        expect(holds=False, problem="Neither of two signers could write.", law="Let the first one in.")
    found = await store.hydrate("s")
    law = "Read the owner, decide and write in one atomic step."
    expect(found is not None, "A session that was written is absent.", law)
    owner, inside, text = await store.owner_of("s"), envelope_owner(found), await opened(store, "s")
    expect(owner == inside == text, "The index names one owner, the stored conversation is another's.", law)
    for name, one in zip(("alice", "bob"), done, strict=True):
        lost = isinstance(one, BaseException)
        expect(lost == (name != owner), "A write that was accepted was lost, or both were accepted.", law)
        if isinstance(one, BaseException) and not isinstance(one, SessionOwnershipConflictError):
            words = str(one)
            expect("alice" not in words and "bob" not in words, "The refusal names a signer.", "Name the session id.")


async def missing_and_unowned(store: Listing) -> None:
    """A session that is not there and one that is nobody's look the same."""
    await store.persist("s", said("first"))
    law = "Answer None to both."
    expect(await store.owner_of("s") is None, "A session that is nobody's has an owner.", law)
    expect(await store.owner_of("never-written") is None, "A session that is not there has an owner.", law)
