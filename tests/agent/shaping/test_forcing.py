"""Tests of agentfootprint.agent.shaping.forcing."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from agentfootprint import Agent, ConfigError, Fact, LLMCall, Mock, ModelSettings, Output, tool
from agentfootprint.agent import Schema
from agentfootprint.events import Event, LLMEnd, LLMStart
from agentfootprint.llm import ArgsError, LLMMessage, LLMRequest, LLMResponse, ToolCall
from agentfootprint.testing import Call, FakeVendor, OpenAIWire, Reply
from tests.providers.anthropic import desks as anthropic
from tests.providers.chances import KEY
from tests.providers.openai import desks as openai

Runner = TypeVar("Runner", Agent[Any, Any], LLMCall[Any])


class Refund(BaseModel):
    approved: bool
    reason: str


FORCED = Output(Refund, retries=1, strategy="tool-forced")
GOOD = Mock.call("respond_with_schema", approved=False, reason="47 days old")


def heard(agent: Agent[Any, Any] | LLMCall[Any]) -> list[Event[Any]]:
    events: list[Event[Any]] = []
    agent.on("*", events.append)
    return events


def test_the_answer_is_the_arguments_of_the_forced_call() -> None:
    asked: list[LLMRequest] = []

    def model(request: LLMRequest) -> LLMResponse:
        asked.append(request)
        return GOOD

    agent = Agent(Mock(model), output=FORCED)
    events = heard(agent)
    result = agent.run_sync("Refund A-1?")

    assert result.output == Refund(approved=False, reason="47 days old")
    assert result.text == '{"approved":false,"reason":"47 days old"}'
    assert asked[0].tool_choice == "respond_with_schema"
    assert [each.name for each in asked[0].tools or ()] == ["respond_with_schema"]
    start, end = (next(e.payload for e in events if e.type == kind.type) for kind in (LLMStart, LLMEnd))
    assert (start.tools_count, [each.name for each in start.tools]) == (1, ["respond_with_schema"])
    assert (end.tool_call_count, end.content, end.stop_reason) == (0, result.text, "tool_use")


def test_a_call_without_a_loop_can_be_forced_too() -> None:
    result = LLMCall(Mock([GOOD]), output=Output(Refund, strategy="tool-forced")).run_sync("Refund A-1?")

    assert result.output == Refund(approved=False, reason="47 days old")


def test_arguments_that_could_not_be_read_are_no_answer_and_are_asked_for_again() -> None:
    broken = ToolCall("c1", "respond_with_schema", {}, args_error=ArgsError("it ends early", 40))
    agent = Agent(Mock([LLMResponse("", tool_calls=[broken], stop_reason="tool_use"), GOOD]), output=FORCED)

    result = agent.run_sync("Refund A-1?")

    assert result.output.approved is False
    assert result.iterations == 2
    assert result.tool_calls == ()


def test_arguments_of_a_reply_that_was_cut_are_no_answer_however_whole_they_look() -> None:
    cut = LLMResponse("", tool_calls=GOOD.tool_calls, stop_reason="max_tokens")
    result = Agent(Mock([cut]), output=Output(Refund, strategy="tool-forced")).run_sync("Refund A-1?")

    assert result.output_or_none is None
    assert result.contract_unmet is not None
    assert result.contract_unmet.error.startswith("the reply was cut off by the token limit; ")


def test_a_model_that_answers_in_text_regardless_is_judged_by_its_text() -> None:
    result = Agent(Mock('{"approved": true, "reason": "new"}'), output=FORCED).run_sync("Refund A-1?")

    assert result.output.approved is True


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it first."""
    return order_id


def test_tools_beside_a_forced_answer_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"these tools could never run: 'lookup'.*Leave the tools out, or use") as no:
        Agent("mock", tools=[lookup], output=FORCED)

    assert no.value.option == "output.strategy"
    Agent("mock", context=[Fact("day", "It is Monday.")], output=FORCED)


def test_a_type_that_can_be_no_arguments_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no JSON Schema"):
        Agent("mock", output=Output(Schema(lambda value: value), strategy="tool-forced"))
    with pytest.raises(ConfigError, match=r"is no object"):
        Agent("mock", output=Output(int, strategy="tool-forced"))


class Plain:
    """A provider that says nothing about forced calls."""

    name = "plain"
    default_model = "plain-1"

    async def complete(self, request: LLMRequest, hooks: object = None) -> LLMResponse:
        raise AssertionError("it is refused before it is asked")


def test_a_provider_that_does_not_carry_it_is_refused_before_anything_happens() -> None:
    agent = Agent(Plain(), output=FORCED)
    events = heard(agent)

    with pytest.raises(ConfigError, match=r"'plain' does not.*instruct"):
        agent.run_sync("Refund A-1?")

    assert events == []


FIRST = Reply(calls=[Call("respond_with_schema", {"approved": "maybe", "reason": "r"})])
SECOND = Reply(calls=[Call("respond_with_schema", {"approved": False, "reason": "47 days old"})])


async def test_it_is_forced_on_the_wire_of_anthropic() -> None:
    async with FakeVendor(anthropic.WIRE, [FIRST, SECOND]) as vendor, anthropic.model_at(vendor) as model:
        result = await Agent(model, output=FORCED, settings=ModelSettings(max_tokens=100)).run("Refund A-1?")

    assert vendor.refused == []
    assert [body["tool_choice"] for body in vendor.bodies] == [{"type": "tool", "name": "respond_with_schema"}] * 2
    assert [[each["name"] for each in body["tools"]] for body in vendor.bodies] == [["respond_with_schema"]] * 2
    assert result.output == Refund(approved=False, reason="47 days old")
    assert [type(message) for message in result.messages] == [LLMMessage] * 4


async def test_it_is_forced_on_the_wire_of_openai() -> None:
    async with FakeVendor(OpenAIWire(key=KEY), [FIRST, SECOND]) as vendor, openai.model_at(vendor) as model:
        result = await Agent(model, output=FORCED).run("Refund A-1?")

    chosen = {"type": "function", "function": {"name": "respond_with_schema"}}
    assert vendor.refused == []
    assert [body["tool_choice"] for body in vendor.bodies] == [chosen] * 2
    assert result.output == Refund(approved=False, reason="47 days old")
