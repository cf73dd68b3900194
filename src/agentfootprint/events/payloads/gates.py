"""What happens at the gates: permission, credentials, rules, consent, and pauses for a person."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from agentfootprint.events.payloads.base import Number, Object, Payload

__all__ = [
    "CheckInDecision",
    "CheckInRequest",
    "CredentialAcquired",
    "CredentialAuthorizationRequired",
    "CredentialFailed",
    "CredentialRequested",
    "MiddlewareDecision",
    "PauseRequest",
    "PauseResume",
    "PermissionCheck",
    "PermissionGateClosed",
    "PermissionGateOpened",
    "PermissionHalt",
]


class PermissionCheck(Payload, frozen=True, kw_only=True, gc=False):
    """A permission checker has answered (PRM-3)."""

    type = "agentfootprint.permission.check"

    capability: Literal["tool_call", "skill_read", "memory_read", "memory_write", "external_net", "user_data"]
    """What was asked for."""
    actor: str
    """Who asks: `agent`."""
    target: str | None = None
    """The tool, or `skill:<id>`."""
    result: Literal["allow", "deny", "halt", "gate_open"]
    """The answer."""
    policy_engine: str | None = None
    """What answered."""
    policy_rule_id: str | None = None
    """The rule that decided."""
    rationale: str | None = None
    """Why, in words."""
    reason: str | None = None
    """A code for telemetry; the model never reads it."""
    tool_call_id: str | None = None
    """The call that is judged (NEW-98)."""
    iteration: int | None = None
    """The iteration, from 1 (NEW-98)."""


class PermissionGateOpened(Payload, frozen=True, kw_only=True, gc=False):
    """An approval for a time was given."""

    type = "agentfootprint.permission.gate_opened"

    gate_id: str
    """The approval's id."""
    opened_by: str
    """Who gave it."""
    expires_at: Number | None = None
    """When it ends, epoch milliseconds."""


class PermissionGateClosed(Payload, frozen=True, kw_only=True, gc=False):
    """An approval for a time ended."""

    type = "agentfootprint.permission.gate_closed"

    gate_id: str
    """The approval's id."""
    reason: str
    """Why, in words."""


class PermissionHalt(Payload, frozen=True, kw_only=True, gc=False):
    """A checker stopped the run; after the call's end (PRM-5)."""

    type = "agentfootprint.permission.halt"

    checker_id: str | None = None
    """The checker's id."""
    target: str
    """The tool, or `skill:<id>`."""
    reason: str
    """A code for telemetry; the model never reads it."""
    tell_llm: str | None = field(default=None, name="tellLLM")
    """What the model reads."""
    iteration: int
    """The iteration, from 1."""
    sequence_length: int
    """Calls dispatched before it."""
    tool_call_id: str | None = None
    """The call that was stopped (NEW-98)."""


class CredentialRequested(Payload, frozen=True, kw_only=True, gc=False):
    """A credential is about to be asked for."""

    type = "agentfootprint.credential.requested"

    service: str
    """The service it is for."""
    mode: Literal["machine", "user"] | None = None
    """On whose behalf."""
    tool_call_id: str | None = None
    """The call that needs it (NEW-98)."""
    iteration: int | None = None
    """The iteration, from 1 (NEW-98)."""


class CredentialAcquired(Payload, frozen=True, kw_only=True, gc=False):
    """A credential was given; never the secret."""

    type = "agentfootprint.credential.acquired"

    service: str
    """The service it is for."""
    kind: str
    """What kind it is."""
    expires_at: Number | None = None
    """When it ends, epoch seconds."""
    tool_call_id: str | None = None
    """The call that needs it (NEW-98)."""
    iteration: int | None = None
    """The iteration, from 1 (NEW-98)."""


class CredentialAuthorizationRequired(Payload, frozen=True, kw_only=True, gc=False):
    """A person must consent first; never the address they are sent to."""

    type = "agentfootprint.credential.authorization_required"

    service: str
    """The service it is for."""
    session_id: str
    """The consent's own session."""
    tool_call_id: str | None = None
    """The call that needs it (NEW-98)."""
    iteration: int | None = None
    """The iteration, from 1 (NEW-98)."""


class CredentialFailed(Payload, frozen=True, kw_only=True, gc=False):
    """A credential could not be had."""

    type = "agentfootprint.credential.failed"

    service: str
    """The service it is for."""
    reason: str
    """Why, in words."""
    tool: str | None = None
    """The tool that needs it."""
    error_class: str | None = None
    """The error's class; absent when what was raised was no exception."""
    tool_call_id: str | None = None
    """The call that needs it (NEW-98)."""
    iteration: int | None = None
    """The iteration, from 1 (NEW-98)."""


class PauseRequest(Payload, frozen=True, kw_only=True, gc=False):
    """The run waits for a person; under `<stage>#paused`, with the paused run's own meta (EVT-31)."""

    type = "agentfootprint.pause.request"

    reason: str
    """Why, in words."""
    question_payload: Object
    """The question with its data; a consent address is withheld."""


class PauseResume(Payload, frozen=True, kw_only=True, gc=False):
    """A person has answered; the first event of a resumed run, under `<stage>#resumed` (EVT-31)."""

    type = "agentfootprint.pause.resume"

    resume_input: Object
    """The answer; `{"input": ...}` when it is no object."""
    paused_duration_ms: Number
    """How long the run waited."""
    component_id: str | None = None
    """The component that collected the answer."""


class CheckInRequest(Payload, frozen=True, kw_only=True, gc=False):
    """A tool asks for approval before it runs; before the pause (AGT-85)."""

    type = "agentfootprint.checkin.request"

    tool_name: str
    """The tool."""
    tool_call_id: str
    """The call's id."""
    iteration: int
    """The iteration, from 1."""
    request: Object
    """What the approver is shown: tool, arguments, intent, evidence, component."""


class CheckInDecision(Payload, frozen=True, kw_only=True, gc=False):
    """An approver has decided; on the resume, before anything runs (AGT-85)."""

    type = "agentfootprint.checkin.decision"

    tool_name: str
    """The tool."""
    tool_call_id: str
    """The call's id."""
    iteration: int
    """The iteration, from 1."""
    approved: bool
    """Whether the call may run."""
    by: str
    """Who decided."""
    note: str | None = None
    """What they said."""
    component_id: str | None = None
    """The component that collected the decision."""
    remembered: Literal[True] | None = None
    """An earlier approval was used (02 s.13.3)."""


class MiddlewareDecision(Payload, frozen=True, kw_only=True, gc=False):
    """A rule has decided, passing through included; never the values before and after (ACT-10)."""

    type = "agentfootprint.middleware.decision"

    middleware: str
    """The rule's name."""
    moment: Literal["input", "before-tool", "after-tool", "window", "output"]
    """When it was asked."""
    at: Literal["tool", "message"]
    """What it was asked about."""
    phase: Literal["input", "output"] | None = None
    """Which message."""
    tool_name: str | None = None
    """The tool."""
    tool_call_id: str | None = None
    """The call's id."""
    iteration: int
    """The iteration; 0 at input."""
    outcome: Literal["allow", "deny", "ask"]
    """What it decided."""
    changed: bool
    """Whether it replaced the value."""
    why: str | None = None
    """Its reason."""
    component_id: str | None = None
    """The component that collected a person's answer."""
