"""Who watches an executor: recorders that are told as it happens, and recorders that are told later.

A recorder's id stands for one recorder, told in one of the two ways (FLOW-OBS-11). Deferred delivery is loaded when the
first recorder asks for it; without one, a run does nothing for it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from agentfootprint.errors import ConfigError
from agentfootprint.flow.draining import DrainResult
from agentfootprint.flow.watch.recorder import Watch, attach, id_of

if TYPE_CHECKING:
    from agentfootprint.flow.observers.options import Capture, Overflow
    from agentfootprint.flow.observers.stats import ObserverStats
    from agentfootprint.flow.observers.tier import DeferredTier

__all__ = ["Watched", "to_the_last_hook"]

P = ParamSpec("P")
R = TypeVar("R")
W = TypeVar("W", bound="Watched")

_BLOCKING_DRAIN: float = 30.0
"""Seconds that a blocking call waits for async hooks before its event loop ends."""


class Watched:
    """What an executor offers to those who watch it.

    Args:
        recorders: Observers, told in this order as it happens.

    Raises:
        AsyncHookError: A recorder has a hook that is a coroutine function.
    """

    def __init__(self, recorders: Sequence[object]) -> None:
        self._recorders: tuple[object, ...] = ()
        self._deferred: DeferredTier | None = None
        self._watch = Watch(())
        for recorder in recorders:
            self.attach(recorder)

    @property
    def recorders(self) -> tuple[object, ...]:
        """The observers, in order; the deferred ones last."""
        return self._recorders if self._deferred is None else (*self._recorders, *self._deferred.recorders)

    @property
    def recorder_failures(self) -> Mapping[tuple[str, str], int]:
        """How often a hook raised, by recorder id and hook, since the last `run` began."""
        if self._deferred is None:
            return self._watch.failures
        return {**self._watch.failures, **self._deferred.failures}

    @property
    def observer_stats(self) -> ObserverStats | None:
        """How the deferred observers are doing (FLOW-OBS-10); None when there never was one."""
        return None if self._deferred is None else self._deferred.stats()

    def attach(
        self,
        recorder: object,
        *,
        delivery: Literal["inline", "deferred"] = "inline",
        capture: Capture | None = None,
        max_queue: int | None = None,
        overflow: Overflow | None = None,
        sample_every: int | None = None,
        flush_budget: float | None = None,
    ) -> None:
        """Add an observer, or replace the one with the same id; from the next run on (FLOW-REC-8).

        Deferred observers share one queue, whose options are those of the first of them. What they are told is told
        in order at the event loop's next turn, and before a run's caller goes on, however the run ends. Their hooks
        may be coroutine functions.

        Args:
            recorder: Any object with a hook.
            delivery: `inline` tells it as it happens, `deferred` later, off the path of the run.
            capture: What waits: the event with a copy of what could still change (`clone`, the default; the engine's
                own values are frozen and never copied), a description of its values (`summary`), or itself (`ref`).
            max_queue: How many events may wait; 10,000 by default.
            overflow: When the queue is full: `drop-oldest` (the default), `block` (the newcomer is told at once) or
                `sample` (every `sample_every`-th newcomer is kept in place of the oldest).
            sample_every: See there; 10 by default.
            flush_budget: Seconds that telling may take before it lets the event loop go on; 0.002 by default.

        Raises:
            AsyncHookError: A hook of an inline observer is a coroutine function.
            ConfigError: An option is none there is, or was given to an inline observer.
        """
        options = {
            name: value
            for name, value in (
                ("capture", capture),
                ("max_queue", max_queue),
                ("overflow", overflow),
                ("sample_every", sample_every),
                ("flush_budget", flush_budget),
            )
            if value is not None
        }
        if delivery == "deferred":
            self._defer(recorder, options)
            return
        if delivery != "inline" or options:
            option = "delivery" if delivery != "inline" else next(iter(options))
            raise ConfigError(
                f"attach.{option}",
                f"The observer {id_of(recorder)!r} was attached with the option {option!r}, but not as deferred.",
                fix="Attach it with delivery='deferred', or as 'inline' without options of the queue.",
            )
        self._recorders = attach(self._recorders, recorder)
        if self._deferred is not None:
            self._deferred.forget(id_of(recorder))

    async def drain_observers(self, *, timeout: float | None = 30.0) -> DrainResult:  # noqa: ASYNC109  the caller's option
        """Wait for the async hooks of deferred observers that are under way (FLOW-OBS-9).

        Args:
            timeout: Seconds to wait at most; None waits as long as it takes.

        Returns:
            How many ended well, failed, or are still under way; zeros when nobody is told later.
        """
        return DrainResult() if self._deferred is None else await self._deferred.drain(timeout)

    def _defer(self, recorder: object, options: dict[str, Any]) -> None:
        from agentfootprint.flow.observers.options import ObserverQueue
        from agentfootprint.flow.observers.tier import DeferredTier

        asked = ObserverQueue(**options)
        if self._deferred is None:
            self._deferred = DeferredTier(asked)
        self._deferred.attach(recorder, options)
        gone = id_of(recorder)
        self._recorders = tuple(known for known in self._recorders if id_of(known) != gone)

    def _watching(self, before: Watch | None = None) -> Watch:
        """The hooks of the next run, or of a resume that goes on with the run that `before` watched."""
        deferred = self._deferred
        return Watch(self._recorders if deferred is None else (*self._recorders, *deferred.taps()), before)


def to_the_last_hook(
    method: Callable[Concatenate[W, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[W, P], Coroutine[Any, Any, R]]:
    """Make a run that also waits for the async hooks under way at its end: a blocking call's loop ends with it."""

    @functools.wraps(method)
    async def whole(self: W, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            result = await method(self, *args, **kwargs)
        except Exception:
            await self.drain_observers(timeout=_BLOCKING_DRAIN)
            raise
        await self.drain_observers(timeout=_BLOCKING_DRAIN)
        return result

    return whole
