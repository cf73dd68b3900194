"""Tests of agentfootprint.agent.batch."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from agentfootprint import Agent, Gates, Limits, LLMMessage, Mock, ToolCall, ToolContext, absent, tool
from agentfootprint.events import Event
from agentfootprint.llm import ArgsError, LLMRequest, LLMResponse


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {order_id}: shipped."


def heard(agent: Agent[Any, Any], domain: str) -> list[Event[Any]]:
    events: list[Event[Any]] = []
    agent.on(f"agentfootprint.{domain}.*", events.append)
    return events


def test_a_tool_that_raises_is_a_result_that_the_model_reads() -> None:
    @tool
    async def broken(city: str) -> str:
        """Weather by city. Use it when asked about the weather."""
        raise RuntimeError("station offline")

    agent = Agent(Mock([Mock.call("broken", city="Paris"), "I could not look it up."]), tools=[broken])

    result = agent.run_sync("Weather?")

    assert result.text == "I could not look it up."
    assert (result.tool_calls[0].ok, result.tool_calls[0].dispatched) == (False, True)
    assert [m.content for m in result.messages if m.role == "tool"] == ["station offline"]


def test_a_tool_that_does_not_exist_is_named_to_the_model() -> None:
    agent = Agent(Mock([Mock.call("nope", x=1), "Sorry."]), tools=[lookup])

    result = agent.run_sync("Go.")

    assert [m.content for m in result.messages if m.role == "tool"] == ["Unknown tool: nope"]
    assert (result.tool_calls[0].ok, result.tool_calls[0].dispatched) == (False, False)


def malformed(problem: str = "it is cut off") -> LLMResponse:
    call = ToolCall("c1", "lookup", {}, args_error=ArgsError(problem, 12))
    return LLMResponse(tool_calls=(call,), stop_reason="tool_use")


def test_arguments_that_are_no_json_are_told_to_the_model_and_run_nothing() -> None:
    agent = Agent(Mock([malformed(), "I will stop."]), tools=[lookup])

    result = agent.run_sync("Go.")

    answer = next(m.content for m in result.messages if m.role == "tool")
    assert "lookup" in answer
    assert "it is cut off" in answer
    assert (result.tool_calls[0].dispatched, result.text) == (False, "I will stop.")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"order_id": math.nan}, "a number that is not finite, at order_id"),
        ({"order_id": "\ud83d"}, "a text with a lone surrogate, at order_id"),
    ],
    ids=["nan", "surrogate"],
)
def test_arguments_that_cannot_be_recorded_are_told_to_the_model(given: dict[str, Any], problem: str) -> None:
    agent = Agent(Mock([Mock.call("lookup", **given), "I will stop."]), tools=[lookup])

    result = agent.run_sync("Go.")

    assert [m.content for m in result.messages if m.role == "tool"] == [
        f"The arguments of lookup could not be read: {problem}. Call it again with one JSON object."
    ]
    assert (result.tool_calls[0].args, result.text) == ({}, "I will stop.")


@pytest.mark.parametrize("given", [[1, 2], "secret-text", None], ids=repr)
def test_arguments_of_another_shape_from_a_provider_of_ones_own_are_told_to_the_model(given: Any) -> None:
    class Own:
        name = "own"

        async def complete(self, request: LLMRequest, hooks: Any = None) -> LLMResponse:
            if request.messages[-1].role == "tool":
                return LLMResponse("I will stop.")
            return LLMResponse(tool_calls=(ToolCall("c1", "lookup", given),))

    result = Agent(Own(), tools=[lookup]).run_sync("Go.")

    answer = next(m.content for m in result.messages if m.role == "tool")
    assert ("could not be read" in answer, "secret-text" in answer, result.text) == (True, False, "I will stop.")


def test_a_tool_that_cancels_itself_does_not_stop_the_run() -> None:
    @tool
    async def stop() -> None:
        """Stop. Use it to stop."""
        raise asyncio.CancelledError

    result = Agent(Mock([Mock.call("stop"), "It stopped."]), tools=[stop]).run_sync("Stop.")

    assert (result.text, result.tool_calls[0].ok) == ("It stopped.", False)


def test_an_interrupt_ends_the_run() -> None:
    @tool
    async def stop() -> None:
        """Stop. Use it to stop."""
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Agent(Mock([Mock.call("stop"), "Never."]), tools=[stop]).run_sync("Stop.")


def test_too_many_refused_arguments_in_a_row_end_the_run() -> None:
    agent = Agent(Mock([malformed()] * 5), tools=[lookup], limits=Limits(invalid_args=3))

    result = agent.run_sync("Go.")

    assert (result.ended_because, result.iterations, len(result.tool_calls)) == ("refused", 3, 3)
    assert [message.role for message in result.messages] == ["user", *["assistant", "tool"] * 3]


def test_a_call_that_passes_starts_the_count_of_refused_ones_anew() -> None:
    good = Mock.call("lookup", order_id="A-1")
    agent = Agent(
        Mock([malformed(), malformed(), good, malformed(), "Done."]), tools=[lookup], limits=Limits(invalid_args=3)
    )

    assert agent.run_sync("Go.").ended_because == "answer"


def test_arguments_that_miss_the_schema_are_refused_naming_the_field_and_no_value() -> None:
    agent = Agent(Mock([Mock.call("lookup", order_id=17), "Done."]), tools=[lookup])
    events = heard(agent, "validation")

    result = agent.run_sync("Go.")

    answer = next(m.content for m in result.messages if m.role == "tool")
    assert "order_id" in answer
    assert "17" not in answer
    assert (events[0].payload.enforced, events[0].payload.issues[0].path) == (True, "order_id")
    assert not result.tool_calls[0].dispatched


def test_with_warn_they_are_recorded_and_the_tool_runs() -> None:
    agent = Agent(Mock([Mock.call("lookup", order_id=17), "Done."]), tools=[lookup], gates=Gates(tool_args="warn"))
    events = heard(agent, "validation")

    result = agent.run_sync("Go.")

    assert (events[0].payload.enforced, result.tool_calls[0].dispatched) == (False, True)


def test_a_reply_cut_by_the_token_limit_runs_no_call() -> None:
    ran: list[str] = []

    @tool
    async def pay(amount: float) -> str:
        """Pay an amount. Use it once the policy allows it."""
        ran.append("pay")
        return "paid"

    cut = LLMResponse("I will p", tool_calls=(ToolCall("c1", "pay", {"amount": 1}),), stop_reason="max_tokens")
    agent = Agent(Mock([cut, "I did not pay."]), tools=[pay])
    events = heard(agent, "stream")

    result = agent.run_sync("Pay 100.")

    settled = next(m for m in result.messages if m.role == "tool")
    assert ran == []
    assert settled.not_dispatched is not None
    assert settled.not_dispatched.cause == "cut"
    assert not [event for event in events if event.type.endswith(("tool_start", "tool_end"))]
    assert result.ended_because == "answer"


def test_the_settled_mark_never_reaches_the_model() -> None:
    cut = LLMResponse("", tool_calls=(ToolCall("c1", "lookup", {"order_id": "1"}),), stop_reason="max_tokens")
    seen: list[LLMMessage] = []

    def model(request: Any) -> Any:
        if len(request.messages) == 1:
            return cut
        seen.extend(request.messages)
        return "Done."

    Agent(Mock(model), tools=[lookup]).run_sync("Go.")

    assert [message.not_dispatched for message in seen] == [None, None, None]
    assert [message.role for message in seen] == ["user", "assistant", "tool"]


def test_an_answer_cut_by_the_token_limit_says_so() -> None:
    result = Agent(Mock([LLMResponse("The answer is", stop_reason="max_tokens")])).run_sync("Go.")

    assert (result.text, result.ended_because, result.stop_reason) == ("The answer is", "cut", "max_tokens")


def test_the_second_of_two_equal_calls_gets_a_note_and_no_other() -> None:
    call = Mock.call("lookup", order_id="A-1")
    agent = Agent(Mock([call, call, call, "Done."]), tools=[lookup])
    events = heard(agent, "tools")

    result = agent.run_sync("Go.")

    texts = [m.content for m in result.messages if m.role == "tool"]
    assert texts[0] == texts[2] == "Order A-1: shipped."
    assert texts[1].startswith("Order A-1: shipped.\n\n[identical call")
    assert [event.payload.occurrences for event in events] == [2]


def test_the_note_can_be_left_out() -> None:
    call = Mock.call("lookup", order_id="A-1")
    agent = Agent(Mock([call, call, "Done."]), tools=[lookup], gates=Gates(repeated_call_note=False))

    texts = [m.content for m in agent.run_sync("Go.").messages if m.role == "tool"]

    assert texts == ["Order A-1: shipped."] * 2


def test_a_declared_absence_is_filed_with_where_it_looked() -> None:
    @tool
    async def find(name: str) -> object:
        """Find a customer by name. Use it when the user names one."""
        return absent(name, checked=["the customers table"])

    agent = Agent(Mock([Mock.call("find", name="Dana"), "Nobody."]), tools=[find])
    events = heard(agent, "tools")

    result = agent.run_sync("Who is Dana?")

    assert events[0].type == "agentfootprint.tools.absent"
    assert [row.what for row in events[0].payload.checked] == ["the customers table"]
    assert result.tool_calls[0].ok


def test_a_tool_gets_the_callers_object_and_reports_between_its_start_and_end() -> None:
    @tool
    async def walk(steps: int, ctx: ToolContext[dict[str, str]]) -> str:
        """Walk some steps. Use it to get there."""
        ctx.progress({"message": f"walking for {ctx.deps['who']}"})
        return "arrived"

    agent = Agent(Mock([Mock.call("walk", steps=3), "Here."]), tools=[walk])
    events = heard(agent, "stream")

    agent.run_sync("Walk.", deps={"who": "Ann"})

    kinds = [event.type.rpartition(".")[2] for event in events if "tool" in event.type]
    assert kinds == ["tool_start", "tool_progress", "tool_end"]
    assert {event.meta.tool_ordinal for event in events if "tool" in event.type} == {0}


def test_cleanups_of_a_tool_run_when_the_run_is_over() -> None:
    closed: list[str] = []

    @tool
    async def open_session(name: str, ctx: ToolContext) -> str:
        """Open a session. Use it first."""
        ctx.on_teardown(lambda: closed.append(name))
        return "open"

    def model(request: Any) -> Any:
        assert closed == []
        return Mock.call("open_session", name="a") if len(request.messages) == 1 else "Done."

    Agent(Mock(model), tools=[open_session]).run_sync("Go.")

    assert closed == ["a"]


@pytest.mark.parametrize("count", [2, 10])
def test_a_batch_is_answered_in_call_order(count: int) -> None:
    calls = tuple(ToolCall(f"c{n}", "lookup", {"order_id": str(n)}) for n in range(count))
    agent = Agent(Mock([LLMResponse("Two at once.", tool_calls=calls), "Done."]), tools=[lookup])

    result = agent.run_sync("Go.")

    answers = [m for m in result.messages if m.role == "tool"]
    assert [m.tool_call_id for m in answers] == [f"c{n}" for n in range(count)]
    assert [m.content for m in answers] == [f"Order {n}: shipped." for n in range(count)]
    assert result.messages[1].content == "Two at once."
