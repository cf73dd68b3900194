"""How much may a run cost, and what happens when it costs more?"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Final, Literal, cast

from agentfootprint.errors import ConfigError
from agentfootprint.resilience.prices import PricingTable

__all__ = ["CostBudget", "checked_budget"]

_OPTION: Final = "limits.cost"


@dataclass(frozen=True, slots=True)
class CostBudget:
    """The most that a run may cost (08b:CST-3).

    Args:
        usd: US dollars.
        on_exceed: What follows when the run has cost more: `"warn"` says so once and goes on, `"halt"` ends the run at
            the next iteration boundary. The call that crosses the budget is paid for either way.

    Raises:
        ConfigError: The amount is no positive, finite number, or there is no such action.
    """

    usd: float
    _: KW_ONLY
    on_exceed: Literal["warn", "halt"] = "warn"

    def __post_init__(self) -> None:
        usd = cast("object", self.usd)
        if isinstance(usd, bool) or not isinstance(usd, (int, float)) or not (usd > 0 and math.isfinite(usd)):
            raise ConfigError(
                _OPTION, f"The cost budget is {usd!r}.", fix="Give US dollars as a positive, finite number."
            )
        if self.on_exceed not in ("warn", "halt"):
            raise ConfigError(
                _OPTION, f"The cost budget has on_exceed={self.on_exceed!r}.", fix='Use "warn" or "halt".'
            )


def checked_budget(
    cost: float | CostBudget | None, *, pricing: PricingTable | None, can_halt: bool = True
) -> CostBudget | None:
    """The budget that was asked for; a bare number warns.

    Args:
        cost: What the caller gave.
        pricing: The prices that it will be held against.
        can_halt: Whether there is a boundary to stop at; a single call has none.

    Raises:
        ConfigError: It can't be a budget, there are no prices, or it asks to halt where nothing can.
    """
    if cost is None:
        return None
    budget = cost if isinstance(cost, CostBudget) else CostBudget(cost)
    if pricing is None:
        raise ConfigError(
            _OPTION,
            "There is a cost budget and no prices, so nothing could ever be held against it.",
            fix="Give prices too: Limits(cost=..., pricing=StaticPricing({...})).",
        )
    if budget.on_exceed == "halt" and not can_halt:
        raise ConfigError(
            _OPTION, "A single call can't be halted by what it costs.", fix='Use on_exceed="warn", or an agent.'
        )
    return budget
