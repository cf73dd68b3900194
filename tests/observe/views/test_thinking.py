"""Tests of agentfootprint.observe.views.thinking."""

from __future__ import annotations

from agentfootprint.observe import ThinkingTrace
from tests.observe.made import desk, event, tool_end, tool_start


def test_the_steps_of_a_run_begin_with_the_prompt_and_end_with_the_answer() -> None:
    trace = ThinkingTrace.of(desk().run_sync("Weather?").recording, asker="ann")

    steps = trace.steps()

    assert [step.kind for step in steps] == ["prompt", "ask", "return", "answer"]
    assert (steps[0].brain, steps[3].brain, steps[3].to) == ("Weather?", "Sunny.", "ann")
    assert trace.to_wire()["agent"] == "desk"


def test_the_cost_of_a_call_stands_at_the_first_step_that_came_of_it() -> None:
    trace = ThinkingTrace()
    end = {"iteration": 1, "content": "Both.", "toolCallCount": 2, "stopReason": "tool_use", "durationMs": 5}

    trace.hear(event("stream.llm_end", {**end, "usage": {"input": 3, "output": 4, "cacheRead": 1}}))
    trace.hear(tool_start("c1", "read_skill", {"id": "billing"}, ordinal=0))
    trace.hear(tool_start("c2", "lookup", ordinal=1))

    first, second = trace.steps()[1:]
    assert (first.tool, first.tool_name, first.brain) == ("billing", "read_skill", "Both.")
    assert (first.cost.tokens, first.cost.tokens_cached, first.cost.ms) == (7, 1, 5)
    assert (second.cost.tokens, second.brain) == (0, "Asks lookup.")


def test_a_call_that_was_never_dispatched_is_no_step() -> None:
    trace = ThinkingTrace()

    trace.hear(tool_start("c1", "lookup", not_dispatched={"cause": "halt"}))
    trace.hear(tool_end("c1", not_dispatched={"cause": "halt"}))

    assert [step.kind for step in trace.steps()] == ["prompt"]


def test_what_a_model_used_is_not_said_to_be_nothing_when_it_is_not_known() -> None:
    trace = ThinkingTrace()
    end = {"iteration": 1, "content": "", "toolCallCount": 1, "stopReason": "tool_use", "durationMs": 5}

    trace.hear(event("stream.llm_end", {**end, "usage": {"input": 0, "output": 0, "usageReported": False}}))
    trace.hear(tool_start("c1", "lookup"))

    assert trace.steps()[1].cost.tokens_in is None
