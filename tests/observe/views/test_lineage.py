"""Tests of agentfootprint.observe.views.lineage."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.observe import ToolLineage
from tests.observe.made import event, tool_end, tool_start

NEVER = {"pausedCall": {"toolCallId": "x", "toolName": "y"}}


def iteration(lineage: ToolLineage, number: int, *, mount: str = "") -> None:
    payload = {"turnIndex": 0, "iterIndex": number}
    lineage.hear(event("agent.iteration_start", payload, at=f"{mount}call-llm#{number}"))


def call(lineage: ToolLineage, name: str, args: dict[str, Any], result: Any, *, number: int, mount: str = "") -> None:
    at = f"{mount}tool-calls#{number}"
    lineage.hear(tool_start(name, name, args, at=at))
    lineage.hear(tool_end(name, result, at=at))


def links(lineage: ToolLineage) -> list[tuple[str, str, str]]:
    return [(edge.from_.tool_name, edge.to.tool_name, edge.value) for edge in lineage.edges()]


def test_calls_of_one_iteration_never_link_and_the_last_producer_of_an_earlier_one_wins() -> None:
    lineage = ToolLineage()

    iteration(lineage, 1)
    call(lineage, "first", {}, {"id": "ORD-1"}, number=1)
    iteration(lineage, 2)
    call(lineage, "second", {}, [{"id": "ORD-1"}], number=2)
    call(lineage, "beside", {"order": "ORD-1"}, None, number=3)
    iteration(lineage, 3)
    call(lineage, "after", {"order": "ORD-1", "again": "ORD-1"}, None, number=4)

    assert links(lineage) == [("first", "beside", "ORD-1"), ("second", "after", "ORD-1")]


def test_a_call_that_was_never_dispatched_gives_and_takes_nothing() -> None:
    lineage = ToolLineage()

    iteration(lineage, 1)
    lineage.hear(tool_start("a", "find", not_dispatched=NEVER))
    lineage.hear(tool_end("a", "ORD-1234", not_dispatched=NEVER))
    iteration(lineage, 2)
    call(lineage, "get", {"order": "ORD-1234"}, None, number=2)

    assert links(lineage) == []
    assert [node.tool_name for node in lineage.nodes()] == ["get"]


def test_iterations_are_counted_in_the_loop_they_belong_to() -> None:
    lineage = ToolLineage()

    iteration(lineage, 1, mount="step-a/")
    call(lineage, "find", {}, "ORD-1234", number=1, mount="step-a/")
    iteration(lineage, 1, mount="step-b/")
    call(lineage, "get", {"order": "ORD-1234"}, None, number=2, mount="step-b/")

    assert links(lineage) == [("find", "get", "ORD-1234")]


def test_values_are_looked_for_so_deep_and_no_deeper() -> None:
    lineage = ToolLineage(max_depth=2, min_value_length=2, match_numbers=True)

    iteration(lineage, 1)
    call(lineage, "find", {}, {"a": {"b": "near", "c": {"d": "far"}}, "n": 7, "yes": True}, number=1)
    iteration(lineage, 2)
    call(lineage, "get", {"x": "near", "y": "far", "z": 7.0, "w": True}, None, number=2)

    assert links(lineage) == [("find", "get", "near"), ("find", "get", "7")]


def test_what_can_not_be_a_length_is_refused() -> None:
    with pytest.raises(ConfigError, match="0 is no min_value_length"):
        ToolLineage(min_value_length=0)
