"""Tests of agentfootprint.agent.spending.charging."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel

from agentfootprint import Agent, ConfigError, Limits, LLMCall, Mock, Output, RunOptions, Usage, ask_human, tool
from agentfootprint.agent import Configured
from agentfootprint.events import BudgetExhausted, CostLimitHit, CostTick, Event, RouteDecided
from agentfootprint.llm import LLMRequest, LLMResponse
from agentfootprint.resilience import CostBudget, StaticPricing, UnknownPriceError

PRICES = StaticPricing({"metered": {"input": 0.01, "output": 0.02}})
HALT = CostBudget(0.25, on_exceed="halt")


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it first."""
    return f"{order_id}: shipped"


CALL = Mock.call("lookup", order_id="A-1")


class Metered:
    """A provider that is not free: ten tokens in and five out for every reply, unless the script says otherwise."""

    name = "vendor"
    default_model = "metered"
    carries_forced_tool_choice = True

    def __init__(self, *replies: str | LLMResponse) -> None:
        self._mock = Mock(list(replies), usage=Usage(input=10, output=5))
        self.models: list[str] = []

    async def complete(self, request: LLMRequest, hooks: object = None) -> LLMResponse:
        self.models.append(request.model)
        return await self._mock.complete(request)


def told(agent: Agent[Any, Any] | LLMCall[Any]) -> list[Event[Any]]:
    events: list[Event[Any]] = []
    agent.on("*", events.append)
    return events


def of(events: list[Event[Any]], *kinds: Any) -> list[Any]:
    return [event.payload for event in events if event.type in {kind.type for kind in kinds}]


def limits(cost: Any = None, **more: Any) -> Limits:
    return Limits(cost=cost, pricing=PRICES, **more)


def test_every_priced_call_says_what_it_cost_and_the_result_what_the_run_did() -> None:
    agent = Agent(Metered(CALL, "done"), tools=[lookup], limits=limits())
    events = told(agent)
    result = agent.run_sync("go")

    ticks = of(events, CostTick)
    assert [(tick.model, tick.provider, tick.estimated_usd) for tick in ticks] == [("metered", "vendor", 0.2)] * 2
    assert (result.cost_usd, result.unpriced_calls) == (0.4, 0)
    assert ticks[-1].cumulative.estimated_usd == 0.4


def test_without_prices_nothing_is_told_and_the_cost_is_not_known() -> None:
    agent = Agent(Metered("done"))
    events = told(agent)
    result = agent.run_sync("go")

    assert of(events, CostTick, CostLimitHit) == []
    assert (result.cost_usd, result.unpriced_calls) == (None, 1)
    state = result.recording.snapshot["sharedState"]
    assert "costBudgetOnExceed" not in state
    assert state["cumEstimatedUsd"] == 0


def test_a_budget_that_halts_ends_the_run_at_the_next_boundary_and_says_so() -> None:
    agent = Agent(Metered(CALL, CALL, "never"), tools=[lookup], limits=limits(HALT))
    events = told(agent)
    result = agent.run_sync("go")

    assert (result.ended_because, result.iterations, result.cost_usd) == ("budget", 2, 0.4)
    assert result.stopped_early is not None
    assert (result.stopped_early.reason, result.stopped_early.pending) == ("cost-budget", 1)
    hit, exhausted = of(events, CostLimitHit), of(events, BudgetExhausted)
    assert [(each.kind, each.action, each.actual) for each in hit] == [("max_cost", "abort", 0.4)]
    assert [(each.reason, each.action, each.limit) for each in exhausted] == [("cost-budget", "cut-short", None)]


def test_a_finished_answer_that_crosses_the_budget_is_not_discarded() -> None:
    result = Agent(Metered(CALL, "done"), tools=[lookup], limits=limits(HALT)).run_sync("go")

    assert (result.text, result.ended_because, result.stopped_early) == ("done", "answer", None)


def test_the_cost_budget_wins_over_the_iteration_limit_so_that_no_wrap_up_spends_past_it() -> None:
    model = Metered(CALL, CALL, "the wrap-up")
    agent = Agent(model, tools=[lookup], limits=limits(HALT, iterations=2))
    events = told(agent)
    result = agent.run_sync("go")

    assert len(model.models) == 2
    assert result.stopped_early is not None
    assert result.stopped_early.reason == "cost-budget"
    assert [each.kind for each in of(events, CostLimitHit)] == ["max_cost"]


def test_a_bare_number_warns_once_and_goes_on() -> None:
    agent = Agent(Metered(CALL, CALL, "done"), tools=[lookup], limits=limits(0.1))
    events = told(agent)
    result = agent.run_sync("go")

    assert (result.text, result.ended_because) == ("done", "answer")
    assert [each.action for each in of(events, CostLimitHit)] == ["warn"]


class Unreported(Metered):
    """Its second reply does not say what it took."""

    async def complete(self, request: LLMRequest, hooks: object = None) -> LLMResponse:
        reply = await super().complete(request, hooks)
        return msgspec.structs.replace(reply, usage=None) if len(self.models) == 2 else reply


@pytest.mark.parametrize("free_of_charge", [HALT, CostBudget(99, on_exceed="halt")])
def test_a_call_whose_usage_is_unknown_ends_a_run_that_must_halt(
    free_of_charge: CostBudget, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Agent(Unreported(CALL, CALL, "never"), tools=[lookup], limits=limits(free_of_charge))
    events = told(agent)
    result = agent.run_sync("go")

    assert (result.cost_usd, result.unpriced_calls, result.ended_because) == (None, 1, "budget")
    assert len(of(events, CostTick)) == 1
    assert of(events, RouteDecided)[-1].rationale == (
        "the cost of a call is not known, so the cost budget can't be kept"
    )
    assert "so its cost budget ends it" in caplog.text
    assert result.recording.snapshot["sharedState"]["unpricedCalls"] == 1


def test_a_budget_that_warns_says_once_that_it_can_not_be_kept(caplog: pytest.LogCaptureFixture) -> None:
    result = Agent(Unreported(CALL, CALL, CALL, "done"), tools=[lookup], limits=limits(0.3)).run_sync("go")

    assert (result.text, result.cost_usd, result.unpriced_calls) == ("done", None, 1)
    assert caplog.text.count("can't be kept") == 1


def test_a_paused_run_goes_on_with_what_it_had_spent() -> None:
    @tool
    def confirm() -> str:
        """Ask a person. Use it first."""
        ask_human("Sure?")

    agent = Agent(Metered(Mock.call("confirm"), CALL, "never"), tools=[confirm, lookup], limits=limits(HALT))
    first = agent.run_sync("go")
    assert first.paused is not None
    stored = type(first.paused.checkpoint).from_json(first.paused.checkpoint.to_json())
    rest = agent.resume_sync(stored, "yes")

    assert first.cost_usd == 0.2
    assert (rest.cost_usd, rest.ended_because) == (0.4, "budget")


def test_two_runs_of_one_agent_at_the_edge_spend_their_own_budgets() -> None:
    agent = Agent(Metered(*["done"] * 4), limits=limits(CostBudget(0.3, on_exceed="halt")))

    assert [agent.run_sync("go").cost_usd for _ in range(4)] == [0.2] * 4


def test_an_answer_that_misses_is_not_asked_for_again_past_the_budget() -> None:
    class Row(BaseModel):
        n: int

    model = Metered("no", "no", '{"n": 1}')
    result = Agent(model, output=Output(Row, retries=5), limits=limits(HALT)).run_sync("go")

    assert len(model.models) == 2
    assert (result.ended_because, result.output_or_none) == ("budget", None)
    assert result.contract_unmet is not None
    assert (result.contract_unmet.attempts, result.contract_unmet.retries_spent) == (2, 1)


@pytest.mark.parametrize("make", [Agent, LLMCall])
def test_a_budget_without_prices_and_a_model_without_a_price_are_refused_at_construction(make: Any) -> None:
    with pytest.raises(ConfigError, match=r"a cost budget and no prices"):
        make(Metered(), limits=Limits(cost=1))
    with pytest.raises(UnknownPriceError, match=r"'other'"):
        make("other", provider=Metered(), limits=limits())


@pytest.mark.parametrize("cost", [0, -1, math.inf, math.nan, True, "5"])
def test_what_can_be_no_budget_is_refused(cost: Any) -> None:
    with pytest.raises(ConfigError, match=r"The cost budget is"):
        Limits(cost=cost)


def test_what_can_be_no_prices_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"limits\.pricing is of the type dict"):
        Limits(pricing={"metered": {"input": 1}})  # type: ignore[arg-type]


def test_a_single_call_can_not_halt() -> None:
    with pytest.raises(ConfigError, match=r"can't be halted"):
        LLMCall(Metered(), limits=limits(HALT))


def test_a_run_may_have_a_budget_over_the_prices_of_its_agent() -> None:
    agent = Agent(Metered(CALL, CALL, "never"), tools=[lookup], limits=limits())

    assert agent.run_sync("go", limits=Limits(cost=HALT)).ended_because == "budget"
    with pytest.raises(ConfigError, match=r"a cost budget and no prices"):
        Agent(Metered()).run_sync("go", limits=Limits(cost=HALT))


def test_a_run_on_another_model_is_priced_by_it_and_refused_without_a_price() -> None:
    prices = StaticPricing({"metered": {"input": 1, "output": 1}, "cheap": {"input": 0.001, "output": 0}})
    agent = Agent(Metered("a", "b"), limits=Limits(pricing=prices))

    assert agent.run_sync("go", options=RunOptions(model="cheap")).cost_usd == 0.01
    with pytest.raises(UnknownPriceError):
        agent.run_sync("go", options=RunOptions(model="other"))
    with pytest.raises(UnknownPriceError):
        Agent(Metered("a"), limits=limits(), configure=lambda _: Configured(model="other")).run_sync("go")


@pytest.mark.parametrize("unknown", ["refuse", "unpriced"])
def test_a_model_that_is_free_costs_nothing_where_nobody_prices_it(unknown: Any) -> None:
    prices = StaticPricing({"metered": {"input": 1, "output": 1}}, unknown=unknown)
    result = Agent(Mock("done"), limits=Limits(cost=0.1, pricing=prices)).run_sync("go")

    assert (result.cost_usd, result.unpriced_calls) == (0.0, 0)


def test_a_model_that_is_knowingly_not_priced_runs_and_says_so() -> None:
    prices = StaticPricing({"other": {"input": 1, "output": 1}}, unknown="unpriced")
    result = Agent(Metered("done"), limits=Limits(pricing=prices)).run_sync("go")

    assert (result.text, result.cost_usd, result.unpriced_calls) == ("done", None, 1)
