"""Who watches one run beside its listeners: recorders of what the engine does, and observers who are told later?

Invariants: made only for a run that has recorders or whose observers are told later, so other runs pay nothing; there
is one queue a run, in which events and what the engine does keep their order; when a run returns, raises or pauses,
nothing waits any more (BRG-21). Under a redaction policy a recorder is told of events alone, as everybody may see them:
what the engine does holds the real values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from agentfootprint.errors import ConfigError
from agentfootprint.flow import DeferredTier, EmitSeen, ObserverQueue, Watch, attach, hooks_of, placed
from agentfootprint.trace import Execution, Record

if TYPE_CHECKING:
    from agentfootprint.agent.options import RecordOptions
    from agentfootprint.events import Event, EventBus, RunFacts

__all__ = ["RunObservers", "check_recorder", "is_recorder", "with_recorder"]

_EMIT = "on_emit"


def with_recorder(recorders: tuple[object, ...], recorder: object) -> tuple[object, ...]:
    """The recorders with one more, in the place of one with the same id.

    Raises:
        AsyncHookError: A hook of one that is told at once is a coroutine function.
    """
    later = getattr(recorder, "delivery", None) == "deferred"
    return placed(recorders, recorder) if later else attach(recorders, recorder)


def is_recorder(observer: object) -> bool:
    """Whether something is told by hooks: it has an id, and one of the methods of a `flow.Recorder`."""
    return isinstance(getattr(observer, "id", None), str) and any(True for _ in hooks_of(observer))


def check_recorder(option: str, observer: object) -> None:
    """Refuse what is told nothing, or can't be told.

    Raises:
        ConfigError: It is no recorder, or its `delivery` is no word for that.
    """
    if not is_recorder(observer):
        raise ConfigError(
            option,
            f"A {type(observer).__name__} was attached, which is no exporter and no recorder.",
            fix="Give something with a name and an export(event), or with an id and a hook such as on_commit.",
        )
    delivery: object = getattr(observer, "delivery", None)
    if delivery not in (None, "inline", "deferred"):
        raise ConfigError(
            option, f"The delivery of a recorder is {delivery!r}.", fix='Use "inline", "deferred" or None.'
        )


class _Heard(EmitSeen, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """An event on its way to the listeners of a bus, and to whoever has the hook `on_emit`."""

    event: object
    bus: object


class _Listeners:
    """Stands for the listeners of both buses among the deferred observers."""

    id = "agent-listeners"

    def on_emit(self, seen: EmitSeen) -> None:
        if isinstance(seen, _Heard):
            bus = cast("EventBus", seen.bus)
            event = cast("Event[Any]", seen.event)
            if bus.has_listeners(event.type):
                bus.dispatch(event)


class _RunBus:
    """Stands before a bus of the agent for one run."""

    heard = True
    """A run asks this before it asks who listens."""

    def __init__(self, bus: EventBus, observers: RunObservers, *, tells: bool) -> None:
        self._bus = bus
        self._observers = observers
        self._tells = tells

    def has_listeners(self, event_type: str) -> bool:
        return self._tells or self._bus.has_listeners(event_type)

    def dispatch(self, event: Event[Any]) -> None:
        self._observers.heard(event, self._bus, tells=self._tells)


class RunObservers:
    """The recorders of one run, and its queue.

    Args:
        recorders: Who is told, in order.
        record: How: `delivery` and `queue`.
        bus: The agent's, for events.
        wire_bus: The agent's, for events of the wire form.
        facts: The run's.
    """

    def __init__(
        self,
        recorders: Sequence[object],
        record: RecordOptions,
        *,
        bus: EventBus,
        wire_bus: EventBus,
        facts: RunFacts,
    ) -> None:
        later = record.delivery == "deferred"
        at_once: tuple[object, ...] = ()
        deferred: list[object] = []
        for recorder in recorders:
            own: object = getattr(recorder, "delivery", None)
            if own == "deferred" or (own != "inline" and later):
                deferred.append(recorder)
            else:
                at_once = attach(at_once, recorder)
        self._facts = facts
        self._later = later
        self.tier: DeferredTier | None = None
        if later or deferred:
            self.tier = DeferredTier(record.queue or ObserverQueue())
            for recorder in (*deferred, _Listeners()):
                self.tier.attach(recorder, {})
        if record.redaction is not None:  # the engine's own channel holds the real values
            watched: tuple[object, ...] = ()
        else:
            watched = at_once if self.tier is None else (*at_once, *self.tier.taps())
        self.watch = Watch(watched)
        self._emits = Watch([_EmitsOnly(each) for each in at_once if _has_emit(each)])
        tells = self._emits.any or any(map(_has_emit, deferred))
        self.bus = cast("EventBus", _RunBus(bus, self, tells=tells))
        self.wire_bus = cast("EventBus", _RunBus(wire_bus, self, tells=False)) if later else wire_bus

    def begin(self, *, goes_on: bool) -> None:
        """The run begins, on the event loop that runs now.

        Args:
            goes_on: Whether it goes on with a run that paused; what recorders know of that stays.
        """
        if not goes_on:
            self.watch.clear()
        if self.tier is not None:
            self.tier.taps()
            self.tier.begin(self._facts.run_id)

    async def finish(self) -> Record | None:
        """The run has ended, however it did: nothing waits any more.

        Returns:
            How those who are told later did (BRG-23); `None` when nobody is.
        """
        if self.tier is None:
            return None
        await self.tier.finish()
        return self.tier.stats()

    def heard(self, event: Event[Any], bus: EventBus, *, tells: bool) -> None:
        """An event of the run has happened."""
        tier = self.tier
        if not self._later and bus.has_listeners(event.type):
            bus.dispatch(event)
        if not tells and not self._later:
            return
        seen = _seen(event, bus if self._later else _Nobody)
        if tells and self._emits.any:
            self._emits.tell(seen)
        if tier is not None:
            tier.take(seen)


class _EmitsOnly:
    """A recorder as far as events go, which every recorder hears of in the same way."""

    def __init__(self, recorder: object) -> None:
        self.id = getattr(recorder, "id", "")
        self.on_emit = recorder.on_emit  # type: ignore[attr-defined]  looked for before


class _Nobody:
    """A bus without listeners: they were told already."""

    @staticmethod
    def has_listeners(_event_type: str) -> bool:
        return False


def _has_emit(recorder: object) -> bool:
    return any(name == _EMIT for name, _ in hooks_of(recorder))


def _seen(event: Event[Any], bus: object) -> _Heard:
    where, meta = event.execution, event.meta
    name = where.info.name if isinstance(where, Execution) else meta.runtime_stage_id.partition("#")[0]
    return _Heard(
        timestamp=meta.wall_clock_ms,
        name=event.type,
        payload=event.payload,
        stage_name=name,
        runtime_stage_id=meta.runtime_stage_id,
        subflow_path=meta.subflow_path,
        pipeline_id="/".join(meta.subflow_path),
        event=event,
        bus=bus,
    )
