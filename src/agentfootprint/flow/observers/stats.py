"""How the deferred observers of an executor are doing, in numbers (FLOW-OBS-10)."""

from __future__ import annotations

from agentfootprint.trace import FrozenDict, Record

__all__ = ["ListenerStats", "ObserverStats"]


class ListenerStats(Record, frozen=True, gc=False, rename="camel", omit_defaults=False):
    """What one observer was told and how long it took."""

    events: int
    total_ms: float
    last_flush_ms: float
    """Its share of the last flush that told it anything."""


class ObserverStats(Record, frozen=True, gc=False, rename="camel", omit_defaults=False):
    """The queue of an executor, since its first deferred observer was attached."""

    depth: int
    """How many events wait."""
    drops: int
    """How many were lost, because the queue was full."""
    flushes: int
    budget_exhausted: int
    """How many flushes stopped because their time was up."""
    p95_flush_ms: float
    """What 95 of 100 of the last 128 flushes took at most."""
    inline_deliveries: int
    """How many events were delivered at once, because the queue was full and blocks."""
    inflight: int
    """How many async hooks are under way."""
    per_listener: FrozenDict
    """Id of the observer to its `ListenerStats`."""
    terminal_stranded: int
    """How many were left when a run ended, because hooks kept making new ones."""
