"""Which pieces were there for a call and did not reach it.

A pure difference by id: that a piece was dropped says nothing about whether it should have been sent, and most
drops are right (06:MISS-2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentfootprint.explain.model import Shape
from agentfootprint.explain.words import counted

__all__ = ["DroppedContext", "Unit", "find_dropped_context"]


@dataclass(frozen=True, slots=True)
class Unit(Shape):
    """A piece that can be sent to a model, known by its id."""

    id: str
    content: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedContext(Shape):
    """What was available and not sent."""

    dropped: tuple[Unit, ...]
    """In the order they were available, each id once."""
    available_count: int
    """Distinct ids that were available."""
    sent_count: int
    """Distinct ids that were sent."""
    reason: str
    """The difference in words."""

    @property
    def any_dropped(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self.dropped)

    def to_wire(self) -> dict[str, Any]:
        """The difference under the keys of the wire."""
        return {**Shape.to_wire(self), "anyDropped": self.any_dropped}


def find_dropped_context(available: Sequence[Unit], sent: Sequence[Unit]) -> DroppedContext:
    """The units that were available and not sent (06:MISS-1). Cost O(available + sent).

    Args:
        available: What was there for the call; of units with one id the first counts.
        sent: What the call carried; ids that were never available change nothing.
    """
    there = {unit.id: unit for unit in reversed(available)}
    first = dict.fromkeys(unit.id for unit in available)
    carried = {unit.id for unit in sent}
    dropped = tuple(there[name] for name in first if name not in carried)
    reason = f"{counted(len(dropped), 'piece')} of {len(first):,} not sent"
    return DroppedContext(dropped=dropped, available_count=len(first), sent_count=len(carried), reason=reason)
