"""Tests of agentfootprint.agent.route."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from agentfootprint import Agent, ConfigError, Limits, Mock, Output, OutputSchemaError, tool
from agentfootprint.agent import SCHEMA_CHECK_FRAME_PREFIX, WRAP_UP_INSTRUCTION
from agentfootprint.events import Event
from agentfootprint.trace import fnv1a


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {order_id}: shipped."


class Refund(BaseModel):
    approved: bool
    reason: str


def heard(agent: Agent[Any, Any]) -> list[Event[Any]]:
    events: list[Event[Any]] = []
    agent.on("*", events.append)
    return events


def names(events: list[Event[Any]], *domains: str) -> list[str]:
    return [e.type.partition(".")[2] for e in events if e.type.split(".")[1] in domains]


CALL = Mock.call("lookup", order_id="A-1")


def test_the_iteration_limit_asks_once_more_without_tools() -> None:
    offered: list[int] = []

    def model(request: Any) -> Any:
        offered.append(len(request.tools or ()))
        return CALL if request.tools else "What I have so far."

    agent = Agent(Mock(model), tools=[lookup], limits=Limits(iterations=2))
    events = heard(agent)

    result = agent.run_sync("Go.")

    assert offered == [1, 1, 0]
    assert (result.text, result.ended_because, result.iterations) == ("What I have so far.", "budget", 3)
    assert result.stopped_early is not None
    assert (result.stopped_early.iteration, result.stopped_early.pending) == (2, 1)
    assert [m.content for m in result.messages if m.role == "user"] == ["Go.", WRAP_UP_INSTRUCTION]
    tail = names(events, "agent", "cost")[-11:]
    assert tail == [
        "agent.route_decided",
        "cost.limit_hit",
        "agent.budget_exhausted",
        "agent.iteration_end",
        "agent.iteration_start",
        "agent.route_decided",
        "agent.iteration_end",
        "agent.turn_end",
    ] or tail[-8:] == [
        "agent.route_decided",
        "cost.limit_hit",
        "agent.budget_exhausted",
        "agent.iteration_end",
        "agent.iteration_start",
        "agent.route_decided",
        "agent.iteration_end",
        "agent.turn_end",
    ]


def test_the_reply_that_was_cut_does_not_enter_the_history() -> None:
    agent = Agent(
        Mock(lambda request: CALL if request.tools else "So far."), tools=[lookup], limits=Limits(iterations=1)
    )

    result = agent.run_sync("Go.")

    assert [m.role for m in result.messages] == ["user", "user", "assistant"]


def test_without_wrap_up_the_turn_is_cut_short() -> None:
    agent = Agent(Mock([CALL]), tools=[lookup], limits=Limits(iterations=1, wrap_up=False))
    events = heard(agent)

    result = agent.run_sync("Go.")

    exhausted = next(e for e in events if e.type.endswith("budget_exhausted"))
    assert (exhausted.payload.action, result.ended_because, result.text) == ("cut-short", "budget", "")


def test_a_wrap_up_that_asks_for_tools_again_is_the_answer_all_the_same() -> None:
    agent = Agent(Mock([CALL, CALL]), tools=[lookup], limits=Limits(iterations=1))

    result = agent.run_sync("Go.")

    assert (result.iterations, result.ended_because, len(result.tool_calls)) == (2, "budget", 0)


def test_a_typed_answer_is_the_type() -> None:
    agent = Agent(Mock('{"approved": false, "reason": "47 days old"}'), output=Refund)

    result = agent.run_sync("Refund?")

    assert result.output == Refund(approved=False, reason="47 days old")
    assert result.output_source == "model"
    assert "JSON Schema" in (result.recording.calls[0].system_text or "")


def test_an_answer_that_misses_is_asked_for_again_with_the_report_as_data() -> None:
    agent = Agent(
        Mock(["not json", '{"approved": false}', '{"approved": false, "reason": "old"}']),
        output=Output(Refund, retries=2),
    )
    events = heard(agent)

    result = agent.run_sync("Refund?")

    assert (result.output.reason, result.iterations, result.ended_because) == ("old", 3, "answer")
    corrections = [m.content for m in result.messages if m.role == "user"][1:]
    assert all(text.startswith(SCHEMA_CHECK_FRAME_PREFIX) for text in corrections)
    assert "attempt 1 of 3" in corrections[0]
    assert corrections[1].endswith("reason: Field required")
    retries = [e.payload for e in events if e.type.endswith("output_schema_retry")]
    assert [(r.attempt, r.retries_remaining, r.stage, r.path) for r in retries] == [
        (1, 1, "json-parse", None),
        (2, 0, "schema-validate", "reason"),
    ]
    assert retries[0].corrective_message_hash == fnv1a(corrections[0])


def test_an_answer_that_never_fits_stands_and_says_so() -> None:
    agent = Agent(Mock(["no", "still no"]), output=Output(Refund, retries=1))

    result = agent.run_sync("Refund?")

    assert (result.text, result.ended_because, result.output_or_none) == ("still no", "output_unmet", None)
    assert result.contract_unmet is not None
    assert (result.contract_unmet.attempts, result.contract_unmet.retries_spent) == (2, 1)
    with pytest.raises(OutputSchemaError, match=r"is not JSON, after 2 attempts") as caught:
        _ = result.output
    assert (caught.value.raw_output, caught.value.stage) == ("still no", "json-parse")


@pytest.mark.parametrize("retries", [-1, 11, True])
def test_a_number_of_retries_out_of_range_is_refused(retries: Any) -> None:
    with pytest.raises(ConfigError, match=r"output\.retries"):
        Output(Refund, retries=retries)


def test_a_type_without_a_schema_is_refused_where_the_agent_is_made() -> None:
    class Opaque: ...

    with pytest.raises(ConfigError, match=r"Opaque"):
        Agent(Mock("x"), output=Opaque)
