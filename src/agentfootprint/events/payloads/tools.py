"""What happens to tools: they are found, offered, run, refused, and what their results declare."""

from __future__ import annotations

from typing import Literal

from agentfootprint.events.payloads.base import Number, Object, Payload
from agentfootprint.trace import Record

__all__ = [
    "ArgIssue",
    "GroundRow",
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
    "TryInstead",
    "ValidationArgsInvalid",
]

Party = Literal["provider", "registry", "skill"]
SessionScope = Literal["call", "run", "session", "shutdown"]
CloseReason = Literal["call-end", "run-end", "session-end", "shutdown", "idle", "evicted"]


class ToolsOffered(Payload, frozen=True, kw_only=True, gc=False):
    """Which tools a call may use, and which were held back."""

    type = "agentfootprint.tools.offered"

    available_ids: tuple[str, ...]
    """Tools that are offered."""
    withheld_ids: tuple[str, ...]
    """Tools that are not."""
    withheld_reasons: tuple[str, ...]
    """Why, in the order of `withheld_ids`."""
    reason: str
    """What made the list."""


class ToolsActivated(Payload, frozen=True, kw_only=True, gc=False):
    """A tool became available."""

    type = "agentfootprint.tools.activated"

    tool_id: str
    """The tool's name."""
    reason: str
    """Why, in words."""
    source: str | None = None
    """What brought it."""


class ToolsDeactivated(Payload, frozen=True, kw_only=True, gc=False):
    """A tool is no longer available."""

    type = "agentfootprint.tools.deactivated"

    tool_id: str
    """The tool's name."""
    reason: str
    """Why, in words."""


class ToolsDiscoveryStarted(Payload, frozen=True, kw_only=True, gc=False):
    """A tool provider is about to be asked for its list (PRV-2)."""

    type = "agentfootprint.tools.discovery_started"

    provider_id: str
    """The provider's id."""
    iteration: int
    """The iteration, from 1."""


class ToolsDiscoveryCompleted(Payload, frozen=True, kw_only=True, gc=False):
    """A tool provider gave its list."""

    type = "agentfootprint.tools.discovery_completed"

    provider_id: str
    """The provider's id."""
    iteration: int
    """The iteration, from 1."""
    duration_ms: Number
    """How long it took."""
    tool_count: int
    """Tools in the list."""


class ToolsDiscoveryFailed(Payload, frozen=True, kw_only=True, gc=False):
    """A tool provider raised; the run ends, an empty list would disarm the agent in silence."""

    type = "agentfootprint.tools.discovery_failed"

    provider_id: str
    """The provider's id."""
    error: str
    """The error's message."""
    error_name: str
    """The error's class."""
    iteration: int
    """The iteration, from 1."""
    duration_ms: Number
    """How long it took."""


class ToolsShadowed(Payload, frozen=True, kw_only=True, gc=False):
    """Two contracts competed for one tool name; once per name and iteration."""

    type = "agentfootprint.tools.shadowed"

    tool_name: str
    """The contested name."""
    iteration: int
    """The iteration, from 1."""
    schema_from: Party
    """Whose schema the model reads."""
    schema_from_id: str | None = None
    """Its id."""
    dispatch_to: Party
    """Whose function runs."""
    dispatch_to_id: str | None = None
    """Its id."""


class ToolsSessionStarted(Payload, frozen=True, kw_only=True, gc=False):
    """A tool registered a cleanup for something it keeps open (CTX-4)."""

    type = "agentfootprint.tools.session_started"

    tool: str
    """The tool's name."""
    scope: SessionScope
    """When it is cleaned up."""
    key_hash: str
    """First 12 hex of SHA-256 of the isolation key, never the key."""
    runner_id: str | None = None
    """The code runner's id."""
    label: str | None = None
    """The tool's own words for it."""


class ToolsSessionReused(Payload, frozen=True, kw_only=True, gc=False):
    """A tool came back to what it keeps open."""

    type = "agentfootprint.tools.session_reused"

    tool: str
    """The tool's name."""
    scope: SessionScope
    """When it is cleaned up."""
    key_hash: str
    """As on the start."""
    runner_id: str | None = None
    """The code runner's id."""
    label: str | None = None
    """The tool's own words for it."""
    calls: int
    """Uses so far."""


class ToolsSessionClosed(Payload, frozen=True, kw_only=True, gc=False):
    """A cleanup ran; after a run's last stage under a pseudo-stage."""

    type = "agentfootprint.tools.session_closed"
    outside_stage = "tool-teardown#0"

    tool: str
    """The tool's name."""
    scope: SessionScope
    """When it is cleaned up."""
    key_hash: str
    """As on the start."""
    runner_id: str | None = None
    """The code runner's id."""
    label: str | None = None
    """The tool's own words for it."""
    reason: CloseReason
    """What made it due."""
    duration_ms: Number
    """How long the cleanup took."""


class ToolsSessionCloseFailed(Payload, frozen=True, kw_only=True, gc=False):
    """A cleanup raised or took too long; the others ran all the same."""

    type = "agentfootprint.tools.session_close_failed"
    outside_stage = "tool-teardown#0"

    tool: str
    """The tool's name."""
    scope: SessionScope
    """When it is cleaned up."""
    key_hash: str
    """As on the start."""
    runner_id: str | None = None
    """The code runner's id."""
    label: str | None = None
    """The tool's own words for it."""
    reason: CloseReason
    """What made it due."""
    duration_ms: Number
    """How long it was tried."""
    error: str
    """The error's message."""
    error_class: str | None = None
    """The error's class."""


class ToolsEffect(Payload, frozen=True, kw_only=True, gc=False):
    """An effect that a tool's result asked for was judged (EFF-8)."""

    type = "agentfootprint.tools.effect"

    kind: Literal["propose-transition", "require-instruction"]
    """What it asked for."""
    outcome: Literal["accepted", "refused", "superseded"]
    """What came of it."""
    tool_name: str
    """The tool that asked."""
    tool_call_id: str | None = None
    """That call's id."""
    iteration: int
    """The iteration, from 1."""
    target_skill_id: str | None = None
    """The skill proposed."""
    reason: str | None = None
    """The tool's reason."""
    instruction_id: str | None = None
    """The instruction asked for."""
    delivery_lease: Literal["next-call", "until-skill-exit"] | None = None
    """How long it is served."""
    refusal_reason: str | None = None
    """Why it was refused."""
    superseded_by: Literal["earlier-proposal"] | None = None
    """What won instead."""
    stay: Literal[True] | None = None
    """The proposal names the skill the map is on (NEW-79)."""


class ToolsResultRefused(Payload, frozen=True, kw_only=True, gc=False):
    """A result was over its declared ceiling; its data is in no channel (SIZ-1)."""

    type = "agentfootprint.tools.result_refused"

    tool_name: str
    """The tool."""
    tool_call_id: str
    """The call's id."""
    iteration: int
    """The iteration, from 1."""
    size_chars: int
    """The result's true size."""
    max_chars: int
    """The ceiling."""
    narrow_by: tuple[str, ...] | None = None
    """Arguments that make it smaller."""
    declared_status: str | None = None
    """The status the tool had declared."""


class ToolsRepeatedCall(Payload, frozen=True, kw_only=True, gc=False):
    """The same call gave the same result again; on the second landing only (SIZ-7)."""

    type = "agentfootprint.tools.repeated_call"

    tool_name: str
    """The tool."""
    tool_call_id: str
    """The call's id."""
    iteration: int
    """The iteration, from 1."""
    occurrences: int
    """How often so far."""
    args_fingerprint: str
    """Eight hex digits over the arguments."""
    result_fingerprint: str
    """Eight hex digits over the text the model read."""
    mode: Literal["arguments"] | None = None
    """The tool compares arguments only."""


class GroundRow(Record, frozen=True, kw_only=True, gc=False):
    """A ground that was covered, or not."""

    what: str
    """What it is."""
    why: str | None = None
    """Why it was not, or can't be, covered."""
    short: str | None = None
    """The same in at most 80 characters (NEW-41)."""
    kind: Literal["existence", "scope"] | None = None
    """What the gap is about (NEW-41)."""


class TryInstead(Record, frozen=True, kw_only=True, gc=False):
    """A tool that may know more (NEW-40)."""

    tool: str
    """Its name."""
    why: str | None = None
    """Why it may."""


class ToolsAbsent(Payload, frozen=True, kw_only=True, gc=False):
    """A tool looked and found nothing (RES-16)."""

    type = "agentfootprint.tools.absent"

    tool_name: str
    """The tool."""
    tool_call_id: str
    """The call's id."""
    iteration: int
    """The iteration, from 1."""
    looked_for: str | None = None
    """What was looked for."""
    checked: tuple[GroundRow, ...]
    """Where it looked."""
    not_checked: tuple[GroundRow, ...] | None = None
    """Where it did not."""
    cannot_cover: tuple[GroundRow, ...] | None = None
    """Where it can't."""
    try_instead: str | None = None
    """What to do instead, in words."""
    try_instead_tool: TryInstead | None = None
    """Which tool to ask instead."""


class ToolsCodeRun(Payload, frozen=True, kw_only=True, gc=False):
    """A code runner ran; never the code, never its output (RUN-5)."""

    type = "agentfootprint.tools.code_run"

    tool: str
    """The tool's name."""
    language: str
    """The language."""
    staged_inputs: int
    """Inputs that were staged for it."""
    output_chars: int
    """Size of what it printed."""
    truncated: bool
    """Whether that was cut."""
    ok: bool
    """Whether it succeeded."""
    shape_hash: str
    """FNV-1a of the code with names and literals removed."""


class ToolsCoverageDeclared(Payload, frozen=True, kw_only=True, gc=False):
    """A result says how far it reaches (RES-16)."""

    type = "agentfootprint.tools.coverage_declared"

    tool_name: str
    """The tool."""
    tool_call_id: str
    """The call's id."""
    iteration: int
    """The iteration, from 1."""
    checked: tuple[GroundRow, ...] | None = None
    """What was covered."""
    not_checked: tuple[GroundRow, ...] | None = None
    """What was not."""
    cannot_cover: tuple[GroundRow, ...] | None = None
    """What can't be."""
    in_progress: tuple[GroundRow, ...] | None = None
    """What still runs (NEW-44)."""


class ToolsSemanticsDeclared(Payload, frozen=True, kw_only=True, gc=False):
    """A result describes its own meaning; filed before its size is measured (RES-22)."""

    type = "agentfootprint.tools.semantics_declared"

    tool_name: str
    """The tool."""
    tool_call_id: str
    """The call's id."""
    iteration: int
    """The iteration, from 1."""
    semantics: Object
    """The whole envelope."""


class ToolsDefinitionChanged(Payload, frozen=True, kw_only=True, gc=False):
    """A pinned tool's definition is no longer the one that was pinned (MCP-13, DEC-43)."""

    type = "agentfootprint.tools.definition_changed"

    source: str
    """The server the tool comes from."""
    tool_name: str
    """The tool."""
    before: str
    """Digest of the pinned definition."""
    after: str
    """Digest of the one offered now."""
    action: Literal["refused", "warned"]
    """What followed."""


class ToolsOutcomeUnknown(Payload, frozen=True, kw_only=True, gc=False):
    """A recovered run can't know whether a call had its effect (DBO-10, DEC-43)."""

    type = "agentfootprint.tools.outcome_unknown"

    tool_name: str
    """The tool."""
    tool_call_id: str
    """The call's id."""
    iteration: int
    """The iteration, from 1."""
    policy: Literal["tell_model", "pause"]
    """What follows."""


class ArgIssue(Record, frozen=True, kw_only=True, gc=False):
    """One thing wrong with a call's arguments: type names, never the value (VAL-3)."""

    path: str
    """Dotted keys and `[i]`; empty for the whole."""
    expected: str
    """What the schema asks for."""
    got: str
    """The type that stood there, or `missing`."""
    hint: str | None = None
    """The pattern or bound that was missed (NEW-35)."""


class ValidationArgsInvalid(Payload, frozen=True, kw_only=True, gc=False):
    """A call's arguments miss the tool's schema (VAL-2)."""

    type = "agentfootprint.validation.args_invalid"

    tool_name: str
    """The tool."""
    tool_call_id: str
    """The call's id."""
    iteration: int
    """The iteration, from 1."""
    issues: tuple[ArgIssue, ...]
    """What is wrong."""
    enforced: bool
    """Whether the tool was kept from running."""
