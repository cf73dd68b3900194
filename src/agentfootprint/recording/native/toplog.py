"""The commit log of the top of a run as an index: which commits there are, who wrote which key when.

A native recording has no such log; it has rows. This is the log that the rows come to, counted but not made: a bundle
is made when it is asked for. The readers of stored logs work on it unchanged.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Final, overload

import msgspec

from agentfootprint.trace import PATH_DELIMITER, CommitBundle, LogIndex

__all__ = ["MARKED", "Mark", "NativeLog", "TopLog"]

MARKED: Final = frozenset(
    f"agentfootprint.{name}"
    for name in (
        "agent.run_configured",
        "agent.turn_start",
        "agent.turn_end",
        "checkin.decision",
        "context.evaluated",
        "middleware.decision",
        "permission.check",
        "stream.llm_start",
        "stream.llm_end",
        "stream.tool_start",
        "stream.tool_end",
    )
)
"""The events that the questions to a recording are answered from."""


class Mark(msgspec.Struct, frozen=True, gc=False):
    """Where an event stands."""

    type: str
    where: int | str | None
    """Index of the execution it happened in, or the address."""
    row: int
    """Its place in the source: a row of the journal, a line of the file, or a position in the list of events."""
    position: int
    """How many commits of the top stood before it."""


class TopLog(Sequence[CommitBundle]):
    """The commits of the top, by position; whoever scans the rows fills the lists.

    Args:
        make: Makes the bundle at a position.
        step_of: The runtime stage id of an execution.
        refresh: Looks at what was added to the rows since.
    """

    def __init__(
        self, make: Callable[[int], CommitBundle], step_of: Callable[[int], str], refresh: Callable[[], object]
    ) -> None:
        self.executions: list[int] = []
        """Whose commit it is, by position."""
        self.rows: list[int] = []
        """The row that holds it, by position; -1 for an empty bundle."""
        self.paths: dict[str, list[int]] = {}
        """The positions that wrote a trace path."""
        self.keys: dict[str, list[int]] = {}
        """The positions that gave a key of the state another value."""
        self.nested: list[str] = []
        """Trace paths of more than one segment, in order of first write."""
        self.refresh = refresh
        self.step_of = step_of
        self._make = make
        self._counted = 0
        self._first_and_last: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self._bundles: dict[int, CommitBundle] = {}

    def add(self, execution: int, row: int) -> int:
        """Count a commit; gives its position."""
        self.executions.append(execution)
        self.rows.append(row)
        return len(self.executions) - 1

    def first(self, execution: int) -> int | None:
        """The first position of an execution: its own commit, unless it is a mount."""
        return self._ends()[0].get(execution)

    def last(self, execution: int) -> int | None:
        """The last position of an execution."""
        return self._ends()[1].get(execution)

    def _ends(self) -> tuple[dict[int, int], dict[int, int]]:
        """First and last positions, worked out when they are first asked for and after growth."""
        executions = self.executions
        if self._counted != len(executions):
            self._counted = len(executions)
            last = {execution: position for position, execution in enumerate(executions)}
            first = dict(zip(reversed(executions), range(len(executions) - 1, -1, -1), strict=True))
            self._first_and_last = first, last
        return self._first_and_last

    def wrote(self, path: str, position: int) -> None:
        """Note a trace path of the commit at a position."""
        positions = self.paths.get(path)
        if positions is None:
            self.paths[path] = [position]
            if PATH_DELIMITER in path:
                self.nested.append(path)
        elif positions[-1] != position:
            positions.append(position)

    def version(self, key: str, position: int) -> int | None:
        """The last commit before a position that wrote a key of the state."""
        positions = self.keys.get(key, ())
        place = bisect_left(positions, position)
        return positions[place - 1] if place else None

    def __len__(self) -> int:
        self.refresh()
        return len(self.executions)

    @overload
    def __getitem__(self, index: int) -> CommitBundle: ...
    @overload
    def __getitem__(self, index: slice) -> list[CommitBundle]: ...
    def __getitem__(self, index: int | slice) -> CommitBundle | list[CommitBundle]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        bundle = self._bundles.get(index)
        if bundle is None:
            if not -len(self) <= index < len(self):
                raise IndexError("commit log index out of range")
            position = index % len(self)
            bundle = self._bundles[position] = self._make(position)
        return bundle

    def __iter__(self) -> Iterator[CommitBundle]:
        return map(self.__getitem__, range(len(self)))


class NativeLog(LogIndex):
    """The commit log of a native recording with an index by path and by step, filled without making its bundles."""

    def __init__(self, top: TopLog) -> None:
        super().__init__(top)
        self._top = top
        self._writes = top.paths
        self._noted = 0

    def _refresh(self) -> None:
        self._top.refresh()
        nested = self._top.nested
        for place in range(self._noted, len(nested)):
            self._note_ancestors(nested[place])
        self._noted = len(nested)

    def last_position(self, runtime_stage_id: str) -> int | None:
        """The last bundle of a stage execution, which may have several (FLOW-MEM-30)."""
        self._refresh()
        index = runtime_stage_id.rpartition("#")[2]
        if not (index.isascii() and index.isdigit()):
            return None
        position = self._top.last(int(index))
        return position if position is not None and self._top.step_of(int(index)) == runtime_stage_id else None
