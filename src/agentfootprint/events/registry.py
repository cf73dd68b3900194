"""Which events exist: one ordered list of payload classes, and everything that follows from it.

Invariants: the names of the reference come first, in its order, additions after them (EVT-2, DEC-43); a name is added,
never renamed or removed; counts, wildcards, the docs table and `EVENT_TYPES` are derived from `PAYLOADS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agentfootprint.events.payloads import agent as a
from agentfootprint.events.payloads import composition as co
from agentfootprint.events.payloads import context as c
from agentfootprint.events.payloads import evidence as ev
from agentfootprint.events.payloads import faults as f
from agentfootprint.events.payloads import gates as g
from agentfootprint.events.payloads import memory as m
from agentfootprint.events.payloads import skill as sk
from agentfootprint.events.payloads import spending as sp
from agentfootprint.events.payloads import stream as s
from agentfootprint.events.payloads import tools as t
from agentfootprint.events.payloads.base import Payload

__all__ = ["DOMAINS", "EVENT_TYPES", "PAYLOADS", "PAYLOAD_BY_TYPE", "domain_of"]

PAYLOADS: tuple[type[Payload], ...] = (
    co.CompositionEnter,
    co.CompositionExit,
    co.CompositionForkStart,
    co.CompositionBranchComplete,
    co.CompositionMergeEnd,
    co.CompositionRouteDecided,
    co.CompositionIterationStart,
    co.CompositionIterationExit,
    a.TurnStart,
    a.TurnEnd,
    a.IterationStart,
    a.IterationEnd,
    a.RouteDecided,
    a.Handoff,
    a.OutputSchemaValidationFailed,
    a.OutputSchemaRetry,
    a.OutputContractUnmet,
    a.EvidenceChecked,
    a.RunConfigured,
    a.ThinkingParseFailed,
    a.BudgetExhausted,
    s.LLMStart,
    s.LLMEnd,
    s.Token,
    s.ToolStart,
    s.ToolProgress,
    s.ToolEnd,
    s.ThinkingDelta,
    s.ThinkingEnd,
    c.ContextInjected,
    c.ContextEvicted,
    c.ContextSlotComposed,
    c.ContextBudgetPressure,
    c.ContextEvaluated,
    m.MemoryStrategyApplied,
    m.MemoryAttached,
    m.MemoryRetrieved,
    m.MemoryDetached,
    m.MemoryWritten,
    t.ToolsOffered,
    t.ToolsActivated,
    t.ToolsDeactivated,
    t.ToolsDiscoveryStarted,
    t.ToolsDiscoveryCompleted,
    t.ToolsDiscoveryFailed,
    t.ToolsShadowed,
    t.ToolsSessionStarted,
    t.ToolsSessionReused,
    t.ToolsSessionClosed,
    t.ToolsSessionCloseFailed,
    t.ToolsEffect,
    t.ToolsResultRefused,
    t.ToolsRepeatedCall,
    t.ToolsAbsent,
    t.ToolsCodeRun,
    t.ToolsCoverageDeclared,
    t.ToolsSemanticsDeclared,
    t.ValidationArgsInvalid,
    sk.SkillActivated,
    sk.SkillGraphDeclared,
    sk.SkillDeactivated,
    sk.SkillRejected,
    sk.SkillRerouteSuperseded,
    sk.SkillRouteConflict,
    sk.SkillTurnRouted,
    sk.SkillStepAdvanced,
    sk.SkillStepSkipped,
    sk.SkillStepsUnfinished,
    sk.SkillEscalated,
    g.PermissionCheck,
    g.PermissionGateOpened,
    g.PermissionGateClosed,
    g.PermissionHalt,
    g.CredentialRequested,
    g.CredentialAcquired,
    g.CredentialAuthorizationRequired,
    g.CredentialFailed,
    f.RiskFlagged,
    f.FallbackTriggered,
    sp.CostTick,
    sp.CostLimitHit,
    sp.EvalScore,
    sp.EvalThresholdCrossed,
    f.ErrorRetried,
    f.ErrorRecovered,
    f.ErrorFatal,
    f.ErrorCircuitChanged,
    f.ReliabilityFailFast,
    f.ReliabilityRetried,
    f.ReliabilityRecovered,
    f.ResilienceOutputFallbackTriggered,
    f.ResilienceOutputCannedUsed,
    g.PauseRequest,
    g.PauseResume,
    g.CheckInRequest,
    g.CheckInDecision,
    g.MiddlewareDecision,
    m.EmbeddingGenerated,
    ev.ArtifactsMinted,
    ev.ArtifactsResolved,
    ev.ArtifactsExpired,
    ev.ArtifactsRefused,
    ev.ArtifactsPresented,
    sk.MapEngaged,
    sk.MapParked,
    ev.IntegrityContextError,
    ev.IntegrityDisposition,
    # additions of DEC-43
    f.ErrorThrottled,
    t.ToolsDefinitionChanged,
    t.ToolsOutcomeUnknown,
    s.Restarted,
)
"""Every payload class, in registry order."""


def domain_of(event_type: str) -> str:
    """Everything before the last dot (DSP-1): `agentfootprint.stream` for a token."""
    return event_type.rpartition(".")[0]


PAYLOAD_BY_TYPE: Mapping[str, type[Payload]] = MappingProxyType({payload.type: payload for payload in PAYLOADS})
"""Payload class by event type."""

EVENT_TYPES: tuple[str, ...] = tuple(PAYLOAD_BY_TYPE)
"""Every event type, in registry order."""

DOMAINS: tuple[str, ...] = tuple(dict.fromkeys(domain_of(event_type) for event_type in EVENT_TYPES))
"""Every domain, `agentfootprint.<domain>`, in order of first use."""
