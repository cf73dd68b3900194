"""What has a run spent so far, and did it cross its budget?

Invariants: a run's spending is a value that lives in the run (DEC-16); the sums are those of the ticks, in call order,
in plain floats, so that whoever adds the ticks up gets the same numbers (05:CST-6). A call whose cost is not known has
no tick and is counted: the sum then is no cost of the run (DEC-42).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from agentfootprint.events import CostLimitHit, CostTick, CumulativeCost
from agentfootprint.llm import Usage
from agentfootprint.resilience.budget import CostBudget
from agentfootprint.resilience.prices import PricingTable, cost_of

__all__ = ["Spending", "charge"]

Crossing: TypeAlias = Literal["over", "unpriced"]


class Spending(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What the calls of one run have taken, as far as it is known."""

    tokens_input: int = 0
    """Of the priced calls, as their vendors count."""
    tokens_output: int = 0
    usd: float = 0.0
    """US dollars for the priced calls."""
    unpriced_calls: int = 0
    """Calls whose cost is not known."""

    @property
    def cost_usd(self) -> float | None:
        """US dollars for the whole run; `None` when a call is not priced."""
        return None if self.unpriced_calls else self.usd

    def crossing(self, budget: CostBudget | None) -> Crossing | None:
        """Whether a budget is crossed, strictly, or can't be kept because a cost is not known (DEC-42).

        Args:
            budget: The budget; `None` is never crossed.
        """
        if budget is None:
            return None
        return "over" if self.usd > budget.usd else "unpriced" if self.unpriced_calls else None


def charge(
    spending: Spending,
    usage: Usage,
    *,
    model: str,
    pricing: PricingTable,
    provider: str | None = None,
    budget: CostBudget | None = None,
    attempt: int | None = None,
) -> tuple[Spending, tuple[CostTick | CostLimitHit, ...]]:
    """Add one model call: the spending after it, and the events that say so (08b:CST-2, CST-3).

    Args:
        spending: What was spent before.
        usage: What the call took.
        model: The model that answered; a strategy's call names its own (08b:CST-5).
        pricing: The prices.
        provider: The provider that answered.
        budget: The budget; its crossing is told once, by the call that crosses it.
        attempt: The attempt, for a billed one that failed.

    Raises:
        InvalidPriceError: The table's answer is no price.
    """
    usd = cost_of(usage, model=model, pricing=pricing)
    if usd is None:
        return msgspec.structs.replace(spending, unpriced_calls=spending.unpriced_calls + 1), ()
    tokens_in, tokens_out = usage.input or 0, usage.output or 0
    after = msgspec.structs.replace(
        spending,
        tokens_input=spending.tokens_input + tokens_in,
        tokens_output=spending.tokens_output + tokens_out,
        usd=spending.usd + usd,
    )
    tick = CostTick(
        scope="iteration",
        model=model,
        provider=provider,
        tokens_input=tokens_in,
        tokens_output=tokens_out,
        estimated_usd=usd,
        cumulative=CumulativeCost(
            tokens_input=after.tokens_input, tokens_output=after.tokens_output, estimated_usd=after.usd
        ),
        attempt=attempt,
    )
    if budget is None or not spending.usd <= budget.usd < after.usd:
        return after, (tick,)
    action: Literal["abort", "warn"] = "abort" if budget.on_exceed == "halt" else "warn"
    return after, (tick, CostLimitHit(kind="max_cost", limit=budget.usd, actual=after.usd, action=action))
