"""What a recorder is told: one class for each hook, made only when some recorder has the hook.

Values in them are the run's own, unchangeable and shared (FLOW-REC-10). A member that does not apply is `UNSET` and
missing on the wire.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import msgspec
from msgspec import UNSET, UnsetType

from agentfootprint.flow.watch.failure import UNREADABLE, issues_of
from agentfootprint.trace import ROOT_RUNTIME_STAGE_ID, ROOT_STAGE_ID, Record, Value, thaw

if TYPE_CHECKING:
    from agentfootprint.trace import Veil

__all__ = [
    "BreakSeen",
    "CommitSeen",
    "DecisionSeen",
    "EmitSeen",
    "ErrorSeen",
    "ForkSeen",
    "LoopSeen",
    "Mutation",
    "NextSeen",
    "PauseSeen",
    "ReadSeen",
    "ResumeSeen",
    "RunEnded",
    "RunFailed",
    "RunStarted",
    "SeenIssue",
    "SelectionSeen",
    "Sighting",
    "StageEnded",
    "StageExecuted",
    "StageRetried",
    "StageStarted",
    "Step",
    "StructuredError",
    "SubflowEntered",
    "SubflowExited",
    "SubflowRegistered",
    "WriteSeen",
    "structured_error",
]


class Step(Record, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """Where in the run something happened (FLOW-EXE-7); one for each execution, shared by its events."""

    run_id: str
    stage_id: str
    runtime_stage_id: str
    stage_name: str
    depth: int
    """How many steps stand before it in its runtime."""
    parent_stage_id: str | UnsetType = UNSET
    parent_runtime_stage_id: str | UnsetType = UNSET
    loop_iteration: int | UnsetType = UNSET
    subflow_id: str | UnsetType = UNSET
    subflow_path: str | UnsetType = UNSET
    """The namespace of a fork branch; the mounts stand in the runtime stage id."""

    @classmethod
    def root(cls, run_id: str) -> Step:
        """The run itself (FLOW-ID-4)."""
        return cls(
            run_id=run_id,
            stage_id=ROOT_STAGE_ID,
            runtime_stage_id=ROOT_RUNTIME_STAGE_ID,
            stage_name=ROOT_STAGE_ID,
            depth=0,
        )


class Mutation(Record, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """One tracked write, as `on_commit` lists it."""

    key: str
    value: Value = UNSET
    operation: str


class SeenIssue(Record, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """One thing that a validation found wrong."""

    path: str
    """Where, from the outermost key inwards, joined by dots."""
    message: str


class StructuredError(Record, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """An error without its object (FLOW-EXE-13)."""

    message: str
    name: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    issues: tuple[SeenIssue, ...] | UnsetType = UNSET
    """What a validation found wrong."""


def structured_error(error: BaseException, veil: Veil | None = None) -> StructuredError:
    """Describe an error; one whose attributes raise is described as that.

    Args:
        error: What was raised.
        veil: What of the run may not be seen: a message that could quote it is withheld (FLOW-DEC-6).
    """
    told = _described(error)
    words = told.message if veil is None else veil.words(error, told.message)
    return told if words == told.message else StructuredError(message=words, name=told.name, code=told.code)


def _described(error: BaseException) -> StructuredError:
    try:
        code = getattr(error, "code", None)
        message = str(error.args[0]) if error.args else str(error)
        issues = tuple(SeenIssue(path=path, message=text) for path, text in issues_of(error))
        return StructuredError(
            message=message,
            name=type(error).__name__,
            code=code if isinstance(code, str) else UNSET,
            issues=issues or UNSET,
        )
    except Exception:  # noqa: BLE001  a user's exception may do anything when it is looked at
        return StructuredError(message=UNREADABLE)


class Sighting(Record, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """Base of the events."""

    hook: ClassVar[str] = ""
    """Method of the recorder that gets it."""
    timestamp: int
    """Milliseconds since 1970."""

    def to_wire(self) -> dict[str, Any]:
        """The event as plain JSON."""
        return thaw(self)


class _Scoped(Sighting, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """Base of what happens in a stage's state."""

    stage_name: str
    stage_id: str
    runtime_stage_id: str
    pipeline_id: str
    """Namespace its writes land in, `""` on the main line."""


class StageStarted(_Scoped, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A stage function is about to run."""

    hook = "on_stage_start"


class ReadSeen(_Scoped, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A tracked read."""

    hook = "on_read"
    key: str
    value: Value = UNSET
    """`UNSET` when the key is absent."""
    redacted: bool = False
    """Whether a placeholder stands for the value, or for something in it."""


class WriteSeen(_Scoped, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A staged write: `operation` is `set`, `update` or `delete`."""

    hook = "on_write"
    key: str
    value: Value = UNSET
    operation: str
    redacted: bool = False
    """Whether a placeholder stands for the value, or for something in it."""


class StageEnded(_Scoped, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A stage function returned; its commit comes next."""

    hook = "on_stage_end"
    duration: float
    """Milliseconds."""


class CommitSeen(_Scoped, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A commit, with the tracked writes whether they changed anything or not (FLOW-MEM-27)."""

    hook = "on_commit"
    mutations: tuple[Mutation, ...]


class EmitSeen(Sighting, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A stage emitted something of its own."""

    hook = "on_emit"
    name: str
    payload: Value
    stage_name: str
    runtime_stage_id: str
    subflow_path: tuple[str, ...]
    pipeline_id: str


class _Flowing(Sighting, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """Base of what happens in the control flow."""

    traversal_context: Step


class RunStarted(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A run began; `payload` is its input, absent on a resume."""

    hook = "on_run_start"
    payload: Value = UNSET


class RunEnded(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A run ended well; `payload` is its value."""

    hook = "on_run_end"
    payload: Value = UNSET

    def to_wire(self) -> dict[str, Any]:
        """The event as plain JSON; the ends of a fork's branches as objects."""
        wire = thaw(self)
        if isinstance(self.payload, dict):
            ends = cast("dict[str, Any]", self.payload)
            wire["payload"] = {
                key: item.to_wire() if hasattr(item, "to_wire") else thaw(item) for key, item in ends.items()
            }
        return wire


class RunFailed(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A run ended with an error."""

    hook = "on_run_failed"
    structured_error: StructuredError


class StageExecuted(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A node was done: `stage_type` is `linear`, `decider`, `fork`, `selector` or `subflow-mount`."""

    hook = "on_stage_executed"
    stage_name: str
    description: str | UnsetType = UNSET
    stage_type: str


class NextSeen(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """Control moves on."""

    hook = "on_next"
    from_: str = msgspec.field(name="from")
    to: str
    description: str | UnsetType = UNSET
    """Of the target."""


class DecisionSeen(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A decider chose."""

    hook = "on_decision"
    decider: str
    chosen: str
    """Name of the branch."""
    rationale: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    evidence: Value = UNSET


class ForkSeen(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """Branches start side by side."""

    hook = "on_fork"
    parent: str
    children: tuple[str, ...]


class SelectionSeen(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A selector chose, of `total` branches."""

    hook = "on_selected"
    parent: str
    selected: tuple[str, ...]
    total: int
    evidence: Value = UNSET


class SubflowEntered(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A mount is entered; `description` is that of its first stage (FLOW-EXE-29)."""

    hook = "on_subflow_entry"
    name: str
    subflow_id: str
    description: str | UnsetType = UNSET
    mapped_input: Value = UNSET


class SubflowExited(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A mount was left, with its final state."""

    hook = "on_subflow_exit"
    name: str
    subflow_id: str
    output_state: Value = UNSET


class SubflowRegistered(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A chart became known while the run was on its way: built lazily, or returned by a stage (FLOW-EXE-50)."""

    hook = "on_subflow_registered"
    subflow_id: str
    name: str
    description: str | UnsetType = UNSET
    spec_structure: Value = UNSET


class LoopSeen(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """Control goes back to an earlier stage for the `iteration`-th time."""

    hook = "on_loop"
    target: str
    iteration: int
    description: str | UnsetType = UNSET


class BreakSeen(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A stage ended its runtime."""

    hook = "on_break"
    stage_name: str
    reason: str | UnsetType = UNSET
    propagated_from_subflow: str | UnsetType = UNSET


class StageRetried(_Flowing, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """An attempt of a stage failed and was undone; it runs again after `delay_ms` (FLOW-EXE-60)."""

    hook = "on_stage_retry"
    stage_name: str
    stage_id: str
    attempt: int
    """The one that failed, counted from 1."""
    max_attempts: int
    delay_ms: float
    message: str
    structured_error: StructuredError
    channel: Literal["flow"]


class ErrorSeen(Sighting, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """A stage raised (`channel` is `flow`), or a recorder did (`scope`)."""

    hook = "on_error"
    stage_name: str
    channel: Literal["flow", "scope"]
    message: str | UnsetType = UNSET
    structured_error: StructuredError | UnsetType = UNSET
    traversal_context: Step | UnsetType = UNSET
    stage_id: str | UnsetType = UNSET
    runtime_stage_id: str | UnsetType = UNSET
    pipeline_id: str | UnsetType = UNSET
    error: str | UnsetType = UNSET
    """What the recorder raised."""
    operation: str | UnsetType = UNSET
    """`read`, `write` or `commit`: what the recorder was told when it raised."""


class PauseSeen(Sighting, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """The run stops to ask; told once on each channel, first `scope`."""

    hook = "on_pause"
    stage_name: str
    stage_id: str
    pause_data: Value
    channel: Literal["flow", "scope"]
    runtime_stage_id: str | UnsetType = UNSET
    pipeline_id: str | UnsetType = UNSET
    subflow_path: tuple[str, ...] | UnsetType = UNSET
    traversal_context: Step | UnsetType = UNSET


class ResumeSeen(Sighting, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """The run goes on; told once on each channel, first `flow`."""

    hook = "on_resume"
    stage_name: str
    stage_id: str
    has_input: bool
    channel: Literal["flow", "scope"]
    runtime_stage_id: str | UnsetType = UNSET
    pipeline_id: str | UnsetType = UNSET
    traversal_context: Step | UnsetType = UNSET
