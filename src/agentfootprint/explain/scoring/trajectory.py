"""Into which iterations a commit log falls.

Pure functions of step ids. The partition is total: the prelude and the bodies of the frames, put together, are the
log in its order (06:TRJ-2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["LoopFrame", "Partition", "bucket_by_anchors", "find_loop_heads"]

_HEAD: Final = "sf-injection-engine"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopFrame:
    """One iteration: the step that opens it and all up to the next."""

    head_array_idx: int
    """Position of its first commit in the log."""
    body_ids: tuple[str, ...]

    def to_wire(self) -> dict[str, Any]:
        """The frame under the keys of the wire."""
        return {"headArrayIdx": self.head_array_idx, "bodyIds": list(self.body_ids)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A log as iterations."""

    frames: tuple[LoopFrame, ...]
    prelude: tuple[str, ...]
    """What was committed before the first iteration."""

    def to_wire(self) -> dict[str, Any]:
        """The partition under the keys of the wire."""
        return {"frames": [frame.to_wire() for frame in self.frames], "prelude": list(self.prelude)}


def bucket_by_anchors(log: Sequence[str], heads: Iterable[str]) -> Partition:
    """Cut a log before each head's first commit.

    Args:
        log: Step ids, in commit order.
        heads: Ids that open an iteration, in any order; unknown and repeated ones change nothing.
    """
    wanted, seen = set(heads), set[str]()
    starts: list[int] = []
    for index, step in enumerate(log):
        if step in wanted and step not in seen:
            seen.add(step)
            starts.append(index)
    ends = [*starts[1:], len(log)] if starts else []
    return Partition(
        frames=tuple(
            LoopFrame(head_array_idx=start, body_ids=tuple(log[start:end]))
            for start, end in zip(starts, ends, strict=True)
        ),
        prelude=tuple(log[: starts[0]] if starts else log),
    )


def find_loop_heads(log: Sequence[str], *, stage: str = _HEAD) -> list[str]:
    """The steps that open an iteration: the first commit of each entry into a stage, or into what is mounted there.

    Args:
        log: Step ids, in commit order.
        stage: The stage that an iteration begins with.
    """
    heads: list[str] = []
    inside = False
    for step in log:
        here = step.partition("#")[0].partition("/")[0] == stage
        if here and not inside:
            heads.append(step)
        inside = here
    return heads
