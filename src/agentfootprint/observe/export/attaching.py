"""How is an exporter attached to something that has events: filtered, isolated, flushed and stopped (chapter 6)?

Invariants: what an exporter raises reaches neither the run nor another listener; closing a subscription never stops
the exporter, and stopping it happens at most once, when nothing uses it any more.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol, Self

from agentfootprint.events import Event, Subscription
from agentfootprint.observe.export.failures import Failures
from agentfootprint.observe.export.port import TIERS, Exporter, ExportOptions, Tier, is_sampled, tier_allows
from agentfootprint.observe.export.queueing import Queue
from agentfootprint.observe.export.uses import Use, use

__all__ = ["ExportSubscription", "Subscribe", "attach_exporter", "call_optional", "default_tier_of"]

_PREFIX: Final = "agentfootprint."
_ENDS: Final = frozenset(
    _PREFIX + name for name in ("agent.turn_end", "composition.exit", "error.fatal", "pause.request")
)
_REMEMBERED_RUNS: Final = 1024


class Subscribe(Protocol):
    """What can be listened to: `agent.on` is one."""

    def __call__(
        self, pattern: str, listener: Callable[[Event[Any]], object], *, form: Literal["native", "wire"] = "native"
    ) -> Subscription:
        """Listen to a pattern."""
        ...


class _Work(NamedTuple):
    """What a subscription works with."""

    exporter: Exporter
    queue: Queue | None
    failures: Failures
    use: Use


class ExportSubscription(Subscription):
    """An exporter at work: `close()` or the end of a `with` block takes it off, `flush` and `stop` reach it."""

    __slots__ = ("_work",)

    _work: _Work

    @classmethod
    def made_of(cls, work: _Work, parts: Sequence[Subscription]) -> Self:
        """One subscription of the registrations that an exporter needs."""

        def close() -> None:
            for part in parts:
                part.close()
            work.use.release()

        made = cls.of(close, pattern=parts[0].pattern if len(parts) == 1 else "*")
        made._work = work  # noqa: SLF001  this class's own
        return made

    @property
    def exporter(self) -> Exporter:
        """Who gets the events."""
        return self._work.exporter

    @property
    def failures(self) -> int:
        """How often the exporter raised here."""
        return self._work.failures.count

    @property
    def dropped(self) -> int:
        """Events that a full queue dropped; 0 without `detach`."""
        return 0 if self._work.queue is None else self._work.queue.dropped

    async def flush(self) -> None:
        """Hand on what waits or is buffered; what the exporter raises is counted, not raised (SNK-4)."""
        exporter, queue, failures, _ = self._work
        if queue is not None:
            await queue.drain()
        await call_optional(exporter, "flush", failures)

    async def stop(self) -> None:
        """Close and flush, and stop the exporter if nothing else uses it and nobody has."""
        self.close()
        await self.flush()
        exporter, queue, failures, used = self._work
        if queue is not None:
            queue.close()
        if used.may_stop():
            await call_optional(exporter, "stop", failures)


def attach_exporter(
    subscribe: Subscribe, exporter: Exporter, options: ExportOptions | None = None
) -> ExportSubscription:
    """Have an exporter hear what happens.

    Args:
        subscribe: Registers a listener, as `agent.on` does.
        exporter: Who hears it; its `validate` is asked first (SNK-1).
        options: Which events, and when; `None`: the standard tier, or the exporter's own `default_tier`.

    Returns:
        Close it to stop listening. The exporter itself is stopped by `stop`.

    Raises:
        Exception: Whatever the exporter's `validate` says is wrong with it.
        ConfigError: A type of the exporter's `relevant_types` does not exist.
    """
    validate: object = getattr(exporter, "validate", None)
    if callable(validate):
        validate()
    if options is None:
        options = ExportOptions(tier=default_tier_of(exporter) or "standard")
    failures = Failures(exporter)
    deliver = _deliverer(exporter, failures)
    queue = Queue(deliver, exporter.name) if options.detach else None
    parts: list[Subscription] = []
    made: list[ExportSubscription] = []

    async def flush() -> None:
        await made[0].flush()

    listener = _listener(options, deliver if queue is None else queue.put, flush)
    try:
        for pattern in _patterns(options.tier, getattr(exporter, "relevant_types", None)):
            parts.append(subscribe(pattern, listener, form=options.form))  # noqa: PERF401  what was registered is closed if the next is refused
    except BaseException:
        for part in parts:
            part.close()
        raise
    made.append(ExportSubscription.made_of(_Work(exporter, queue, failures, use(exporter)), parts))
    return made[0]


def default_tier_of(exporter: object) -> Tier | None:
    """The tier an exporter asks for, if it asks for one."""
    tier: object = getattr(exporter, "default_tier", None)
    return tier if tier in TIERS else None


async def call_optional(exporter: object, method: Literal["flush", "stop"], failures: Failures) -> None:
    """Call a method that an exporter may have; what it raises is counted."""
    call: object = getattr(exporter, method, None)
    if not callable(call):
        return
    try:
        answer: object = call()
        if inspect.isawaitable(answer):
            await answer
    except Exception as error:  # noqa: BLE001  the exporter's code
        failures.add(error)


def _patterns(tier: Tier, relevant: Iterable[str] | None) -> tuple[str, ...]:
    """What to listen to so that as little as possible is heard in vain (DSP-8)."""
    if relevant is not None:
        return tuple(dict.fromkeys(each for each in relevant if tier_allows(tier, each)))
    return ("agentfootprint.error.*", "agentfootprint.agent.*") if tier == "minimal" else ("*",)


def _deliverer(exporter: Exporter, failures: Failures) -> Callable[[Event[Any]], None]:
    export = exporter.export

    def deliver(event: Event[Any]) -> None:
        try:
            export(event)
        except Exception as error:  # noqa: BLE001  the exporter's code
            failures.add(error, event)

    return deliver


def _listener(
    options: ExportOptions, deliver: Callable[[Event[Any]], None], flush: Callable[[], Awaitable[None]]
) -> Callable[[Event[Any]], object]:
    """What the bus calls: only as many questions as the options ask."""
    rate, tier = options.sample_rate, options.tier
    flushes = options.flush_on is not None
    allowed: dict[str, bool] = {}
    sampled: dict[str, bool] = {}

    def wanted(event: Event[Any]) -> bool:
        if not event.meta.in_run:
            return random.random() < rate  # noqa: S311  a sample, no secret
        run_id = event.meta.run_id
        known = sampled.get(run_id)
        if known is None:
            if len(sampled) >= _REMEMBERED_RUNS:
                sampled.clear()
            known = sampled[run_id] = is_sampled(rate, run_id)
        return known

    def hear(event: Event[Any]) -> Awaitable[None] | None:
        kind = event.type
        passes = allowed.get(kind)
        if passes is None:
            passes = tier_allows(tier, kind)
            if len(allowed) < _REMEMBERED_RUNS:  # an application may make up names without end
                allowed[kind] = passes
        if not passes or (rate < 1 and not wanted(event)):
            return None
        deliver(event)
        return flush() if flushes and kind in _ENDS else None  # the bus awaits it later, never in the run

    return hear
