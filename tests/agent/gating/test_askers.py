"""Tests of agentfootprint.agent.gating.askers."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Act, Agent, Gates, Mock, after_tool, allow, before_tool, tool
from agentfootprint.agent import CheckInOptions, RuleOutcome
from agentfootprint.errors import ConfigError


@tool(check_in=lambda args, _: args["amount"] > 10)
def pay(amount: int) -> str:
    """Pay an amount. Use it when it is due."""
    return f"paid {amount}"


@tool
def look(order: str) -> str:
    """Look an order up. Use it first."""
    return f"{order}: shipped"


@before_tool(name="before")
def before(_: Any) -> RuleOutcome:
    return allow()


@after_tool(name="after")
def after(_: Any) -> RuleOutcome:
    return allow()


OPTIONS = [
    pytest.param(Gates(ask_together=True), "ask_together", id="together"),
    pytest.param(Gates(check_in=CheckInOptions()), "check_in", id="check-in"),
]


@pytest.mark.parametrize(("gates", "name"), OPTIONS)
def test_an_option_about_questions_is_refused_where_nobody_could_be_asked_one(gates: Gates, name: str) -> None:
    with pytest.raises(ConfigError, match=rf"gates\.{name} is set"):
        Agent(Mock("Hi."), tools=[look], gates=gates)


@pytest.mark.parametrize(("gates", "name"), OPTIONS)
async def test_it_is_refused_where_it_is_given_to_a_run_too(gates: Gates, name: str) -> None:
    agent = Agent(Mock("Hi."), tools=[look])

    with pytest.raises(ConfigError, match=rf"gates\.{name} is set"):
        await agent.run("Go.", gates=gates)


def test_only_a_rule_that_looks_at_calls_before_they_run_may_ask() -> None:
    assert Agent(Mock("Hi."), tools=[look], gates=Gates(ask_together=True, act=Act(before_tool=[before])))
    with pytest.raises(ConfigError, match=r"gates\.ask_together"):
        Agent(Mock("Hi."), tools=[look], gates=Gates(ask_together=True, act=Act(after_tool=[after])))


@pytest.mark.parametrize(("gates", "name"), OPTIONS)
async def test_the_only_tool_that_could_ask_can_be_left_out_and_proven(gates: Gates, name: str) -> None:
    agent = Agent(
        Mock([Mock.call("pay", amount=5), "It was paid 5."], cursor="history"), tools=[pay, look], gates=gates
    )
    result = await agent.run("Pay 5.")

    proof = await result.prove()

    assert proof is not None
    assert not getattr(agent.without(["pay"]).plan.gates, name)
    assert getattr(agent.without(["look"]).plan.gates, name)


async def test_an_agent_with_a_rule_that_may_ask_still_asks_together_without_a_tool() -> None:
    agent = Agent(Mock("Hi."), tools=[pay, look], gates=Gates(ask_together=True, act=Act(before_tool=[before])))

    assert agent.without(["pay"]).plan.gates.ask_together
