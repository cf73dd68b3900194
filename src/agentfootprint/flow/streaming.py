"""A run while it happens: every event of its three channels, in order, for whoever wants to iterate them.

A stream is a cursor over what was told: a slow reader never holds the run back and loses nothing (DEC-27).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from types import TracebackType
from typing import Any, NoReturn

from agentfootprint.flow.errors import FlowCancelledError, FlowStreamError
from agentfootprint.flow.result import FlowResult
from agentfootprint.flow.watch.recorder import HOOKS
from agentfootprint.flow.watch.sightings import Sighting

__all__ = ["FlowStream", "LiveRun"]


class _Tap:
    """A recorder that keeps what it is told, and wakes who waits for more. Told from worker threads too."""

    id = "agentfootprint.stream"

    def __init__(self) -> None:
        self.log: list[Sighting] = []
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._more = asyncio.Event()
        for hook in HOOKS:
            setattr(self, hook, self._take)

    def _take(self, event: Sighting) -> None:
        self.log.append(event)
        if threading.get_ident() == self._thread:
            self._more.set()
        else:
            self._loop.call_soon_threadsafe(self._more.set)

    def wake(self) -> None:
        """Let everybody look again: the run has ended."""
        self._more.set()

    async def changed(self, seen: int) -> None:
        """Wait until there may be more than the `seen` events that were read."""
        self._more.clear()
        if len(self.log) == seen:
            await self._more.wait()


class LiveRun:
    """A run that was started; iterate it for its events, await `result()` for its outcome."""

    def __init__(self, name: str, run: Callable[[object], Coroutine[Any, Any, FlowResult]]) -> None:
        self._name = name
        self._tap = _Tap()
        self._left = False
        self._task: asyncio.Task[FlowResult] = asyncio.create_task(run(self._tap), name=name)
        self._task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[FlowResult]) -> None:
        if not task.cancelled():
            task.exception()  # told as `RunFailed`, and raised by `result`
        self._tap.wake()

    async def __aiter__(self) -> AsyncIterator[Sighting]:
        seen = 0
        while True:
            finished = self._task.done()
            log = self._tap.log
            while seen < len(log):
                seen += 1
                yield log[seen - 1]
            if finished:
                return
            if not self._task.done():
                await self._tap.changed(seen)

    async def result(self) -> FlowResult:
        """Wait for the end.

        Returns:
            The run's result; what a stage raised is raised here.

        Raises:
            FlowCancelledError: The stream was left before the run had ended.
        """
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            if self._left and self._task.cancelled():
                raise FlowCancelledError(self._name) from None
            raise

    async def cancel(self) -> None:
        """Stop the run and wait until its open stages have committed; nothing happens when it has ended."""
        if self._task.done():
            return
        self._left = True
        self._task.cancel()
        await asyncio.wait([self._task])


class FlowStream:
    """What `Flow.stream` gives: enter it with `async with`, and iterate what you get. Leaving it cancels the run."""

    def __init__(self, name: str, run: Callable[[object], Coroutine[Any, Any, FlowResult]]) -> None:
        self._name = name
        self._run = run
        self._live: LiveRun | None = None

    async def __aenter__(self) -> LiveRun:
        if self._live is not None:
            raise FlowStreamError("A stream was entered a second time.", fix="Ask the flow for another one.")
        self._live = LiveRun(self._name, self._run)
        return self._live

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            await self._live.cancel()

    def __aiter__(self) -> NoReturn:
        raise FlowStreamError(
            "A stream was iterated without being entered, so leaving it could not stop the run.",
            fix="Write: async with flow.stream(...) as run: async for event in run: ...",
        )
