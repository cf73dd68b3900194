"""When what waits is delivered: at the event loop's next turn, a little at a time (FLOW-OBS-6).

The driver holds neither the queue nor the run; it is handed the queue each time. All calls come on one thread, that of
the event loop. Times are milliseconds of its clock.
"""

from __future__ import annotations

import functools
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

import msgspec

__all__ = ["FlushDriver", "Flushed", "Waiting", "clock_ms"]

_REMEMBERED: Final = 128
"""How many flushes the percentile looks back on."""
_PERCENTILE: Final = 0.95


class Scheduled(Protocol):
    """A call that will come, unless it is cancelled."""

    def cancel(self) -> object: ...


class Waiting(Protocol):
    """What has something to deliver."""

    def __len__(self) -> int: ...

    def deliver_next(self) -> None:
        """Deliver the oldest."""
        ...

    def schedule(self, flush: Callable[[], object]) -> Scheduled | None:
        """Have `flush` called soon, after what is running now; None where nothing can be scheduled any more."""
        ...


class Flushed(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What one flush did."""

    processed: int
    budget_exhausted: bool
    """Whether it stopped because its time was up."""
    rearmed: bool
    """Whether another one was scheduled for the rest."""


def clock_ms() -> float:
    """Milliseconds of a clock that never goes back."""
    return time.perf_counter_ns() / 1e6


class FlushDriver:
    """Schedules flushes and keeps each within its budget.

    Args:
        budget_ms: How long a flush may take; it delivers at least one item, however long that takes.
        clock: The clock; for tests.
    """

    __slots__ = ("_budget_ms", "_clock", "_handle", "_times", "armed", "budget_exhausted", "flushes", "last_flush_ms")

    def __init__(self, budget_ms: float, clock: Callable[[], float] = clock_ms) -> None:
        self._budget_ms = budget_ms
        self._clock = clock
        self._handle: Scheduled | None = None
        self._times: deque[float] = deque(maxlen=_REMEMBERED)
        self.armed = False
        """Whether a flush is scheduled."""
        self.flushes = 0
        self.budget_exhausted = 0
        """How many of them stopped because their time was up."""
        self.last_flush_ms = 0.0

    @property
    def p95_flush_ms(self) -> float:
        """What 95 of 100 of the last flushes took at most; 0 before the first."""
        times = sorted(self._times)
        return times[math.ceil(_PERCENTILE * len(times)) - 1] if times else 0.0

    def arm(self, queue: Waiting) -> bool:
        """Schedule a flush, unless one is scheduled; gives whether one is now."""
        if not self.armed:
            self._handle = queue.schedule(functools.partial(self._flush_scheduled, queue))
            self.armed = self._handle is not None
        return self.armed

    def disarm(self) -> None:
        """Take back what is scheduled."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = None
        self.armed = False

    def flush(self, queue: Waiting, *, within_budget: bool = True) -> Flushed:
        """Deliver what waits now, and not what comes meanwhile; schedule another flush if anything is left.

        Args:
            queue: What waits.
            within_budget: Whether it may stop early.
        """
        depth, processed, exhausted = len(queue), 0, False
        start = self._clock()
        while processed < depth:
            queue.deliver_next()
            processed += 1
            if within_budget and processed < depth and self._clock() - start >= self._budget_ms:
                exhausted = True
                break
        took = self._clock() - start
        self.flushes += 1
        self.budget_exhausted += exhausted
        self.last_flush_ms = took
        self._times.append(took)
        return Flushed(processed, exhausted, rearmed=bool(within_budget and len(queue) and self.arm(queue)))

    def _flush_scheduled(self, queue: Waiting) -> Flushed:
        self.armed = False
        self._handle = None
        return self.flush(queue)
