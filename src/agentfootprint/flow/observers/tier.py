"""Who is told later: the deferred observers of one executor, and the one queue they share (01 s.7).

An event is captured where it happens and waits; the event loop's next turn delivers it, first come first told, on
every channel. When a run ends, whatever the end is, nothing waits any more before its caller goes on. Async hooks are
started in that order and awaited in tasks of their own. Nothing here refers to a run, so a finished run is in no cycle.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from typing import Any, Final, cast

from agentfootprint.flow.dev import dev_warning
from agentfootprint.flow.draining import DrainResult
from agentfootprint.flow.observers.capture import Envelope, captured
from agentfootprint.flow.observers.driver import FlushDriver, clock_ms
from agentfootprint.flow.observers.options import ObserverQueue
from agentfootprint.flow.observers.ring import BoundedRing
from agentfootprint.flow.observers.stats import ListenerStats, ObserverStats
from agentfootprint.flow.watch.failure import name_of
from agentfootprint.flow.watch.recorder import Hook, hooks_of, id_of, now_ms, placed
from agentfootprint.flow.watch.sightings import ErrorSeen, Sighting
from agentfootprint.trace import FrozenDict

__all__ = ["DeferredTier"]

_ROUNDS: Final = 1000
"""How often the end of a run delivers what came while it delivered."""


class _Told:
    """What one observer was told so far."""

    __slots__ = ("events", "flush", "last_flush_ms", "total_ms")

    def __init__(self) -> None:
        self.events = 0
        self.total_ms = 0.0
        self.last_flush_ms = 0.0
        self.flush = -1
        """Number of the flush that `last_flush_ms` belongs to."""

    def count(self, took_ms: float, flush: int) -> None:
        self.events += 1
        self.total_ms += took_ms
        self.last_flush_ms = took_ms if flush != self.flush else self.last_flush_ms + took_ms
        self.flush = flush


class _Tap:
    """The recorder that stands for all deferred ones; it has the hooks that some of them has, and no other."""

    id = "deferred-observers"

    def __init__(self, hooks: Sequence[str], take: Hook, clear: Callable[[], None]) -> None:
        for name in hooks:
            setattr(self, name, take)
        self.clear = clear


class DeferredTier:
    """The deferred observers of one executor.

    Args:
        options: Of the queue; they stay as the first deferred observer was attached with.
        clock: Milliseconds; for tests.
    """

    def __init__(self, options: ObserverQueue, clock: Callable[[], float] = clock_ms) -> None:
        self.options = options
        self.recorders: tuple[object, ...] = ()
        """The observers, in order; those attached during a run are told from the next one on."""
        self.failures: dict[tuple[str, str], int] = {}
        """How often a hook raised, by recorder id and hook, since the last run began."""
        self._clock = clock
        self._ring: BoundedRing[Envelope] = BoundedRing(
            options.max_queue, options.overflow, sample_every=options.sample_every
        )
        self._driver = FlushDriver(options.flush_budget * 1000, clock)
        self._lock = threading.Lock()
        """A stage may run on a thread of its own, and then tells from there."""
        self._hooks: dict[str, tuple[tuple[str, Hook, _Told], ...]] = {}
        self._told: dict[str, _Told] = {}
        self._tasks: set[asyncio.Future[Any]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._run_id = ""
        self._seq = 0
        self._settled = [0, 0]
        """Async hooks that ended well, and that failed."""
        self._inline = 0
        self._stranded = 0

    # who is told

    def attach(self, recorder: object, given: dict[str, Any]) -> None:
        """Add an observer, or replace the one with the same id; `given` are options that came with it."""
        differing = [name for name, value in given.items() if getattr(self.options, name) != value]
        if differing:
            dev_warning(
                f"The queue of deferred observers exists already; ignored for {id_of(recorder)!r}: "
                f"{', '.join(differing)}.",
                stacklevel=4,
            )
        self.recorders = placed(self.recorders, recorder)

    def forget(self, id: str) -> None:
        """Leave out the observer with this id: it is told inline from now on."""
        self.recorders = tuple(recorder for recorder in self.recorders if id_of(recorder) != id)

    def taps(self) -> tuple[object, ...]:
        """What to add to the recorders of the next run: nothing when there is no hook."""
        self._hooks = {}
        for recorder in self.recorders:
            own = id_of(recorder)
            for name, hook in hooks_of(recorder):
                told = self._told.setdefault(own, _Told())
                self._hooks[name] = (*self._hooks.get(name, ()), (own, hook, told))
        return (_Tap(tuple(self._hooks), self.take, self.clear),) if self._hooks else ()

    def clear(self) -> None:
        """Tell the observers that a new run begins."""
        self.failures.clear()
        for recorder in self.recorders:
            clear = getattr(recorder, "clear", None)
            if callable(clear):
                try:
                    clear()
                except Exception:  # noqa: BLE001  the observer's bug, not the run's
                    self._count(id_of(recorder), "clear")

    # from the run

    def begin(self, run_id: str) -> None:
        """A run begins, on the event loop that runs now."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._run_id = run_id

    def take(self, event: Sighting) -> None:
        """Let an event wait; when there is no room and the queue blocks, deliver it here and now."""
        kept = captured(event, self.options.capture)
        with self._lock:
            envelope = Envelope(self._seq, self._run_id, kept)
            self._seq += 1
            taken = self._ring.push(envelope).accepted
        if not taken:
            if self.options.overflow == "block":
                self._inline += 1
                self._deliver(envelope)
            return
        if self._driver.armed or self._loop is None:
            return
        if threading.get_ident() == self._thread:
            self._driver.arm(self)
        else:
            self._loop.call_soon_threadsafe(self._arm)

    async def finish(self) -> None:
        """A run has ended: deliver all that waits, and give async hooks a turn (FLOW-OBS-7)."""
        self._flush_all()
        self._stranded += self._ring.clear()
        if self._tasks:
            await asyncio.sleep(0)

    # the queue, as its driver sees it

    def __len__(self) -> int:
        return len(self._ring)

    def deliver_next(self) -> None:
        """Deliver the event that has waited longest."""
        with self._lock:
            envelope = self._ring.shift()
        if envelope is not None:
            self._deliver(envelope)

    def schedule(self, flush: Callable[[], object]) -> asyncio.Handle | None:
        """Have the loop call `flush` at its next turn; not while too many async hooks are under way."""
        if self._loop is None or self._loop.is_closed() or len(self._tasks) >= self.options.max_queue:
            return None
        return self._loop.call_soon(flush)

    def _arm(self) -> None:
        if len(self._ring):
            self._driver.arm(self)

    def _flush_all(self) -> None:
        self._driver.disarm()
        for _ in range(_ROUNDS):
            if not len(self._ring):
                break
            self._driver.flush(self, within_budget=False)

    # telling

    def _deliver(self, envelope: Envelope) -> None:
        event, clock, flush = envelope.payload, self._clock, self._driver.flushes
        for owner, listener, told in self._hooks.get(event.hook, ()):
            start = clock()
            self._call(owner, event.hook, listener, event)
            told.count(clock() - start, flush)

    def _call(self, owner: str, hook: str, listener: Hook, event: Sighting) -> None:
        try:
            answer = listener(event)
            if answer is not None and hasattr(answer, "__await__"):
                self._await(owner, hook, event, cast("Awaitable[object]", answer))
        except Exception as raised:  # noqa: BLE001  the observer's bug, not the run's
            self._failed(owner, hook, event, raised)

    def _await(self, owner: str, hook: str, event: Sighting, answer: Awaitable[object]) -> None:
        """Let an async hook go on in a task of its own, which is held here until it ends."""
        loop = self._loop
        if loop is not None and threading.get_ident() != self._thread:
            loop.call_soon_threadsafe(self._await, owner, hook, event, answer)
            return
        if loop is None or loop.is_closed():
            if isinstance(answer, Coroutine):
                answer.close()
            self._settled[1] += 1
            self._count(owner, hook)
            return
        task = asyncio.ensure_future(answer, loop=loop)
        self._tasks.add(task)
        task.add_done_callback(functools.partial(self._ended, owner, hook, event))

    def _ended(self, owner: str, hook: str, event: Sighting, task: asyncio.Future[object]) -> None:
        self._tasks.discard(task)
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        self._settled[error is not None] += 1
        if error is not None:
            self._failed(owner, hook, event, error)
        self._arm()

    def _failed(self, owner: str, hook: str, event: Sighting, error: BaseException) -> None:
        """Count a failing hook, and tell the others' `on_error` of it (FLOW-OBS-8); of a failing `on_error` nobody."""
        self._count(owner, hook)
        if hook == "on_error":
            return
        told = ErrorSeen(
            timestamp=now_ms(),
            stage_name="",
            channel="scope",
            runtime_stage_id=Envelope(-1, self._run_id, event).runtime_stage_id,
            error=name_of(error),
        )
        for name, listener, _ in self._hooks.get("on_error", ()):
            if name != owner:
                self._call(name, "on_error", listener, told)

    def _count(self, owner: str, hook: str) -> None:
        self.failures[owner, hook] = self.failures.get((owner, hook), 0) + 1

    # waiting and counting

    async def drain(self, timeout: float | None) -> DrainResult:  # noqa: ASYNC109  the caller's option
        """Deliver all that waits and await the async hooks that are under way (FLOW-OBS-9); never raises.

        Args:
            timeout: Seconds to wait at most; None waits as long as it takes.
        """
        loop = asyncio.get_running_loop()
        until = None if timeout is None else loop.time() + timeout
        before = tuple(self._settled)
        self._flush_all()
        while ours := set(self._of(loop)):
            left = None if until is None else until - loop.time()
            if left is not None and left <= 0:
                break
            await asyncio.wait(ours, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            self._flush_all()
        done, failed = (now - then for now, then in zip(self._settled, before, strict=True))
        return DrainResult(done, failed, len(self._tasks) + len(self._ring))

    def _of(self, loop: asyncio.AbstractEventLoop) -> Iterator[asyncio.Future[Any]]:
        """The tasks that can be waited for here; those of another loop end with it."""
        return (task for task in self._tasks if task.get_loop() is loop)

    def stats(self) -> ObserverStats:
        """The numbers as they are now."""
        driver = self._driver
        return ObserverStats(
            depth=len(self._ring),
            drops=self._ring.drops,
            flushes=driver.flushes,
            budget_exhausted=driver.budget_exhausted,
            p95_flush_ms=driver.p95_flush_ms,
            inline_deliveries=self._inline,
            inflight=len(self._tasks),
            per_listener=FrozenDict(
                {
                    name: ListenerStats(told.events, told.total_ms, told.last_flush_ms)
                    for name, told in self._told.items()
                }
            ),
            terminal_stranded=self._stranded,
        )
