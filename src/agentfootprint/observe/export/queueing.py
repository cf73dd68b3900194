"""How is an exporter kept out of the run: events wait in a queue and are exported in a thread (SNK-5)?

Invariants: order is kept; the queue is bounded and what is dropped is counted; an event is exported in the context
(`contextvars`) it happened in, so that an exporter can still tell whose span it stands under. What waits when the
interpreter exits is exported before it does.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from agentfootprint.events import Event

__all__ = ["MAX_QUEUE", "Queue"]

MAX_QUEUE: Final = 10_000
"""Events that wait at most."""


class Queue:
    """A bounded queue in front of a function, and the thread that calls it.

    Args:
        deliver: Called with each event; must not raise.
        name: Names the thread.
    """

    def __init__(self, deliver: Callable[[Event[Any]], None], name: str) -> None:
        self.dropped = 0
        self._deliver = deliver
        self._name = name
        self._waiting: deque[tuple[Event[Any], contextvars.Context]] = deque()
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._working = False
        self._taken = self._gone = 0  # events put, and events exported or dropped

    def put(self, event: Event[Any]) -> None:
        """Take an event; costs the same whatever the exporter does."""
        context = contextvars.copy_context()
        with self._lock:
            if len(self._waiting) >= MAX_QUEUE:
                self._waiting.popleft()
                self.dropped += 1
                self._gone += 1
            self._waiting.append((event, context))
            self._taken += 1
            if self._working:
                return
            self._working = True
        self._submit(self._work)

    async def drain(self) -> None:
        """Wait until everything that was put before has been exported or dropped."""
        target = self._taken
        while self._gone < target:
            nothing = self._threads().submit(int)  # behind what waits now
            await asyncio.wrap_future(nothing)

    def close(self) -> None:
        """Let the thread end when nothing waits any more; putting again starts another."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False)

    def _threads(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, thread_name_prefix=f"export-{self._name}")
            return self._pool

    def _submit(self, work: Callable[[], None]) -> None:
        try:
            self._threads().submit(work)
        except RuntimeError:  # the pool was closed, or the interpreter is exiting: here, then
            work()

    def _work(self) -> None:
        """Export what waits now, then give `drain` its turn."""
        for _ in range(len(self._waiting)):
            with self._lock:
                if not self._waiting:
                    break
                event, context = self._waiting.popleft()
            context.run(self._deliver, event)
            with self._lock:
                self._gone += 1
        with self._lock:
            self._working = bool(self._waiting)
        if self._working:
            self._submit(self._work)
