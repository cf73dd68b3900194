"""Where are the rows of a run whose early ones are in a file only? In one sequence, which reads those back.

A row's number never changes. Rows that a reader has not come to yet stay here until it has, up to a bound; what is read
back is let go of with the next rows that are.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol, overload

__all__ = ["MOST_HELD", "Place", "SpilledRows", "hold"]

MOST_HELD: Final = 65_536
"""How many rows are kept for a reader that is behind; what is further back it reads from the file."""


class Follower(Protocol):
    """Who reads rows in order."""

    @property
    def position(self) -> int:
        """The row that comes next."""
        ...


class Place:
    """Where somebody is who reads the rows themselves, which the file may not have as they were."""

    __slots__ = ("__weakref__", "position")

    def __init__(self) -> None:
        self.position = 0


class SpilledRows(Sequence[Any]):
    """The rows of a journal, early ones in a file.

    Args:
        read_back: Gives the rows that the file has.
    """

    def __init__(self, read_back: Callable[[], Sequence[Any]]) -> None:
        self.base = 0
        """How many rows are in the file only."""
        self.tail: list[Any] = []
        self._read_back = read_back
        self._followers: weakref.WeakSet[Any] = weakref.WeakSet()

    def append(self, row: Any) -> None:  # noqa: ANN401  rows of any room
        """Add a row."""
        self.tail.append(row)

    def hold(self, follower: Follower) -> None:
        """Keep the rows that a reader has not come to."""
        self._followers.add(follower)

    def needed(self, end: int, most: int = MOST_HELD) -> int:
        """The first row before `end` that a reader still has to come to; `end` when there is none.

        Args:
            end: Everything before it may go.
            most: How many rows are kept for readers of events.
        """
        first = end
        for follower in self._followers:
            least = 0 if isinstance(follower, Place) else end - most
            first = min(first, max(follower.position, least))
        return first

    def cut(self, kept: int) -> None:
        """Keep only the rows from a number on."""
        if kept > self.base:
            del self.tail[: kept - self.base]
            self.base = kept

    def __len__(self) -> int:
        return self.base + len(self.tail)

    @overload
    def __getitem__(self, place: int) -> Any: ...  # noqa: ANN401  rows of any room
    @overload
    def __getitem__(self, place: slice) -> list[Any]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        if place < 0:
            place += len(self)
        if place >= self.base:
            return self.tail[place - self.base]
        if place < 0:
            raise IndexError(place)
        rows = self._read_back()
        return rows[place] if place < len(rows) else None  # lost with a file that could not be written

    def __setitem__(self, place: int, row: Any) -> None:  # noqa: ANN401  rows of any room
        """Put another record in the place of a row that is here; one in the file is what it is."""
        if place >= self.base:
            self.tail[place - self.base] = row

    def __iter__(self) -> Iterator[Any]:
        position = 0
        while position < len(self):
            if position < self.base:
                early = self._read_back()[position : self.base]
                yield from early
                position += len(early)
                while position < self.base and not early:
                    yield None
                    position += 1
            else:
                yield self.tail[position - self.base]
                position += 1

    def __reversed__(self) -> Iterator[Any]:
        for position in range(len(self) - 1, -1, -1):
            yield self[position]


def hold(rows: Sequence[Any]) -> Place:
    """A place in the rows of a journal, which keeps what comes after it where rows are let go of."""
    place = Place()
    if isinstance(rows, SpilledRows):
        rows.hold(place)
    return place
