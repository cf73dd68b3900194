"""Tests of agentfootprint.explain.reading.cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentfootprint import Agent, Limits, LLMCall, Mock, Recording, Usage, approve, tool
from agentfootprint.explain import recorded_cost
from agentfootprint.resilience import StaticPricing

PRICES = StaticPricing({"mock-model": {"input": 1e-5, "output": 1e-5}})
USAGE = Usage(input=900, output=100)


@tool(check_in="always")
def refund(order: str) -> str:
    """Refund one order. Use it when the policy allows it."""
    return order


@pytest.mark.parametrize("form", ["native", "wire"])
def test_a_priced_run_says_what_it_cost_also_over_a_pause(form: str, tmp_path: Path) -> None:
    model = Mock([Mock.call("refund", order="A"), "Refunded."], usage=USAGE)
    agent = Agent(model, tools=[refund], limits=Limits(pricing=PRICES))
    first = agent.run_sync("Refund A.")
    assert first.paused is not None
    second = agent.resume_sync(first.paused, approve(by="dana"))
    path = second.recording.save(tmp_path / "run.json", form="wire" if form == "wire" else "native")

    costs = [recorded_cost(each) for each in (first.recording, Recording.load(path))]

    assert [None if cost is None else round(cost.usd, 6) for cost in costs] == [0.01, 0.02]


def test_a_run_without_prices_has_no_cost_and_none_is_invented() -> None:
    assert recorded_cost(Agent(Mock("Hi.")).run_sync("Hello.").recording) is None


def test_a_single_call_says_what_it_cost() -> None:
    result = LLMCall(Mock("Hi.", usage=USAGE), limits=Limits(pricing=PRICES)).run_sync("Hello.")

    cost = recorded_cost(result.recording)

    assert cost is not None
    assert cost.usd == result.cost_usd
