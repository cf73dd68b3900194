"""When a call costs or fails: prices, budgets, what a run has spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.resilience.budget import CostBudget as CostBudget
    from agentfootprint.resilience.budget import checked_budget as checked_budget
    from agentfootprint.resilience.errors import InvalidPriceError as InvalidPriceError
    from agentfootprint.resilience.errors import UnknownPriceError as UnknownPriceError
    from agentfootprint.resilience.prices import PriceKind as PriceKind
    from agentfootprint.resilience.prices import PricingTable as PricingTable
    from agentfootprint.resilience.prices import StaticPricing as StaticPricing
    from agentfootprint.resilience.prices import check_priced as check_priced
    from agentfootprint.resilience.prices import cost_of as cost_of
    from agentfootprint.resilience.spending import Spending as Spending
    from agentfootprint.resilience.spending import charge as charge
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        {
            name: f"agentfootprint.resilience.{module}"
            for module, names in {
                "budget": "CostBudget checked_budget",
                "errors": "InvalidPriceError UnknownPriceError",
                "prices": "PriceKind PricingTable StaticPricing check_priced cost_of",
                "spending": "Spending charge",
            }.items()
            for name in names.split()
        },
    )

__all__ = ["CostBudget", "PricingTable", "StaticPricing"]
