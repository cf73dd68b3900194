"""Tests of agentfootprint.observe.views.per_run."""

from __future__ import annotations

from typing import Any

from agentfootprint.observe import ThinkingTrace
from tests.observe.made import event, tool_end, tool_start

ASKED: dict[str, Any] = {"reason": "OK?", "questionPayload": {}}
ANSWERED = {"resumeInput": {"input": "yes"}, "pausedDurationMs": 0}


def kinds(trace: ThinkingTrace, run: str) -> list[tuple[str, str | None]]:
    return [(step.kind, step.tool) for step in trace.steps(run)[1:]]


def test_runs_side_by_side_do_not_mix() -> None:
    trace = ThinkingTrace()

    trace.hear(tool_start("c1", "a", run="run-1-1"))
    trace.hear(tool_start("c1", "b", run="run-1-2"))
    trace.hear(tool_end("c1", run="run-1-1"))

    assert kinds(trace, "run-1-1") == [("ask", "a"), ("return", "a")]
    assert kinds(trace, "run-1-2") == [("ask", "b")]
    assert trace.steps() == trace.steps("run-1-2")
    assert kinds(trace, "run-9-9") == []


def waiting(trace: ThinkingTrace, run: str, **meta: Any) -> None:
    trace.hear(tool_start("c1", run, run=run, **meta))
    trace.hear(event("pause.request", ASKED, at="tool-calls#paused", run=run, **meta))


def test_a_resumed_run_goes_on_with_what_is_known_of_the_one_that_paused() -> None:
    trace = ThinkingTrace()
    waiting(trace, "run-1-1", sessionId="s")
    waiting(trace, "run-1-2", sessionId="t")

    trace.hear(event("pause.resume", ANSWERED, at="tool-calls#resumed", run="run-2-3", sessionId="s"))
    trace.hear(tool_end("c1", at="tool-calls#23", run="run-2-3", sessionId="s"))

    assert kinds(trace, "run-2-3") == [("ask", "run-1-1"), ("return", "run-1-1")]


def test_a_resumed_run_goes_on_with_the_run_that_its_first_event_names() -> None:
    """EVT-31."""
    trace = ThinkingTrace()
    waiting(trace, "run-1-1")
    waiting(trace, "run-1-2")

    for new, old in (("run-2-3", "run-1-2"), ("run-2-4", "run-1-1"), ("run-2-5", "run-9-9")):
        trace.hear(event("pause.resume", ANSWERED, at="tool-calls#resumed", run=new, resumedRunId=old))

    assert kinds(trace, "run-2-3") == [("ask", "run-1-2")]
    assert kinds(trace, "run-2-4") == [("ask", "run-1-1")]
    assert kinds(trace, "run-2-5") == []


def test_a_resumed_run_begins_anew_when_it_could_be_any_of_several() -> None:
    trace = ThinkingTrace()
    waiting(trace, "run-1-1")
    waiting(trace, "run-1-2")

    trace.hear(event("pause.resume", ANSWERED, at="tool-calls#resumed", run="run-2-3"))

    assert kinds(trace, "run-2-3") == []


def test_a_pause_of_the_reference_which_names_no_run_is_of_the_latest_one() -> None:
    trace = ThinkingTrace()

    trace.hear(tool_start("c1", "confirm", run="run-1-1"))
    trace.hear(event("pause.request", ASKED, at="tool-calls#paused", run="consumer-scope"))
    trace.hear(event("pause.resume", ANSWERED, at="tool-calls#resumed", run="consumer-scope"))
    trace.hear(tool_end("c1", at="tool-calls#23", run="run-1-2"))

    assert kinds(trace, "run-1-2") == [("ask", "confirm"), ("return", "confirm")]


def test_the_run_that_began_first_makes_room() -> None:
    trace = ThinkingTrace()

    for number in range(1100):
        trace.hear(tool_start("c1", "a", run=f"run-1-{number}"))

    assert kinds(trace, "run-1-0") == []
    assert kinds(trace, "run-1-1099") == [("ask", "a")]
