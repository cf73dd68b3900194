"""Stopping to ask, and what must be kept so that the run can go on, here or in another process.

A checkpoint shares the run's frozen values, so nothing done later reaches it and nothing done to it reaches the run;
`to_wire` writes it as JSON of the caller's own (2.6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from agentfootprint.flow.errors import CheckpointError
from agentfootprint.trace import (
    Execution,
    FrozenDict,
    Journal,
    Value,
    ValueRefusedError,
    as_list,
    freeze,
    project_subflow_results,
    project_tree,
    thaw,
)

__all__ = ["PauseCheckpoint", "PauseSignal"]


class PauseSignal(BaseException):
    """Unwinds a run that stops to ask. No failure: it starts no error handling and cancels nobody (DEC-32)."""

    def __init__(self, execution: Execution, data: Value) -> None:
        super().__init__(execution.runtime_stage_id)
        self.execution = execution
        self.data = data
        self.states: list[tuple[str, FrozenDict]] = []
        """Subflow id and state of each mount on the way out, innermost first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseCheckpoint:
    """Where a run stopped, with all that a resume needs."""

    state: FrozenDict
    """Top-level state (wire key `sharedState`)."""
    paused_stage_id: str
    subflow_path: tuple[str, ...] = ()
    """Ids of the mounts it paused in, outermost first."""
    pause_data: Value = None
    subflow_states: FrozenDict = field(default_factory=lambda: FrozenDict({}))
    """State of each of those mounts, by subflow id."""
    execution_count: int = 0
    visit_counts: FrozenDict = field(default_factory=lambda: FrozenDict({}))
    """Executions of each stage so far, by full id."""
    invoker_stage_id: str | None = None
    continuation_stage_id: str | None = None
    paused_by: str | None = None
    paused_at: int = 0
    """Milliseconds since 1970."""
    run_input: FrozenDict | None = None
    """The paused run's input, so that `args` are there again; an additive key (FLOW-PAU-8)."""
    journal: Journal | None = field(default=None, repr=False, compare=False)
    """The run's rows, where this process has them: `to_wire` writes tree and subflow results from them."""
    row_count: int = field(default=0, repr=False, compare=False)
    """How many rows there were at the pause."""
    tree: Value = field(default=None, repr=False, compare=False)
    """The execution tree as it was read, in a checkpoint that came over the wire; a resume never looks at it."""

    def to_wire(self) -> dict[str, Any]:
        """The checkpoint as plain JSON that the caller owns."""
        journal = None if self.journal is None else self.journal.until(self.row_count)
        tree = self.tree if journal is None else project_tree(journal)
        wire: dict[str, Any] = {
            "sharedState": thaw(self.state),
            "executionTree": tree,
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
            "runInput": None if self.run_input is None else thaw(self.run_input),
        }
        wire.update({key: value for key, value in optional.items() if value is not None})
        return wire

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> PauseCheckpoint:
        """Read a checkpoint, from this or another implementation (FLOW-PAU-4).

        Raises:
            CheckpointError: A member is missing or has the wrong shape; `field` is its key.
        """
        if not isinstance(wire, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  it may come from a file
            raise _malformed("checkpoint", "an object")
        paused = wire.get("pausedStageId")
        if not isinstance(paused, str) or not paused:
            raise _malformed("pausedStageId", "a text that is not empty")
        path = as_list(wire.get("subflowPath"))
        if path is None or not all(isinstance(item, str) for item in path):
            raise _malformed("subflowPath", "a list of texts")
        run_input = wire.get("runInput")
        return cls(
            state=_object(wire, "sharedState"),
            paused_stage_id=paused,
            subflow_path=tuple(path),
            pause_data=_frozen("pauseData", wire.get("pauseData")),
            subflow_states=_object(wire, "subflowStates", default={}),
            execution_count=_count(wire, "executionCount"),
            visit_counts=_object(wire, "visitCounts", default={}),
            invoker_stage_id=_text(wire, "invokerStageId"),
            continuation_stage_id=_text(wire, "continuationStageId"),
            paused_by=_text(wire, "pausedBy"),
            paused_at=_count(wire, "pausedAt"),
            run_input=None if run_input is None else _object(wire, "runInput"),
            tree=wire.get("executionTree"),
        )


def _malformed(name: str, shape: str) -> CheckpointError:
    return CheckpointError(
        name,
        f"The checkpoint's {name!r} is not {shape}.",
        fix="Give the checkpoint as the paused run returned it, or as its `to_wire()` was stored.",
    )


def _frozen(name: str, value: Value) -> Value:
    try:
        return freeze(value)
    except ValueRefusedError as refused:
        raise CheckpointError(
            name, f"The checkpoint's {name!r} can't be recorded: {refused.problem}", fix="Use JSON values in it."
        ) from refused


def _object(wire: Mapping[str, Any], name: str, default: Value = None) -> FrozenDict:
    value = wire.get(name, default)
    if not isinstance(value, Mapping):
        raise _malformed(name, "an object")
    return _frozen(name, dict(cast("Mapping[str, Any]", value)))


def _count(wire: Mapping[str, Any], name: str) -> int:
    value = wire.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _malformed(name, "a whole number from 0")
    return value


def _text(wire: Mapping[str, Any], name: str) -> str | None:
    value = wire.get(name)
    if value is not None and not isinstance(value, str):
        raise _malformed(name, "a text")
    return value
