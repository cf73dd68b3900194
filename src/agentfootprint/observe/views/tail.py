"""Which events are kept of a stream that never ends: the latest, and how many went before them (REC-2)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

from agentfootprint.events import Event
from agentfootprint.observe.views.reading import View

__all__ = ["EventTail", "Tail"]

T = TypeVar("T")

_MOST: Final = 10_000


class Tail(Generic[T]):
    """The latest items of a stream.

    Args:
        max_events: How many are kept; a fraction counts as the whole number below it, and what can't be a number of
            events (`None`, nothing, below one, not finite) as 10,000.
    """

    def __init__(self, max_events: float | None = None) -> None:
        usable = max_events is not None and math.isfinite(max_events) and max_events >= 1
        self._kept: deque[T] = deque(maxlen=int(max_events) if max_events is not None and usable else _MOST)
        self._pushed = 0

    def push(self, item: T) -> None:
        """Keep an item; the oldest goes when there are too many."""
        self._pushed += 1
        self._kept.append(item)

    @property
    def events(self) -> Sequence[T]:
        """A copy of what is kept, in order."""
        return tuple(self._kept)

    @property
    def event_count(self) -> int:
        """How many are kept."""
        return len(self._kept)

    @property
    def dropped_events(self) -> int:
        """How many went."""
        return self._pushed - len(self._kept)

    @property
    def first_retained_event_index(self) -> int:
        """The place in the stream of the first that is kept, from 0."""
        return self.dropped_events


class EventTail(View):
    """Keeps the latest events of all runs it is attached to.

    Args:
        max_events: How many; 10,000 without it.
    """

    name = "event-tail"

    def __init__(self, max_events: float | None = None) -> None:
        super().__init__()
        self.tail = Tail[Event[Any]](max_events)
        """What is kept, with its counters."""

    def hear(self, event: Event[Any]) -> None:
        """Keep one event."""
        self.tail.push(event)
