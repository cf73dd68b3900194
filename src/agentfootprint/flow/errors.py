"""What the engine refuses, each with the fix in its words. Messages name ids and keys, never values of the state."""

from __future__ import annotations

from collections.abc import Iterable

from agentfootprint.errors import AgentFootprintError

__all__ = [
    "AbsentKeyError",
    "AsyncHookError",
    "BranchNotFoundError",
    "ChartBuildError",
    "CheckpointError",
    "ExecutorBusyError",
    "FlowError",
    "FlowLimitError",
    "InputValidationError",
    "ReadonlyInputError",
    "ResumeError",
    "StageClosedError",
    "StateValueError",
    "SubflowMappingError",
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


class InputValidationError(FlowError, ValueError):
    """The input of a run is no object, or holds what can't be recorded; the cause says where (FLOW-CON-1)."""

    code = "ERR_INPUT_VALIDATION"


class AbsentKeyError(FlowError, KeyError, AttributeError):
    """A stage read a key that the state doesn't hold."""

    code = "ERR_ABSENT_KEY"

    def __init__(self, key: str, stage: str) -> None:
        self.key = key
        self.stage = stage
        super().__init__(
            f"Stage {stage!r} read the key {key!r}, which is not in the state.",
            fix="Use `get` with a default, or write the key in an earlier stage; a mount sees only what it is mapped.",
        )


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
    """A checkpoint that this chart can't go on from (FLOW-PAU-4)."""

    code = "ERR_RESUME"


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
