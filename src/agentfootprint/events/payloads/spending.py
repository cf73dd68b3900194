"""What a run costs and how good it is: priced calls, limits, scores."""

from __future__ import annotations

from typing import Literal

from agentfootprint.events.payloads.base import Number, Payload
from agentfootprint.trace import Record, Value

__all__ = ["CostLimitHit", "CostTick", "CumulativeCost", "EvalScore", "EvalThresholdCrossed"]


class CumulativeCost(Record, frozen=True, kw_only=True, gc=False):
    """Sums over the run, in call order."""

    tokens_input: int
    """Input tokens."""
    tokens_output: int
    """Output tokens."""
    estimated_usd: Number
    """US dollars."""


class CostTick(Payload, frozen=True, kw_only=True, gc=False):
    """A priced call was paid for; nothing without a pricing table, nothing for unknown usage."""

    type = "agentfootprint.cost.tick"

    scope: Literal["iteration", "turn", "run"]
    """What the numbers are about."""
    model: str
    """The effective model's name."""
    provider: str | None = None
    """The effective provider's name."""
    tokens_input: int
    """Input tokens of this call."""
    tokens_output: int
    """Output tokens of this call."""
    estimated_usd: Number
    """US dollars for this call."""
    cumulative: CumulativeCost
    """Sums over the run so far."""
    attempt: int | None = None
    """The attempt, for a billed one that failed (CLL-4)."""


class CostLimitHit(Payload, frozen=True, kw_only=True, gc=False):
    """A limit was crossed; once per run and kind."""

    type = "agentfootprint.cost.limit_hit"

    kind: Literal["max_tokens", "max_cost", "max_iterations", "max_wallclock"]
    """Which limit."""
    limit: Number
    """The limit."""
    actual: Number
    """What was reached."""
    action: Literal["abort", "warn", "degrade"]
    """What follows."""


class EvalScore(Payload, frozen=True, kw_only=True, gc=False):
    """An application scored something (EVT-6)."""

    type = "agentfootprint.eval.score"

    metric_id: str
    """The metric's id."""
    value: Number
    """The score."""
    threshold: Number | None = None
    """The score to reach."""
    target: Literal["iteration", "turn", "run", "toolCall"]
    """What was scored."""
    target_ref: str
    """Which one."""
    evaluator: Literal["llm", "fn", "heuristic"] | None = None
    """What scored it."""
    evidence: Value = None
    """What the score rests on."""


class EvalThresholdCrossed(Payload, frozen=True, kw_only=True, gc=False):
    """A score crossed its threshold (EVT-6)."""

    type = "agentfootprint.eval.threshold_crossed"

    metric_id: str
    """The metric's id."""
    direction: Literal["above", "below"]
    """Which way."""
    value: Number
    """The score."""
    threshold: Number
    """The threshold."""
    action_taken: str | None = None
    """What followed."""
