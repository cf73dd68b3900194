"""How is an agent closed: what its tools keep open, and who still works on what they heard (02 s.22)?

Closing stops no run, and a closed agent can be used again; it then has things open again.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from agentfootprint.agent.plan import AgentPlan
    from agentfootprint.events import DrainResult, Event, EventBus, Subscription
    from agentfootprint.observe import Exporter, ExportOptions
    from agentfootprint.tools import CloseReason, ToolSessions

__all__ = ["Attached", "Closing"]

_log = logging.getLogger(__name__)


class Attached(Protocol):
    """Something attached to an agent that keeps what it hears for a while, such as an exporter."""

    async def flush(self) -> None:
        """Hand on what it has kept."""
        ...

    async def stop(self) -> None:
        """Let go of what it holds; it hears nothing any more."""
        ...


class Closing:
    """What an agent does to be closed; `async with agent:` does it at the end of the block."""

    bus: EventBus
    wire_bus: EventBus
    plan: AgentPlan

    def __init__(self) -> None:
        self.attached: list[Attached] = []
        """What is flushed when the agent is closed, and stopped; in the order of attaching."""
        self._sessions: ToolSessions | None = None
        self._closer: asyncio.Task[None] | None = None

    @abstractmethod
    def on(
        self,
        pattern: str,
        listener: Callable[[Event[Any]], object],
        *,
        once: bool = False,
        form: Literal["native", "wire"] = "native",
    ) -> Subscription:
        """Listen to the events of all runs; see `Agent.on`."""

    def attach(self, observer: Exporter, *, options: ExportOptions | None = None) -> Subscription:
        """Send the events of all runs to an exporter or a view: `FileExporter`, `AuditExporter`, `StatusLine`.

        Args:
            observer: What has a `name` and an `export`. What it raises is counted and changes no run.
            options: Which events it gets, and how.

        Returns:
            Close it, or use it as a context manager, to stop sending. `aclose` flushes and stops what is attached.

        Raises:
            ConfigError: It is no exporter, or the options can't work for it.
        """
        from agentfootprint.observe import Exporter, attach_exporter  # with the first one

        if not isinstance(observer, Exporter):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ConfigError(
                "attach",
                f"A {type(observer).__name__} was attached, which is no exporter.",
                fix="Give something with a name and an export(event), or use on(pattern, listener).",
            )
        subscription = attach_exporter(self.on, observer, options)
        self.attached = [each for each in self.attached if getattr(each, "active", True)]
        self.attached.append(subscription)
        return subscription

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
