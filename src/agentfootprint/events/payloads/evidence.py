"""What happens to large results and to the record's own soundness: artifacts and integrity checks."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from agentfootprint.events.payloads.base import Many, Number, Payload
from agentfootprint.trace import Record, Value

__all__ = [
    "ArtifactsExpired",
    "ArtifactsMinted",
    "ArtifactsPresented",
    "ArtifactsRefused",
    "ArtifactsResolved",
    "CheckRow",
    "IntegrityContextError",
    "IntegrityDisposition",
    "MintOrigin",
    "PresentedSnapshot",
    "Subject",
]

Seam = Literal["write", "compose", "wire", "choice", "claim"]


class MintOrigin(Record, frozen=True, kw_only=True, gc=False):
    """Which call made an artifact."""

    run_id: str | None = None
    """The run."""
    tool_call_id: str | None = None
    """The call."""


class ArtifactsMinted(Payload, frozen=True, kw_only=True, gc=False):
    """A large result was stored under a ticket; never its bytes."""

    type = "agentfootprint.artifacts.minted"

    ref: str
    """The ticket."""
    kind: str
    """What it is."""
    media_type: str
    """Its media type."""
    bytes: int
    """Its size."""
    label: str | None = None
    """Its label."""
    digest: str | None = None
    """`sha-256:` and 64 hex digits."""
    expires_at: Number | None = None
    """When it ends, epoch milliseconds."""
    origin: MintOrigin | None = None
    """Which call made it."""
    parent_refs: tuple[str, ...] | None = None
    """Tickets it was made from."""
    tool: str
    """The tool that made it."""


class ArtifactsResolved(Payload, frozen=True, kw_only=True, gc=False):
    """A ticket was redeemed."""

    type = "agentfootprint.artifacts.resolved"

    ref: str
    """The ticket."""
    via: Literal["head", "get"]
    """Its description, or the whole."""
    kind: str
    """What it is."""
    bytes: int
    """Its size."""
    tool: str | None = None
    """The tool; absent when the hosting door redeemed it."""


class ArtifactsExpired(Payload, frozen=True, kw_only=True, gc=False):
    """An artifact was swept."""

    type = "agentfootprint.artifacts.expired"

    ref: str
    """The ticket."""
    reason: Literal["ttl", "max-bytes", "max-count"]
    """Which limit."""
    kind: str
    """What it was."""
    bytes: int
    """Its size."""
    tool: str
    """The tool that had made it."""


class ArtifactsRefused(Payload, frozen=True, kw_only=True, gc=False):
    """An artifact could not be stored or redeemed."""

    type = "agentfootprint.artifacts.refused"

    op: Literal["put", "head", "get", "delete", "list", "dispatch"]
    """What was tried."""
    reason: Literal[
        "no-store", "missing-or-expired", "unknown-parent", "digest-mismatch", "invalid-input", "kind-mismatch"
    ]  # fmt: skip
    """Why not."""
    ref: str | None = None
    """The ticket."""
    detail: str | None = None
    """More, in words."""
    tool: str | None = None
    """The tool; absent at the hosting door."""


class PresentedSnapshot(Record, frozen=True, kw_only=True, gc=False):
    """What an artifact was when it was shown."""

    kind: str
    """What it is."""
    media_type: str
    """Its media type."""
    bytes: int
    """Its size."""
    label: str | None = None
    """Its label."""


class ArtifactsPresented(Payload, frozen=True, kw_only=True, gc=False):
    """The model shows an artifact to the person, by its ticket (SIZ-6)."""

    type = "agentfootprint.artifacts.presented"

    ref: str
    """The ticket."""
    as_: str = field(name="as")
    """How it is to be shown."""
    snapshot: PresentedSnapshot
    """What it was then."""
    tool_call_id: str
    """The call's id."""
    iteration: int
    """The iteration, from 1."""


class Subject(Record, frozen=True, kw_only=True, gc=False):
    """What a finding is about."""

    kind: str
    """What kind of thing."""
    id: str
    """Which one."""


class IntegrityContextError(Payload, frozen=True, kw_only=True, gc=False):
    """A check found a contradiction in what the model was given or said; once per identity (INT-2)."""

    type = "agentfootprint.integrity.context_error"

    kind: str
    """`invariant-violation`, `unsupported-argument`, `dangling-reference`, `duplicate-execution`, `unsupported-claim`,
    or a later check's own."""
    seam: Seam
    """Where it was found."""
    subjects: tuple[Subject, ...]
    """What it is about."""
    witnesses: Many[Value]
    """What contradicts."""
    predicate: str | None = None
    """The statement in question."""
    epoch: Value = None
    """The pass it was found in."""
    synthetic: Literal[True] | None = None
    """A test of the check itself."""
    advisory: Literal[True] | None = None
    """Worth knowing, not a failure."""
    message: str
    """The finding, in words."""
    iteration: int | None = None
    """The iteration, from 1."""


class CheckRow(Record, frozen=True, kw_only=True, gc=False):
    """What one check did in a run; numbers of checks that really ran (DEC-66)."""

    check: str
    """The check's name."""
    seam: str
    """Where it looks."""
    checked: int
    """Things it judged."""
    findings: int
    """Contradictions it found."""
    not_applicable: int
    """Things it had no say about."""
    unreachable: int
    """Things it could not judge."""
    last_fired_at: Number | None = None
    """When it last judged, epoch milliseconds."""
    synthetic: int
    """Tests of itself, counted apart."""


class IntegrityDisposition(Payload, frozen=True, kw_only=True, gc=False):
    """What every check did; at every end of a run, the last event (INT-7)."""

    type = "agentfootprint.integrity.disposition"
    outside_stage = "integrity-disposition#0"

    posture: Literal["observe", "dev"]
    """Whether a dead check fails the run."""
    work_existed: bool
    """Whether a model was called."""
    rows: tuple[CheckRow, ...]
    """One row a registered check."""
