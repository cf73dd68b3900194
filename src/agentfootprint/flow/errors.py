"""What the engine refuses, each with the fix in its words. Messages name ids and keys, never values of the state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from agentfootprint.errors import AgentFootprintError

__all__ = [
    "AbsentKeyError",
    "AsyncHookError",
    "BranchFailedError",
    "BranchNotFoundError",
    "BranchTimeoutError",
    "ChartBuildError",
    "CheckpointError",
    "DetachArgumentError",
    "DetachCancelledError",
    "DetachEnvironmentError",
    "DetachFailedError",
    "ExecutorBusyError",
    "FlowCancelledError",
    "FlowError",
    "FlowLimitError",
    "FlowStreamError",
    "FlowTimeoutError",
    "ForEachError",
    "InputValidationError",
    "OutputValidationError",
    "ReadonlyInputError",
    "RedactionPolicyError",
    "ResumeError",
    "RunLogFileError",
    "StageClosedError",
    "StateValueError",
    "SubflowMappingError",
    "ValidationIssue",
]


class FlowError(AgentFootprintError):
    """Base of the engine's errors."""

    code = "ERR_FLOW"


class ChartBuildError(FlowError, ValueError):
    """A chart that can't run as it was meant; `ids` are the stages it is about (FLOW-BLD-1 to 17)."""

    code = "ERR_CHART_BUILD"

    def __init__(self, problem: str, *, fix: str, ids: Iterable[str] = ()) -> None:
        self.ids = tuple(ids)
        super().__init__(problem, fix=fix)


class ReadonlyInputError(FlowError, KeyError):
    """A stage wrote or deleted a key of the run's input, or of what its mount was given (FLOW-MEM-5)."""

    code = "ERR_READONLY_INPUT"

    def __init__(self, key: str, stage: str) -> None:
        self.key = key
        self.stage = stage
        super().__init__(
            f"Stage {stage!r} wrote the input key {key!r}, which is read-only.",
            fix="Read it through `args` and write under another key; in a mount, `inputs='mutable'` allows it.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationIssue:
    """One thing that a contract found wrong; it never holds the value itself."""

    path: tuple[str | int, ...]
    """Where, from the outermost key inwards; empty for the whole."""
    message: str
    code: str | None = None
    """The kind of rule, as the validator calls it."""
    expected: str | None = None
    received: str | None = None
    """Type of what was there."""

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))}: {self.message}" if self.path else self.message

    def to_wire(self) -> dict[str, object]:
        """The issue as JSON."""
        told = {"code": self.code, "expected": self.expected, "received": self.received}
        given = {key: value for key, value in told.items() if value is not None}
        return {"path": list(self.path), "message": self.message, **given}


class InputValidationError(FlowError, ValueError):
    """The input of a run is no object, holds what can't be recorded, or breaks the chart's contract (FLOW-CON-1)."""

    code = "ERR_INPUT_VALIDATION"

    def __init__(self, problem: str, *, fix: str, issues: Iterable[ValidationIssue] = ()) -> None:
        self.issues = tuple(issues)
        """What the contract found wrong; empty when the input was refused before it came to that."""
        super().__init__(problem, fix=fix)


class OutputValidationError(FlowError, ValueError):
    """A run ended, and what it came to breaks the chart's contract; only with `validate_output` (FLOW-CON-1)."""

    code = "ERR_OUTPUT_VALIDATION"

    def __init__(self, problem: str, *, fix: str, issues: Iterable[ValidationIssue] = ()) -> None:
        self.issues = tuple(issues)
        super().__init__(problem, fix=fix)


class AbsentKeyError(FlowError, KeyError, AttributeError):
    """A stage read a key that the state doesn't hold."""

    code = "ERR_ABSENT_KEY"

    def __init__(self, key: str, stage: str) -> None:
        self.key = key
        self.stage = stage
        super().__init__(
            f"Stage {stage!r} read the key {key!r}, which is not in the state.",
            fix="Use `ctx.get` with a default, or write it in an earlier stage; a mount sees only what it is mapped.",
        )


class RedactionPolicyError(FlowError, ValueError):
    """A redaction policy that would hide something else than it says, or nothing (NEW-103)."""

    code = "ERR_REDACTION_POLICY"


class StateValueError(FlowError, TypeError):
    """A value that can't be recorded was written or emitted (FLOW-MEM-8); the cause says where in it."""

    code = "ERR_STATE_VALUE"

    def __init__(self, key: str, stage: str, why: str) -> None:
        self.key = key
        self.stage = stage
        super().__init__(
            f"Stage {stage!r} gave {key!r} a value that can't be recorded: {why}",
            fix="Keep such objects outside the state, and write JSON values.",
        )


class BranchNotFoundError(FlowError, LookupError):
    """A decider or selector named a branch that it doesn't have (FLOW-EXE-35, 36)."""

    code = "ERR_BRANCH_NOT_FOUND"

    def __init__(self, stage: str, returned: Iterable[str], branches: Iterable[str]) -> None:
        self.stage = stage
        self.returned = tuple(returned)
        self.branches = tuple(branches)
        super().__init__(
            f"Stage {stage!r} returned {', '.join(map(repr, self.returned))}, which is no branch of it.",
            fix=f"Return one of: {', '.join(self.branches)}; or give the decider a default.",
        )


class FlowLimitError(FlowError, RuntimeError):
    """A run went on longer or deeper than it may (FLOW-EXE-2)."""

    code = "ERR_FLOW_LIMIT"

    def __init__(self, problem: str, *, limit: int, node: str, option: str) -> None:
        self.limit = limit
        self.node = node
        super().__init__(problem, fix=f"Raise `{option}`, or let the chart end earlier.")


class FlowTimeoutError(FlowError, TimeoutError):
    """A run took longer than it was given (FLOW-EXE-10); what its open stages had staged is committed."""

    code = "ERR_FLOW_TIMEOUT"

    def __init__(self, name: str, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(
            f"The run of {name!r} took longer than {seconds:g} s.", fix="Raise `timeout`, or let the chart end earlier."
        )


class FlowCancelledError(FlowError, RuntimeError):
    """The result of a run was asked for that had been cancelled with its stream."""

    code = "ERR_FLOW_CANCELLED"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The run of {name!r} was cancelled when its stream was left.",
            fix="Ask for the result inside the `async with` block.",
        )


class FlowStreamError(FlowError, TypeError):
    """A stream was used in another way than `async with flow.stream(...) as run`, or a stage streams that is none."""

    code = "ERR_FLOW_STREAM"


class ForEachError(FlowError, TypeError):
    """What a for-each was given to run is no list of items, or no chart for one of them (FLOW-EXE-45)."""

    code = "ERR_FOR_EACH"


class BranchTimeoutError(FlowError, TimeoutError):
    """A branch took longer than its fork, selector or for-each lets it (24.8)."""

    code = "ERR_BRANCH_TIMEOUT"

    def __init__(self, branch: str, seconds: float) -> None:
        self.branch = branch
        self.seconds = seconds
        super().__init__(
            f"The branch {branch!r} took longer than {seconds:g} s.",
            fix="Raise the `timeout` of what it is a branch of, or make it quicker.",
        )


class SubflowMappingError(FlowError):
    """The input or output map of a mount raised, or gave no mapping (FLOW-EXE-26, 27); the cause is chained."""

    code = "ERR_SUBFLOW_MAPPING"

    def __init__(self, mount: str, side: str, why: str) -> None:
        self.mount = mount
        self.side = side
        super().__init__(
            f"The {side} map of the mount {mount!r} failed: {why}",
            fix="Make it return a mapping from keys to JSON values, or nothing.",
        )


class CheckpointError(FlowError, ValueError):
    """A checkpoint that can't be made or read; `field` is its wire key (FLOW-PAU-3, 4)."""

    code = "ERR_CHECKPOINT"

    def __init__(self, field: str, problem: str, *, fix: str) -> None:
        self.field = field
        super().__init__(problem, fix=fix)


class ResumeError(FlowError):
    """A checkpoint that this chart can't go on from (FLOW-PAU-4).

    When the chart has changed since the pause, `added`, `removed` and `changed` are the ids of the stages that differ.
    """

    code = "ERR_RESUME"

    def __init__(
        self,
        problem: str,
        *,
        fix: str,
        added: Iterable[str] = (),
        removed: Iterable[str] = (),
        changed: Iterable[str] = (),
    ) -> None:
        self.added = tuple(added)
        self.removed = tuple(removed)
        self.changed = tuple(changed)
        super().__init__(problem, fix=fix)


class BranchFailedError(FlowError):
    """How a branch of a fork had failed before a pause in another process; `name` is the class of its error."""

    code = "ERR_BRANCH_FAILED"
    quotes_others: ClassVar[bool] = True
    """Its message is that of the branch's own error, and may hold anything."""

    def __init__(self, name: str, message: str) -> None:
        self.name = name
        super().__init__(message, fix=f"It was a {name} in the process that paused.")


class RunLogFileError(FlowError, OSError):
    """The file that a run was to be logged to can't be opened; nothing has run. `filename` is its path."""

    code = "ERR_RUN_LOG_FILE"

    def __init__(self, path: str, reason: OSError) -> None:
        said = reason.strerror or type(reason).__name__
        super().__init__(
            f"The run log {path!r} can't be opened: {said}.",
            fix="Name a file in a folder that is there and may be written to.",
        )
        self.errno, self.strerror, self.filename = reason.errno, reason.strerror, path


class ExecutorBusyError(FlowError, RuntimeError):
    """An executor was asked to run while it runs (FLOW-EXE-5)."""

    code = "ERR_EXECUTOR_BUSY"


class StageClosedError(FlowError, RuntimeError):
    """A stage's state was used after the stage had committed (FLOW-PY-14)."""

    code = "ERR_STAGE_CLOSED"


class AsyncHookError(FlowError, TypeError):
    """A recorder has a hook that is a coroutine function, which nobody would await (FLOW-REC-7)."""

    code = "ERR_ASYNC_HOOK"

    def __init__(self, recorder: str, hook: str) -> None:
        self.recorder = recorder
        self.hook = hook
        super().__init__(
            f"The hook {hook!r} of the recorder {recorder!r} is a coroutine function.",
            fix="Make it a plain function that hands the event over, to a queue for example.",
        )


class DetachArgumentError(FlowError, TypeError):
    """What should start a detached child, or the child, is something else (FLOW-DET-1)."""

    code = "ERR_DETACH_ARGUMENT"

    def __init__(self, argument: str, found: object, verb: str, *, fix: str) -> None:
        self.argument = argument
        kind = f"the class {found.__name__}" if isinstance(found, type) else f"a {type(found).__name__}"
        super().__init__(f"The {argument} of a detached start {verb} {kind}.", fix=fix)


class DetachEnvironmentError(FlowError, RuntimeError):
    """A driver can't start a detached child where it was asked to (FLOW-DET-4)."""

    code = "ERR_DETACH_ENVIRONMENT"


class DetachCancelledError(FlowError):
    """A detached child was cancelled, or its event loop ended, before it did."""

    code = "ERR_DETACH_CANCELLED"

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__(
            f"The detached child {id!r} was cancelled before it had ended.",
            fix="Await its handle or flush_all_detached() before the event loop ends, or use a PoolDriver.",
        )


class DetachFailedError(FlowError):
    """A detached child raised in another process what can't travel between processes; `name` is its class."""

    code = "ERR_DETACH_FAILED"

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"The detached child raised a {name}, which can't be pickled.",
            fix="Give the exception class arguments that `pickle` can restore, to see it here.",
        )
