"""Where does a backward walk find what a value came from? In one log, or through the boundaries between several.

A position is a number that only the ground itself takes apart. The plain ground is one commit log: what it answers is
what the wire's slicer answers. `trace.crossing` has one that knows all runtimes of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Protocol, TypeAlias

import msgspec

from agentfootprint.trace.bundle import CommitBundle
from agentfootprint.trace.log import LogIndex

__all__ = ["EdgeKind", "Ground", "Link", "PlainGround"]

EdgeKind: TypeAlias = Literal["data", "control", "map"]
"""`map` is a data edge that crosses a boundary: a mount, a branch namespace, or between a key and a place in it."""


class Link(msgspec.Struct, frozen=True, gc=False):
    """One write that a value came from."""

    position: int
    """Of the bundle that wrote it."""
    path: str
    """The trace path that it wrote."""
    key: str
    """The key by which it was asked for."""
    kind: EdgeKind = "data"
    source: str | None = None
    """Of a `map` edge: the key on the other side of the boundary, segments joined by a dot."""
    through: tuple[str, ...] = ()
    """Of a `map` edge: runtime stage ids of the mounts whose boundary it crosses."""


class Ground(Protocol):
    """What a backward walk stands on."""

    repeats: ClassVar[bool]
    """Whether it may lead from one step to the same write twice."""

    def bundle(self, position: int) -> CommitBundle:
        """The bundle at a position."""
        ...

    def last_position(self, runtime_stage_id: str) -> int | None:
        """Where a step is looked at when nothing but its id is known."""
        ...

    def behind(self, key: str, position: int) -> Sequence[Link]:
        """The writes that a step at a position saw when it read a key."""
        ...

    def handed(self, position: int) -> Sequence[Link]:
        """What a step at a position was handed without reading it: the input of its mount, when it used that."""
        ...

    def inside(self, position: int, path: str) -> Sequence[Link] | None:
        """Where what a mount wrote back at a path came from; `None` when the bundle is a step's own, for any path."""
        ...


class PlainGround:
    """One commit log, matched exactly by trace path (FLOW-SLC-2)."""

    repeats: ClassVar[bool] = False

    def __init__(self, index: LogIndex) -> None:
        self._index = index

    def bundle(self, position: int) -> CommitBundle:
        """The bundle at a position of the log."""
        return self._index[position]

    def last_position(self, runtime_stage_id: str) -> int | None:
        """The last bundle of a step."""
        return self._index.last_position(runtime_stage_id)

    def behind(self, key: str, position: int) -> Sequence[Link]:
        """The last bundle before a position that wrote exactly this key."""
        found = self._index.last_write_before(key, position)
        return () if found is None else (Link(found, key, key),)

    def handed(self, position: int) -> Sequence[Link]:  # noqa: ARG002  there is nothing around one log
        """Nothing: one log has no outside."""
        return ()

    def inside(self, position: int, path: str) -> Sequence[Link] | None:  # noqa: ARG002  there is nothing inside
        """Nothing: one log has no inside."""
        return None
