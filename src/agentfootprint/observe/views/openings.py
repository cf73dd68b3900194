"""Which tool calls are open, and which of them does a later event speak of?

Ids of calls repeat: in a batch, in a turn, over branches. A call is its address and its place in the batch (EVT-30);
where events don't say the place, starts and ends of one id are paired in order, and an end at another address, as a
resume sends it, belongs to the call of that id that is open still.
"""

from __future__ import annotations

from typing import Any, Generic, TypeAlias, TypeVar

from agentfootprint.events import Event
from agentfootprint.observe.views.reading import address_of, text_of, told

__all__ = ["OpenCalls", "never_ran"]

T = TypeVar("T")
Key: TypeAlias = tuple[str, int]


def never_ran(event: Event[Any]) -> bool:
    """Whether a tool event speaks of a call that was settled without being dispatched (AGT-90)."""
    return told(event.payload, "not_dispatched") is not None


class OpenCalls(Generic[T]):
    """What is known of each open call of one run, oldest first; nothing here costs more when many are open."""

    def __init__(self) -> None:
        self._open: dict[Key, tuple[str, T]] = {}
        self._by_id: dict[str, dict[Key, None]] = {}
        self._counted = 0

    def __len__(self) -> int:
        return len(self._open)

    def values(self) -> list[T]:
        """What is known of the open calls, in the order they were opened."""
        return [known for _, known in self._open.values()]

    def latest(self) -> T | None:
        """The call opened last of those that are open."""
        return next((known for _, known in reversed(self._open.values())), None)

    def open(self, event: Event[Any], known: T) -> None:
        """A `tool_start` has come."""
        self._counted += 1
        ordinal, call_id = event.meta.tool_ordinal, text_of(event.payload, "tool_call_id")
        key = address_of(event), -self._counted if ordinal is None else ordinal
        self._forget(key)
        self._open[key] = call_id, known
        self._by_id.setdefault(call_id, {})[key] = None

    def find(self, event: Event[Any]) -> T | None:
        """The open call that an event speaks of."""
        key = self._key(event)
        return None if key is None else self._open[key][1]

    def close(self, event: Event[Any]) -> T | None:
        """A `tool_end` has come: the call it ends, which is open no longer; `None` when it ends none."""
        key = self._key(event)
        return None if key is None else self._forget(key)

    def clear(self) -> None:
        """No call is open."""
        self._open.clear()
        self._by_id.clear()

    def _forget(self, key: Key) -> T | None:
        if key not in self._open:
            return None
        call_id, known = self._open.pop(key)
        same = self._by_id[call_id]
        del same[key]
        if not same:
            del self._by_id[call_id]
        return known

    def _key(self, event: Event[Any]) -> Key | None:
        address, ordinal = address_of(event), event.meta.tool_ordinal
        if ordinal is not None and (address, ordinal) in self._open:
            return address, ordinal
        keys = self._by_id.get(text_of(event.payload, "tool_call_id"))
        if not keys:
            return None
        return next((key for key in keys if key[0] == address), next(iter(keys)))
