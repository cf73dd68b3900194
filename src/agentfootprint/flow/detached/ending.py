"""How a detached child is doing, and how it ended: the one thing the starter keeps of it (FLOW-DET-2).

It may be told from any thread and waited for on any event loop. Once it is done or failed it stays so.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agentfootprint.flow.result import FlowResult

__all__ = ["DetachHandle"]


class DetachHandle:
    """A detached child, as its starter sees it; made and told by the driver.

    Args:
        id: Of this start: `<runtime stage id or __executor__>:detach:<number>`.
    """

    def __init__(self, id: str) -> None:
        self.id = id
        self._status: Literal["queued", "running", "done", "failed"] = "queued"
        self._result: FlowResult | None = None
        self._error: BaseException | None = None
        self._work: object = None
        self._lock = threading.Lock()
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self._told: list[Callable[[DetachHandle], object]] = []

    @property
    def status(self) -> Literal["queued", "running", "done", "failed"]:
        """`queued`, then `running`, then `done` or `failed` for ever."""
        return self._status

    @property
    def is_settled(self) -> bool:
        """Whether it has ended, well or not."""
        return self._status in ("done", "failed")

    @property
    def result(self) -> FlowResult | None:
        """How the child's run ended; None while it runs, or when it failed."""
        return self._result

    @property
    def error(self) -> BaseException | None:
        """What the child raised; nobody else hears of it unless `wait` is called."""
        return self._error

    async def wait(self) -> FlowResult:
        """Wait for the end, if it has not ended yet; any number of times, by anybody.

        Returns:
            How the child's run ended. What the child raised is raised here.

        Raises:
            DetachCancelledError: It was cancelled, or its event loop ended before it did.
        """
        await self.settled()
        if self._result is None:
            raise self._error or RuntimeError(f"The detached child {self.id!r} ended without a result.")
        return self._result

    async def settled(self) -> None:
        """Wait for the end, whatever it is; raises nothing of the child's."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self.is_settled:
                return
            waiter = loop.create_future()
            self._waiters.append((loop, waiter))
        try:
            await waiter
        finally:
            with self._lock, contextlib.suppress(ValueError):
                self._waiters.remove((loop, waiter))

    # told by drivers

    def hold(self, work: object) -> None:
        """Keep what does the work alive until the end: an event loop holds its tasks only weakly."""
        if not self.is_settled:
            self._work = work

    def begin(self) -> None:
        """It runs now; does nothing once it is settled."""
        with self._lock:
            if self._status == "queued":
                self._status = "running"

    def succeed(self, result: FlowResult) -> None:
        """Its run ended; does nothing once it is settled."""
        self._settle("done", result, None)

    def fail(self, error: BaseException) -> None:
        """It raised; does nothing once it is settled."""
        self._settle("failed", None, error)

    def when_settled(self, tell: Callable[[DetachHandle], object]) -> None:
        """Call `tell` with this when it ends, on the thread where that is; at once if it has."""
        with self._lock:
            if not self.is_settled:
                self._told.append(tell)
                return
        tell(self)

    def _settle(
        self, status: Literal["done", "failed"], result: FlowResult | None, error: BaseException | None
    ) -> None:
        with self._lock:
            if self.is_settled:
                return
            self._result, self._error = result, error
            self._status = status
            self._work = None
            waiters, self._waiters = self._waiters, []
            told, self._told = self._told, []
        for loop, waiter in waiters:
            with contextlib.suppress(RuntimeError):  # a loop that has ended has nobody waiting any more
                loop.call_soon_threadsafe(_wake, waiter)
        for tell in told:
            tell(self)

    def __repr__(self) -> str:
        return f"DetachHandle({self.id!r}, {self._status})"


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
