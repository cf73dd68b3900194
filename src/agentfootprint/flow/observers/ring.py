"""What waits, and what goes when there is no room: a queue with a bound (FLOW-OBS-5).

It never holds more than its capacity. Every arrival is counted, and every loss.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec import UNSET

from agentfootprint.flow.observers.options import Overflow

__all__ = ["BoundedRing", "Pushed"]

T = TypeVar("T")


class Pushed(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of an arrival."""

    accepted: bool
    evicted: Any = UNSET
    """What went to make room for it, if anything did."""


_TAKEN: Final = Pushed(accepted=True)
_REFUSED: Final = Pushed(accepted=False)


class BoundedRing(Generic[T]):
    """A first-in first-out queue of at most `capacity` items.

    Args:
        capacity: From 1 on.
        overflow: What happens to an arrival when it is full: `drop-oldest` takes it and evicts the oldest, `block`
            refuses it, `sample` takes every `sample_every`-th one, evicting the oldest, and drops the others.
        sample_every: See there; counted anew once there has been room.
    """

    __slots__ = ("_items", "_saturated", "capacity", "delivered", "drops", "overflow", "pushes", "rejections", "sample")

    def __init__(self, capacity: int, overflow: Overflow = "drop-oldest", *, sample_every: int = 10) -> None:
        self.capacity = capacity
        self.overflow = overflow
        self.sample = sample_every
        self.pushes = 0
        """Arrivals."""
        self.delivered = 0
        """Items handed out by `shift`."""
        self.drops = 0
        """Items lost: evicted, or not sampled."""
        self.rejections = 0
        """Items refused, which the caller still has."""
        self._items: deque[T] = deque()
        self._saturated = 0

    def push(self, item: T) -> Pushed:
        """Take an item in, or not; O(1)."""
        self.pushes += 1
        items = self._items
        if len(items) < self.capacity:
            self._saturated = 0
            items.append(item)
            return _TAKEN
        if self.overflow == "block":
            self.rejections += 1
            return _REFUSED
        self.drops += 1  # either the oldest goes, or this one
        if self.overflow == "sample":
            self._saturated += 1
            if self._saturated % self.sample:
                return _REFUSED
        evicted = items.popleft()
        items.append(item)
        return Pushed(accepted=True, evicted=evicted)

    def shift(self) -> T | None:
        """The oldest item, which leaves; None when it is empty."""
        if not self._items:
            return None
        self.delivered += 1
        self._saturated = 0
        return self._items.popleft()

    def clear(self) -> int:
        """Give up what is in it; gives how many that were."""
        count = len(self._items)
        self._items.clear()
        return count

    def __len__(self) -> int:
        return len(self._items)
