"""Tests of agentfootprint.observe.views.openings."""

from __future__ import annotations

from agentfootprint.observe import ThinkingTrace, ToolLineage
from tests.observe.made import event, tool_end, tool_start


def test_calls_of_one_batch_with_one_id_are_told_apart_by_their_place() -> None:
    trace = ThinkingTrace()

    trace.hear(tool_start("same", "a", ordinal=0))
    trace.hear(tool_start("same", "b", ordinal=1))
    trace.hear(tool_end("same", ordinal=1))
    trace.hear(tool_end("same", ordinal=0))

    assert [step.tool for step in trace.steps() if step.kind == "return"] == ["b", "a"]


def test_without_places_starts_and_ends_of_one_id_are_paired_in_order() -> None:
    trace = ThinkingTrace()

    for name in ("a", "b"):
        trace.hear(tool_start("same", name))
    for _ in range(2):
        trace.hear(tool_end("same"))

    assert [step.tool for step in trace.steps() if step.kind == "return"] == ["a", "b"]


def test_an_end_at_the_address_of_a_resume_ends_the_call_that_is_open_still() -> None:
    trace = ThinkingTrace()

    trace.hear(tool_start("c1", "confirm", ordinal=0))
    trace.hear(tool_end("c1", "yes", at="tool-calls#23", ordinal=0))

    assert [(step.kind, step.tool) for step in trace.steps()[1:]] == [("ask", "confirm"), ("return", "confirm")]


def test_a_call_whose_id_is_redacted_is_paired_by_its_place() -> None:
    lineage = ToolLineage()

    lineage.hear(event("agent.iteration_start", {"turnIndex": 0, "iterIndex": 1}, at="call-llm#1"))
    lineage.hear(tool_start("[REDACTED]", "find", ordinal=0))
    lineage.hear(tool_end("[REDACTED]", "ORD-1", ordinal=0))
    lineage.hear(event("agent.iteration_start", {"turnIndex": 0, "iterIndex": 2}, at="call-llm#2"))
    lineage.hear(tool_start("[REDACTED]", "get", {"id": "ORD-1"}, at="tool-calls#30", ordinal=0))

    assert [(edge.from_.tool_name, edge.to.tool_name) for edge in lineage.edges()] == [("find", "get")]
