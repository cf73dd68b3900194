"""How much each step read and wrote, and how long it took."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from agentfootprint.flow.watch.recorder import Recorder, channel_of
from agentfootprint.flow.watch.sightings import CommitSeen, PauseSeen, ReadSeen, StageEnded, StageStarted, WriteSeen
from agentfootprint.trace import KeyedStore

__all__ = ["MetricRecorder", "Metrics", "StageMetrics", "StepMetrics"]


@dataclass(slots=True)
class StepMetrics:
    """Counts of one step."""

    stage_name: str
    reads: int = 0
    writes: int = 0
    commits: int = 0
    """Further ones are empty, of branches and mounts that ended."""
    pauses: int = 0
    duration_ms: float = 0.0
    """Of its function; 0 when it did not return."""

    def to_wire(self) -> dict[str, Any]:
        """The counts as plain JSON."""
        return {
            "stageName": self.stage_name,
            "readCount": self.reads,
            "writeCount": self.writes,
            "commitCount": self.commits,
            "pauseCount": self.pauses,
            "duration": self.duration_ms,
        }


@dataclass(slots=True)
class StageMetrics(StepMetrics):
    """Counts of all executions of the stages of one name."""

    invocations: int = 0

    def to_wire(self) -> dict[str, Any]:
        """The counts as plain JSON."""
        wire = {key: value for key, value in StepMetrics.to_wire(self).items() if key != "duration"}
        return {**wire, "totalDuration": self.duration_ms, "invocationCount": self.invocations}


@dataclass(frozen=True, slots=True)
class Metrics:
    """Counts of a run, in all and by stage name."""

    reads: int
    writes: int
    commits: int
    pauses: int
    duration_ms: float
    """Sum over the steps: more than the run took, where branches ran side by side."""
    stages: dict[str, StageMetrics]


class MetricRecorder(Recorder):
    """Counts what each step does, by its runtime stage id, so that parallel branches stay apart.

    Args:
        id: Unique by default.
        stages: Names of the stages to count, or a function that says so; all by default.
    """

    label = "metrics"

    def __init__(self, id: str | None = None, *, stages: Collection[str] | Callable[[str], bool] | None = None) -> None:
        super().__init__(id)
        self._stages = stages
        self._steps = KeyedStore[StepMetrics]()

    def clear(self) -> None:
        """Forget everything: another run begins."""
        self._steps.clear()

    def on_stage_start(self, event: StageStarted) -> None:
        """A step exists from here on, whatever it does."""
        self._of(event)

    def on_read(self, event: ReadSeen) -> None:
        """Count it."""
        self._of(event).reads += 1

    def on_write(self, event: WriteSeen) -> None:
        """Count it."""
        self._of(event).writes += 1

    def on_commit(self, event: CommitSeen) -> None:
        """Count it."""
        self._of(event).commits += 1

    def on_stage_end(self, event: StageEnded) -> None:
        """Add its time."""
        self._of(event).duration_ms += event.duration

    def on_pause(self, event: PauseSeen) -> None:
        """Count it, once of the two."""
        if channel_of(event) == "scope" and isinstance(event.runtime_stage_id, str):
            self._at(event.runtime_stage_id, event.stage_name).pauses += 1

    def step(self, runtime_stage_id: str) -> StepMetrics | None:
        """The counts of one step; None when it did not run or is not counted."""
        found = self._steps.get(runtime_stage_id)
        return found if found is not None and self._counts(found.stage_name) else None

    def steps(self) -> dict[str, StepMetrics]:
        """The counts of all steps, by runtime stage id."""
        return {step: counts for step, counts in self._steps.items() if self._counts(counts.stage_name)}

    def metrics(self, visible: Collection[str] | None = None) -> Metrics:
        """The counts in all.

        Args:
            visible: Only of these steps: what they were at a moment of the run.
        """
        steps = [step for name, step in self.steps().items() if visible is None or name in visible]
        stages: dict[str, StageMetrics] = {}
        for step in steps:
            stage = stages.setdefault(step.stage_name, StageMetrics(step.stage_name))
            stage.invocations += 1
            stage.reads += step.reads
            stage.writes += step.writes
            stage.commits += step.commits
            stage.pauses += step.pauses
            stage.duration_ms += step.duration_ms
        return Metrics(*_sums(stages.values()), stages)

    def to_snapshot(self) -> dict[str, Any]:
        """The counts in wire form."""
        total = self.metrics()
        return {
            "name": "Metrics",
            "description": "What each step read and wrote, and its time.",
            "preferredOperation": "aggregate",
            "data": {
                "numericField": "readCount",
                "totalReads": total.reads,
                "totalWrites": total.writes,
                "totalCommits": total.commits,
                "totalPauses": total.pauses,
                "totalDuration": total.duration_ms,
                "stages": {name: stage.to_wire() for name, stage in total.stages.items()},
                "steps": {name: step.to_wire() for name, step in self.steps().items()},
            },
        }

    def _counts(self, stage_name: str) -> bool:
        wanted = self._stages
        return wanted is None or (wanted(stage_name) if callable(wanted) else stage_name in wanted)

    def _of(self, event: StageStarted | ReadSeen | WriteSeen | CommitSeen | StageEnded) -> StepMetrics:
        return self._at(event.runtime_stage_id, event.stage_name)

    def _at(self, runtime_stage_id: str, stage_name: str) -> StepMetrics:
        step = self._steps.get(runtime_stage_id)
        if step is None:
            step = StepMetrics(stage_name)
            self._steps.set(runtime_stage_id, step)
        return step


def _sums(stages: Iterable[StepMetrics]) -> tuple[int, int, int, int, float]:
    each = list(stages)
    return (
        sum(stage.reads for stage in each),
        sum(stage.writes for stage in each),
        sum(stage.commits for stage in each),
        sum(stage.pauses for stage in each),
        sum(stage.duration_ms for stage in each),
    )
