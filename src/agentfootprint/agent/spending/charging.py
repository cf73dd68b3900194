"""What does a run cost, and does its budget let it go on?

A run's spending lives in its scope and, since a paused run goes on elsewhere, in its state (DEC-16, AGT-140). Without
prices nothing here runs, and nothing of it stands in the record (AGT-1).
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from agentfootprint.errors import ConfigError
from agentfootprint.llm import Usage
from agentfootprint.resilience import (
    CostBudget,
    PricingTable,
    Spending,
    UnknownPriceError,
    charge,
    check_priced,
    checked_budget,
)

if TYPE_CHECKING:
    from agentfootprint.agent.options import Limits
    from agentfootprint.agent.scope import RunScope
    from agentfootprint.flow import Handle
    from agentfootprint.llm import LLMProvider
    from agentfootprint.trace import FrozenDict

__all__ = ["Purse", "check_money", "is_free", "pay", "purse_of", "restore_purse"]

_log = logging.getLogger(__name__)
_UNPRICED: Final = "unpricedCalls"


class Purse(NamedTuple):
    """By what the calls of a run are priced, and what they may cost."""

    pricing: PricingTable
    budget: CostBudget | None

    @property
    def halts(self) -> bool:
        """Whether a crossed budget ends the run."""
        return self.budget is not None and self.budget.on_exceed == "halt"

    def crossed(self, spending: Spending) -> Literal["over", "unpriced"] | None:
        """Whether a spending crosses the budget, or can't be held against it."""
        return spending.crossing(self.budget)


def check_money(cost: object, pricing: object) -> None:
    """Refuse a budget or prices that can be none; a run's budget may lean on the prices of its agent.

    Raises:
        ConfigError: Names `limits.cost` or `limits.pricing`.
    """
    if pricing is not None and not isinstance(pricing, PricingTable):
        raise ConfigError(
            "limits.pricing",
            f"limits.pricing is of the type {type(pricing).__name__}.",
            fix="Give StaticPricing({...}), or an object with a name and price_per_token(model, kind).",
        )
    if cost is not None and not isinstance(cost, CostBudget):
        given: Any = cost
        CostBudget(given)


def purse_of(limits: Limits, provider: LLMProvider, model: str, *, can_halt: bool = True) -> Purse | None:
    """The prices and the budget of an agent or a run; `None` when nothing is priced.

    A model that is known to be free costs 0 whatever a table says, unless the table prices it (DEC-69).

    Args:
        limits: What was asked for.
        provider: Who will be asked.
        model: The model that will be asked.
        can_halt: Whether there is a boundary to stop at.

    Raises:
        ConfigError: A budget without prices, or one that halts where nothing can.
        UnknownPriceError: The table has no price for the model, and does not say that it knows none.
    """
    budget = checked_budget(limits.cost, pricing=limits.pricing, can_halt=can_halt)
    if limits.pricing is None:
        return None
    try:
        check_priced(limits.pricing, [model])
    except UnknownPriceError:
        if not is_free(provider):
            raise
        return None
    if is_free(provider) and math.isnan(limits.pricing.price_per_token(model, "input")):
        return None
    return Purse(limits.pricing, budget)


def is_free(provider: object) -> bool:
    """Whether asking a provider is known to cost nothing, by its own word (DEC-69)."""
    return getattr(provider, "is_free", False) is True


def restore_purse(scope: RunScope, state: FrozenDict) -> None:
    """Go on with what the turn had spent when it paused (AGT-140)."""
    scope.spending = Spending(
        tokens_input=state.get("cumTokensInput", 0),
        tokens_output=state.get("cumTokensOutput", 0),
        usd=float(state.get("cumEstimatedUsd", 0)),
        unpriced_calls=state.get(_UNPRICED, 0),
    )


def pay(h: Handle, scope: RunScope, purse: Purse, usage: Usage | None, iteration: int) -> None:
    """Add one model call to what the run has spent, and say so (AGT-138, AGT-139, DEC-42).

    Args:
        h: The step that made the call.
        scope: The run's.
        purse: Its prices and budget.
        usage: What the call took; `None` when the provider did not say.
        iteration: The iteration, for the log.
    """
    before = scope.spending or Spending()
    for key in ("cumTokensInput", "cumTokensOutput", "cumEstimatedUsd", "costBudgetHit"):
        h[key]
    after, events = charge(
        before,
        usage or Usage(known=False),
        model=scope.model,
        pricing=purse.pricing,
        provider=scope.provider.name,
        budget=purse.budget,
    )
    scope.spending = after
    if after.unpriced_calls > before.unpriced_calls:
        h[_UNPRICED] = after.unpriced_calls
    else:
        h["cumTokensInput"] = after.tokens_input
        h["cumTokensOutput"] = after.tokens_output
        h["cumEstimatedUsd"] = after.usd
    for event in events:
        scope.emit(h, event)
    crossing = purse.crossed(after)
    if crossing == "over" and purse.crossed(before) != "over":
        h["costBudgetHit"] = True
    elif crossing == "unpriced" and not before.unpriced_calls:
        if purse.halts:
            h["costBudgetHit"] = True
        _log.warning(
            "The cost of a model call of run %s in iteration %d is not known, so its cost budget %s.",
            scope.facts.run_id,
            iteration,
            "ends it" if purse.halts else "can't be kept",
        )
