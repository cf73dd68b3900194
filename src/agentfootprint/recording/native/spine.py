"""How control usually moves on, so that only the unusual is written (01b LIN-14).

The writer and the reader of rows follow the same executions with the same rules and so agree on what "usual" is.
"""

from __future__ import annotations

from agentfootprint.trace import CHILD, ENTRY, NEXT, StageInfo

__all__ = ["Spine"]


class Spine:
    """The executions so far, as far as the next one's place depends on them.

    Args:
        stages: The chart's stages, by number.
    """

    def __init__(self, stages: tuple[StageInfo, ...]) -> None:
        self._stages = stages
        self.latest: dict[int, int] = {}
        """Index of the latest execution of each stage, by the stage's number."""
        self._last: dict[int, int] = {}
        """Index of the last execution on the line of each runtime, by the index of its mount."""

    def usual(self, info: StageInfo) -> tuple[int, int, int]:
        """Link, parent and mount that an execution of this stage would usually have."""
        mount = -1 if info.mount < 0 else self.latest.get(info.mount, -1)
        if info.branch_of >= 0:
            return CHILD, self.latest.get(info.branch_of, -1), mount
        if mount not in self._last:
            return ENTRY, mount, mount
        return NEXT, self._last[mount], mount

    def begin(self, info: StageInfo, index: int, link: int, mount: int) -> None:
        """An execution began."""
        self.latest[info.number] = index
        if link != CHILD:
            self._last[mount] = index

    def leave(self, mount: int) -> None:
        """A mount's execution has ended: nothing begins in it any more."""
        self._last.pop(mount, None)
