"""Where does a thread stand in a session store, and who may run on it now?

Invariants: the key holds tenant, principal and thread, so that a thread of somebody else is not there at all (AGU-62);
every write names the version that was read, so that of two requests one wins (AGU-78); a claim ends by itself, so that
a process that died blocks nobody for long.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from agentfootprint.agent import Checkpoint, PauseCheckpoint
from agentfootprint.agui.errors import AgUiRefusedError
from agentfootprint.agui.threads.facts import FACTS_KEY, Claim, ThreadFacts
from agentfootprint.agui.threads.showing import shown_history
from agentfootprint.hosting import (
    CONVERSATION,
    FLOWCHART,
    Envelope,
    StaleVersionError,
    owner_key,
    read_conversation,
    read_paused,
    stored_owner,
)
from agentfootprint.identity import Identity, identity_namespace
from agentfootprint.trace import freeze

if TYPE_CHECKING:
    from agentfootprint.agent import Paused
    from agentfootprint.hosting import SessionStore
    from agentfootprint.trace import JsonObject

__all__ = ["CLAIM_SECONDS", "StoredThread", "busy", "is_open_to", "open_thread", "thread_identity", "thread_key"]

CLAIM_SECONDS: Final = 120.0
"""How long a claim holds; a run that goes on renews it at half of that."""
SKEW_SECONDS: Final = 600.0
"""How far the clocks of processes may be apart; a claim that holds for longer was made before a clock was set back."""


def thread_identity(thread_id: str, identity: Identity | None) -> Identity:
    """Whose thread it is: the caller's tenant and principal with the thread as the conversation."""
    if identity is None:
        return Identity(conversation_id=thread_id)
    return Identity(conversation_id=thread_id, principal=identity.principal, tenant=identity.tenant)


def thread_key(owner: Identity) -> str:
    """The session id behind a thread (AGU-62)."""
    return identity_namespace(owner)


def now_ms() -> int:
    """The clock of claims: ms since 1970."""
    return int(time.time() * 1000)


def busy() -> AgUiRefusedError:
    """The refusal of a second run."""
    return AgUiRefusedError(
        "thread_busy",
        "Another run goes on in this thread.",
        fix="Wait until it has ended, then send the request again.",
    )


class StoredThread:
    """A thread as it was read, and what becomes of it; one request owns it.

    `open_thread` reads one.
    """

    def __init__(self, store: SessionStore, key: str, owner: Identity, envelope: Envelope | None) -> None:
        self._store = store
        self._key = key
        self.owner = owner
        """Whose it is."""
        self._version = 0 if envelope is None else (envelope.version or 0)
        self._format = CONVERSATION
        self._data: dict[str, Any] = {}
        self.conversation: Checkpoint | None = None
        """What was said so far; `None` before the first turn."""
        self.pending: PauseCheckpoint | None = None
        """What waits for an answer."""
        self.facts = ThreadFacts()
        if envelope is not None:
            self._read(envelope)

    def _read(self, envelope: Envelope) -> None:
        self._format = envelope.format
        data = dict(envelope.data)
        kept = data.pop(FACTS_KEY, None)
        self._data = data
        if envelope.format == FLOWCHART:
            paused = read_paused(envelope)
            conversation = paused.conversation
            self.pending = PauseCheckpoint.from_wire(paused.checkpoint)
        else:
            conversation = read_conversation(envelope)
        self.conversation = conversation if len(conversation.window) else None
        if kept is not None:
            self.facts = ThreadFacts.from_wire(kept)
        elif self.conversation is not None:  # begun at another door: what was said there is shown here (AGU-60)
            self.facts = ThreadFacts(messages=shown_history(self.conversation))

    @property
    def is_claimed(self) -> bool:
        """Whether a run that has not ended has the thread."""
        claim = self.facts.claim
        return claim is not None and 0 < claim.until - now_ms() <= int((CLAIM_SECONDS + SKEW_SECONDS) * 1000)

    async def claim(self, run_id: str) -> None:
        """Take the thread for a run; nothing else of it changes.

        Raises:
            AgUiRefusedError: Another run has it, or was quicker.
        """
        if self.is_claimed:
            raise busy()
        await self._claimed(Claim(run_id=run_id, token=uuid.uuid4().hex, until=self._until()))

    async def renew(self) -> None:
        """Keep the thread for longer.

        Raises:
            AgUiRefusedError: It was taken by another run, because this one was too late.
        """
        claim = self.facts.claim
        if claim is not None:
            await self._claimed(Claim(run_id=claim.run_id, token=claim.token, until=self._until()))

    async def release(self, facts: ThreadFacts | None = None) -> None:
        """Give the thread up as it was; with facts, those."""
        known = self.facts if facts is None else facts
        await self._persist(replace(known, claim=None), self._format, self._data)

    async def settle(self, conversation: Checkpoint | None, paused: Paused | None, facts: ThreadFacts) -> None:
        """Keep what a turn has come to, and the question that it waits with; its claim ends.

        Nothing of it stays here when the store does not take it, so that the thread can still be given up as it was.
        """
        if conversation is None:
            await self.release(facts)
        elif paused is None:
            await self._persist(facts, CONVERSATION, conversation.to_wire())
        else:
            data = {
                "checkpoint": paused.checkpoint.to_wire(),
                "conversation": conversation.to_wire(),
                "pending": pending_ask(paused),
            }
            await self._persist(facts, FLOWCHART, data)

    async def _claimed(self, claim: Claim) -> None:
        data = self._data or _empty(self.owner)  # a thread without a turn: an empty conversation of its owner
        await self._persist(replace(self.facts, claim=claim), self._format, data)

    async def _persist(self, facts: ThreadFacts, form: str, data: dict[str, Any]) -> None:
        envelope = Envelope(format=form, data={**data, FACTS_KEY: facts.to_wire()}, saved_at=now_ms())
        try:
            version = await self._store.persist(self._key, envelope, expect=self._version)
        except StaleVersionError:
            version = None
        if version is None:  # outside of the handler: the store's words name the key, which holds whose thread it is
            version = await self._landed(envelope)
        self._version, self._format, self._data, self.facts = version, form, data, facts

    async def _landed(self, envelope: Envelope) -> int:
        """The version of what was written although the store could not say so; without such a write, the refusal.

        A claim is this run's by its token, and only while nothing beside it is otherwise.
        """
        kept = await self._store.hydrate(self._key)
        if kept is not None and kept.data == envelope.data:
            return kept.version or 0
        if kept is None or not self._is_mine(kept):
            raise busy()
        try:
            return await self._store.persist(self._key, envelope, expect=kept.version or 0)
        except StaleVersionError:
            raise busy() from None

    def _is_mine(self, kept: Envelope) -> bool:
        """Whether what is stored is this thread as it is here, but for when its claim ends."""
        wire, mine = kept.data.get(FACTS_KEY), self.facts.claim
        claim = None if wire is None or mine is None else ThreadFacts.from_wire(wire).claim
        if claim is None or mine is None or claim.token != mine.token:
            return False
        here = {**self._data, FACTS_KEY: replace(self.facts, claim=claim).to_wire()}
        return kept.format == self._format and kept.data == freeze(here)

    @staticmethod
    def _until() -> int:
        return now_ms() + int(CLAIM_SECONDS * 1000)


async def open_thread(store: SessionStore, key: str, owner: Identity) -> StoredThread:
    """Read a thread; one that nobody began, or that is another's, is empty.

    Args:
        store: Where threads are kept.
        key: The session id behind it.
        owner: Whose it is.

    Raises:
        AgUiThreadError: What is stored is not what was kept.
        AgentFootprintError: The store could not read it.
    """
    return StoredThread(store, key, owner, await store.hydrate(key))


async def is_open_to(store: SessionStore, key: str, envelope: Envelope | None, caller: Identity) -> bool:
    """Whether a session is the caller's to go on with: theirs, or nobody's for one who is nobody (OWN-5).

    One that names nobody, stands under the caller's own key and was kept by this room is the caller's too: not every
    agent keeps an identity, and not every store an index.
    """
    if envelope is None:
        return True
    mine = owner_key(caller.principal, tenant=caller.tenant) if caller.principal else None
    found = await stored_owner(store, key, envelope)
    return found == mine or (found is None and key == thread_key(caller) and FACTS_KEY in envelope.data)


def pending_ask(paused: Paused) -> JsonObject:
    """The question as other doors show it (HST-22): never with the checkpoint."""
    data = paused.data
    shown: dict[str, Any] = {"tool": paused.tool_name, "question": paused.question, "pauseData": data}
    for key in ("checkIn", "ask", "component"):
        if key in data:
            shown[key] = data[key]
    return {key: value for key, value in shown.items() if value not in ("", None)}


def _empty(owner: Identity) -> dict[str, Any]:
    who = {"conversationId": owner.conversation_id, "principal": owner.principal, "tenant": owner.tenant}
    return {
        "version": 1,
        "runId": "",
        "history": [],
        "lastCompletedIteration": 0,
        "originalInput": {"message": ""},
        "checkpointedAt": now_ms(),
        "identity": {key: value for key, value in who.items() if value is not None},
    }
