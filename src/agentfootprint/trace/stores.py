"""How a recorder keeps what it saw, so that it can be asked by step and replayed up to a step.

`KeyedStore` holds one value a step, `SequenceStore` many entries in order, `CommitRangeIndex` spans of the log. All
are keyed by runtime stage id or position, never by "the current stage": parallel branches interleave.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Generic, TypeVar

from agentfootprint.trace.values import Record

__all__ = ["CommitRange", "CommitRangeIndex", "EntryRange", "KeyedStore", "RangeToken", "SequenceStore"]

T = TypeVar("T")
U = TypeVar("U")


class KeyedStore(Generic[T]):
    """One value for each step, in order of first write.

    Example:
        >>> store = KeyedStore[int]()
        >>> store.set("a#0", 2)
        >>> store.set("b#1", 3)
        >>> store.accumulate(lambda total, value: total + value, 0, keys=["a#0"])
        2
    """

    def __init__(self) -> None:
        self._values: dict[str, T] = {}

    def set(self, runtime_stage_id: str, value: T) -> None:
        """Keep a value; the last one counts."""
        self._values[runtime_stage_id] = value

    def get(self, runtime_stage_id: str) -> T | None:
        """The value of a step."""
        return self._values.get(runtime_stage_id)

    def delete(self, runtime_stage_id: str) -> bool:
        """Forget a step; whether there was a value."""
        return self._values.pop(runtime_stage_id, self) is not self

    def __contains__(self, runtime_stage_id: object) -> bool:
        return runtime_stage_id in self._values

    def __len__(self) -> int:
        return len(self._values)

    def keys(self) -> list[str]:
        """The steps that have a value."""
        return list(self._values)

    def values(self) -> list[T]:
        """The values, in the order of their steps."""
        return list(self._values.values())

    def items(self) -> list[tuple[str, T]]:
        """Steps with their values."""
        return list(self._values.items())

    def map(self, make: Callable[[T, str], U]) -> dict[str, U]:
        """Something made of each value and its step."""
        return {step: make(value, step) for step, value in self._values.items()}

    def aggregate(self, fold: Callable[[U, T], U], initial: U) -> U:
        """All values folded into one."""
        return self.accumulate(fold, initial)

    def accumulate(self, fold: Callable[[U, T], U], initial: U, keys: Collection[str] | None = None) -> U:
        """The values of the visible steps folded into one: a running total for time travel."""
        for step, value in self._values.items():
            if keys is None or step in keys:
                initial = fold(initial, value)
        return initial

    def filter_by_keys(self, keys: Collection[str]) -> list[T]:
        """The values of the visible steps."""
        return [value for step, value in self._values.items() if step in keys]

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()


class EntryRange(Record, frozen=True, gc=False, rename="camel"):
    """Where the entries of one step stand in a sequence."""

    first_idx: int
    end_idx: int
    """Exclusive."""


class SequenceStore(Generic[T]):
    """Entries in order, many for a step; an entry without a step is a marker that rides with the one before it."""

    def __init__(self) -> None:
        self._entries: list[T] = []
        self._steps: list[str | None] = []
        self._by_step: dict[str, list[int]] = {}

    def push(self, entry: T, runtime_stage_id: str | None = None) -> None:
        """Add an entry at the end."""
        if runtime_stage_id is not None:
            self._by_step.setdefault(runtime_stage_id, []).append(len(self._entries))
        self._entries.append(entry)
        self._steps.append(runtime_stage_id)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[T]:
        return iter(self._entries)

    @property
    def key_count(self) -> int:
        """How many steps have entries."""
        return len(self._by_step)

    def entries(self) -> list[T]:
        """All entries."""
        return list(self._entries)

    def entries_for_step(self, runtime_stage_id: str) -> list[T]:
        """The entries of one step."""
        return [self._entries[i] for i in self._by_step.get(runtime_stage_id, ())]

    def entry_ranges(self) -> dict[str, EntryRange]:
        """Where the entries of each step stand, with the markers that follow; leading markers are nobody's."""
        bounds: dict[str, tuple[int, int]] = {}
        last: str | None = None
        for i, step in enumerate(self._steps):
            last = step if step is not None else last
            if last is not None:
                bounds[last] = (bounds.get(last, (i, i))[0], i + 1)
        return {step: EntryRange(*bound) for step, bound in bounds.items()}

    def entries_up_to(self, visible: Collection[str]) -> list[T]:
        """The entries of the visible steps in order, with the markers between two of them."""
        shown: list[T] = []
        markers: list[T] = []
        follows_visible = False
        for entry, step in zip(self._entries, self._steps, strict=True):
            if step is None:
                if follows_visible:
                    markers.append(entry)
                continue
            follows_visible = step in visible
            if follows_visible:
                shown += [*markers, entry]
            markers.clear()
        return shown

    def accumulate(self, fold: Callable[[U, list[T]], U], initial: U, keys: Collection[str] | None = None) -> U:
        """The visible steps, each with its entries, folded into one; all steps when none are named."""
        for step in self._by_step:
            if keys is None or step in keys:
                initial = fold(initial, self.entries_for_step(step))
        return initial

    def clear(self) -> None:
        """Forget everything."""
        for kept in (self._entries, self._steps, self._by_step):
            kept.clear()


class CommitRange(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """A labelled span of the log; both ends belong to it, and without an end it reaches the present."""

    label: str
    start_idx: int
    end_idx: int | None = None


class RangeToken:
    """What `open` gives and `close` takes; of one index, good once."""

    __slots__ = ()


class CommitRangeIndex:
    """Which labelled spans of the log lie around a position: turns, iterations, calls."""

    def __init__(self) -> None:
        self._ranges: list[CommitRange] = []
        self._open: dict[RangeToken, int] = {}

    def open(self, label: str, start: int) -> RangeToken:
        """Begin a span at a log position."""
        token = RangeToken()
        self._open[token] = len(self._ranges)
        self._ranges.append(CommitRange(label, start))
        return token

    def close(self, token: RangeToken, end: int) -> None:
        """End a span at a log position, inclusive; a token that is spent or of another index does nothing."""
        slot = self._open.pop(token, None)
        if slot is not None:
            began = self._ranges[slot]
            self._ranges[slot] = CommitRange(began.label, began.start_idx, end)

    def enclosing(self, idx: int) -> list[CommitRange]:
        """The spans around a position, outermost first."""
        return self.overlapping(idx, idx)

    def overlapping(self, first: int, last: int) -> list[CommitRange]:
        """The spans that share a position with `first` to `last`, outermost first."""
        return _outer_first(each for each in self._ranges if each.start_idx <= last and _end(each) >= first)


def _end(span: CommitRange) -> float:
    return math.inf if span.end_idx is None else span.end_idx


def _outer_first(spans: Iterable[CommitRange]) -> list[CommitRange]:
    return sorted(spans, key=lambda span: (span.start_idx, -_end(span)))
