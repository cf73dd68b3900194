"""Where along the causes of a result its quality dropped.

Scores come from whoever judged the steps; a drop says where to look, never what the cause was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agentfootprint.trace.bundle import AnyBundle
from agentfootprint.trace.questions.chain import causal_chain, flatten_causal_chain
from agentfootprint.trace.questions.sources import ReadsLookup
from agentfootprint.trace.values import Record, thaw

__all__ = [
    "QualityDrop",
    "QualityFrame",
    "QualityScore",
    "QualityTrace",
    "format_quality_trace",
    "quality_trace",
    "quality_trace_to_json",
]


class QualityScore(Record, frozen=True, gc=False, rename="camel"):
    """How good a step was, from 0 to 1, and what spoke for that."""

    score: float
    factors: tuple[str, ...] = ()


class QualityFrame(Record, frozen=True, gc=False, rename="camel"):
    """A step on the way back, with its score; -1 when nobody scored it."""

    runtime_stage_id: str
    stage_name: str
    score: float
    factors: tuple[str, ...]
    linked_by: str
    depth: int


class QualityDrop(Record, frozen=True, gc=False, rename="camel"):
    """The largest fall in quality from a cause to what it caused."""

    frame: QualityFrame
    previous_frame: QualityFrame
    drop: float


@dataclass(frozen=True, slots=True)
class QualityTrace:
    """Scores along the causes of one step. Print it; `quality_trace_to_json` makes what files hold."""

    start_id: str
    start_score: float
    frames: tuple[QualityFrame, ...]
    largest_drop: QualityDrop | None = None
    """The wire calls it `rootCause`; it is a place to look, no proof."""

    def __str__(self) -> str:
        return format_quality_trace(self)


def quality_trace(
    log: Sequence[AnyBundle],
    start_id: str,
    keys_read: ReadsLookup,
    scores: Callable[[str], QualityScore | None],
    *,
    max_depth: int = 20,
) -> QualityTrace:
    """Follow the causes of a step and find the largest drop in score (FLOW-QLT-2).

    Args:
        log: The commit log of one runtime, in either form, or a `LogIndex` of it.
        start_id: Runtime stage id of the step to explain.
        keys_read: What each step read.
        scores: The score of a step by its id, `None` when it has none.
        max_depth: Levels to go back.

    Returns:
        The trace; without frames, and with the score -1, when the step has no score or isn't in the log.
    """
    start = scores(start_id)
    root = None if start is None else causal_chain(log, start_id, keys_read, max_depth=max_depth)
    if start is None or root is None:
        return QualityTrace(start_id, -1, ())
    frames: list[QualityFrame] = []
    for node in flatten_causal_chain(root):
        found = scores(node.runtime_stage_id) or QualityScore(-1)
        frames.append(
            QualityFrame(node.runtime_stage_id, node.stage_name, found.score, found.factors, node.linked_by, node.depth)
        )
    return QualityTrace(start_id, start.score, tuple(frames), _largest_drop(frames))


def _largest_drop(frames: Sequence[QualityFrame]) -> QualityDrop | None:
    by_depth: dict[int, list[QualityFrame]] = {}
    for frame in frames:
        by_depth.setdefault(frame.depth, []).append(frame)
    largest: QualityDrop | None = None
    for frame in frames:
        for cause in by_depth.get(frame.depth + 1, ()) if frame.score >= 0 else ():
            drop = cause.score - frame.score
            if cause.score >= 0 and drop > (0 if largest is None else largest.drop):
                largest = QualityDrop(frame, cause, drop)
    return largest


def quality_trace_to_json(trace: QualityTrace) -> dict[str, Any]:
    """A quality trace as files hold it."""
    wire: dict[str, Any] = {
        "startId": trace.start_id,
        "startScore": trace.start_score,
        "frames": [thaw(frame) for frame in trace.frames],
    }
    if trace.largest_drop is not None:
        wire["rootCause"] = thaw(trace.largest_drop)
    return wire


def format_quality_trace(trace: QualityTrace) -> str:
    """A quality trace as text, a line a step."""
    if not trace.frames:
        return f"Quality Trace: no data for {trace.start_id}"
    lines = [f"Quality Trace (score: {trace.start_score:.2f} at {trace.start_id}):"]
    for frame in trace.frames:
        via = f" (via {frame.linked_by})" if frame.linked_by else ""
        factors = f" — {', '.join(frame.factors)}" if frame.factors else ""
        lines.append(f"  at {frame.runtime_stage_id:<30} score={_score(frame.score)}{via}{factors}")
    if trace.largest_drop is not None:
        fell = trace.largest_drop
        at, before, after = fell.frame.runtime_stage_id, fell.previous_frame.score, fell.frame.score
        lines += ["", f"Root cause: quality dropped at {at} ({before:.2f} → {after:.2f}, Δ{fell.drop:.2f})"]
    return "\n".join(lines)


def _score(score: float) -> str:
    return f"{score:.2f}" if score >= 0 else "unknown"
