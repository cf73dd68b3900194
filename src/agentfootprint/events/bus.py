"""Who hears of an event: one bus per agent, patterns, and listeners that can't break or slow the run.

Invariants: delivery is synchronous, in the order exact type, domain, `*`, and by registration within each (DSP-2); a
listener that raises reaches neither the run nor another listener (DSP-4); a type that nobody listens to costs one dict
lookup (DSP-8). The bus hands on native events as they are; whoever wants another form wraps its listener.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import os
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeAlias

from agentfootprint.events.envelope import Event
from agentfootprint.events.errors import EventPatternError, ListenerError
from agentfootprint.events.registry import DOMAINS, domain_of
from agentfootprint.trace import Record

__all__ = ["DrainResult", "EventBus", "Listener", "Signal", "Subscription"]

Listener: TypeAlias = Callable[[Event[Any]], object]
"""A function of one event; what it returns is ignored, unless it is awaitable: then it is awaited, but later."""

_LOG: Final = logging.getLogger("agentfootprint.events")
_EVERYTHING: Final = "*"
_ROUTES: Final = 1024
"""Event types whose listeners are remembered; more can only be names that an application makes up."""


class Signal(Protocol):
    """Says that a subscription is over: an `asyncio.Event` or a `threading.Event`."""

    def is_set(self) -> bool:
        """Whether it is over."""
        ...


class DrainResult(Record, frozen=True, kw_only=True, gc=False):
    """What became of the asynchronous listeners' work since the last drain."""

    done: int = 0
    """Finished."""
    failed: int = 0
    """Raised, or were cancelled."""
    pending: int = 0
    """Still running when the time was up."""


class Subscription:
    """One registration of one listener; closing it is safe at any time, more than once, and from inside the listener.

    Example:
        >>> bus = EventBus()
        >>> with bus.on("agentfootprint.stream.*", print) as subscription:
        ...     subscription.active
        True
        >>> bus.listener_count()
        0
    """

    __slots__ = ("_close", "_entry")

    def __init__(self, entry: _Entry, close: Callable[[_Entry], None]) -> None:
        self._entry = entry
        self._close = close

    @classmethod
    def of(cls, close: Callable[[], object], *, pattern: str = _EVERYTHING) -> Self:
        """A subscription of something that no bus keeps (a recorder, several registrations): closing it calls `close`.

        Args:
            close: Called once.
            pattern: What it listens to, for whoever asks.
        """

        def once(entry: _Entry) -> None:
            if entry.active:
                entry.active = False
                close()

        return cls(_Entry(pattern, _nobody, None), once)

    @property
    def pattern(self) -> str:
        """What it listens to."""
        return self._entry.pattern

    @property
    def active(self) -> bool:
        """Whether it still receives events."""
        return self._entry.active

    def close(self) -> None:
        """Receive no more; a later registration of the same function is not touched (DSP-6)."""
        self._close(self._entry)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class _Entry:
    """What the bus keeps of one registration."""

    __slots__ = ("active", "deliver", "failures", "listener", "pattern", "until")

    def __init__(self, pattern: str, listener: Listener, until: Signal | None) -> None:
        self.pattern = pattern
        self.listener = listener
        self.deliver = listener  # or a function round it
        self.until = until
        self.active = True
        self.failures = 0


def _nobody(_event: Event[Any]) -> None:
    return None


class EventBus:
    """Hands events to listeners; shared by the runs of one agent, whose events then interleave (DSP-9).

    Subscribing costs the listeners of the same pattern, dispatching three lookups and the listeners called. Dispatch
    from the thread of the event loop.
    """

    def __init__(self) -> None:
        self.listener_errors = 0
        """How often a listener has raised, asynchronous ones included."""
        self.heard: dict[str, tuple[_Entry, ...]] = {}
        """The registrations by pattern; empty while nobody listens to anything, so that an emitter need not ask on."""
        self._buckets = self.heard
        self._routes: dict[str, tuple[str, ...]] = {}  # type -> the patterns to look under; empty when nobody listens
        self._signalled: tuple[_Entry, ...] = ()  # those with an `until`
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: list[tuple[_Entry, str, Awaitable[object]]] = []  # dispatched where no loop ran
        self._settled = [0, 0]  # done, failed since the last drain
        self._warned: set[str] = set()

    def on(self, pattern: str, listener: Listener, *, once: bool = False, until: Signal | None = None) -> Subscription:
        """Call a function for every event that matches.

        Args:
            pattern: An exact type, registered or the application's own; `agentfootprint.<domain>.*`; or `*`.
            listener: Called in place. What it returns is ignored; something awaitable is awaited by `drain`, not here.
            once: Only for the first event; it is removed before it is called.
            until: Removed as soon as this is set.

        Returns:
            The registration; close it to stop listening.

        Raises:
            EventPatternError: Nothing can match the pattern.
            ListenerError: The listener can't be called.
        """
        wildcard = pattern.endswith(".*") and pattern[:-2] in DOMAINS
        if not pattern or ("*" in pattern and pattern != _EVERYTHING and not wildcard):
            raise EventPatternError(pattern, DOMAINS)
        if not callable(listener):
            raise ListenerError(pattern, type(listener).__name__)
        entry = _Entry(pattern, listener, until)
        if once:
            entry.deliver = self._once(entry)
        if until is not None and until.is_set():
            entry.active = False
        else:
            self._buckets[pattern] = (*self._buckets.get(pattern, ()), entry)
            self._routes.clear()
            if until is not None:
                self._signalled = (*self._signalled, entry)
        return Subscription(entry, self._remove)

    def off(self, pattern: str, listener: Listener) -> None:
        """Stop calling a function for a pattern, however often it was registered; without effect if it was not."""
        for entry in self._buckets.get(pattern, ()):
            if entry.listener == listener:
                self._remove(entry)

    def clear(self) -> None:
        """Remove every listener."""
        for bucket in tuple(self._buckets.values()):
            for entry in bucket:
                self._remove(entry)

    def has_listeners(self, event_type: str) -> bool:
        """Whether anybody would receive an event of this type; ask before building one (DSP-8)."""
        if not self._buckets:
            return False
        if self._signalled:
            self._drop_signalled()
        patterns = self._routes.get(event_type)
        if patterns is None:
            patterns = self._route(event_type)
        return bool(patterns)

    def listener_count(self, pattern: str | None = None) -> int:
        """How many registrations stand under a pattern, or under all of them."""
        if self._signalled:
            self._drop_signalled()
        if pattern is not None:
            return len(self._buckets.get(pattern, ()))
        return sum(map(len, self._buckets.values()))

    def dispatch(self, event: Event[Any]) -> None:
        """Hand an event to everybody who listens; never raises for what a listener does.

        Each pattern's listeners are fixed when its turn comes (DSP-3): who is removed while it lasts still gets this
        event, who is added does not.
        """
        event_type = event.type
        patterns = self._routes.get(event_type)
        if patterns is None:
            patterns = self._route(event_type)
        for pattern in patterns:
            if self._signalled:
                self._drop_signalled()
            for entry in self._buckets.get(pattern, ()):
                try:
                    answer = entry.deliver(event)
                except Exception as error:  # noqa: BLE001  a listener's bug, not the run's
                    self._failed(entry, event_type, error)
                else:
                    if answer is not None:
                        self._answered(entry, event_type, answer)

    async def drain(self, *, timeout: float | None = 30.0) -> DrainResult:  # noqa: ASYNC109  a bound, not a cancellation
        """Wait for the work that asynchronous listeners have begun (DSP-5, BRG-22).

        Args:
            timeout: Seconds to wait at most; what still runs then goes on. `None` waits for all of it.

        Returns:
            What became of it since the last drain; zeros when there was none. Never raises for what a listener does.
        """
        if not self._tasks and not self._waiting:  # and nobody's turn is waited for either: a run drains at its end
            return self._take_settled()
        self._begin_waiting(asyncio.get_running_loop())
        here = {task for task in self._tasks if task.get_loop() is asyncio.get_running_loop()}
        if here:
            await asyncio.wait(here, timeout=timeout)
        await asyncio.sleep(0)  # lets the tasks that are done say so
        return self._take_settled()

    def _take_settled(self) -> DrainResult:
        done, failed = self._settled
        self._settled = [0, 0]
        return DrainResult(done=done, failed=failed, pending=len(self._tasks))

    def _route(self, event_type: str) -> tuple[str, ...]:
        patterns = tuple(dict.fromkeys((event_type, f"{domain_of(event_type)}.*", _EVERYTHING)))
        if not any(pattern in self._buckets for pattern in patterns):
            patterns = ()
        if len(self._routes) >= _ROUTES:
            self._routes.clear()
        self._routes[event_type] = patterns
        return patterns

    def _once(self, entry: _Entry) -> Listener:
        def deliver(event: Event[Any]) -> object:
            if not entry.active:  # an event inside this event was the one
                return None
            self._remove(entry)
            return entry.listener(event)

        return deliver

    def _remove(self, entry: _Entry) -> None:
        if not entry.active:
            return
        entry.active = False
        rest = tuple(other for other in self._buckets[entry.pattern] if other is not entry)
        if rest:
            self._buckets[entry.pattern] = rest
        else:
            del self._buckets[entry.pattern]
        self._routes.clear()
        if entry.until is not None:
            entry.until = None
            self._signalled = tuple(other for other in self._signalled if other is not entry)

    def _drop_signalled(self) -> None:
        for entry in self._signalled:
            if entry.until is not None and entry.until.is_set():
                self._remove(entry)

    def _failed(self, entry: _Entry, event_type: str, error: BaseException) -> None:
        self.listener_errors += 1
        entry.failures += 1
        if entry.failures == 1 or _in_development():
            _LOG.error("A listener for %s raised at %s.", entry.pattern, event_type, exc_info=error)

    def _answered(self, entry: _Entry, event_type: str, answer: object) -> None:
        if not inspect.isawaitable(answer):
            return
        if entry.pattern not in self._warned and _in_development():
            self._warned.add(entry.pattern)
            _LOG.warning("A listener for %s is asynchronous: it is awaited when drained, not in place.", entry.pattern)
        self._waiting.append((entry, event_type, answer))
        with contextlib.suppress(RuntimeError):  # no loop in this thread: the next one begins it
            self._begin_waiting(asyncio.get_running_loop())

    def _begin_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        waiting, self._waiting = self._waiting, []
        for entry, event_type, answer in waiting:
            task = loop.create_task(self._await(entry, event_type, answer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _await(self, entry: _Entry, event_type: str, answer: Awaitable[object]) -> None:
        try:
            await answer
        except asyncio.CancelledError:
            self._settled[1] += 1
            raise
        except Exception as error:  # noqa: BLE001  a listener's bug, not the run's
            self._settled[1] += 1
            self._failed(entry, event_type, error)
        else:
            self._settled[0] += 1


def _in_development() -> bool:
    return os.environ.get("AGENTFOOTPRINT_DEV") == "1"
