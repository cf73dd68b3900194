"""What does one client read of the run that it asked for?

Invariants: it reads at its own pace, from the run's log, and nothing is kept for it (AGU-17, SSE-3); what leaves passes
the checks of the client itself, or the stream ends with an error (AGU-84); leaving early is noticed, and does what the
options say.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from agentfootprint.agent import RunReader
from agentfootprint.agui.errors import AgUiRefusedError, AgUiSequenceError
from agentfootprint.agui.mapping.protocol import core
from agentfootprint.agui.serving.served import Begun, Replayed, ServedRun
from agentfootprint.agui.verifying.verifier import EventVerifier
from agentfootprint.trace import thaw

if TYPE_CHECKING:
    from agentfootprint.agui.options import AgUiOptions

__all__ = ["Reply"]

_log = logging.getLogger("agentfootprint.agui")


class Reply:
    """The events that answer one request; iterate `events()` once."""

    def __init__(self, begin: Callable[[], ServedRun], given: core.RunAgentInput, options: AgUiOptions) -> None:
        self._begin = begin
        self._given = given
        self._options = options
        self._reader: RunReader | None = None
        self._is_let_go = False

    @property
    def lag(self) -> int:
        """How many of the run's rows the client has yet to be told of."""
        return 0 if self._reader is None else self._reader.lag

    def let_go(self) -> None:
        """Its client no longer reads: the run goes on, whatever the options say, and can be asked for again."""
        self._is_let_go = True

    async def events(self) -> AsyncGenerator[core.Event]:
        """RUN_STARTED to the terminal event; leaving early cancels the run, or lets it finish (AGU-17)."""
        served = self._begin()
        try:
            async with aclosing(self._checked(served)) as checked:
                async for event in checked:
                    yield event
        except Exception as error:  # noqa: BLE001  a mistake of ours ends in one terminal event too
            wrong = f"{error.rule} at {error.event_type}" if isinstance(error, AgUiSequenceError) else ""
            _log.error("An AG-UI stream was ended: %s %s", type(error).__name__, wrong)
            yield core.RunErrorEvent(message="The stream could not be continued.", code="internal")
        finally:
            await self._leave(served)

    async def _checked(self, served: ServedRun) -> AsyncGenerator[core.Event]:
        """What is told, once a client would accept it."""
        verifier = EventVerifier()
        async with aclosing(self._told(served)) as told:
            async for event in told:
                verifier.check(event)
                yield event

    async def _told(self, served: ServedRun) -> AsyncGenerator[core.Event]:
        prepared = await asyncio.shield(served.prepared)
        if isinstance(prepared, Begun):
            async with aclosing(self._run(served, prepared)) as events:
                async for event in events:
                    yield event
            return
        yield self._started()
        if isinstance(prepared, Replayed):
            for event in self._again(prepared):
                yield event
        else:
            yield _refused(prepared)

    async def _run(self, served: ServedRun, begun: Begun) -> AsyncGenerator[core.Event]:
        mapper = begun.mapper(self._given, self._options)
        for event in mapper.begin():
            yield event
        handle = await asyncio.shield(served.started)
        if handle is not None:
            self._reader = RunReader(handle)
            async for happened in self._reader:
                for event in mapper.map(happened, text=self._reader.text):
                    yield event
        outcome = await asyncio.shield(served.settled)
        for event in mapper.end(outcome):
            yield event

    def _started(self) -> core.Event:
        given = self._given
        return core.RunStartedEvent(
            thread_id=given.thread_id,
            run_id=given.run_id,
            protocol_version=core.PROTOCOL_VERSION,
            parent_run_id=given.parent_run_id,
        )

    def _again(self, replayed: Replayed) -> list[core.Event]:
        """The thread as it is, and how the run ended (AGU-63)."""
        from pydantic import TypeAdapter  # beside the protocol's models, which are made of it

        terminal: Any = TypeAdapter(core.Event).validate_python(thaw(replayed.terminal))
        if self._options.messages_snapshot == "never":
            return [terminal]
        return [core.MessagesSnapshotEvent(messages=replayed.messages), terminal]

    async def _leave(self, served: ServedRun) -> None:
        if served.settled.done():
            await asyncio.wait([served.task])
        elif self._options.on_disconnect == "cancel" and not self._is_let_go:
            await served.stop()


def _refused(refusal: AgUiRefusedError) -> core.Event:
    return core.RunErrorEvent(message=f"{refusal.problem} {refusal.fix}", code=refusal.reason)
