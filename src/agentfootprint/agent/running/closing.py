"""How is an agent closed: what its tools keep open, and who still works on what they heard (02 s.22)?

Closing stops no run, and a closed agent can be used again; it then has things open again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from agentfootprint.agent.listening import Listened
from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from agentfootprint.agent.plan import AgentPlan
    from agentfootprint.events import DrainResult, Subscription
    from agentfootprint.observe import Exporter, ExportOptions
    from agentfootprint.tools import CloseReason, ToolSessions
    from agentfootprint.trace import JsonObject

__all__ = ["Attached", "Closing", "Hooked"]

_log = logging.getLogger(__name__)


class Attached(Protocol):
    """Something attached to an agent that keeps what it hears for a while, such as an exporter."""

    async def flush(self) -> None:
        """Hand on what it has kept."""
        ...

    async def stop(self) -> None:
        """Let go of what it holds; it hears nothing any more."""
        ...


class Hooked(Protocol):
    """A recorder: it also has some of the methods of a `flow.Recorder`, such as `on_commit`."""

    id: str
    """What it is known by; attaching another with the same id replaces it."""


class Closing(Listened):
    """What an agent does to be closed; `async with agent:` does it at the end of the block."""

    plan: AgentPlan

    def __init__(self) -> None:
        super().__init__()
        self.attached: list[Attached] = []
        """What is flushed when the agent is closed, and stopped; in the order of attaching."""
        self._sessions: ToolSessions | None = None
        self._closer: asyncio.Task[None] | None = None

    def attach_each(self, observers: Iterable[Exporter | Hooked]) -> None:
        """Attach what an agent is made with; the same object twice is one attachment (AGT-3).

        Raises:
            ConfigError: Two recorders have one id, of which one would never be told.
        """
        given: list[Exporter | Hooked] = []
        for observer in observers:
            if any(observer is other for other in given):
                continue
            own: object = getattr(observer, "id", None)
            if own is not None and any(getattr(other, "id", None) == own for other in given):
                raise ConfigError(
                    "observers", f"Two observers have the id {own!r}.", fix="Give each of them an id of its own."
                )
            self.attach(observer)
            given.append(observer)

    def attach(self, observer: Exporter | Hooked, *, options: ExportOptions | None = None) -> Subscription:
        """Have somebody watch all runs: an exporter, a view of events, or a recorder of what the engine does.

        Args:
            observer: What has a `name` and an `export`, such as `FileExporter` or `StatusLine`: it gets the events.
                Or what has an `id` and hooks such as `on_commit`, `on_write` or `on_emit`, as a `flow.Recorder`: it is
                told in the runs that begin afterwards, replaces the one with the same id, and where a redaction policy
                holds it is told of events only. What an observer raises is counted and changes no run.
            options: Which events an exporter gets, and how.

        Returns:
            Close it, or use it as a context manager, to stop telling. `aclose` flushes and stops exporters.

        Raises:
            ConfigError: It is neither, or the options can't work for it.
            AsyncHookError: A hook of a recorder that is told at once is a coroutine function.
        """
        from agentfootprint.observe import Exporter, attach_exporter  # with the first one

        if isinstance(observer, Exporter):
            subscription = attach_exporter(self.on, observer, options)
            self.attached = [each for each in self.attached if getattr(each, "active", True)]
            self.attached.append(subscription)
            return subscription
        from agentfootprint.agent.running.observing import check_recorder, with_recorder
        from agentfootprint.events import Subscription

        check_recorder("attach", observer)
        if options is not None:
            raise ConfigError(
                "attach.options",
                "Options of exporters were given for a recorder.",
                fix="Leave options out; a recorder may have a `delivery` of its own.",
            )
        self.recorders = with_recorder(self.recorders, observer)
        return Subscription.of(lambda: self._forget(observer))

    def _forget(self, recorder: object) -> None:
        self.recorders = tuple(each for each in self.recorders if each is not recorder)

    def emit(self, name: str, payload: JsonObject) -> None:
        """Send an event of the application's own to whoever listens to this agent, outside of any run (EVT-6).

        Inside a tool use the context's `emit`, which tells of the run.

        Args:
            name: A registered type, such as `agentfootprint.eval.score`, or any other.
            payload: Plain data.

        Raises:
            ValueRefusedError: The payload holds what JSON can't; nothing is judged while nobody listens.
        """
        from agentfootprint import events

        buses = [bus for bus in (self.bus, self.wire_bus) if bus.has_listeners(name)]
        if not buses:
            return
        facts = events.consumer_facts(int(time.time() * 1000))
        event = events.app_event(name, payload, events.CONSUMER_STAGE, 0, facts)
        if self.plan.record.redaction is not None:
            from agentfootprint.agent.redacting.serving import covered_alone  # with the first policy

            event = covered_alone(event, self.plan.record.redaction)
        for bus in buses:
            bus.dispatch(event)

    def tool_sessions(self) -> ToolSessions:
        """What the agent's tools keep open beyond a run; made when one does."""
        if self._sessions is None:
            from agentfootprint.tools import ToolSessions

            self._sessions = ToolSessions(self.plan.limits.teardown)
        return self._sessions

    async def close_tool_sessions(self, session_id: str | None = None, *, reason: CloseReason = "session-end") -> int:
        """Clean up what tools keep open for a session (`on_teardown(scope="session")`).

        Args:
            session_id: The session, as `run(session_id=...)` named it; `None`: every one.
            reason: Stands in the events.

        Returns:
            How many things were open.
        """
        if self._sessions is None:
            return 0
        return await self._sessions.close(session_id, reason)

    async def drain_observers(self, *, timeout: float | None = 30.0) -> DrainResult:  # noqa: ASYNC109  a bound, not a cancellation
        """Wait for the work that asynchronous listeners have begun (AGT-156).

        Args:
            timeout: Seconds to wait at most; what still runs then goes on. `None` waits for all of it.

        Returns:
            What became of it since the last drain; zeros when there was none. Never raises for what a listener does.
        """
        from agentfootprint.events import DrainResult

        native, wire = await asyncio.gather(self.bus.drain(timeout=timeout), self.wire_bus.drain(timeout=timeout))
        return DrainResult(
            done=native.done + wire.done, failed=native.failed + wire.failed, pending=native.pending + wire.pending
        )

    async def aclose(self, *, stop: bool = True) -> None:
        """Have everything handed on that was heard, and close what the agent's tools keep open (AGT-155).

        Runs are not stopped: wait for them, or cancel the handles in `inflight`. Calls at the same time share one
        closing. The agent can be used again.

        Args:
            stop: Whether what is attached is stopped as well, and not only flushed.
        """
        if self._closer is None:
            self._closer = asyncio.create_task(self._close())
            self._closer.add_done_callback(self._closed)
        await asyncio.shield(self._closer)
        if stop:
            stopped, self.attached = self.attached, []
            await self._each("stop", [each.stop() for each in stopped])

    def _closed(self, _task: asyncio.Task[None]) -> None:
        self._closer = None

    async def _close(self) -> None:
        if self._sessions is not None:
            await self._sessions.close_all()
        await self.drain_observers()
        await self._each("flush", [each.flush() for each in self.attached])

    async def _each(self, what: str, doing: Sequence[Awaitable[None]]) -> None:
        """Do it with each; one that raises holds up no other, and is told of in the log."""
        for outcome in await asyncio.gather(*doing, return_exceptions=True):
            if isinstance(outcome, BaseException):
                _log.warning("The agent %r could not %s an observer: %s.", self.plan.id, what, type(outcome).__name__)

    async def __aenter__(self) -> Self:
        """Use the agent in the block, and close it at its end."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Close it."""
        await self.aclose()
