"""Tests of agentfootprint.agent.judging.tiers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from agentfootprint import Agent, ConfigError, LLMCall, Mock, Output, OutputSchemaError
from agentfootprint.events import Event, ResilienceOutputCannedUsed, ResilienceOutputFallbackTriggered, TurnEnd


class Refund(BaseModel):
    approved: bool
    reason: str


STAND_IN = Refund(approved=False, reason="a person decides")


def answered(output: Output[Any], *replies: str, call: bool = False) -> tuple[Any, list[Event[Any]]]:
    runner = LLMCall(Mock(list(replies)), output=output) if call else Agent(Mock(list(replies)), output=output)
    events: list[Event[Any]] = []
    runner.on("*", events.append)
    return runner.run_sync("Refund?"), events


def of(events: list[Event[Any]], kind: Any) -> list[Any]:
    return [event.payload for event in events if event.type == kind.type]


@pytest.mark.parametrize("call", [False, True])
def test_a_fallback_stands_in_for_an_answer_that_missed(*, call: bool) -> None:
    seen: list[tuple[str, str]] = []

    def stand_in(error: OutputSchemaError, raw: str) -> Refund:
        seen.append((error.stage, raw))
        return STAND_IN

    result, events = answered(Output(Refund, fallback=stand_in), "no JSON", call=call)

    assert result.output == STAND_IN
    assert (result.text, result.output_source, result.ended_because) == ("no JSON", "fallback", "output_unmet")
    assert result.contract_unmet is not None
    assert seen == [("json-parse", "no JSON")]
    told = of(events, ResilienceOutputFallbackTriggered)[0]
    assert (told.stage, told.raw_output_preview, told.retries_spent) == ("json-parse", "no JSON", 0)


def test_an_async_fallback_is_awaited_and_what_it_gives_is_checked() -> None:
    async def stand_in(error: OutputSchemaError, raw: str) -> Any:
        await asyncio.sleep(0)
        return {"approved": True, "reason": raw}

    result, _ = answered(Output(Refund, fallback=stand_in), "nope")

    assert result.output == Refund(approved=True, reason="nope")


def test_nothing_stands_in_for_an_answer_that_fits() -> None:
    def never(error: OutputSchemaError, raw: str) -> Refund:
        raise AssertionError

    result, events = answered(Output(Refund, fallback=never), '{"approved": true, "reason": "new"}')

    assert (result.output.approved, result.output_source) == (True, "model")
    assert of(events, ResilienceOutputFallbackTriggered) == []


def test_the_canned_output_is_the_last_tier_and_a_warning_follows_paid_retries(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def failing(error: OutputSchemaError, raw: str) -> Refund:
        raise LookupError("nobody is there")

    result, events = answered(Output(Refund, retries=1, fallback=failing, canned=STAND_IN), "a", "b" * 300)

    assert (result.output, result.output_source) == (STAND_IN, "canned")
    told = of(events, ResilienceOutputCannedUsed)[0]
    assert (told.raw_output_preview, told.fallback_error_message) == ("b" * 200, "nobody is there")
    assert [event.type for event in events].index(TurnEnd.type) < [event.type for event in events].index(told.type)
    assert "canned one, after 2 answers that were paid for" in caplog.text


def test_a_canned_output_alone_needs_no_fallback() -> None:
    result, events = answered(Output(Refund, canned=STAND_IN), "a")

    assert result.output_source == "canned"
    assert of(events, ResilienceOutputFallbackTriggered) == []


def test_each_run_has_a_canned_output_of_its_own() -> None:
    agent = Agent(Mock(["a", "b"]), output=Output(Refund, canned=STAND_IN))
    first = agent.run_sync("1")
    first.output.reason = "changed by who got it"

    assert agent.run_sync("2").output.reason == "a person decides"


def test_without_a_tier_that_holds_the_output_raises_with_the_cause() -> None:
    def wrong(error: OutputSchemaError, raw: str) -> Any:
        return {"approved": "maybe"}

    result, _ = answered(Output(Refund, fallback=wrong), "a")

    assert result.output_source is None
    with pytest.raises(OutputSchemaError) as caught:
        result.output  # noqa: B018
    assert "approved" in str(caught.value.__cause__)


def test_a_strict_output_raises_at_the_end_of_the_run_and_its_record_is_whole() -> None:
    agent = Agent(Mock("a"), output=Output(Refund, strict=True))
    types: list[str] = []
    agent.on("*", lambda event: types.append(event.type))

    with pytest.raises(OutputSchemaError):
        agent.run_sync("Refund?")

    assert types[-1] == "agentfootprint.integrity.disposition"
    assert "agentfootprint.error.fatal" not in types
    assert Agent(Mock("a"), output=Output(Refund, strict=True, canned=STAND_IN)).run_sync("x").output == STAND_IN


def test_a_canned_output_that_does_not_fit_is_refused_at_construction() -> None:
    with pytest.raises(ConfigError, match=r"canned output does not fit.*approved") as caught:
        Agent("mock", output=Output(Refund, canned={"approved": 3}))

    assert caught.value.option == "output.canned"
    with pytest.raises(ConfigError, match=r"output\.fallback is of the type str"):
        Output(Refund, fallback="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options", [{"retries": 1}, {"strategy": "tool-forced"}, {"canned": "x"}, {"lenient": True}, {"strict": True}]
)
def test_what_decides_nothing_about_text_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"so {next(iter(options))} decides nothing"):
        Output(str, **options)
