"""Tests of agentfootprint.resilience.spending."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.events import CostLimitHit, CostTick
from agentfootprint.llm import Usage
from agentfootprint.resilience import CostBudget, Spending, StaticPricing, charge

PRICES = StaticPricing({"m": {"input": 0.25, "output": 0.5}, "summary": {"input": 1.0, "output": 1.0}})
CALL = Usage(input=2, output=1)  # costs 1


def spent(calls: int, budget: CostBudget | None = None) -> tuple[Spending, list[CostTick | CostLimitHit]]:
    spending, told = Spending(), list[CostTick | CostLimitHit]()
    for _ in range(calls):
        spending, events = charge(spending, CALL, model="m", pricing=PRICES, budget=budget)
        told += events
    return spending, told


def test_nothing_is_spent_at_first() -> None:
    assert (Spending().cost_usd, Spending().crossing(CostBudget(1))) == (0.0, None)


def test_a_call_is_told_with_the_sums_so_far() -> None:
    spending, told = spent(2)

    assert [(type(each).__name__, getattr(each, "estimated_usd", None)) for each in told] == [("CostTick", 1.0)] * 2
    assert isinstance(told[1], CostTick)
    assert told[1].cumulative.estimated_usd == spending.usd == spending.cost_usd == 2.0
    assert (told[1].cumulative.tokens_input, told[1].cumulative.tokens_output) == (4, 2)


def test_tokens_are_told_as_the_vendor_counts_them() -> None:
    prices = StaticPricing({"m": {"input": 1.0, "output": 1.0, "cacheRead": 0.0}})
    usage = Usage(input=10, output=1, cache_read=8).containing(cache=True)

    _, (tick,) = charge(Spending(), usage, model="m", pricing=prices)

    assert isinstance(tick, CostTick)
    assert (tick.tokens_input, tick.estimated_usd) == (10, 3.0)


def test_a_call_of_another_model_is_told_under_its_own_name_and_attempt() -> None:
    _, (tick,) = charge(Spending(), CALL, model="summary", provider="other", pricing=PRICES, attempt=2)

    assert isinstance(tick, CostTick)
    assert (tick.model, tick.provider, tick.attempt, tick.estimated_usd) == ("summary", "other", 2, 3.0)


@pytest.mark.parametrize(("usage", "model"), [(Usage(known=False), "m"), (CALL, "unlisted")])
def test_a_call_whose_cost_is_unknown_is_counted_and_not_told(usage: Usage, model: str) -> None:
    spending, told = charge(spent(1)[0], usage, model=model, pricing=PRICES)

    assert told == ()
    assert (spending.unpriced_calls, spending.usd, spending.cost_usd) == (1, 1.0, None)
    assert charge(spending, CALL, model="m", pricing=PRICES)[0].cost_usd is None


@pytest.mark.parametrize(("action", "told_as"), [("warn", "warn"), ("halt", "abort")])
def test_the_first_strict_crossing_is_told_once(action: str, told_as: str) -> None:
    budget = CostBudget(2, on_exceed="halt" if action == "halt" else "warn")

    at, told_at = spent(2, budget)
    beyond, told_beyond = spent(5, budget)

    assert at.crossing(budget) is None
    assert not any(isinstance(each, CostLimitHit) for each in told_at)
    assert beyond.crossing(budget) == "over"
    assert [(n, each) for n, each in enumerate(told_beyond) if isinstance(each, CostLimitHit)] == [
        (3, CostLimitHit(kind="max_cost", limit=2, actual=3.0, action="abort" if told_as == "abort" else "warn"))
    ]


def test_a_budget_can_not_be_kept_where_a_cost_is_unknown() -> None:
    unsure, _ = charge(Spending(), Usage(known=False), model="m", pricing=PRICES)

    assert unsure.crossing(CostBudget(10)) == "unpriced"
    assert unsure.crossing(None) is None
    assert charge(unsure, Usage(input=80), model="m", pricing=PRICES)[0].crossing(CostBudget(10)) == "over"


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=20), st.floats(0.01, 10**6))
def test_the_sums_are_those_of_the_ticks_and_the_limit_is_told_once_if_crossed(
    calls: list[tuple[int, int]], limit: float
) -> None:
    budget, spending, told = CostBudget(limit), Spending(), list[CostTick | CostLimitHit]()

    for taken, given_back in calls:
        usage = Usage(input=taken, output=given_back)
        spending, events = charge(spending, usage, model="m", pricing=PRICES, budget=budget)
        told += events

    total = 0.0
    for tick in (each for each in told if isinstance(each, CostTick)):
        total += tick.estimated_usd
        assert tick.cumulative.estimated_usd == total
    assert total == spending.usd
    assert sum(isinstance(each, CostLimitHit) for each in told) == (total > limit)
