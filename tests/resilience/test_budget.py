"""Tests of agentfootprint.resilience.budget."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.resilience import CostBudget, StaticPricing, checked_budget

PRICES = StaticPricing({"m": {"input": 1e-6, "output": 2e-6}})


def test_a_bare_number_warns() -> None:
    assert checked_budget(0.25, pricing=PRICES) == CostBudget(0.25, on_exceed="warn")
    assert checked_budget(2, pricing=PRICES, can_halt=False) == CostBudget(2)


def test_no_budget_needs_no_prices() -> None:
    assert checked_budget(None, pricing=None) is None


@pytest.mark.parametrize("usd", [0, -1, -0.0, float("nan"), float("inf"), True, "5", None, [1]])
def test_an_amount_that_limits_nothing_is_refused(usd: Any) -> None:
    with pytest.raises(ConfigError, match=r"The cost budget is .*positive, finite number") as refused:
        CostBudget(usd)

    assert refused.value.option == "limits.cost"


@pytest.mark.parametrize("action", ["stop", "", None, "HALT"])
def test_an_unknown_action_is_refused(action: Any) -> None:
    with pytest.raises(ConfigError, match=r"on_exceed=.*Use \"warn\" or \"halt\"") as refused:
        CostBudget(1, on_exceed=action)

    assert refused.value.option == "limits.cost"


def test_a_budget_without_prices_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no prices.*StaticPricing"):
        checked_budget(1.0, pricing=None)


def test_a_single_call_can_not_be_halted() -> None:
    with pytest.raises(ConfigError, match="single call"):
        checked_budget(CostBudget(1, on_exceed="halt"), pricing=PRICES, can_halt=False)

    assert checked_budget(CostBudget(1, on_exceed="halt"), pricing=PRICES) == CostBudget(1, on_exceed="halt")
