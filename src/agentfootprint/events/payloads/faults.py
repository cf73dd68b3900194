"""What happens when something fails: errors, retries, fallbacks, breakers, and the rules that judge them."""

from __future__ import annotations

from typing import Literal

from agentfootprint.events.payloads.base import Number, Payload
from agentfootprint.trace import Value

__all__ = [
    "ErrorCircuitChanged",
    "ErrorFatal",
    "ErrorRecovered",
    "ErrorRetried",
    "ErrorThrottled",
    "FallbackTriggered",
    "ReliabilityFailFast",
    "ReliabilityRecovered",
    "ReliabilityRetried",
    "ResilienceOutputCannedUsed",
    "ResilienceOutputFallbackTriggered",
    "RiskFlagged",
]


class RiskFlagged(Payload, frozen=True, kw_only=True, gc=False):
    """An application's detector found a risk; deprecated, nothing here emits it (NEW-97)."""

    type = "agentfootprint.risk.flagged"

    severity: Literal["low", "medium", "high", "critical"]
    """How bad."""
    category: Literal["pii", "prompt_injection", "runaway_loop", "cost_overrun", "hallucination_flag"]
    """What kind."""
    detector: str
    """What found it."""
    evidence: Value
    """What it found."""
    action: Literal["warn", "redact", "abort"]
    """What followed."""


class FallbackTriggered(Payload, frozen=True, kw_only=True, gc=False):
    """Something else took over from what failed."""

    type = "agentfootprint.fallback.triggered"

    kind: Literal["provider", "tool", "skill"]
    """What was replaced."""
    primary: str
    """What failed, by name."""
    fallback: str
    """What took over, by name."""
    reason: str
    """Why, in words."""


class ErrorRetried(Payload, frozen=True, kw_only=True, gc=False):
    """A provider call failed and will be made again."""

    type = "agentfootprint.error.retried"

    attempt: int
    """The attempt that failed, from 1."""
    max_attempts: int
    """How many there may be."""
    last_error: str
    """The error's message."""
    backoff_ms: Number
    """How long is waited."""
    reason: str
    """Why it is tried again."""
    stated_wait_ms: Number | None = None
    """The wait the server asked for (NEW-111)."""


class ErrorRecovered(Payload, frozen=True, kw_only=True, gc=False):
    """A provider call succeeded after failures."""

    type = "agentfootprint.error.recovered"

    attempt: int
    """The attempt that succeeded, from 1."""
    total_duration_ms: Number
    """Since the first attempt."""


class ErrorFatal(Payload, frozen=True, kw_only=True, gc=False):
    """The run failed; whatever is open stays open, so close it here (EVT-24). Once per run."""

    type = "agentfootprint.error.fatal"

    error: str
    """One plain sentence, without an address or a key (EVT-26)."""
    stage: str
    """The stage that failed, `__root__` when it is not known."""
    scope: str
    """`run`."""


class ErrorCircuitChanged(Payload, frozen=True, kw_only=True, gc=False):
    """A circuit breaker changed its state; a rejected request is no change."""

    type = "agentfootprint.error.circuit_changed"

    state: Literal["closed", "open", "half-open"]
    """The new state."""
    reason: str
    """Why; never an error's text."""
    provider_name: str
    """The provider behind it."""


class ErrorThrottled(Payload, frozen=True, kw_only=True, gc=False):
    """A call waits for a rate limit of our own (RES-21, DEC-43)."""

    type = "agentfootprint.error.throttled"

    wait_ms: Number
    """How long."""
    limit: str
    """Which limit: `rpm`, `tpm` or `concurrency`."""


class ReliabilityFailFast(Payload, frozen=True, kw_only=True, gc=False):
    """The reliability rules ended the call (REL-8)."""

    type = "agentfootprint.reliability.fail_fast"

    phase: Literal["pre-check", "post-decide"]
    """When."""
    kind: str
    """The rule's kind, else the error's."""
    attempt: int
    """Attempts made; 0 before the first."""
    label: str | None = None
    """The rule's label."""
    reason: str | None = None
    """Why, in words."""
    provider_used: str | None = None
    """The provider that was called."""
    error_kind: str | None = None
    """How the error is classed."""
    error_message: str | None = None
    """The error's message."""


class ReliabilityRetried(Payload, frozen=True, kw_only=True, gc=False):
    """The reliability rules have the call made again (REL-3)."""

    type = "agentfootprint.reliability.retried"

    attempt: int
    """The attempt that failed, from 1."""
    action: Literal["retry", "retry-other"]
    """With the same provider, or the next."""
    error_kind: str
    """How the error is classed."""
    error_message: str | None = None
    """The error's message."""
    from_provider: str
    """The provider that failed."""
    to_provider: str
    """The provider that is called next."""


class ReliabilityRecovered(Payload, frozen=True, kw_only=True, gc=False):
    """A call succeeded under the reliability rules after failures (REL-7)."""

    type = "agentfootprint.reliability.recovered"

    attempt: int
    """The attempt that succeeded, from 1."""
    recovered_via: Literal["retry", "retry-other", "fallback"]
    """How."""
    prior_failures: int
    """Attempts that had failed."""
    error_kind: str
    """How the last error is classed."""


class ResilienceOutputFallbackTriggered(Payload, frozen=True, kw_only=True, gc=False):
    """A typed answer missed its schema and the fallback is about to run (OFB-3)."""

    type = "agentfootprint.resilience.output_fallback_triggered"

    stage: str
    """What failed: `json-parse` or `schema-validate`."""
    raw_output_preview: str
    """At most 200 characters of the answer."""
    primary_error_message: str
    """What the validator said."""
    retries_spent: int | None = None
    """Times the model was asked again; absent when unknown, never 0 for unknown."""


class ResilienceOutputCannedUsed(Payload, frozen=True, kw_only=True, gc=False):
    """The fallback failed too and the canned answer is used (OFB-3)."""

    type = "agentfootprint.resilience.output_canned_used"

    raw_output_preview: str
    """At most 200 characters of the answer."""
    fallback_error_message: str
    """What the fallback failed with."""
    retries_spent: int | None = None
    """Times the model was asked again; absent when unknown, never 0 for unknown."""
