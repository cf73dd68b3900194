"""How good each step was, by the judgement of the caller (FLOW-QLT-1 to 3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from agentfootprint.flow.watch.recorder import Recorder
from agentfootprint.flow.watch.sightings import CommitSeen, ReadSeen, StageEnded, WriteSeen
from agentfootprint.trace import (
    AnyBundle,
    KeyedStore,
    QualityScore,
    QualityTrace,
    ReadsLookup,
    quality_trace,
)

__all__ = ["QualityRecorder", "Scorer", "StepFacts"]


@dataclass(frozen=True, slots=True)
class StepFacts:
    """What a step did, for who judges it."""

    stage_name: str
    stage_id: str
    keys_read: tuple[str, ...]
    """In the order of first read."""
    keys_written: tuple[str, ...]
    """In the order of first write."""
    duration_ms: float


Verdict: TypeAlias = "float | QualityScore | Mapping[str, Any] | tuple[float, Sequence[str]]"
Scorer: TypeAlias = Callable[[StepFacts], Verdict]
"""Gives a score from 0 to 1, or one with the factors that spoke for it: `{"score": 0.7, "factors": ["short"]}`."""


class QualityRecorder(Recorder):
    """Asks for a score whenever a stage has ended, and keeps it under the step.

    Args:
        score: Judges a step; what it gives is brought between 0 and 1. When it raises or gives no number, the step
            has no score, and the failure counts as the recorder's.
        id: Unique by default.
    """

    label = "quality"

    def __init__(self, score: Scorer, *, id: str | None = None) -> None:
        super().__init__(id)
        self._judge = score
        self._scores = KeyedStore[QualityScore]()
        self._reads: dict[str, dict[str, None]] = {}
        self._writes: dict[str, dict[str, None]] = {}

    def clear(self) -> None:
        """Forget everything: another run begins."""
        self._scores.clear()
        self._reads.clear()
        self._writes.clear()

    def on_read(self, event: ReadSeen) -> None:
        """Note the key under the step that read it."""
        self._reads.setdefault(event.runtime_stage_id, {})[event.key] = None

    def on_write(self, event: WriteSeen) -> None:
        """Note the key under the step that wrote it."""
        self._writes.setdefault(event.runtime_stage_id, {})[event.key] = None

    def on_stage_end(self, event: StageEnded) -> None:
        """Judge the step."""
        step = event.runtime_stage_id
        facts = StepFacts(
            event.stage_name,
            event.stage_id,
            tuple(self._reads.get(step, ())),
            tuple(self._writes.get(step, ())),
            event.duration,
        )
        self._scores.set(step, _score(self._judge(facts)))

    def on_commit(self, event: CommitSeen) -> None:
        """Let go what was noted for the step."""
        self._reads.pop(event.runtime_stage_id, None)
        self._writes.pop(event.runtime_stage_id, None)

    def score_of(self, runtime_stage_id: str) -> QualityScore | None:
        """The score of a step: what `quality_trace` takes as its source."""
        return self._scores.get(runtime_stage_id)

    def scores(self) -> dict[str, QualityScore]:
        """All scores, by runtime stage id."""
        return dict(self._scores.items())

    def overall(self) -> float:
        """The mean of all scores; 1 when there is none."""
        return self._mean(None)

    def score_up_to(self, visible: Collection[str]) -> float:
        """The mean of the scores of the visible steps; 1 when there is none."""
        return self._mean(visible)

    def lowest(self) -> tuple[str, QualityScore] | None:
        """The step with the lowest score, the first of several."""
        return min(self._scores.items(), key=lambda item: item[1].score, default=None)

    def trace(
        self, log: Sequence[AnyBundle], start_id: str, keys_read: ReadsLookup, *, max_depth: int = 20
    ) -> QualityTrace:
        """Follow the causes of a step and find where quality dropped (FLOW-QLT-2); see `quality_trace`."""
        return quality_trace(log, start_id, keys_read, self.score_of, max_depth=max_depth)

    def to_snapshot(self) -> dict[str, Any]:
        """The scores in wire form."""
        lowest = self.lowest()
        steps = {step: _wire(score) for step, score in self._scores.items()}
        data: dict[str, Any] = {"numericField": "score", "overallScore": self.overall(), "steps": steps}
        if lowest is not None:
            data["lowestStep"] = {"runtimeStageId": lowest[0], **_wire(lowest[1])}
        return {
            "name": "Quality",
            "description": "How good each step was.",
            "preferredOperation": "aggregate",
            "data": data,
        }

    def _mean(self, visible: Collection[str] | None) -> float:
        scores = [score.score for step, score in self._scores.items() if visible is None or step in visible]
        return sum(scores) / len(scores) if scores else 1.0


def _score(verdict: Verdict) -> QualityScore:
    factors: Sequence[str] = ()
    if isinstance(verdict, QualityScore):
        value, factors = verdict.score, verdict.factors
    elif isinstance(verdict, Mapping):
        value, factors = verdict["score"], verdict.get("factors") or ()
    elif isinstance(verdict, tuple):
        value, factors = verdict
    else:
        value = verdict
    number = float(value)
    if math.isnan(number):
        raise ValueError("the score of a step is not a number")
    return QualityScore(min(1.0, max(0.0, number)), tuple(map(str, factors)))


def _wire(score: QualityScore) -> dict[str, Any]:
    return {"score": score.score, "factors": list(score.factors)}
