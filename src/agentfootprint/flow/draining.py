"""How waiting for unfinished work ended: what `drain_observers` and `flush_all_detached` give."""

from __future__ import annotations

from agentfootprint.trace import Record

__all__ = ["DrainResult"]


class DrainResult(Record, frozen=True, gc=False, rename="camel", omit_defaults=False):
    """What became of the work that was under way when the waiting began, and of what came meanwhile."""

    done: int = 0
    """How many ended well while it was waited for."""
    failed: int = 0
    """How many raised, or were cancelled."""
    pending: int = 0
    """How many were left when the time was up."""
