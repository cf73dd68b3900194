"""Tests of agentfootprint.observe.views.costs."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from agentfootprint import Agent, Limits, Mock, Usage
from agentfootprint.llm import LLMResponse
from agentfootprint.observe import CostExporter, CostLine, CostSink, InMemoryCostSink, cost_line
from tests.observe.made import desk, event


class Prices:
    name = "prices"

    def price_per_token(self, model: str, kind: str) -> float:
        del model
        return {"input": 0.001, "output": 0.01, "cacheRead": 0.0001, "cacheWrite": 0.002}.get(kind, 0.0)


def priced(turns: int) -> Agent[Any, str]:
    replies = [LLMResponse(f"{n}.", usage=Usage(input=100, output=10)) for n in range(turns)]
    return Agent(Mock(replies), limits=Limits(pricing=Prices()))


def tick(number: int) -> Any:
    payload = {"scope": "iteration", "model": "m", "tokensInput": number, "tokensOutput": 0, "estimatedUsd": 0.5}
    return event("cost.tick", {**payload, "cumulative": {"tokensInput": 9, "tokensOutput": 0, "estimatedUsd": 1}})


async def test_a_sink_gets_a_line_for_each_priced_call_that_agrees_with_the_result() -> None:
    """CST-6, trap 4: the sums come from where the event has them."""
    sink, agent = InMemoryCostSink(), priced(1)
    agent.attach(CostExporter(sink))

    result = await agent.run("?")

    (line,) = sink.ticks()
    assert line.cumulative_cost_usd == line.recent_cost_usd == result.cost_usd == pytest.approx(0.2)
    assert (line.cumulative_input_tokens, line.cumulative_output_tokens) == (100, 10)
    assert (line.model, line.provider) == ("mock-model", "mock")


async def test_a_sink_that_fails_is_told_of_and_changes_no_run(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def record(self, line: CostLine) -> None:
            raise OSError("no disk")

    agent = priced(1)
    subscription = agent.attach(CostExporter(Broken()))

    with caplog.at_level(logging.ERROR, "agentfootprint.observe"):
        result = await agent.run("?")

    assert result.output == "0."
    assert getattr(subscription, "failures", 0) == 1
    assert "cost" in caplog.text


def test_lines_of_a_recording_are_kept_within_bounds_and_read_from_where_one_was() -> None:
    sink = InMemoryCostSink(max_ticks=3)

    sink.extend([tick(number) for number in range(5)])
    at = len(sink)
    sink.extend([tick(5)])

    assert [line.recent_input_tokens for line in sink.ticks()] == [3, 4, 5]
    assert [line.recent_input_tokens for line in sink.since(at)] == [5]
    assert [line.recent_input_tokens for line in sink.since(0)] == [3, 4, 5]
    sink.clear()
    assert (len(sink), list(sink.ticks())) == (0, [])


def test_what_is_no_tick_or_was_redacted_has_no_line() -> None:
    """BRG-5."""
    assert cost_line(event("cost.tick", "[REDACTED]")) is None
    assert cost_line(event("agent.turn_start", {})) is None
    assert isinstance(InMemoryCostSink(), CostSink)


async def test_an_agent_without_prices_has_no_lines() -> None:
    sink, agent = InMemoryCostSink(), desk()
    agent.attach(CostExporter(sink))

    await agent.run("?")

    assert len(sink) == 0
