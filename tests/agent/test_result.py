"""Tests of agentfootprint.agent.result."""

from __future__ import annotations

import gc
import json
import weakref

import pytest

from agentfootprint import Agent, ConfigError, Fact, Gates, Limits, Mock, ModelSettings, RunOptions, tool
from agentfootprint.llm import LLMRequest, LLMResponse, Usage


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {order_id}: shipped."


def test_a_result_says_what_the_run_was() -> None:
    agent = Agent(Mock([Mock.call("lookup", order_id="A-1"), "It has shipped."]), tools=[lookup])

    result = agent.run_sync("Where is A-1?")

    assert str(result) == result.text == result.output == "It has shipped."
    assert [message.role for message in result.messages] == ["user", "assistant", "tool", "assistant"]
    call = result.tool_calls[0]
    assert (call.name, call.result, call.ok, call.dispatched, call.denied) == (
        "lookup",
        "Order A-1: shipped.",
        True,
        True,
        False,
    )
    assert (result.iterations, result.stop_reason, result.cost_usd, result.unpriced_calls) == (2, "stop", 0.0, 0)
    assert result.usage.known


def test_unknown_usage_stays_unknown() -> None:
    result = Agent(Mock("x", usage=Usage(known=False))).run_sync("hi")

    assert (result.usage.known, result.usage.input) == (False, None)


def test_a_result_is_plain_json_on_the_wire() -> None:
    wire = Agent(Mock("Hi.")).run_sync("hello").to_wire()

    assert json.loads(json.dumps(wire)) == wire
    assert (wire["text"], wire["endedBecause"]) == ("Hi.", "answer")


@pytest.mark.parametrize("by_run", [False, True], ids=["agent", "run"])
def test_a_run_that_was_not_recorded_says_so_when_it_is_asked(by_run: bool) -> None:
    agent = Agent(Mock("Hi."), record=by_run)

    result = agent.run_sync("hello", options=RunOptions(record=False) if by_run else None)

    for ask in (lambda: result.recording, result.why, result.prove_sync):
        with pytest.raises(ConfigError, match=r"was not recorded"):
            ask()


def test_why_and_prove_are_asked_of_the_result() -> None:
    def model(request: LLMRequest) -> str | LLMResponse:
        return "APPROVED" if "VIP" in (request.system_prompt or "") else "DECLINED"

    agent = Agent(Mock(model), context=[Fact("vip", "Dana is VIP."), Fact("style", "Two sentences.")])
    result = agent.run_sync("Refund?")

    proof = result.prove_sync(of=["vip"], expected="DECLINED")
    again = result.rerun_sync(without=["vip"], samples=2)

    assert result.why().mode == "correlational"
    assert [(s.id, s.verdict.verdict) for s in proof.suspects if s.verdict] == [("vip", "confirmed")]
    assert again.answers == ("DECLINED", "DECLINED")


def test_re_runs_have_the_options_that_the_run_was_given() -> None:
    asked: list[tuple[float | None, bool]] = []

    def model(request: LLMRequest) -> str | LLMResponse:
        answered = request.messages[-1].role == "tool"
        asked.append((request.temperature, answered))
        return "Done." if answered else Mock.call("lookup", order_id=7)

    agent = Agent(Mock(model), tools=[lookup], settings=ModelSettings(temperature=0.1, max_tokens=9))
    result = agent.run_sync(
        "Go.",
        settings=ModelSettings(temperature=0.7),
        limits=Limits(iterations=1, wrap_up=False),
        gates=Gates(tool_args="off"),
    )
    of_run, asked[:] = [*asked], []

    again = result.rerun_sync()
    whole = agent.run_sync("Go.", limits=Limits(iterations=2)).rerun_sync(tools="live")

    assert (of_run, again.answers) == ([(0.7, False)], ("",))
    assert asked[0] == (0.7, False)
    assert [temperature for temperature, _ in asked[1:]] == [0.1] * (len(asked) - 1)
    assert whole.answers == ("Done.",)
    assert agent.plan.settings.temperature == 0.1


def test_a_recording_does_not_keep_its_agent_alive() -> None:
    agent = Agent(Mock("Hi."), context=[Fact("a", "A.")])
    recording = agent.run_sync("hello").recording
    gone = weakref.ref(agent)

    del agent
    gc.collect()

    assert gone() is None
    assert recording.calls[0].content == "Hi."
