"""Charts that record themselves: stages over shared state, and everything they read, wrote and decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.flow.chart import Chart as Chart
    from agentfootprint.flow.choice import Choice as Choice
    from agentfootprint.flow.choice import FilterEvidence as FilterEvidence
    from agentfootprint.flow.choice import FunctionEvidence as FunctionEvidence
    from agentfootprint.flow.choice import ReadEvidence as ReadEvidence
    from agentfootprint.flow.choice import Rule as Rule
    from agentfootprint.flow.choice import RuleFunctionError as RuleFunctionError
    from agentfootprint.flow.choice import Selection as Selection
    from agentfootprint.flow.choice import decide as decide
    from agentfootprint.flow.choice import select as select
    from agentfootprint.flow.errors import AbsentKeyError as AbsentKeyError
    from agentfootprint.flow.errors import AsyncHookError as AsyncHookError
    from agentfootprint.flow.errors import BranchNotFoundError as BranchNotFoundError
    from agentfootprint.flow.errors import ChartBuildError as ChartBuildError
    from agentfootprint.flow.errors import CheckpointError as CheckpointError
    from agentfootprint.flow.errors import ExecutorBusyError as ExecutorBusyError
    from agentfootprint.flow.errors import FlowError as FlowError
    from agentfootprint.flow.errors import FlowLimitError as FlowLimitError
    from agentfootprint.flow.errors import InputValidationError as InputValidationError
    from agentfootprint.flow.errors import ReadonlyInputError as ReadonlyInputError
    from agentfootprint.flow.errors import ResumeError as ResumeError
    from agentfootprint.flow.errors import StageClosedError as StageClosedError
    from agentfootprint.flow.errors import StateValueError as StateValueError
    from agentfootprint.flow.errors import SubflowMappingError as SubflowMappingError
    from agentfootprint.flow.executor import Executor as Executor
    from agentfootprint.flow.executor import Flow as Flow
    from agentfootprint.flow.executor import FlowResult as FlowResult
    from agentfootprint.flow.fan import BranchOutcome as BranchOutcome
    from agentfootprint.flow.parts import Branch as Branch
    from agentfootprint.flow.parts import Decider as Decider
    from agentfootprint.flow.parts import Fork as Fork
    from agentfootprint.flow.parts import LoopTo as LoopTo
    from agentfootprint.flow.parts import Part as Part
    from agentfootprint.flow.parts import PartList as PartList
    from agentfootprint.flow.parts import Pausable as Pausable
    from agentfootprint.flow.parts import Selector as Selector
    from agentfootprint.flow.parts import Stage as Stage
    from agentfootprint.flow.parts import Subflow as Subflow
    from agentfootprint.flow.pause import PauseCheckpoint as PauseCheckpoint
    from agentfootprint.flow.run import FlowOutcome as FlowOutcome
    from agentfootprint.flow.run import FlowRun as FlowRun
    from agentfootprint.flow.run_id import new_run_id as new_run_id
    from agentfootprint.flow.snapshot import FlowSnapshot as FlowSnapshot
    from agentfootprint.flow.stage.commit import Staged as Staged
    from agentfootprint.flow.stage.commit import TransactionBuffer as TransactionBuffer
    from agentfootprint.flow.stage.commit import bundle_of_ops as bundle_of_ops
    from agentfootprint.flow.stage.context import Inputs as Inputs
    from agentfootprint.flow.stage.context import StageContext as StageContext
    from agentfootprint.flow.stage.handle import Handle as Handle
    from agentfootprint.flow.stage.home import Run as Run
    from agentfootprint.flow.stage.home import StreamHandlers as StreamHandlers
    from agentfootprint.flow.stage.state import State as State
    from agentfootprint.flow.stage.views import DictView as DictView
    from agentfootprint.flow.stage.views import ListView as ListView
    from agentfootprint.flow.watch.recorder import Recorder as Recorder
    from agentfootprint.flow.watch.recorder import Watch as Watch
    from agentfootprint.flow.watch.sightings import BreakSeen as BreakSeen
    from agentfootprint.flow.watch.sightings import CommitSeen as CommitSeen
    from agentfootprint.flow.watch.sightings import DecisionSeen as DecisionSeen
    from agentfootprint.flow.watch.sightings import EmitSeen as EmitSeen
    from agentfootprint.flow.watch.sightings import ErrorSeen as ErrorSeen
    from agentfootprint.flow.watch.sightings import ForkSeen as ForkSeen
    from agentfootprint.flow.watch.sightings import LoopSeen as LoopSeen
    from agentfootprint.flow.watch.sightings import NextSeen as NextSeen
    from agentfootprint.flow.watch.sightings import PauseSeen as PauseSeen
    from agentfootprint.flow.watch.sightings import ReadSeen as ReadSeen
    from agentfootprint.flow.watch.sightings import ResumeSeen as ResumeSeen
    from agentfootprint.flow.watch.sightings import RunEnded as RunEnded
    from agentfootprint.flow.watch.sightings import RunFailed as RunFailed
    from agentfootprint.flow.watch.sightings import RunStarted as RunStarted
    from agentfootprint.flow.watch.sightings import SelectionSeen as SelectionSeen
    from agentfootprint.flow.watch.sightings import Sighting as Sighting
    from agentfootprint.flow.watch.sightings import StageEnded as StageEnded
    from agentfootprint.flow.watch.sightings import StageExecuted as StageExecuted
    from agentfootprint.flow.watch.sightings import StageStarted as StageStarted
    from agentfootprint.flow.watch.sightings import Step as Step
    from agentfootprint.flow.watch.sightings import SubflowEntered as SubflowEntered
    from agentfootprint.flow.watch.sightings import SubflowExited as SubflowExited
    from agentfootprint.flow.watch.sightings import WriteSeen as WriteSeen
else:
    from agentfootprint._lazy import door

    # fmt: off
    __getattr__, __dir__ = door(
        __name__,
        {name: f"agentfootprint.flow.{module}" for module, names in {
            "chart": (
                "Chart",
            ),
            "choice": (
                "Choice", "FilterEvidence", "FunctionEvidence", "ReadEvidence", "Rule", "RuleFunctionError",
                "Selection", "decide", "select",
            ),
            "errors": (
                "AbsentKeyError", "AsyncHookError", "BranchNotFoundError", "ChartBuildError", "CheckpointError",
                "ExecutorBusyError", "FlowError", "FlowLimitError", "InputValidationError", "ReadonlyInputError",
                "ResumeError", "StageClosedError", "StateValueError", "SubflowMappingError",
            ),
            "executor": (
                "Executor", "Flow", "FlowResult",
            ),
            "fan": (
                "BranchOutcome",
            ),
            "parts": (
                "Branch", "Decider", "Fork", "LoopTo", "Part", "PartList", "Pausable", "Selector", "Stage", "Subflow",
            ),
            "pause": (
                "PauseCheckpoint",
            ),
            "run": (
                "FlowOutcome", "FlowRun",
            ),
            "run_id": (
                "new_run_id",
            ),
            "snapshot": (
                "FlowSnapshot",
            ),
            "stage.commit": (
                "Staged", "TransactionBuffer", "bundle_of_ops",
            ),
            "stage.context": (
                "Inputs", "StageContext",
            ),
            "stage.handle": (
                "Handle",
            ),
            "stage.home": (
                "Run", "StreamHandlers",
            ),
            "stage.state": (
                "State",
            ),
            "stage.views": (
                "DictView", "ListView",
            ),
            "watch.recorder": (
                "Recorder", "Watch",
            ),
            "watch.sightings": (
                "BreakSeen", "CommitSeen", "DecisionSeen", "EmitSeen", "ErrorSeen", "ForkSeen", "LoopSeen",
                "NextSeen", "PauseSeen", "ReadSeen", "ResumeSeen", "RunEnded", "RunFailed", "RunStarted",
                "SelectionSeen", "Sighting", "StageEnded", "StageExecuted", "StageStarted", "Step", "SubflowEntered",
                "SubflowExited", "WriteSeen",
            ),
        }.items() for name in names},
    )
    # fmt: on

__all__ = [
    "Chart",
    "Choice",
    "Executor",
    "Flow",
    "FlowResult",
    "LoopTo",
    "Recorder",
    "Rule",
    "Stage",
    "State",
    "Subflow",
    "decide",
    "select",
]
