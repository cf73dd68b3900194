"""Charts that record themselves: stages over shared state, and everything they read, wrote and decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.flow.again.points import ForkFrame as ForkFrame
    from agentfootprint.flow.again.points import MountFrame as MountFrame
    from agentfootprint.flow.again.points import PausePoint as PausePoint
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
    from agentfootprint.flow.detached.drivers import CheckpointDriver as CheckpointDriver
    from agentfootprint.flow.detached.drivers import DetachCapabilities as DetachCapabilities
    from agentfootprint.flow.detached.drivers import DetachDriver as DetachDriver
    from agentfootprint.flow.detached.drivers import ImmediateDriver as ImmediateDriver
    from agentfootprint.flow.detached.drivers import PoolDriver as PoolDriver
    from agentfootprint.flow.detached.drivers import TimerDriver as TimerDriver
    from agentfootprint.flow.detached.ending import DetachHandle as DetachHandle
    from agentfootprint.flow.detached.part import Detach as Detach
    from agentfootprint.flow.detached.starting import detach_and_forget as detach_and_forget
    from agentfootprint.flow.detached.starting import detach_and_join_later as detach_and_join_later
    from agentfootprint.flow.detached.starting import flush_all_detached as flush_all_detached
    from agentfootprint.flow.dev import FlowDevWarning as FlowDevWarning
    from agentfootprint.flow.dev import enable_dev_mode as enable_dev_mode
    from agentfootprint.flow.draining import DrainResult as DrainResult
    from agentfootprint.flow.errors import AbsentKeyError as AbsentKeyError
    from agentfootprint.flow.errors import AsyncHookError as AsyncHookError
    from agentfootprint.flow.errors import BranchFailedError as BranchFailedError
    from agentfootprint.flow.errors import BranchNotFoundError as BranchNotFoundError
    from agentfootprint.flow.errors import BranchTimeoutError as BranchTimeoutError
    from agentfootprint.flow.errors import ChartBuildError as ChartBuildError
    from agentfootprint.flow.errors import CheckpointError as CheckpointError
    from agentfootprint.flow.errors import DetachArgumentError as DetachArgumentError
    from agentfootprint.flow.errors import DetachCancelledError as DetachCancelledError
    from agentfootprint.flow.errors import DetachEnvironmentError as DetachEnvironmentError
    from agentfootprint.flow.errors import DetachFailedError as DetachFailedError
    from agentfootprint.flow.errors import ExecutorBusyError as ExecutorBusyError
    from agentfootprint.flow.errors import FlowCancelledError as FlowCancelledError
    from agentfootprint.flow.errors import FlowError as FlowError
    from agentfootprint.flow.errors import FlowLimitError as FlowLimitError
    from agentfootprint.flow.errors import FlowStreamError as FlowStreamError
    from agentfootprint.flow.errors import FlowTimeoutError as FlowTimeoutError
    from agentfootprint.flow.errors import ForEachError as ForEachError
    from agentfootprint.flow.errors import InputValidationError as InputValidationError
    from agentfootprint.flow.errors import OutputValidationError as OutputValidationError
    from agentfootprint.flow.errors import ReadonlyInputError as ReadonlyInputError
    from agentfootprint.flow.errors import RedactionPolicyError as RedactionPolicyError
    from agentfootprint.flow.errors import ResumeError as ResumeError
    from agentfootprint.flow.errors import RunLogFileError as RunLogFileError
    from agentfootprint.flow.errors import StageClosedError as StageClosedError
    from agentfootprint.flow.errors import StateValueError as StateValueError
    from agentfootprint.flow.errors import SubflowMappingError as SubflowMappingError
    from agentfootprint.flow.errors import ValidationIssue as ValidationIssue
    from agentfootprint.flow.executor import Executor as Executor
    from agentfootprint.flow.executor import Flow as Flow
    from agentfootprint.flow.observers.options import ObserverQueue as ObserverQueue
    from agentfootprint.flow.observers.stats import ListenerStats as ListenerStats
    from agentfootprint.flow.observers.stats import ObserverStats as ObserverStats
    from agentfootprint.flow.observers.tier import DeferredTier as DeferredTier
    from agentfootprint.flow.out.built import FlowContract as FlowContract
    from agentfootprint.flow.out.built import define_contract as define_contract
    from agentfootprint.flow.out.items import DeciderCompleted as DeciderCompleted
    from agentfootprint.flow.out.items import EdgeAdded as EdgeAdded
    from agentfootprint.flow.out.items import LoopEdgeAdded as LoopEdgeAdded
    from agentfootprint.flow.out.items import SpecItem as SpecItem
    from agentfootprint.flow.out.items import StageAdded as StageAdded
    from agentfootprint.flow.out.items import SubflowMounted as SubflowMounted
    from agentfootprint.flow.out.items import SubflowStarted as SubflowStarted
    from agentfootprint.flow.out.items import walk_subflow_spec as walk_subflow_spec
    from agentfootprint.flow.out.spec import SpecNode as SpecNode
    from agentfootprint.flow.out.spec import nodes_from_spec as nodes_from_spec
    from agentfootprint.flow.out.structure import StructureError as StructureError
    from agentfootprint.flow.out.structure import StructureRecorder as StructureRecorder
    from agentfootprint.flow.parts import Branch as Branch
    from agentfootprint.flow.parts import Continue as Continue
    from agentfootprint.flow.parts import Decider as Decider
    from agentfootprint.flow.parts import ForEach as ForEach
    from agentfootprint.flow.parts import Fork as Fork
    from agentfootprint.flow.parts import LoopTo as LoopTo
    from agentfootprint.flow.parts import Part as Part
    from agentfootprint.flow.parts import PartList as PartList
    from agentfootprint.flow.parts import Pausable as Pausable
    from agentfootprint.flow.parts import Selector as Selector
    from agentfootprint.flow.parts import Stage as Stage
    from agentfootprint.flow.parts import Subflow as Subflow
    from agentfootprint.flow.pause import PauseCheckpoint as PauseCheckpoint
    from agentfootprint.flow.pause import PauseSignal as PauseSignal
    from agentfootprint.flow.plan.build import MAX_NESTING as MAX_NESTING
    from agentfootprint.flow.recorders.composite import CompositeRecorder as CompositeRecorder
    from agentfootprint.flow.recorders.control import ControlDepRecorder as ControlDepRecorder
    from agentfootprint.flow.recorders.debug import DebugEntry as DebugEntry
    from agentfootprint.flow.recorders.debug import DebugRecorder as DebugRecorder
    from agentfootprint.flow.recorders.inout import BoundaryCrossing as BoundaryCrossing
    from agentfootprint.flow.recorders.inout import InOutRecorder as InOutRecorder
    from agentfootprint.flow.recorders.manifest import ManifestEntry as ManifestEntry
    from agentfootprint.flow.recorders.manifest import ManifestRecorder as ManifestRecorder
    from agentfootprint.flow.recorders.metrics import MetricRecorder as MetricRecorder
    from agentfootprint.flow.recorders.metrics import Metrics as Metrics
    from agentfootprint.flow.recorders.metrics import StageMetrics as StageMetrics
    from agentfootprint.flow.recorders.metrics import StepMetrics as StepMetrics
    from agentfootprint.flow.recorders.quality import QualityRecorder as QualityRecorder
    from agentfootprint.flow.recorders.quality import StepFacts as StepFacts
    from agentfootprint.flow.recorders.topology import Topology as Topology
    from agentfootprint.flow.recorders.topology import TopologyEdge as TopologyEdge
    from agentfootprint.flow.recorders.topology import TopologyNode as TopologyNode
    from agentfootprint.flow.recorders.topology import TopologyRecorder as TopologyRecorder
    from agentfootprint.flow.recorders.transient import BoundaryStateStore as BoundaryStateStore
    from agentfootprint.flow.redaction import RedactionPolicy as RedactionPolicy
    from agentfootprint.flow.redaction import report_of as report_of
    from agentfootprint.flow.redaction import union_of as union_of
    from agentfootprint.flow.result import FlowResult as FlowResult
    from agentfootprint.flow.retry import RetryPolicy as RetryPolicy
    from agentfootprint.flow.run import FlowOutcome as FlowOutcome
    from agentfootprint.flow.run import FlowRun as FlowRun
    from agentfootprint.flow.run_id import new_run_id as new_run_id
    from agentfootprint.flow.snapshot import FlowSnapshot as FlowSnapshot
    from agentfootprint.flow.stage.commit import Staged as Staged
    from agentfootprint.flow.stage.commit import TransactionBuffer as TransactionBuffer
    from agentfootprint.flow.stage.commit import bundle_of_ops as bundle_of_ops
    from agentfootprint.flow.stage.context import Inputs as Inputs
    from agentfootprint.flow.stage.context import StageContext as StageContext
    from agentfootprint.flow.stage.current import current_stage as current_stage
    from agentfootprint.flow.stage.current import interrupt as interrupt
    from agentfootprint.flow.stage.handle import Handle as Handle
    from agentfootprint.flow.stage.home import Run as Run
    from agentfootprint.flow.stage.home import StreamHandlers as StreamHandlers
    from agentfootprint.flow.stage.state import State as State
    from agentfootprint.flow.stage.views import DictView as DictView
    from agentfootprint.flow.stage.views import ListView as ListView
    from agentfootprint.flow.streaming import FlowStream as FlowStream
    from agentfootprint.flow.streaming import LiveRun as LiveRun
    from agentfootprint.flow.tell.entries import Narrative as Narrative
    from agentfootprint.flow.tell.entries import NarrativeEntry as NarrativeEntry
    from agentfootprint.flow.tell.entries import NarrativeOptions as NarrativeOptions
    from agentfootprint.flow.tell.reading import project_narrative as project_narrative
    from agentfootprint.flow.tell.recorder import NarrativeRecorder as NarrativeRecorder
    from agentfootprint.flow.tell.short import FlowSentences as FlowSentences
    from agentfootprint.flow.tell.words import BreakTold as BreakTold
    from agentfootprint.flow.tell.words import DecisionTold as DecisionTold
    from agentfootprint.flow.tell.words import EmitTold as EmitTold
    from agentfootprint.flow.tell.words import ErrorTold as ErrorTold
    from agentfootprint.flow.tell.words import ForkTold as ForkTold
    from agentfootprint.flow.tell.words import LoopTold as LoopTold
    from agentfootprint.flow.tell.words import NarrativeRenderer as NarrativeRenderer
    from agentfootprint.flow.tell.words import OpTold as OpTold
    from agentfootprint.flow.tell.words import RetryTold as RetryTold
    from agentfootprint.flow.tell.words import SelectionTold as SelectionTold
    from agentfootprint.flow.tell.words import StageTold as StageTold
    from agentfootprint.flow.tell.words import SubflowTold as SubflowTold
    from agentfootprint.flow.walking.fan import BranchOutcome as BranchOutcome
    from agentfootprint.flow.walking.mounting import Mounted as Mounted
    from agentfootprint.flow.watch.logged import RunLogWriter as RunLogWriter
    from agentfootprint.flow.watch.recorder import Recorder as Recorder
    from agentfootprint.flow.watch.recorder import Watch as Watch
    from agentfootprint.flow.watch.recorder import attach as attach
    from agentfootprint.flow.watch.recorder import channel_of as channel_of
    from agentfootprint.flow.watch.recorder import hooks_of as hooks_of
    from agentfootprint.flow.watch.recorder import placed as placed
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
    from agentfootprint.flow.watch.sightings import StageRetried as StageRetried
    from agentfootprint.flow.watch.sightings import StageStarted as StageStarted
    from agentfootprint.flow.watch.sightings import Step as Step
    from agentfootprint.flow.watch.sightings import SubflowEntered as SubflowEntered
    from agentfootprint.flow.watch.sightings import SubflowExited as SubflowExited
    from agentfootprint.flow.watch.sightings import SubflowRegistered as SubflowRegistered
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
            "detached.drivers": (
                "CheckpointDriver", "DetachCapabilities", "DetachDriver", "ImmediateDriver", "PoolDriver",
                "TimerDriver",
            ),
            "detached.ending": (
                "DetachHandle",
            ),
            "detached.part": (
                "Detach",
            ),
            "detached.starting": (
                "detach_and_forget", "detach_and_join_later", "flush_all_detached",
            ),
            "dev": (
                "FlowDevWarning", "enable_dev_mode",
            ),
            "draining": (
                "DrainResult",
            ),
            "errors": (
                "AbsentKeyError", "AsyncHookError", "BranchFailedError", "BranchNotFoundError", "BranchTimeoutError",
                "ChartBuildError",
                "CheckpointError", "ExecutorBusyError", "FlowCancelledError", "FlowError", "FlowLimitError",
                "FlowStreamError", "FlowTimeoutError", "ForEachError",
                "InputValidationError", "OutputValidationError", "ReadonlyInputError", "RedactionPolicyError",
                "ResumeError", "RunLogFileError",
                "StageClosedError", "StateValueError", "SubflowMappingError", "ValidationIssue",
                "DetachArgumentError", "DetachCancelledError", "DetachEnvironmentError", "DetachFailedError",
            ),
            "executor": (
                "Executor", "Flow",
            ),
            "walking.fan": (
                "BranchOutcome",
            ),
            "walking.mounting": (
                "Mounted",
            ),
            "again.points": (
                "ForkFrame", "MountFrame", "PausePoint",
            ),
            "observers.options": (
                "ObserverQueue",
            ),
            "observers.stats": (
                "ListenerStats", "ObserverStats",
            ),
            "observers.tier": (
                "DeferredTier",
            ),
            "out.built": (
                "FlowContract", "define_contract",
            ),
            "out.items": (
                "DeciderCompleted", "EdgeAdded", "LoopEdgeAdded", "SpecItem", "StageAdded", "SubflowMounted",
                "SubflowStarted", "walk_subflow_spec",
            ),
            "out.spec": (
                "SpecNode", "nodes_from_spec",
            ),
            "out.structure": (
                "StructureError", "StructureRecorder",
            ),
            "parts": (
                "Branch", "Continue", "Decider", "ForEach", "Fork", "LoopTo", "Part", "PartList", "Pausable",
                "Selector", "Stage", "Subflow",
            ),
            "pause": (
                "PauseCheckpoint", "PauseSignal",
            ),
            "plan.build": (
                "MAX_NESTING",
            ),
            "redaction": (
                "RedactionPolicy", "report_of", "union_of",
            ),
            "recorders.composite": (
                "CompositeRecorder",
            ),
            "recorders.control": (
                "ControlDepRecorder",
            ),
            "recorders.debug": (
                "DebugEntry", "DebugRecorder",
            ),
            "recorders.inout": (
                "BoundaryCrossing", "InOutRecorder",
            ),
            "recorders.manifest": (
                "ManifestEntry", "ManifestRecorder",
            ),
            "recorders.metrics": (
                "MetricRecorder", "Metrics", "StageMetrics", "StepMetrics",
            ),
            "recorders.quality": (
                "QualityRecorder", "StepFacts",
            ),
            "recorders.topology": (
                "Topology", "TopologyEdge", "TopologyNode", "TopologyRecorder",
            ),
            "recorders.transient": (
                "BoundaryStateStore",
            ),
            "result": (
                "FlowResult",
            ),
            "retry": (
                "RetryPolicy",
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
            "stage.current": (
                "current_stage", "interrupt",
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
            "streaming": (
                "FlowStream", "LiveRun",
            ),
            "tell.entries": (
                "Narrative", "NarrativeEntry", "NarrativeOptions",
            ),
            "tell.reading": (
                "project_narrative",
            ),
            "tell.recorder": (
                "NarrativeRecorder",
            ),
            "tell.short": (
                "FlowSentences",
            ),
            "tell.words": (
                "BreakTold", "DecisionTold", "EmitTold", "ErrorTold", "ForkTold", "LoopTold", "NarrativeRenderer",
                "OpTold", "RetryTold", "SelectionTold", "StageTold", "SubflowTold",
            ),
            "watch.logged": (
                "RunLogWriter",
            ),
            "watch.recorder": (
                "Recorder", "Watch", "attach", "channel_of", "hooks_of", "placed",
            ),
            "watch.sightings": (
                "BreakSeen", "CommitSeen", "DecisionSeen", "EmitSeen", "ErrorSeen", "ForkSeen", "LoopSeen",
                "NextSeen", "PauseSeen", "ReadSeen", "ResumeSeen", "RunEnded", "RunFailed", "RunStarted",
                "SelectionSeen", "Sighting", "StageEnded", "StageExecuted", "StageRetried", "StageStarted", "Step",
                "SubflowEntered", "SubflowExited", "SubflowRegistered", "WriteSeen",
            ),
        }.items() for name in names},
    )
    # fmt: on

__all__ = [
    "Chart",
    "Choice",
    "Detach",
    "Executor",
    "Flow",
    "FlowResult",
    "LoopTo",
    "Recorder",
    "RedactionPolicy",
    "RetryPolicy",
    "Rule",
    "Stage",
    "State",
    "Subflow",
    "decide",
    "interrupt",
    "select",
]
