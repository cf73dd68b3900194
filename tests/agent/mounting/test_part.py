"""Tests of agentfootprint.agent.mounting.part."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import (
    Agent,
    Gates,
    Identity,
    Limits,
    LLMCall,
    Mock,
    Parallel,
    PolicyHaltError,
    Sequence,
    ToolContext,
    Usage,
    tool,
)
from agentfootprint.agent import InvalidRunInputError
from agentfootprint.compose import Step, runner
from agentfootprint.events import Event
from agentfootprint.llm import CallHooks, LLMRequest, LLMResponse
from agentfootprint.resilience import StaticPricing
from agentfootprint.security import PermissionDecision, PermissionRequest


async def test_a_part_counts_for_itself_and_its_time_begins_with_it() -> None:
    heard: list[tuple[str, int, float]] = []
    line = Sequence([Step("a", Agent(Mock("one", delay=0.03), id="a")), Step("b", Agent(Mock("two"), id="b"))])

    def hear(event: Event[Any]) -> None:
        heard.append((event.payload.final_content, event.payload.iteration_count, event.payload.duration_ms))

    line.on("agentfootprint.agent.turn_end", hear)

    await line.run("go")

    assert [each[:2] for each in heard] == [("one", 1), ("two", 1)]
    assert heard[0][2] >= 30 > heard[1][2]


async def test_what_tools_opened_is_closed_when_their_part_ends_and_not_later() -> None:
    order: list[str] = []

    @tool
    async def open_it(ctx: ToolContext) -> str:
        """Open it."""
        ctx.on_teardown(lambda: order.append("closed"), scope="run")
        return "open"

    @runner
    async def after(message: str) -> str:
        order.append("after")
        return message

    await Sequence([Agent(Mock([Mock.call("open_it"), "x"]), tools=[open_it]), after]).run("go")

    assert order == ["closed", "after"]


async def test_a_part_that_fails_closes_what_its_tools_opened() -> None:
    closed: list[str] = []

    @tool
    async def open_it(ctx: ToolContext) -> str:
        """Open it."""
        ctx.on_teardown(lambda: closed.append("closed"), scope="run")
        return "open"

    agent = Agent(Mock([Mock.call("open_it"), RuntimeError("gone")]), tools=[open_it])
    with pytest.raises(RuntimeError, match=r"gone"):
        await Sequence([agent]).run("go")

    assert closed == ["closed"]


class Halting:
    """A checker that ends the run."""

    name = "halting"

    def check(self, request: PermissionRequest) -> PermissionDecision:
        return PermissionDecision("halt", reason="never")


async def test_a_verdict_on_a_part_reaches_the_caller_as_it_is() -> None:
    @tool
    async def look() -> str:
        """Look."""
        return "x"

    agent = Agent(Mock([Mock.call("look"), "x"]), tools=[look], gates=Gates(permission=Halting()))

    with pytest.raises(PolicyHaltError):
        await Sequence([agent]).run("go")


async def test_whose_run_it_is_and_the_session_reach_every_part() -> None:
    seen: list[tuple[Identity | None, str | None]] = []

    @tool
    async def who(ctx: ToolContext) -> str:
        """Who is it?"""
        seen.append((ctx.identity, ctx.session_id))
        return "x"

    ann = Identity(conversation_id="c", principal="ann")
    agent = Agent(Mock([Mock.call("who"), "x"], cursor="history"), tools=[who])
    await Parallel({"a": agent, "b": agent}, merge=lambda _: "").run("go", identity=ann, session_id="s")

    assert seen == [(ann, "s")] * 2


async def test_prices_of_parts_are_summed_and_a_part_without_makes_it_unknown() -> None:
    class Paid:
        """A model that costs something."""

        name = default_model = "mock-model"

        async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
            return LLMResponse("x", usage=Usage(input=1, output=1))

    prices = Limits(pricing=StaticPricing({"mock-model": {"input": 1.0, "output": 1.0}}))
    priced = Agent(Paid(), limits=prices, id="priced")

    both = await Sequence([Step("a", priced), Step("b", priced)]).run("go")
    mixed = await Sequence([Step("a", priced), Step("b", LLMCall(Paid()))]).run("go")

    assert both.cost_usd is not None
    assert both.cost_usd > 0
    assert both.unpriced_calls == 0
    assert (mixed.cost_usd, mixed.unpriced_calls) == (None, 1)


async def test_a_call_is_named_by_its_own_door_when_its_message_is_none() -> None:
    @runner
    async def nothing(message: str) -> str:
        return " "

    with pytest.raises(InvalidRunInputError, match=r"^LLMCall\.run needs a message"):
        await Sequence([nothing, LLMCall(Mock("x"))]).run("go")
