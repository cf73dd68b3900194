"""At which index of a board document does a record stand, and which ranges does a slot need?

A pool holds each record once. Indices are given in the order of first adding, so a list that only grows stays one
range; a record that is met again keeps its index, which is how "carried over" is told.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import msgspec

from agentfootprint.explain.board.shape import BoardRecord

__all__ = ["RecordPool"]


class RecordPool:
    """Collects the `records` of a board document and writes the ranges of its slots.

    Example:
        >>> pool = RecordPool()
        >>> user = pool.add({"slot": "messages", "kind": "user", "text": "May I return it?"})
        >>> tool = pool.add({"slot": "messages", "kind": "tool", "text": "Order A-1001: ..."})
        >>> pool.ranges([user, tool])
        [[0, 2]]
        >>> pool.add({"slot": "messages", "kind": "user", "text": "May I return it?"}, key="message-0") == user
        False
    """

    def __init__(self) -> None:
        self.records: list[BoardRecord] = []
        self._index: dict[Hashable, int] = {}

    def add(self, record: BoardRecord, *, key: Hashable = None) -> int:
        """Index of a record; added when it was not met before.

        Args:
            record: The record; ignored when its key is known.
            key: What makes two records the same one. `None`: all that is in it. Give a position or an id of your
                own where equal records are different ones (two equal messages of a history).

        Returns:
            The index, stable from then on.
        """
        if key is None:
            key = msgspec.json.encode(record, order="sorted")  # injective: two records with one key are equal
        index = self._index.get(key)
        if index is None:
            index = self._index[key] = len(self.records)
            self.records.append(record)
        return index

    @staticmethod
    def ranges(indices: Iterable[int]) -> list[list[int]]:
        """Indices, in their order, as the ranges `[from, to)` that `Slot.records` holds."""
        out: list[list[int]] = []
        for index in indices:
            if out and out[-1][1] == index:
                out[-1][1] = index + 1
            else:
                out.append([index, index + 1])
        return out
