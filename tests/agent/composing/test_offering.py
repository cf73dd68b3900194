"""Tests of agentfootprint.agent.composing.offering."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, ConfigError, Fact, Mock, Tool, tool
from agentfootprint.context import Always, Content, Injection, When
from agentfootprint.trace import fnv1a, thaw


@tool
async def lookup() -> str:
    """Look it up. Use it first."""
    return "found"


@tool
async def refund() -> str:
    """Pay it back. Use it once it is decided."""
    return "paid"


def desk(name: str, *tools: Any, when: Any = None, text: str | None = None) -> Injection:
    trigger = Always() if when is None else When(when)
    return Injection(name, trigger=trigger, inject=Content(system_prompt=text, tools=tools))


def late(turn: Any) -> bool:
    return turn.iteration > 1


def offered(agent: Agent[Any, Any]) -> list[list[str]]:
    return [[each.name for each in call.tools] for call in agent.run_sync("q").recording.calls]


def test_tools_of_a_piece_are_offered_after_the_agents_own_while_it_is_in() -> None:
    agent = Agent(
        Mock([Mock.call("lookup"), Mock.call("refund"), "done"], cursor="run"),
        tools=[lookup],
        context=[desk("desk", refund, when=late)],
    )

    result = agent.run_sync("q")

    assert [[each.name for each in call.tools] for call in result.recording.calls] == [
        ["lookup"],
        ["lookup", "refund"],
        ["lookup", "refund"],
    ]
    assert [(call.name, call.result, call.ok) for call in result.tool_calls] == [
        ("lookup", "found", True),
        ("refund", "paid", True),
    ]


def test_a_tool_of_a_piece_that_is_out_is_unknown() -> None:
    agent = Agent(Mock([Mock.call("refund"), "done"]), tools=[lookup], context=[desk("desk", refund, when=late)])

    (call,) = agent.run_sync("q").tool_calls

    assert (call.name, call.ok, call.dispatched) == ("refund", False, False)


def test_its_row_names_the_piece() -> None:
    agent = Agent(Mock("x"), tools=[lookup], context=[desk("desk", refund)])

    state = thaw(agent.run_sync("q").recording.snapshot["sharedState"])

    own, brought = state["toolsInjections"]
    assert (own["source"], own["position"]) == ("registry", 0)
    assert (brought["source"], brought["sourceId"], brought["position"]) == ("custom", "desk", 1)
    assert brought["contentHash"] == fnv1a("tool:custom:desk:refund")
    assert "'desk'" in brought["reason"]
    assert brought["rawContent"].startswith("refund: Pay it back.")
    assert [each["name"] for each in state["dynamicToolSchemas"]] == ["lookup", "refund"]


def test_one_tool_may_stand_in_several_places_and_is_offered_once() -> None:
    agent = Agent(Mock("x"), tools=[lookup], context=[desk("a", lookup, refund), desk("b", refund)])

    result = agent.run_sync("q")

    assert [each.name for each in result.recording.calls[0].tools] == ["lookup", "refund"]
    assert len(result.recording.snapshot["sharedState"]["toolsInjections"]) == 4


def test_two_tools_of_one_name_are_refused_and_both_places_named() -> None:
    other = Tool(lambda: "x", name="lookup", description="Another. Use it.", input_schema={"type": "object"})

    with pytest.raises(ConfigError, match=r"The piece 'desk' brings a tool 'lookup', and tools=\[\.\.\.\] has another"):
        Agent(Mock("x"), tools=[lookup], context=[desk("desk", other)])
    with pytest.raises(ConfigError, match=r"'b' brings a tool 'lookup', and the piece 'a' has another"):
        Agent(Mock("x"), context=[desk("a", lookup), desk("b", other)])


def test_a_piece_and_a_tool_share_no_name() -> None:
    with pytest.raises(ConfigError, match=r"have one name"):
        Agent(Mock("x"), context=[desk("desk", refund), Fact("refund", "Paid back.")])


def test_an_agent_whose_tools_all_come_from_pieces_wraps_up_too() -> None:
    agent = Agent(Mock("x"), context=[desk("desk", refund)])

    assert agent.plan.wraps_up
    assert offered(agent) == [["refund"]]


def test_a_pass_that_changes_nothing_offers_the_same_objects() -> None:
    agent = Agent(
        Mock([Mock.call("refund"), Mock.call("lookup"), "done"], cursor="run"),
        tools=[lookup],
        context=[desk("desk", refund, text="Desk.")],
    )

    recording = agent.run_sync("q").recording

    writer = recording.writer_of("toolsInjections")
    assert writer is not None
    assert int(writer.partition("#")[2]) < 18


def test_without_the_piece_its_tools_are_gone() -> None:
    agent = Agent(Mock("x"), tools=[lookup], context=[desk("desk", refund)])

    assert offered(agent.without(["desk"])) == [["lookup"]]
