"""Tests of agentfootprint.agent.finish."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, Limits, Mock, ToolCall, tool
from agentfootprint.agent import WRAP_UP_INSTRUCTION
from agentfootprint.llm import ArgsError, LLMResponse
from agentfootprint.trace import thaw


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {order_id}: shipped."


CALL = Mock.call("lookup", order_id="A-1")
MALFORMED = LLMResponse(
    "Looking.",
    tool_calls=(ToolCall("c", "lookup", {}, args_error=ArgsError("it ends in the middle", 7)),),
    stop_reason="tool_use",
)
CUT = LLMResponse("The answer is", stop_reason="max_tokens")


@pytest.mark.parametrize(
    ("script", "options", "because", "text", "iterations", "stop_reason"),
    [
        (["Hi."], {}, "answer", "Hi.", 1, "stop"),
        ([""], {}, "answer", "", 1, "stop"),
        ([CALL, "Shipped."], {}, "answer", "Shipped.", 2, "stop"),
        (["Hi."], {"limits": Limits(iterations=1)}, "answer", "Hi.", 1, "stop"),
        ([CUT], {}, "cut", "The answer is", 1, "max_tokens"),
        ([LLMResponse("", stop_reason="max_tokens")], {}, "cut", "", 1, "max_tokens"),
        ([CALL, "So far."], {"limits": Limits(iterations=1)}, "budget", "So far.", 2, "stop"),
        ([CALL, CALL, "So far."], {"limits": Limits(iterations=2)}, "budget", "So far.", 3, "stop"),
        ([CALL, CUT], {"limits": Limits(iterations=1)}, "budget", "The answer is", 2, "max_tokens"),
        ([CALL], {"limits": Limits(iterations=1, wrap_up=False)}, "budget", "", 1, "tool_use"),
        ([MALFORMED], {"limits": Limits(invalid_args=1)}, "refused", "Looking.", 1, "tool_use"),
        (["no"], {"output": int}, "output_unmet", "no", 1, "stop"),
        ([CALL, "no"], {"output": int, "limits": Limits(iterations=1)}, "budget", "no", 2, "stop"),
    ],
    ids=str,
)
def test_every_way_to_end_has_its_word(
    script: list[Any], options: dict[str, Any], because: str, text: str, iterations: int, stop_reason: str
) -> None:
    ends: list[Any] = []
    agent = Agent(Mock(script), tools=[lookup], **options)
    agent.on("agentfootprint.agent.turn_end", lambda event: ends.append(event.payload))

    result = agent.run_sync("Go.")

    assert (result.ended_because, result.text, str(result)) == (because, text, text)
    assert (result.iterations, result.stop_reason) == (iterations, stop_reason)
    assert (result.stopped_early is not None) == (because == "budget")
    (end,) = ends
    assert (end.final_content, end.iteration_count) == (text, iterations)
    assert (end.stopped_early is not None) == (because == "budget")


def test_a_limit_of_one_iteration_runs_no_tool() -> None:
    ran: list[str] = []

    @tool
    async def pay(amount: int) -> str:
        """Pay an amount. Use it once the policy allows it."""
        ran.append("pay")
        return "paid"

    agent = Agent(Mock([Mock.call("pay", amount=1), "I did not pay."]), tools=[pay], limits=Limits(iterations=1))

    result = agent.run_sync("Pay.")

    assert (ran, result.tool_calls) == ([], ())
    assert [m.content for m in result.messages] == ["Pay.", WRAP_UP_INSTRUCTION, "I did not pay."]
    early = thaw(result.recording.snapshot["sharedState"]["stoppedEarly"])
    assert early == {
        "reason": "max-iterations",
        "iteration": 1,
        "pendingToolCalls": 1,
        "answerWasEmpty": False,
        "wrappedUp": True,
    }


def test_an_empty_answer_of_a_turn_that_was_cut_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    Agent(Mock([CALL, ""]), tools=[lookup], limits=Limits(iterations=1)).run_sync("Go.")

    assert [record.getMessage().endswith("its answer is empty.") for record in caplog.records] == [True]


def test_a_run_that_ends_otherwise_leaves_no_key_of_an_early_stop() -> None:
    state = Agent(Mock(["Hi."]), tools=[lookup]).run_sync("Go.").recording.snapshot["sharedState"]

    assert not {"stoppedEarly", "wrapUpAsked", "outputAttempts", "outputContractUnmet", "lastToolResult"} & set(state)


def test_a_turn_starts_from_the_message_alone_and_its_state_never_holds_the_answer() -> None:
    agent = Agent(Mock([CALL, "Shipped."]), tools=[lookup], limits=Limits(iterations=7))

    state = agent.run_sync("Where is A-1?").recording.snapshot["sharedState"]

    assert (state["userMessage"], state["maxIterations"], state["iteration"]) == ("Where is A-1?", 7, 2)
    assert [m.role for m in state["history"]] == ["user", "assistant", "tool"]
    assert (state["finalContent"], len(state["newMessages"])) == ("", 0)
    assert thaw(state["lastToolResult"]) == {"toolName": "lookup", "result": "Order A-1: shipped."}


def test_the_end_of_a_turn_closes_its_iteration_without_the_history() -> None:
    closing: list[tuple[str, Any]] = []
    agent = Agent(Mock([CALL, "Shipped."]), tools=[lookup])
    agent.on(
        "agentfootprint.agent.iteration_end", lambda e: closing.append((e.meta.runtime_stage_id, e.payload.history))
    )
    agent.on(
        "agentfootprint.agent.turn_end", lambda e: closing.append((e.meta.runtime_stage_id, e.payload.duration_ms))
    )

    result = agent.run_sync("Where is A-1?")

    assert [stage.partition("#")[0] for stage, _ in closing] == ["tool-calls", *["final/prepare-final"] * 2]
    assert [m.role for m in closing[0][1]] == ["user", "assistant", "tool"]
    assert closing[1][1] is None
    assert 0 < closing[2][1] <= result.duration_ms


def test_a_malformed_call_is_answered_in_the_loops_own_words() -> None:
    result = Agent(Mock([MALFORMED, "I stop."]), tools=[lookup]).run_sync("Go.")

    assert result.messages[2].content == (
        "The arguments of lookup could not be read: it ends in the middle. Call it again with one JSON object."
    )
    assert (result.tool_calls[0].ok, result.tool_calls[0].dispatched, dict(result.tool_calls[0].args)) == (
        False,
        False,
        {},
    )
