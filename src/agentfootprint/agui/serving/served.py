"""What happens between a request and the end of its run: a claim on the thread, the agent's run, what is kept of it.

Invariants: it goes on in a task of its own, so that a client that does not read, or has gone, changes nothing of it;
what the client is told at the end is told once it is kept (09 s.17); whatever happens, the claim on the thread ends.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint.agent import Paused, RunReader, RunResult
from agentfootprint.agui.errors import AgUiRefusedError
from agentfootprint.agui.interrupts.answering import read_answers
from agentfootprint.agui.mapping.mapper import Mapper
from agentfootprint.agui.mapping.outcomes import Cancelled, Failed, Outcome, Succeeded
from agentfootprint.agui.mapping.protocol import core
from agentfootprint.agui.serving.endings import failed, for_peer, interrupted, outcome_of, refusal_of
from agentfootprint.agui.serving.requests import check_ids, facts_of, invalid, message_of
from agentfootprint.agui.serving.starting import Start
from agentfootprint.agui.threads.facts import ThreadFacts
from agentfootprint.agui.threads.showing import message_models, message_wires, shown_history, unsettled
from agentfootprint.agui.threads.stored import (
    CLAIM_SECONDS,
    StoredThread,
    busy,
    is_open_to,
    thread_identity,
    thread_key,
)
from agentfootprint.agui.threads.waiting import Waiting, asked_as
from agentfootprint.errors import AgentFootprintError
from agentfootprint.hosting import wake_session
from agentfootprint.identity import Identity

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from agentfootprint.agent import Checkpoint, RunHandle, RunOptions
    from agentfootprint.agui.options import AgUiOptions
    from agentfootprint.hosting import Envelope, SessionStore
    from agentfootprint.trace import JsonObject

__all__ = ["Begun", "Replayed", "ServedRun", "Site"]

_log = logging.getLogger("agentfootprint.agui")
_ANONYMOUS: Final = "anonymous"
"""Who decides, where nobody is proven."""
_RELEASE_SECONDS: Final = 10.0
"""How long a store may take to give a thread back before the claim is left to run out."""
_DOORS: Final = 3
"""How many names are tried for a thread whose sessions turn out to be of others."""
_AT_ONCE: Final = 512
"""Events that are mapped before others get their turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What all requests have in common."""

    agent: Any
    options: AgUiOptions
    store: SessionStore
    waiting: Waiting = field(default_factory=Waiting)
    on_input: Callable[[core.RunAgentInput], RunOptions | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The thread is claimed: what a mapper of the run is made with."""

    history: list[core.Message]
    facts: ThreadFacts

    def mapper(self, given: core.RunAgentInput, options: AgUiOptions) -> Mapper:
        """A mapper of the run; any number of them say the same."""
        facts = self.facts
        return Mapper(
            given.thread_id,
            given.run_id,
            options,
            parent_run_id=given.parent_run_id,
            open_calls=facts.open_calls,
            message_ids=facts.message_ids,
            history=list(self.history),
            client_state=given.state,
            client_input=given,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The run was before: what its client is told again (AGU-63)."""

    messages: list[core.Message]
    terminal: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class _Came:
    """What a run has come to."""

    outcome: Outcome
    conversation: Checkpoint | None = None
    paused: Paused | None = None


class ServedRun:
    """One request's run. `prepared` and `settled` are waited for by whoever reads; both come, whatever happens."""

    def __init__(
        self,
        site: Site,
        given: core.RunAgentInput,
        identity: Identity | None,
        session_id: str | None,
        *,
        is_refused: bool = False,
    ) -> None:
        self._site = site
        self._is_refused = is_refused
        self._given = given
        self._identity = identity
        self._key = session_id or ""
        loop = asyncio.get_running_loop()
        self.prepared: asyncio.Future[Begun | Replayed | AgUiRefusedError] = loop.create_future()
        self.started: asyncio.Future[RunHandle[Any] | None] = loop.create_future()
        """The run, once it has begun; `None` when none does."""
        self.settled: asyncio.Future[Outcome] = loop.create_future()
        self._is_stopping = False
        self._is_lost = False
        self.task = asyncio.create_task(self._serve())

    async def stop(self) -> None:
        """Cancel the run and wait until what is left of it is kept (DEC-14)."""
        self._is_stopping = True
        if self.started.done():
            handle = self.started.result()
            if handle is not None:
                await handle.cancel("its client has gone")
        await asyncio.wait([self.task])

    async def _serve(self) -> None:
        try:
            await self._through()
        except BaseException as error:
            self._refused(error)
            if not isinstance(error, Exception):
                raise

    def _refused(self, error: BaseException) -> None:
        """No run begins, or what it came to could not be kept; everybody who waits learns it."""
        refusal = refusal_of(error if isinstance(error, Exception) else RuntimeError())
        has_run = self.started.done() and self.started.result() is not None
        if has_run and refusal.reason == "internal":
            refusal = AgUiRefusedError(
                "internal", "What the run has come to could not be kept.", fix="Look at the thread before you go on."
            )
        if refusal.reason == "internal":
            _log.error("An AG-UI request failed: %s.", _named(error))
        if not self.prepared.done():
            self.prepared.set_result(refusal)
        if not self.started.done():
            self.started.set_result(None)
        if not self.settled.done():
            self.settled.set_result(Failed(code=refusal.reason, message=f"{refusal.problem} {refusal.fix}"))

    async def _through(self) -> None:
        given = self._given
        if self._is_refused:
            raise AgUiRefusedError("internal", "The server is ending.", fix="Send the request again in a moment.")
        check_ids(given)
        facts = facts_of(given)
        owner = thread_identity(given.thread_id, self._identity)
        thread = await self._open(owner)
        past = thread.facts.run(given.run_id)
        if past is not None:
            if past.terminal is None:
                raise invalid("The runId was used in this thread before.", fix="Give every run an id of its own.")
            self.prepared.set_result(Replayed(messages=message_models(thread.facts.messages), terminal=past.terminal))
            return
        if thread.is_claimed:  # also where the run that has it answers the question that still stands in the store
            raise busy()
        start, history = self._start(thread, facts)
        await thread.claim(given.run_id)
        try:
            await self._site.waiting.claimed(self._key, start.paused)
            came = None if self._is_stopping else await self._run(thread, start, history)
            if came is not None:
                await self._keep(thread, came)
                return
        except BaseException:
            await self._release(thread)
            raise
        await self._release(thread)
        self._refused(AgUiRefusedError("thread_busy", "The request was given up.", fix="Send it again."))

    async def _open(self, owner: Identity) -> StoredThread:
        """The thread; where its session is somebody else's, a new one of the caller's own (AGU-62, DEC-60).

        Another door of the store may have been given the very key of a thread as a session's name, so it is looked at
        whose a session is although the key says it.
        """
        self._key = self._key or thread_key(owner)
        for _ in range(_DOORS):
            envelope = await self._read()
            if await is_open_to(self._site.store, self._key, envelope, owner):
                return StoredThread(self._site.store, self._key, owner, envelope)
            apart = Identity(conversation_id=self._key, principal=owner.principal, tenant=owner.tenant)
            self._key = thread_key(apart)
        raise AgUiRefusedError("internal", "The thread can't be opened.", fix="Begin a new thread.")

    async def _read(self) -> Envelope | None:
        store = self._site.store
        await wake_session(store, self._key, "resume" if self._given.resume else "invoke")
        return await store.hydrate(self._key)

    def _start(self, thread: StoredThread, facts: list[Any]) -> tuple[Start, list[core.Message]]:
        """What the run begins with, and what the client shows before it."""
        given, site = self._given, self._site
        shown = message_models(thread.facts.messages)
        options = None if site.on_input is None else site.on_input(given)
        begin: dict[str, Any] = {
            "owner": thread.owner,
            "session_id": self._key,
            "facts": facts,
            "options": options,
            "conversation": thread.conversation,
        }
        if thread.pending is None:
            if given.resume:
                raise AgUiRefusedError(
                    "interrupt_unknown", "Nothing in this thread waits for an answer.", fix="Send a message instead."
                )
            said = message_of(given, {each.id for each in shown})
            shown.append(core.UserMessage(id=said.id, role="user", content=said.text))
            return Start(message=said.text, **begin), shown
        if not given.resume:
            raise AgUiRefusedError(
                "interrupt_pending",
                "This thread waits for an answer.",
                fix="Answer the interrupts of its last run with resume.",
            )
        paused = site.waiting.take(self._key, thread.pending)
        by = thread.owner.principal or _ANONYMOUS
        answer = read_answers(given.resume, thread.facts.interrupts, paused, by=by)
        return Start(paused=paused, answer=answer, **begin), shown

    async def _run(self, thread: StoredThread, start: Start, history: list[core.Message]) -> _Came:
        """Run the agent to the end of this leg."""
        stream = start.stream(self._site.agent)
        if isinstance(stream, RunResult):  # an answer with some of the values; what was asked for says all (NEW-6)
            raise AgUiRefusedError(
                "interrupt_invalid", "A value that was asked for is missing.", fix="Answer with all of them."
            )
        self.prepared.set_result(Begun(history=history, facts=thread.facts))
        async with stream as handle:
            self._site.waiting.answered(self._key)
            if self._is_stopping:
                await handle.cancel("its client has gone")
            self.started.set_result(handle)
            async with self._claim_renewed(thread, handle):
                return await self._ended(handle)

    async def _ended(self, handle: RunHandle[Any]) -> _Came:
        try:
            return self._came(await handle.result())
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return _Came(outcome=Cancelled(), conversation=handle.checkpoint)
        except Exception as error:  # noqa: BLE001  whatever a run raises is how it ended
            if getattr(error, "code", "") == "ERR_MESSAGE_DENIED" and getattr(error, "phase", "") == "input":
                return _Came(outcome=failed(error))  # what was refused is no part of the conversation (NEW-107)
            left: Checkpoint | None = getattr(error, "checkpoint", None)
            asks: Paused | None = getattr(error, "paused", None)
            if asks is not None and left is not None:  # stopped just when it had asked: the question stands
                return _Came(outcome=interrupted(asks), conversation=left, paused=asks)
            return _Came(outcome=failed(error), conversation=left or handle.checkpoint)

    def _came(self, result: RunResult[Any]) -> _Came:
        return _Came(
            outcome=outcome_of(result, self._site.options), conversation=result.checkpoint, paused=result.paused
        )

    async def _keep(self, thread: StoredThread, came: _Came) -> None:
        """Store what the turn has come to, then let its client learn it."""
        if self._is_lost:
            raise AgUiRefusedError(
                "thread_busy", "Another run has taken this thread meanwhile.", fix="Send the message again."
            )
        outcome = for_peer(came.outcome, self._given.protocol_version)
        begun = cast("Begun", self.prepared.result())
        try:
            mapper, terminal = await self._mapped(begun, outcome)
        except Exception:
            await self._keep_plain(
                thread, came
            )  # what tools did is done: the question that led there is not open again
            raise
        kept: dict[str, Any] = {"interrupts": (), "open_calls": (), "message_ids": {}}
        if came.conversation is not None or came.paused is not None or isinstance(outcome, Succeeded):
            is_over = came.paused is None and not isinstance(outcome, Succeeded)
            left = unsettled(mapper.open_calls, self._given.run_id) if is_over else []
            kept["messages"] = message_wires([*mapper.messages, *left])
        if came.paused is not None:
            kept |= asked_as(mapper)
        await self._kept(thread, came, thread.facts.after(self._given.run_id, terminal, **kept))
        self.settled.set_result(outcome)
        if came.paused is not None:
            await self._site.waiting.keep(self._key, came.paused)

    async def _kept(self, thread: StoredThread, came: _Came, facts: ThreadFacts) -> None:
        """Store it; a store that refuses once is asked again, since what tools did is done."""
        try:
            await thread.settle(came.conversation, came.paused, facts)
        except AgUiRefusedError:
            raise
        except Exception as error:  # noqa: BLE001  a store may raise anything
            _log.warning("What an AG-UI run came to is stored a second time: %s.", _named(error))
            await thread.settle(came.conversation, came.paused, facts)

    async def _keep_plain(self, thread: StoredThread, came: _Came) -> None:
        """Keep the conversation of a turn that could not be shown; it is then shown as one of another door is."""
        if came.conversation is None or came.paused is not None:
            return
        shown = shown_history(came.conversation)
        facts = thread.facts.after(
            self._given.run_id, None, messages=shown, interrupts=(), open_calls=(), message_ids={}
        )
        await self._kept(thread, came, facts)

    async def _mapped(self, begun: Begun, outcome: Outcome) -> tuple[Mapper, JsonObject]:
        """The whole run mapped once more, at one go: what is kept does not depend on what a client has read."""
        mapper = begun.mapper(self._given, self._site.options)
        mapper.begin()
        handle = self.started.result() if self.started.done() else None
        if handle is not None:
            count, reader = 0, RunReader(handle)
            async for event in reader:
                mapper.map(event, text=reader.text)
                count += 1
                if not count % _AT_ONCE:
                    await asyncio.sleep(0)
        last = mapper.end(outcome)[-1]
        return mapper, last.model_dump(mode="json", by_alias=True)

    async def _release(self, thread: StoredThread) -> None:
        """Give the thread back as it was; a store that can't be asked now lets the claim run out."""
        with suppress(Exception):
            if thread.facts.claim is not None:
                async with asyncio.timeout(_RELEASE_SECONDS):
                    await asyncio.shield(thread.release())

    @asynccontextmanager
    async def _claim_renewed(self, thread: StoredThread, handle: RunHandle[Any]) -> AsyncGenerator[None]:
        """Keep the thread while the run goes on; one that was taken away stops the run (AGU-78)."""
        over = asyncio.Event()

        async def renew() -> None:
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(over.wait(), CLAIM_SECONDS / 2)
                if over.is_set():
                    return
                try:
                    await thread.renew()
                except AgUiRefusedError:
                    self._is_lost = True
                    await handle.cancel("another run took its thread")
                    return
                except Exception as error:  # noqa: BLE001  a store that is away for a moment; the claim still holds
                    _log.warning("The claim of an AG-UI run was not renewed: %s.", _named(error))

        renewing = asyncio.create_task(renew())
        try:
            yield
        finally:
            over.set()  # and not cancelled: a write under way is waited for, so that its version is known
            await asyncio.wait([renewing])


def _named(error: BaseException) -> str:
    """What an error is, without its words: they may name a session, which says whose it is."""
    return error.code if isinstance(error, AgentFootprintError) else type(error).__name__
