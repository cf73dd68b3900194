"""Session stores that are broken, each in exactly one way, for tests of the conformance suite."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from agentfootprint.hosting import (
    Envelope,
    ExpiryPolicy,
    Forgotten,
    InMemorySessions,
    SessionPage,
    StaleVersionError,
    Sweep,
    envelope_owner,
)


class Wrapped:
    """A store on a good one, for subclasses that do one thing wrong."""

    def __init__(self) -> None:
        self.good = InMemorySessions()

    async def hydrate(self, session_id: str) -> Envelope | None:
        return await self.good.hydrate(session_id)

    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        return await self.good.persist(session_id, envelope, expect=expect)

    async def owner_of(self, session_id: str) -> str | None:
        return await self.good.owner_of(session_id)

    async def list_by_user(self, user: str, *, cursor: str | None = None, limit: int = 50) -> SessionPage:
        return await self.good.list_by_user(user, cursor=cursor, limit=limit)

    async def forget(self, session_id: str) -> None:
        await self.good.forget(session_id)

    def retention(self) -> Any:
        return self.good.retention()


class InventsSessions(Wrapped):
    async def hydrate(self, session_id: str) -> Envelope | None:
        fresh: dict[str, Any] = {"version": 1, "runId": "", "history": []}
        found = await self.good.hydrate(session_id)
        return found or Envelope(format="conversation-v1", data=fresh, saved_at=0)


class DropsUnknownKeys(Wrapped):
    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        data = {key: value for key, value in envelope.to_wire()["data"].items() if key != "originalInput"}
        changed = Envelope(format=envelope.format, data=data, saved_at=envelope.saved_at)
        return await self.good.persist(session_id, changed, expect=expect)


class KeepsTheFirst(Wrapped):
    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        if await self.good.hydrate(session_id) is not None:
            return 99
        return await self.good.persist(session_id, envelope, expect=expect)


class TakesUnreadableForAbsent(Wrapped):
    def __init__(self) -> None:
        super().__init__()
        self.broken: set[str] = set()

    async def hydrate(self, session_id: str) -> Envelope | None:
        return None if session_id in self.broken else await self.good.hydrate(session_id)


class RefusesUnreadable(TakesUnreadableForAbsent):
    async def hydrate(self, session_id: str) -> Envelope | None:
        if session_id in self.broken:
            raise ValueError("unreadable")
        return await self.good.hydrate(session_id)


def break_it(store: TakesUnreadableForAbsent, session_id: str) -> None:
    store.broken.add(session_id)


class ForgetsNothing(Wrapped):
    async def forget(self, session_id: str) -> None:
        pass


class ForgetsOnce(Wrapped):
    async def forget(self, session_id: str) -> None:
        if await self.good.hydrate(session_id) is None:
            raise KeyError(session_id)
        await self.good.forget(session_id)


class BelievesWhatIsPlanted(Wrapped):
    def __init__(self) -> None:
        super().__init__()
        self.planted: dict[str, str] = {}

    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        planted = envelope.to_wire()["data"].get("owner")
        if planted is not None:
            self.planted[session_id] = planted
        return await self.good.persist(session_id, envelope, expect=expect)

    async def owner_of(self, session_id: str) -> str | None:
        return self.planted.get(session_id) or await self.good.owner_of(session_id)


class NeverFillsIn(Wrapped):
    def __init__(self) -> None:
        super().__init__()
        self.first: dict[str, str | None] = {}

    async def owner_of(self, session_id: str) -> str | None:
        return self.first.get(session_id)

    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        version = await self.good.persist(session_id, envelope, expect=expect)
        self.first.setdefault(session_id, await self.good.owner_of(session_id))
        return version


class LosesTheOwner(Wrapped):
    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        await self.good.forget(session_id)
        return await self.good.persist(session_id, envelope)


class RefusesInWordsThatTell(Wrapped):
    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        try:
            return await self.good.persist(session_id, envelope, expect=expect)
        except PermissionError:
            raise PermissionError(f"it belongs to {await self.good.owner_of(session_id)}") from None


class SplitsItsBrain(Wrapped):
    """The index is written in one step, the conversation in another."""

    def __init__(self) -> None:
        super().__init__()
        self.index: dict[str, str | None] = {}

    async def owner_of(self, session_id: str) -> str | None:
        return self.index.get(session_id)

    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        self.index[session_id] = envelope_owner(envelope)
        await asyncio.sleep(0)
        return await self.good.persist(session_id, envelope, expect=expect)


class LetsNobodyIn(Wrapped):
    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        if session_id != "control":
            raise TimeoutError
        return await self.good.persist(session_id, envelope, expect=expect)


class IsBrokenAltogether(Wrapped):
    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        raise TimeoutError


class OwnsWhatIsNobodys(Wrapped):
    async def owner_of(self, session_id: str) -> str | None:
        found = await self.good.hydrate(session_id)
        return await self.good.owner_of(session_id) or ("nobody" if found else None)


class LosesARowBetweenPages(Wrapped):
    async def list_by_user(self, user: str, *, cursor: str | None = None, limit: int = 50) -> SessionPage:
        page = await self.good.list_by_user(user, cursor=cursor, limit=limit)
        return page if page.cursor is None else SessionPage(sessions=page.sessions, cursor=str(int(page.cursor) + 1))


class GivesACursorTooMuch(Wrapped):
    async def list_by_user(self, user: str, *, cursor: str | None = None, limit: int = 50) -> SessionPage:
        page = await self.good.list_by_user(user, cursor=cursor, limit=limit)
        return SessionPage(sessions=page.sessions, cursor=page.cursor or "end")


class ListsTheOldestFirst(Wrapped):
    async def list_by_user(self, user: str, *, cursor: str | None = None, limit: int = 50) -> SessionPage:
        page = await self.good.list_by_user(user, limit=1000)
        return SessionPage(sessions=page.sessions[::-1])


class MapsIds(Wrapped):
    """Session ids are changed on their way in."""

    def __init__(self, mapping: Callable[[str], str]) -> None:
        super().__init__()
        self.mapping = mapping

    async def hydrate(self, session_id: str) -> Envelope | None:
        return await self.good.hydrate(self.mapping(session_id))

    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        return await self.good.persist(self.mapping(session_id), envelope, expect=expect)


class RefusesAwkwardIds(Wrapped):
    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        if not session_id.isalnum():
            raise ValueError("not this one")
        return await self.good.persist(session_id, envelope, expect=expect)


class SweepsTheBoundary(Wrapped):
    def retention(self) -> Sweep:
        good = self.good.retention()

        async def sweep(before: int, limit: int = 1000) -> Forgotten:
            return await good.forget_older_than(before + 1, limit)

        return Sweep(forget_older_than=sweep)


class NeverSaysThereIsMore(Wrapped):
    def retention(self) -> Sweep:
        good = self.good.retention()

        async def sweep(before: int, limit: int = 1000) -> Forgotten:
            return Forgotten((await good.forget_older_than(before, limit)).forgotten, more=False)

        return Sweep(forget_older_than=sweep)


class ExpiresByItself(Wrapped):
    def retention(self) -> ExpiryPolicy:
        return ExpiryPolicy(active=True, expires_on="expiresAt", enable_with="a TTL policy")


class ListsWithoutOwners:
    async def hydrate(self, session_id: str) -> Envelope | None:
        return None

    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        return 1

    async def list_by_user(self, user: str, *, cursor: str | None = None, limit: int = 50) -> SessionPage:
        return SessionPage(sessions=())


class MustBeAwaitedToSayWhoDeletes(Wrapped):
    async def retention(self) -> Any:
        return self.good.retention()


class IgnoresVersions(Wrapped):
    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        return await self.good.persist(session_id, envelope)


class ChecksVersionsInTwoSteps(Wrapped):
    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        found = await self.good.hydrate(session_id)
        if expect is not None and expect != (found.version if found else 0):
            raise StaleVersionError(session_id)
        await asyncio.sleep(0)
        return await self.good.persist(session_id, envelope)


class CutsWhatIsLong(Wrapped):
    async def hydrate(self, session_id: str) -> Envelope | None:
        found = await self.good.hydrate(session_id)
        if found is None or len(str(found.to_wire())) < 100_000:
            return found
        wire = found.to_wire()
        wire["data"]["history"][0]["content"] = wire["data"]["history"][0]["content"][:65536]
        return Envelope(format=found.format, data=wire["data"], saved_at=found.saved_at)


class HasOneSlot(Wrapped):
    """What is being written is kept in one place for all."""

    async def persist(self, session_id: str, envelope: Envelope, *, expect: int | None = None) -> int:
        self.writing = envelope
        await asyncio.sleep(0)
        return await self.good.persist(session_id, self.writing, expect=expect)
