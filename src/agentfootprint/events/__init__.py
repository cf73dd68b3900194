"""What can happen in an agent's life: one typed vocabulary, one bus."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.events.bus import DrainResult as DrainResult
    from agentfootprint.events.bus import EventBus as EventBus
    from agentfootprint.events.bus import Listener as Listener
    from agentfootprint.events.bus import Signal as Signal
    from agentfootprint.events.bus import Subscription as Subscription
    from agentfootprint.events.codec import app_event as app_event
    from agentfootprint.events.codec import decode_event as decode_event
    from agentfootprint.events.codec import encode_event as encode_event
    from agentfootprint.events.codec import event_from_wire as event_from_wire
    from agentfootprint.events.codec import event_to_wire as event_to_wire
    from agentfootprint.events.envelope import Event as Event
    from agentfootprint.events.envelope import UnknownEvent as UnknownEvent
    from agentfootprint.events.errors import EventFormatError as EventFormatError
    from agentfootprint.events.errors import EventPatternError as EventPatternError
    from agentfootprint.events.errors import ListenerError as ListenerError
    from agentfootprint.events.meta import CONSUMER_RUN_ID as CONSUMER_RUN_ID
    from agentfootprint.events.meta import CONSUMER_STAGE as CONSUMER_STAGE
    from agentfootprint.events.meta import UNKNOWN_STAGE as UNKNOWN_STAGE
    from agentfootprint.events.meta import Carried as Carried
    from agentfootprint.events.meta import EventMeta as EventMeta
    from agentfootprint.events.meta import MetaMarks as MetaMarks
    from agentfootprint.events.meta import Origin as Origin
    from agentfootprint.events.meta import RunFacts as RunFacts
    from agentfootprint.events.meta import Stage as Stage
    from agentfootprint.events.meta import build_event_meta as build_event_meta
    from agentfootprint.events.meta import consumer_facts as consumer_facts
    from agentfootprint.events.payloads.agent import BudgetExhausted as BudgetExhausted
    from agentfootprint.events.payloads.agent import CarriedBy as CarriedBy
    from agentfootprint.events.payloads.agent import ConfiguredArtifacts as ConfiguredArtifacts
    from agentfootprint.events.payloads.agent import ConfiguredLLM as ConfiguredLLM
    from agentfootprint.events.payloads.agent import ConfiguredMemory as ConfiguredMemory
    from agentfootprint.events.payloads.agent import ConfiguredRecipe as ConfiguredRecipe
    from agentfootprint.events.payloads.agent import ConfiguredSkillGraph as ConfiguredSkillGraph
    from agentfootprint.events.payloads.agent import EvidenceChecked as EvidenceChecked
    from agentfootprint.events.payloads.agent import Handoff as Handoff
    from agentfootprint.events.payloads.agent import IterationEnd as IterationEnd
    from agentfootprint.events.payloads.agent import IterationStart as IterationStart
    from agentfootprint.events.payloads.agent import OutputContractUnmet as OutputContractUnmet
    from agentfootprint.events.payloads.agent import OutputSchemaRetry as OutputSchemaRetry
    from agentfootprint.events.payloads.agent import OutputSchemaValidationFailed as OutputSchemaValidationFailed
    from agentfootprint.events.payloads.agent import RouteDecided as RouteDecided
    from agentfootprint.events.payloads.agent import RunConfigured as RunConfigured
    from agentfootprint.events.payloads.agent import ThinkingParseFailed as ThinkingParseFailed
    from agentfootprint.events.payloads.agent import TurnEnd as TurnEnd
    from agentfootprint.events.payloads.agent import TurnStart as TurnStart
    from agentfootprint.events.payloads.agent import TurnStoppedEarly as TurnStoppedEarly
    from agentfootprint.events.payloads.agent import UnsupportedValue as UnsupportedValue
    from agentfootprint.events.payloads.base import Keyed as Keyed
    from agentfootprint.events.payloads.base import Many as Many
    from agentfootprint.events.payloads.base import Number as Number
    from agentfootprint.events.payloads.base import Object as Object
    from agentfootprint.events.payloads.base import Payload as Payload
    from agentfootprint.events.payloads.composition import CompositionBranchComplete as CompositionBranchComplete
    from agentfootprint.events.payloads.composition import CompositionEnter as CompositionEnter
    from agentfootprint.events.payloads.composition import CompositionExit as CompositionExit
    from agentfootprint.events.payloads.composition import CompositionForkStart as CompositionForkStart
    from agentfootprint.events.payloads.composition import CompositionIterationExit as CompositionIterationExit
    from agentfootprint.events.payloads.composition import CompositionIterationStart as CompositionIterationStart
    from agentfootprint.events.payloads.composition import CompositionMergeEnd as CompositionMergeEnd
    from agentfootprint.events.payloads.composition import CompositionRouteDecided as CompositionRouteDecided
    from agentfootprint.events.payloads.composition import ForkBranch as ForkBranch
    from agentfootprint.events.payloads.context import BudgetSpent as BudgetSpent
    from agentfootprint.events.payloads.context import CatalogSkill as CatalogSkill
    from agentfootprint.events.payloads.context import ContextBudgetPressure as ContextBudgetPressure
    from agentfootprint.events.payloads.context import ContextEvaluated as ContextEvaluated
    from agentfootprint.events.payloads.context import ContextEvicted as ContextEvicted
    from agentfootprint.events.payloads.context import ContextInjected as ContextInjected
    from agentfootprint.events.payloads.context import ContextSlotComposed as ContextSlotComposed
    from agentfootprint.events.payloads.context import CursorMove as CursorMove
    from agentfootprint.events.payloads.context import GuardCondition as GuardCondition
    from agentfootprint.events.payloads.context import GuardRecord as GuardRecord
    from agentfootprint.events.payloads.context import PathStep as PathStep
    from agentfootprint.events.payloads.context import RoutingRow as RoutingRow
    from agentfootprint.events.payloads.context import SkippedPiece as SkippedPiece
    from agentfootprint.events.payloads.context import SlotBudget as SlotBudget
    from agentfootprint.events.payloads.context import SourceShare as SourceShare
    from agentfootprint.events.payloads.context import Witness as Witness
    from agentfootprint.events.payloads.evidence import ArtifactsExpired as ArtifactsExpired
    from agentfootprint.events.payloads.evidence import ArtifactsMinted as ArtifactsMinted
    from agentfootprint.events.payloads.evidence import ArtifactsPresented as ArtifactsPresented
    from agentfootprint.events.payloads.evidence import ArtifactsRefused as ArtifactsRefused
    from agentfootprint.events.payloads.evidence import ArtifactsResolved as ArtifactsResolved
    from agentfootprint.events.payloads.evidence import CheckRow as CheckRow
    from agentfootprint.events.payloads.evidence import IntegrityContextError as IntegrityContextError
    from agentfootprint.events.payloads.evidence import IntegrityDisposition as IntegrityDisposition
    from agentfootprint.events.payloads.evidence import MintOrigin as MintOrigin
    from agentfootprint.events.payloads.evidence import PresentedSnapshot as PresentedSnapshot
    from agentfootprint.events.payloads.evidence import Subject as Subject
    from agentfootprint.events.payloads.faults import ErrorCircuitChanged as ErrorCircuitChanged
    from agentfootprint.events.payloads.faults import ErrorFatal as ErrorFatal
    from agentfootprint.events.payloads.faults import ErrorRecovered as ErrorRecovered
    from agentfootprint.events.payloads.faults import ErrorRetried as ErrorRetried
    from agentfootprint.events.payloads.faults import ErrorThrottled as ErrorThrottled
    from agentfootprint.events.payloads.faults import FallbackTriggered as FallbackTriggered
    from agentfootprint.events.payloads.faults import ReliabilityFailFast as ReliabilityFailFast
    from agentfootprint.events.payloads.faults import ReliabilityRecovered as ReliabilityRecovered
    from agentfootprint.events.payloads.faults import ReliabilityRetried as ReliabilityRetried
    from agentfootprint.events.payloads.faults import ResilienceOutputCannedUsed as ResilienceOutputCannedUsed
    from agentfootprint.events.payloads.faults import (
        ResilienceOutputFallbackTriggered as ResilienceOutputFallbackTriggered,
    )
    from agentfootprint.events.payloads.faults import RiskFlagged as RiskFlagged
    from agentfootprint.events.payloads.gates import CheckInDecision as CheckInDecision
    from agentfootprint.events.payloads.gates import CheckInRequest as CheckInRequest
    from agentfootprint.events.payloads.gates import CredentialAcquired as CredentialAcquired
    from agentfootprint.events.payloads.gates import CredentialAuthorizationRequired as CredentialAuthorizationRequired
    from agentfootprint.events.payloads.gates import CredentialFailed as CredentialFailed
    from agentfootprint.events.payloads.gates import CredentialRequested as CredentialRequested
    from agentfootprint.events.payloads.gates import MiddlewareDecision as MiddlewareDecision
    from agentfootprint.events.payloads.gates import PauseRequest as PauseRequest
    from agentfootprint.events.payloads.gates import PauseResume as PauseResume
    from agentfootprint.events.payloads.gates import PermissionCheck as PermissionCheck
    from agentfootprint.events.payloads.gates import PermissionGateClosed as PermissionGateClosed
    from agentfootprint.events.payloads.gates import PermissionGateOpened as PermissionGateOpened
    from agentfootprint.events.payloads.gates import PermissionHalt as PermissionHalt
    from agentfootprint.events.payloads.memory import EmbeddingGenerated as EmbeddingGenerated
    from agentfootprint.events.payloads.memory import MemoryAttached as MemoryAttached
    from agentfootprint.events.payloads.memory import MemoryDetached as MemoryDetached
    from agentfootprint.events.payloads.memory import MemoryRetrieved as MemoryRetrieved
    from agentfootprint.events.payloads.memory import MemoryStrategyApplied as MemoryStrategyApplied
    from agentfootprint.events.payloads.memory import MemoryWritten as MemoryWritten
    from agentfootprint.events.payloads.memory import RetrievalCandidate as RetrievalCandidate
    from agentfootprint.events.payloads.skill import BrainRef as BrainRef
    from agentfootprint.events.payloads.skill import ConflictSide as ConflictSide
    from agentfootprint.events.payloads.skill import DeciderVerdict as DeciderVerdict
    from agentfootprint.events.payloads.skill import DroppedResume as DroppedResume
    from agentfootprint.events.payloads.skill import EdgeGuard as EdgeGuard
    from agentfootprint.events.payloads.skill import MapEdge as MapEdge
    from agentfootprint.events.payloads.skill import MapEngaged as MapEngaged
    from agentfootprint.events.payloads.skill import MapNode as MapNode
    from agentfootprint.events.payloads.skill import MapParked as MapParked
    from agentfootprint.events.payloads.skill import ProcedureStep as ProcedureStep
    from agentfootprint.events.payloads.skill import RemainingStep as RemainingStep
    from agentfootprint.events.payloads.skill import RoutingPolicy as RoutingPolicy
    from agentfootprint.events.payloads.skill import RunnerUp as RunnerUp
    from agentfootprint.events.payloads.skill import SkillActivated as SkillActivated
    from agentfootprint.events.payloads.skill import SkillDeactivated as SkillDeactivated
    from agentfootprint.events.payloads.skill import SkillEscalated as SkillEscalated
    from agentfootprint.events.payloads.skill import SkillGraphDeclared as SkillGraphDeclared
    from agentfootprint.events.payloads.skill import SkillRejected as SkillRejected
    from agentfootprint.events.payloads.skill import SkillRerouteSuperseded as SkillRerouteSuperseded
    from agentfootprint.events.payloads.skill import SkillRouteConflict as SkillRouteConflict
    from agentfootprint.events.payloads.skill import SkillScore as SkillScore
    from agentfootprint.events.payloads.skill import SkillStepAdvanced as SkillStepAdvanced
    from agentfootprint.events.payloads.skill import SkillStepSkipped as SkillStepSkipped
    from agentfootprint.events.payloads.skill import SkillStepsUnfinished as SkillStepsUnfinished
    from agentfootprint.events.payloads.skill import SkillTurnRouted as SkillTurnRouted
    from agentfootprint.events.payloads.spending import CostLimitHit as CostLimitHit
    from agentfootprint.events.payloads.spending import CostTick as CostTick
    from agentfootprint.events.payloads.spending import CumulativeCost as CumulativeCost
    from agentfootprint.events.payloads.spending import EvalScore as EvalScore
    from agentfootprint.events.payloads.spending import EvalThresholdCrossed as EvalThresholdCrossed
    from agentfootprint.events.payloads.stream import BrainChoice as BrainChoice
    from agentfootprint.events.payloads.stream import LLMEnd as LLMEnd
    from agentfootprint.events.payloads.stream import LLMStart as LLMStart
    from agentfootprint.events.payloads.stream import OfferedTool as OfferedTool
    from agentfootprint.events.payloads.stream import RecordedThinking as RecordedThinking
    from agentfootprint.events.payloads.stream import Restarted as Restarted
    from agentfootprint.events.payloads.stream import ThinkingDelta as ThinkingDelta
    from agentfootprint.events.payloads.stream import ThinkingEnd as ThinkingEnd
    from agentfootprint.events.payloads.stream import Token as Token
    from agentfootprint.events.payloads.stream import TokenCounts as TokenCounts
    from agentfootprint.events.payloads.stream import ToolEnd as ToolEnd
    from agentfootprint.events.payloads.stream import ToolProgress as ToolProgress
    from agentfootprint.events.payloads.stream import ToolStart as ToolStart
    from agentfootprint.events.payloads.tools import ArgIssue as ArgIssue
    from agentfootprint.events.payloads.tools import GroundRow as GroundRow
    from agentfootprint.events.payloads.tools import ToolsAbsent as ToolsAbsent
    from agentfootprint.events.payloads.tools import ToolsActivated as ToolsActivated
    from agentfootprint.events.payloads.tools import ToolsCodeRun as ToolsCodeRun
    from agentfootprint.events.payloads.tools import ToolsCoverageDeclared as ToolsCoverageDeclared
    from agentfootprint.events.payloads.tools import ToolsDeactivated as ToolsDeactivated
    from agentfootprint.events.payloads.tools import ToolsDefinitionChanged as ToolsDefinitionChanged
    from agentfootprint.events.payloads.tools import ToolsDiscoveryCompleted as ToolsDiscoveryCompleted
    from agentfootprint.events.payloads.tools import ToolsDiscoveryFailed as ToolsDiscoveryFailed
    from agentfootprint.events.payloads.tools import ToolsDiscoveryStarted as ToolsDiscoveryStarted
    from agentfootprint.events.payloads.tools import ToolsEffect as ToolsEffect
    from agentfootprint.events.payloads.tools import ToolsOffered as ToolsOffered
    from agentfootprint.events.payloads.tools import ToolsOutcomeUnknown as ToolsOutcomeUnknown
    from agentfootprint.events.payloads.tools import ToolsRepeatedCall as ToolsRepeatedCall
    from agentfootprint.events.payloads.tools import ToolsResultRefused as ToolsResultRefused
    from agentfootprint.events.payloads.tools import ToolsSemanticsDeclared as ToolsSemanticsDeclared
    from agentfootprint.events.payloads.tools import ToolsSessionClosed as ToolsSessionClosed
    from agentfootprint.events.payloads.tools import ToolsSessionCloseFailed as ToolsSessionCloseFailed
    from agentfootprint.events.payloads.tools import ToolsSessionReused as ToolsSessionReused
    from agentfootprint.events.payloads.tools import ToolsSessionStarted as ToolsSessionStarted
    from agentfootprint.events.payloads.tools import ToolsShadowed as ToolsShadowed
    from agentfootprint.events.payloads.tools import TryInstead as TryInstead
    from agentfootprint.events.payloads.tools import ValidationArgsInvalid as ValidationArgsInvalid
    from agentfootprint.events.registry import DOMAINS as DOMAINS
    from agentfootprint.events.registry import EVENT_TYPES as EVENT_TYPES
    from agentfootprint.events.registry import PAYLOAD_BY_TYPE as PAYLOAD_BY_TYPE
    from agentfootprint.events.registry import PAYLOADS as PAYLOADS
    from agentfootprint.events.registry import domain_of as domain_of
else:
    from agentfootprint._lazy import door

    # fmt: off
    __getattr__, __dir__ = door(
        __name__,
        {name: f"agentfootprint.events.{module}" for module, names in {
            "bus": (
                "DrainResult", "EventBus", "Listener", "Signal", "Subscription",
            ),
            "codec": (
                "app_event", "decode_event", "encode_event", "event_from_wire", "event_to_wire",
            ),
            "envelope": (
                "Event", "UnknownEvent",
            ),
            "errors": (
                "EventFormatError", "EventPatternError", "ListenerError",
            ),
            "meta": (
                "CONSUMER_RUN_ID", "CONSUMER_STAGE", "UNKNOWN_STAGE", "Carried", "EventMeta", "MetaMarks", "Origin",
                "RunFacts", "Stage", "build_event_meta", "consumer_facts",
            ),
            "payloads.agent": (
                "BudgetExhausted", "CarriedBy", "ConfiguredArtifacts", "ConfiguredLLM", "ConfiguredMemory",
                "ConfiguredRecipe", "ConfiguredSkillGraph", "EvidenceChecked", "Handoff", "IterationEnd",
                "IterationStart", "OutputContractUnmet", "OutputSchemaRetry", "OutputSchemaValidationFailed",
                "RouteDecided", "RunConfigured", "ThinkingParseFailed", "TurnEnd", "TurnStart", "TurnStoppedEarly",
                "UnsupportedValue",
            ),
            "payloads.base": (
                "Keyed", "Many", "Number", "Object", "Payload",
            ),
            "payloads.composition": (
                "CompositionBranchComplete", "CompositionEnter", "CompositionExit", "CompositionForkStart",
                "CompositionIterationExit", "CompositionIterationStart", "CompositionMergeEnd",
                "CompositionRouteDecided", "ForkBranch",
            ),
            "payloads.context": (
                "BudgetSpent", "CatalogSkill", "ContextBudgetPressure", "ContextEvaluated", "ContextEvicted",
                "ContextInjected", "ContextSlotComposed", "CursorMove", "GuardCondition", "GuardRecord", "PathStep",
                "RoutingRow", "SkippedPiece", "SlotBudget", "SourceShare", "Witness",
            ),
            "payloads.evidence": (
                "ArtifactsExpired", "ArtifactsMinted", "ArtifactsPresented", "ArtifactsRefused",
                "ArtifactsResolved", "CheckRow", "IntegrityContextError", "IntegrityDisposition", "MintOrigin",
                "PresentedSnapshot", "Subject",
            ),
            "payloads.faults": (
                "ErrorCircuitChanged", "ErrorFatal", "ErrorRecovered", "ErrorRetried", "ErrorThrottled",
                "FallbackTriggered", "ReliabilityFailFast", "ReliabilityRecovered", "ReliabilityRetried",
                "ResilienceOutputCannedUsed", "ResilienceOutputFallbackTriggered", "RiskFlagged",
            ),
            "payloads.gates": (
                "CheckInDecision", "CheckInRequest", "CredentialAcquired", "CredentialAuthorizationRequired",
                "CredentialFailed", "CredentialRequested", "MiddlewareDecision", "PauseRequest", "PauseResume",
                "PermissionCheck", "PermissionGateClosed", "PermissionGateOpened", "PermissionHalt",
            ),
            "payloads.memory": (
                "EmbeddingGenerated", "MemoryAttached", "MemoryDetached", "MemoryRetrieved",
                "MemoryStrategyApplied", "MemoryWritten", "RetrievalCandidate",
            ),
            "payloads.skill": (
                "BrainRef", "ConflictSide", "DeciderVerdict", "DroppedResume", "EdgeGuard", "MapEdge", "MapEngaged",
                "MapNode", "MapParked", "ProcedureStep", "RemainingStep", "RoutingPolicy", "RunnerUp",
                "SkillActivated", "SkillDeactivated", "SkillEscalated", "SkillGraphDeclared", "SkillRejected",
                "SkillRerouteSuperseded", "SkillRouteConflict", "SkillScore", "SkillStepAdvanced",
                "SkillStepSkipped", "SkillStepsUnfinished", "SkillTurnRouted",
            ),
            "payloads.spending": (
                "CostLimitHit", "CostTick", "CumulativeCost", "EvalScore", "EvalThresholdCrossed",
            ),
            "payloads.stream": (
                "BrainChoice", "LLMEnd", "LLMStart", "OfferedTool", "RecordedThinking", "Restarted",
                "ThinkingDelta", "ThinkingEnd", "Token", "TokenCounts", "ToolEnd", "ToolProgress", "ToolStart",
            ),
            "payloads.tools": (
                "ArgIssue", "GroundRow", "ToolsAbsent", "ToolsActivated", "ToolsCodeRun", "ToolsCoverageDeclared",
                "ToolsDeactivated", "ToolsDefinitionChanged", "ToolsDiscoveryCompleted", "ToolsDiscoveryFailed",
                "ToolsDiscoveryStarted", "ToolsEffect", "ToolsOffered", "ToolsOutcomeUnknown", "ToolsRepeatedCall",
                "ToolsResultRefused", "ToolsSemanticsDeclared", "ToolsSessionCloseFailed", "ToolsSessionClosed",
                "ToolsSessionReused", "ToolsSessionStarted", "ToolsShadowed", "TryInstead", "ValidationArgsInvalid",
            ),
            "registry": (
                "DOMAINS", "EVENT_TYPES", "PAYLOADS", "PAYLOAD_BY_TYPE", "domain_of",
            ),
        }.items() for name in names},
    )
    # fmt: on

__all__ = [
    "EVENT_TYPES",
    "ArtifactsExpired",
    "ArtifactsMinted",
    "ArtifactsPresented",
    "ArtifactsRefused",
    "ArtifactsResolved",
    "BudgetExhausted",
    "CheckInDecision",
    "CheckInRequest",
    "CompositionBranchComplete",
    "CompositionEnter",
    "CompositionExit",
    "CompositionForkStart",
    "CompositionIterationExit",
    "CompositionIterationStart",
    "CompositionMergeEnd",
    "CompositionRouteDecided",
    "ContextBudgetPressure",
    "ContextEvaluated",
    "ContextEvicted",
    "ContextInjected",
    "ContextSlotComposed",
    "CostLimitHit",
    "CostTick",
    "CredentialAcquired",
    "CredentialAuthorizationRequired",
    "CredentialFailed",
    "CredentialRequested",
    "EmbeddingGenerated",
    "ErrorCircuitChanged",
    "ErrorFatal",
    "ErrorRecovered",
    "ErrorRetried",
    "ErrorThrottled",
    "EvalScore",
    "EvalThresholdCrossed",
    "Event",
    "EventBus",
    "EventMeta",
    "EvidenceChecked",
    "FallbackTriggered",
    "Handoff",
    "IntegrityContextError",
    "IntegrityDisposition",
    "IterationEnd",
    "IterationStart",
    "LLMEnd",
    "LLMStart",
    "MapEngaged",
    "MapParked",
    "MemoryAttached",
    "MemoryDetached",
    "MemoryRetrieved",
    "MemoryStrategyApplied",
    "MemoryWritten",
    "MiddlewareDecision",
    "OutputContractUnmet",
    "OutputSchemaRetry",
    "OutputSchemaValidationFailed",
    "PauseRequest",
    "PauseResume",
    "PermissionCheck",
    "PermissionGateClosed",
    "PermissionGateOpened",
    "PermissionHalt",
    "ReliabilityFailFast",
    "ReliabilityRecovered",
    "ReliabilityRetried",
    "ResilienceOutputCannedUsed",
    "ResilienceOutputFallbackTriggered",
    "Restarted",
    "RiskFlagged",
    "RouteDecided",
    "RunConfigured",
    "SkillActivated",
    "SkillDeactivated",
    "SkillEscalated",
    "SkillGraphDeclared",
    "SkillRejected",
    "SkillRerouteSuperseded",
    "SkillRouteConflict",
    "SkillStepAdvanced",
    "SkillStepSkipped",
    "SkillStepsUnfinished",
    "SkillTurnRouted",
    "Subscription",
    "ThinkingDelta",
    "ThinkingEnd",
    "ThinkingParseFailed",
    "Token",
    "ToolEnd",
    "ToolProgress",
    "ToolStart",
    "ToolsAbsent",
    "ToolsActivated",
    "ToolsCodeRun",
    "ToolsCoverageDeclared",
    "ToolsDeactivated",
    "ToolsDefinitionChanged",
    "ToolsDiscoveryCompleted",
    "ToolsDiscoveryFailed",
    "ToolsDiscoveryStarted",
    "ToolsEffect",
    "ToolsOffered",
    "ToolsOutcomeUnknown",
    "ToolsRepeatedCall",
    "ToolsResultRefused",
    "ToolsSemanticsDeclared",
    "ToolsSessionCloseFailed",
    "ToolsSessionClosed",
    "ToolsSessionReused",
    "ToolsSessionStarted",
    "ToolsShadowed",
    "TurnEnd",
    "TurnStart",
    "UnknownEvent",
    "ValidationArgsInvalid",
    "decode_event",
    "encode_event",
]
