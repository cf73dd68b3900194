"""Tests of agentfootprint.agent.calling.once."""

from __future__ import annotations

from typing import Any

from agentfootprint import Limits, LLMCall, Mock, RunOptions
from agentfootprint.agent import ContextBudget
from agentfootprint.events import CostTick
from agentfootprint.resilience import StaticPricing


def test_the_stages_are_those_of_the_chapter_and_the_client_comes_last() -> None:
    result = LLMCall(Mock("Hello."), system="S").run_sync("Hi")
    steps = [bundle.runtime_stage_id for bundle in result.recording.bundles]

    assert steps[0] == "client#0"
    assert steps[-1] == "client#11"
    assert result.recording.snapshot["sharedState"]["finalContent"] == "Hello."


def test_a_slot_over_its_budget_is_told_as_in_an_agent() -> None:
    told: list[str] = []
    call = LLMCall(Mock("x"), system="S" * 40, limits=Limits(context_budget=ContextBudget(system_prompt=10)))
    call.on("agentfootprint.context.*", lambda event: told.append(event.type.rpartition(".")[2]))
    call.run_sync("Hi")

    assert "budget_pressure" in told


def test_a_priced_call_has_one_tick_and_no_key_of_money_without_prices() -> None:
    ticks: list[object] = []
    pricing = StaticPricing({"mock-model": {"input": 1, "output": 1}})
    priced = LLMCall(Mock("x"), limits=Limits(pricing=pricing))
    priced.on(CostTick.type, ticks.append)

    assert priced.run_sync("Hi").cost_usd == 2
    assert len(ticks) == 1
    assert LLMCall(Mock("x")).run_sync("Hi").cost_usd == 0.0


def test_a_base_prompt_of_the_run_is_told_with_the_reason_of_a_call() -> None:
    rows: list[object] = []
    call = LLMCall(Mock("x"), system="S")
    call.on("agentfootprint.context.injected", lambda event: rows.append(event.payload))
    call.run_sync("Hi", options=RunOptions(instructions="Other."))

    first: Any = rows[0]
    assert (first.raw_content, first.reason) == ("Other.", "LLMCall.system()")
