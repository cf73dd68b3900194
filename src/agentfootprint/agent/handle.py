"""A run while it happens: its events as a stream, its text, its end.

A stream is a cursor over the run's log (DEC-27): a slow reader never holds the run back and loses nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn

from typing_extensions import TypeVar

from agentfootprint.agent.errors import RunCancelledError
from agentfootprint.errors import ConfigError
from agentfootprint.events import Event, Token
from agentfootprint.recording import EventCursor

if TYPE_CHECKING:
    from agentfootprint.agent.keeping.checkpoint import Checkpoint
    from agentfootprint.agent.loop import AgentRun
    from agentfootprint.agent.pausing.paused import Paused
    from agentfootprint.agent.result import RunResult
    from agentfootprint.recording import Recording
    from agentfootprint.trace import JsonObject

__all__ = ["RunHandle", "RunStream"]

Out = TypeVar("Out", default=str)


class RunHandle(Generic[Out]):
    """A run that was started; iterate it for its events, await `result()` for its outcome."""

    def __init__(self, run: AgentRun, form: Literal["native", "wire"], done: Callable[[RunHandle[Any]], None]) -> None:
        self._run = run
        self._form: Literal["native", "wire"] = form
        self._reason: str | None = None
        self._was_cancelled = False
        self._task: asyncio.Task[RunResult[Any]] = asyncio.create_task(run.execute(), name=run.facts.run_id)
        self._task.add_done_callback(lambda _: self._ended(done))

    def _ended(self, done: Callable[[RunHandle[Any]], None]) -> None:
        if not self._run.has_begun:
            self._run.abandon()
        self._run.scope.wake()
        done(self)

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._run.facts.run_id

    @property
    def snapshot(self) -> JsonObject:
        """The state, tree and log as they are now, also while the run goes on."""
        return self._run.recording.snapshot

    @property
    def recording(self) -> Recording:
        """What the run has recorded so far; of one that failed there is no result that holds it."""
        return self._run.recording

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The conversation as the run left it, or has left it so far; `None` before it has begun."""
        return self._run.checkpoint

    @property
    def paused(self) -> Paused | None:
        """What the run waits for, once that is on record; it stands also when the run was cancelled just then."""
        return self._run.paused

    @property
    def is_over(self) -> bool:
        """Whether the run has ended, however it did."""
        return self._task.done()

    async def changed(self) -> None:
        """Wait until something more was recorded, or the run has ended."""
        if not self._task.done():
            await self._run.scope.changed()

    async def __aiter__(self) -> AsyncIterator[Event[Any]]:
        cursor = EventCursor(self._run.recording, self._form)
        while True:
            finished = self._task.done()
            for event in cursor.take():
                yield event
            if finished:
                return
            if cursor.is_behind():
                continue
            await self._run.scope.changed()

    async def text(self) -> AsyncIterator[str]:
        """Only the text of the answer's tokens, as they come."""
        scope = self._run.scope
        if scope.cover is not None:  # the events are what is served, and this is what is handed back
            from agentfootprint.agent.redacting.serving import spoken

            async for text in spoken(scope, self._task.done):
                yield text
            return
        async for event in self:
            if isinstance(event.payload, Token):
                yield event.payload.content

    async def result(self) -> RunResult[Out]:
        """Wait for the end.

        Returns:
            The run's result.

        Raises:
            RunCancelledError: The run was cancelled through this handle.
        """
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            if self._was_cancelled and self._task.cancelled():
                cancelled = RunCancelledError(self.run_id, self._reason)
                cancelled.checkpoint = self._run.checkpoint
                cancelled.paused = self._run.paused
                raise cancelled from None
            raise

    async def cancel(self, reason: str | None = None) -> None:
        """Stop the run and wait until its cleanup is done; nothing happens when it has ended.

        Args:
            reason: Stands in the error that `result` raises.
        """
        if self._task.done():
            return
        self._reason = reason
        self._was_cancelled = True
        self._task.cancel()
        await asyncio.wait([self._task])


class RunStream(Generic[Out]):
    """What `Agent.stream` gives: enter it with `async with`, and iterate what you get."""

    def __init__(self, start: Callable[[], RunHandle[Out]]) -> None:
        self._start = start
        self._handle: RunHandle[Out] | None = None

    async def __aenter__(self) -> RunHandle[Out]:
        if self._handle is not None:
            raise ConfigError(
                "stream",
                "A stream was entered a second time, and its run was started by the first.",
                fix="Ask the agent for another stream.",
            )
        self._handle = self._start()
        return self._handle

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            await self._handle.cancel("the stream was left")

    def __aiter__(self) -> NoReturn:
        raise ConfigError(
            "stream",
            "A stream was iterated without being entered, so leaving it could not stop the run.",
            fix="Write: async with agent.stream(...) as run: async for event in run: ...",
        )
