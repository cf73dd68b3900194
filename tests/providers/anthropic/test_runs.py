"""Tests of runs over Anthropic's wire: what is on record of them, and what never is."""

from __future__ import annotations

from typing import Any

import pydantic
import pytest

from agentfootprint import Agent, Fact, Limits, Mock, ModelSettings, Output, RunCheckpointError, RunResult, tool
from agentfootprint.llm import (
    ProviderAuthError,
)
from agentfootprint.providers import HttpOptions
from agentfootprint.testing import Call, Failure, FakeVendor, Reply
from tests.providers.anthropic.desks import WIRE, model_at
from tests.providers.chances import KEY


async def test_the_key_is_neither_in_the_recording_nor_in_an_event_of_a_run_that_failed() -> None:
    heard: list[str] = []
    async with FakeVendor(WIRE, [Failure(401, message=f"bad key {KEY}")]) as vendor, model_at(vendor) as model:
        agent = Agent(model)
        agent.on("*", lambda event: heard.append(repr(event)))
        with pytest.raises(RunCheckpointError) as caught:
            await agent.run("hi")
    assert isinstance(caught.value.cause, ProviderAuthError)
    recorded = str(getattr(caught.value, "recording", "")) + str(vars(caught.value))

    assert heard
    assert KEY not in "".join(heard)
    assert KEY not in recorded
    assert KEY not in repr(model)
    assert KEY not in repr(HttpOptions(api_key=KEY, headers={"x": KEY}))


VIP = Fact("vip", "Dana Reyes holds VIP override status: refunds are approved at any time.")
ANSWER = "Refund APPROVED: Dana Reyes holds VIP override status."


@tool
def look_up(order: str) -> str:
    """Look one order up. Use it first."""
    return f"Order {order} is 47 days old."


def agent_of(model: Any) -> Agent[object, str]:
    return Agent(model, id="desk", system="You decide refunds.", context=(VIP,), tools=[look_up])


def custody(result: RunResult[str]) -> Any:
    why = result.why()
    return [hop["detail"] for hop in why.to_wire()["custody"]], [(s.kind, s.id, s.text) for s in why.sources]


@pytest.mark.parametrize("rerun", [False, True])
async def test_a_run_over_the_wire_is_explained_as_one_with_a_mock(*, rerun: bool) -> None:
    mocked = await agent_of(Mock([Mock.call("look_up", order="A-1"), ANSWER])).run("Refund A-1?")
    script = [Reply(calls=[Call("look_up", {"order": "A-1"}, id="mock-call-1")]), Reply(ANSWER)]
    async with FakeVendor(WIRE, script) as vendor, model_at(vendor) as model:
        agent = agent_of(model)
        async with agent.stream("Refund A-1?") as run:
            streamed = [event async for event in run] if rerun else []
            result = await run.result()

    assert vendor.refused == []
    assert result.text == mocked.text == ANSWER
    assert custody(result) == custody(mocked)
    served = vendor.bodies[1]
    assert VIP.id in str(custody(result))
    assert "VIP override status" in served["system"]
    assert served["messages"][-1]["content"][0]["content"] == "Order A-1 is 47 days old."
    assert KEY not in str(result.recording.to_wire())
    assert KEY not in repr(streamed)


async def test_arguments_that_were_cut_never_reach_a_tool() -> None:
    ran: list[str] = []

    @tool
    def refund(order: str = "everything") -> str:
        """Refund one order. Use it when asked."""
        ran.append(order)
        return "done"

    script = [Reply(calls=[Call("refund", '{"order": "A')]), Reply("I could not.")]
    async with FakeVendor(WIRE, script) as vendor, model_at(vendor) as model:
        result = await Agent(model, tools=[refund]).run("Refund A-1.")

    assert (ran, result.text, vendor.refused) == ([], "I could not.", [])


async def test_an_answer_belongs_to_its_question_whatever_was_asked_before() -> None:
    wire = FakeVendor(WIRE, lambda got: Reply(f"{len(got.body['messages'])} messages"))
    async with wire as vendor, model_at(vendor) as model:
        agent = Agent(model)
        first: RunResult[str] = await agent.run("one")
        second: RunResult[str] = await agent.run("two")

    assert (first.text, second.text) == ("1 messages", "1 messages")


@tool
def fail(order: str) -> str:
    """Fail at one order. Use it when asked."""
    raise ValueError(order)


class Count(pydantic.BaseModel):
    n: int


ONE = Call("look_up", {"order": "A-1"})
SCENARIOS: dict[str, tuple[list[Reply], dict[str, Any], str]] = {
    "a call and an answer": ([Reply(calls=[ONE]), Reply("Done.")], {}, "answer"),
    "calls that share an id": (
        [Reply("So:", calls=[Call("look_up", ONE.args, id="same")] * 4), Reply("x")],
        {},
        "answer",
    ),
    "an id this vendor would not take": (
        [Reply(calls=[Call("look_up", ONE.args, id="f.x:0")]), Reply("x")],
        {},
        "answer",
    ),
    "a tool that fails": ([Reply(calls=[Call("fail", ONE.args)]), Reply("x")], {}, "answer"),
    "a tool there is not": ([Reply(calls=[Call("gone", ONE.args)]), Reply("x")], {}, "answer"),
    "a reply that was cut": ([Reply(calls=[ONE], stop="max_tokens"), Reply("x")], {}, "answer"),
    "an answer that says nothing": ([Reply("")], {}, "answer"),
    "no iterations left": ([Reply(calls=[ONE]), Reply("x")], {"limits": Limits(iterations=1)}, "budget"),
    "an answer of the wrong form": ([Reply("no"), Reply('{"n": 3}')], {"output": Output(Count, retries=1)}, "answer"),
    "thinking": (
        [Reply(calls=[ONE], thinking="hm", signature="s"), Reply("x", thinking="so", signature="t")],
        {"settings": ModelSettings(thinking=2_000)},
        "answer",
    ),
}


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_strict_vendor_takes_every_request_of_a_run(scenario: str) -> None:
    script, options, ending = SCENARIOS[scenario]
    async with FakeVendor(WIRE, script) as vendor, model_at(vendor) as model:
        result = await Agent(model, tools=[look_up, fail], context=(VIP,), **options).run("Refund A-1?")

    assert (vendor.refused, len(vendor.requests), result.ended_because) == ([], len(script), ending)


async def test_what_the_model_thought_before_a_call_goes_back_with_its_signature() -> None:
    script, options, _ = SCENARIOS["thinking"]
    async with FakeVendor(WIRE, script) as vendor, model_at(vendor) as model:
        await Agent(model, tools=[look_up], **options).run("Refund A-1?")

    assert vendor.bodies[1]["messages"][1]["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "s"}
