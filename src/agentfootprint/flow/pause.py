"""Stopping to ask, and what must be kept so that the run can go on, here or in another process.

A checkpoint shares the run's frozen values, so nothing done later reaches it and nothing done to it reaches the run;
`to_wire` writes it as JSON of the caller's own (2.6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agentfootprint.flow.again.fingerprint import Fingerprint, chart_changed, fingerprint_from_wire, fingerprint_of
from agentfootprint.flow.again.points import Frame, MountFrame, PausePoint, frames_to_wire, point_from_wire
from agentfootprint.flow.again.reading import (
    count_at,
    malformed,
    object_at,
    objects_at,
    text_at,
    texts_at,
)
from agentfootprint.flow.again.sealing import opened, sealed
from agentfootprint.trace import (
    ABSENT,
    Execution,
    FrozenDict,
    Journal,
    StageInfo,
    Value,
    project_subflow_results,
    project_tree,
    thaw,
)

__all__ = ["PauseCheckpoint", "PauseSignal"]

_SCHEMA: Final = 1
"""Version of what this module writes (24.3); a checkpoint without one is read too."""


class PauseSignal(BaseException):
    """Unwinds a run that stops to ask. No failure: it starts no error handling and cancels nobody (DEC-32)."""

    def __init__(
        self,
        execution: Execution,
        data: Value,
        *,
        by: str | None = None,
        answers: tuple[Value, ...] = (),
        half: Value = ABSENT,
    ) -> None:
        super().__init__(execution.runtime_stage_id)
        self.execution = execution
        self.data = data
        self.by = by
        self.answers = answers
        self.half = half
        self.frames: list[Frame] = []
        """What was under way around the stage, innermost first: each adds itself while the signal passes."""

    def point(self) -> PausePoint:
        """Where it stopped, as plain data."""
        frames = tuple(reversed(self.frames))
        return PausePoint(self.execution.info.id, self.data, self.by, self.answers, self.half, frames)


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseCheckpoint:
    """Where a run stopped, with all that a resume needs.

    The wire keys `schemaVersion`, `chartFingerprint`, `interruptAnswers`, `resumeInput`, `resumeFrames`,
    `runInput`, `sensitive` and `redactedKeys` are additions to 2.6; a checkpoint without them is read too. Without
    `chartFingerprint` a resume does not ask whether the chart is still the same.
    """

    state: FrozenDict = field(repr=False)
    """Top-level state (wire key `sharedState`)."""
    paused_stage_id: str
    subflow_path: tuple[str, ...] = ()
    """Ids of the mounts it paused in, outermost first."""
    pause_data: Value = field(default=None, repr=False)
    subflow_states: FrozenDict = field(default_factory=lambda: FrozenDict({}), repr=False)
    """State of each of those mounts, by subflow id."""
    execution_count: int = 0
    visit_counts: FrozenDict = field(default_factory=lambda: FrozenDict({}))
    """Executions of each stage so far, by full id."""
    invoker_stage_id: str | None = None
    continuation_stage_id: str | None = None
    paused_by: str | None = None
    """`interrupt` when the stage asked in the middle of its work: then it runs again from its top."""
    paused_at: int = 0
    """Milliseconds since 1970."""
    run_input: FrozenDict | None = field(default=None, repr=False)
    """The paused run's input, so that `args` are there again; an additive key (FLOW-PAU-8)."""
    interrupt_answers: tuple[Value, ...] = field(default=(), repr=False)
    """Answers to the questions the stage had asked before this one (FLOW-PAU-14)."""
    resume_input: Value = field(default=ABSENT, repr=False)
    """What the second half of the stage had been given, when it was that one that asked."""
    sensitive: bool = False
    """Whether values in it were redacted in the run's record; it has them all (FLOW-RED-14)."""
    redacted_keys: tuple[str, ...] = ()
    """Keys that writes of the run redacted: they stay so after a resume."""
    frames: tuple[Frame, ...] = field(default=(), repr=False)
    """What was under way around the stage, outermost first."""
    fingerprint: Fingerprint | None = field(default=None, repr=False)
    """The chart it was read for; made from `stages` when it is written."""
    stages: Sequence[StageInfo] | None = field(default=None, repr=False, compare=False)
    """The chart's stages, where this process has them."""
    journal: Journal | None = field(default=None, repr=False, compare=False)
    """The run's rows, where this process has them: `to_wire` writes tree and subflow results from them."""
    row_count: int = field(default=0, repr=False, compare=False)
    """How many rows there were at the pause."""
    tree: Value = field(default=None, repr=False, compare=False)
    """The execution tree as it was read, in a checkpoint that came over the wire; a resume never looks at it."""

    @property
    def point(self) -> PausePoint:
        """Where the run stands."""
        return PausePoint(
            self.paused_stage_id,
            self.pause_data,
            self.paused_by,
            self.interrupt_answers,
            self.resume_input,
            self.frames or _mounts(self.subflow_path, dict(self.subflow_states.items())),
        )

    def refusal(self, stages: Sequence[StageInfo], name: str) -> Exception | None:
        """Why the chart with these stages is not the one that paused, or None (24.3)."""
        if self.stages is stages:
            return None
        paused = self.fingerprint if self.stages is None else fingerprint_of(self.stages)
        return None if paused is None else chart_changed(paused, fingerprint_of(stages), name)

    def to_wire(self, *, seal: Callable[[bytes], bytes] | None = None) -> dict[str, Any]:
        """The checkpoint as plain JSON that the caller owns.

        Args:
            seal: Encrypts it, so that it may be kept where others read: gets and gives bytes. Without it, keys of the
                run's input that a policy hides are left out (FLOW-PAU-8); everything else has its real value.

        Raises:
            CheckpointError: A branch of a fork had ended with what JSON can't hold; `field` is the way to it.
        """
        journal = None if self.journal is None else self.journal.until(self.row_count)
        tree = self.tree if journal is None else project_tree(journal)
        wire: dict[str, Any] = {
            "schemaVersion": _SCHEMA,
            "sharedState": thaw(self.state),
            "executionTree": thaw(tree) if journal is None else tree,
            "pausedStageId": self.paused_stage_id,
            "subflowPath": list(self.subflow_path),
            "pauseData": thaw(self.pause_data),
            "subflowStates": thaw(self.subflow_states),
            "executionCount": self.execution_count,
            "visitCounts": thaw(self.visit_counts),
            "pausedAt": self.paused_at,
        }
        if journal is not None:
            results = {
                key: {**result, "treeContext": {k: v for k, v in result["treeContext"].items() if k != "history"}}
                for key, result in project_subflow_results(journal).items()
                if "#" not in key
            }
            if results:
                wire["subflowResults"] = results
        optional = {
            "invokerStageId": self.invoker_stage_id,
            "continuationStageId": self.continuation_stage_id,
            "pausedBy": self.paused_by,
            "runInput": self._input_to_wire(is_sealed=seal is not None),
            "interruptAnswers": thaw(list(self.interrupt_answers)) or None,
        }
        wire.update({key: value for key, value in optional.items() if value is not None})
        if self.resume_input is not ABSENT:
            wire["resumeInput"] = thaw(self.resume_input)
        if any(not isinstance(frame, MountFrame) or frame.args is not None for frame in self.frames):
            wire["resumeFrames"] = frames_to_wire(self.frames, states=False)  # else the path and the states say it all
        fingerprint = self.fingerprint if self.stages is None else fingerprint_of(self.stages)
        if fingerprint is not None:
            wire["chartFingerprint"] = fingerprint.to_wire()
        if self.sensitive:
            wire["sensitive"] = True
        if self.redacted_keys:
            wire["redactedKeys"] = list(self.redacted_keys)
        return wire if seal is None else sealed(wire, seal)

    def _input_to_wire(self, *, is_sealed: bool) -> dict[str, Any] | None:
        veil = None if self.journal is None else self.journal.veil
        if self.run_input is None or veil is None or is_sealed:
            return None if self.run_input is None else thaw(self.run_input)
        return {key: thaw(value) for key, value in self.run_input.items() if not veil.hides(key)}

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any], *, unseal: Callable[[bytes], bytes] | None = None) -> PauseCheckpoint:
        """Read a checkpoint, from this or another implementation (FLOW-PAU-4).

        Args:
            wire: What `to_wire` gave.
            unseal: Decrypts a sealed one: the counterpart of the `seal` it was written with.

        Raises:
            CheckpointError: A member is missing or has the wrong shape, or it is sealed and can't be opened; `field`
                is its key.
        """
        if not isinstance(wire, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  it may come from a file
            raise malformed("checkpoint", "an object")
        wire = opened(wire, unseal)
        _check_version(wire)
        if not isinstance(wire.get("subflowResults", {}), Mapping):  # a resume never looks at them
            raise malformed("subflowResults", "an object")
        states = objects_at(wire, "subflowStates")
        path = texts_at(wire, "subflowPath")
        point = point_from_wire(wire, states=states)
        frames = point.frames or _mounts(path, states)
        if tuple(frame.id for frame in frames if isinstance(frame, MountFrame)) != path:
            raise malformed("resumeFrames", "in agreement with its 'subflowPath'")
        visits = object_at(wire, "visitCounts", default={})
        for name in visits:
            count_at(visits, name, "visitCounts.")
        return cls(
            state=object_at(wire, "sharedState"),
            paused_stage_id=point.stage_id,
            subflow_path=path,
            pause_data=point.data,
            subflow_states=FrozenDict(dict(states)),
            execution_count=count_at(wire, "executionCount"),
            visit_counts=visits,
            invoker_stage_id=text_at(wire, "invokerStageId"),
            continuation_stage_id=text_at(wire, "continuationStageId"),
            paused_by=point.by,
            paused_at=count_at(wire, "pausedAt"),
            run_input=None if wire.get("runInput") is None else object_at(wire, "runInput"),
            interrupt_answers=point.answers,
            resume_input=point.half,
            sensitive=wire.get("sensitive") is True,
            redacted_keys=texts_at(wire, "redactedKeys") if "redactedKeys" in wire else (),
            frames=frames,
            fingerprint=fingerprint_from_wire(wire, "chartFingerprint"),
            tree=None if wire.get("executionTree") is None else object_at(wire, "executionTree"),
        )


def _check_version(wire: Mapping[str, Any]) -> None:
    version = wire.get("schemaVersion")
    if version is None:
        return
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise malformed("schemaVersion", "a whole number from 1")
    if version > _SCHEMA:
        raise malformed("schemaVersion", f"one this version can read: it is {version}, the newest known is {_SCHEMA}")


def _mounts(path: Sequence[str], states: Mapping[str, FrozenDict]) -> tuple[MountFrame, ...]:
    """The frames of a checkpoint that says no more than which mounts it paused in."""
    return tuple(MountFrame(name, _state_of(name, states)) for name in path)


def _state_of(name: str, states: Mapping[str, FrozenDict]) -> FrozenDict:
    local = name.rpartition("/")[2]
    if name not in states and local not in states:
        raise malformed("subflowStates", f"complete: the state of {name!r} is missing")
    return states[name] if name in states else states[local]
