"""Tests of agentfootprint.agui.mapping.steps."""

from __future__ import annotations

from typing import Any

from agentfootprint.agui import AgUiOptions
from agentfootprint.events import Event
from tests.agui.made import event, iteration, mapped


def composition(edge: str, kind: str, id: str, at: str = "seed#0") -> Event[Any]:
    more = {"childCount": 1, "name": id} if edge == "enter" else {"status": "ok", "durationMs": 0}
    return event(f"composition.{edge}", {"kind": kind, "id": id, **more}, at)


def loop(edge: str, id: str, number: int) -> Event[Any]:
    more = {} if edge == "start" else {"reason": "break"}
    return event(f"composition.iteration_{edge}", {"loopId": id, "iteration": number, **more})


def steps(sent: list[dict[str, Any]]) -> list[str]:
    signs = {"STEP_STARTED": "+", "STEP_FINISHED": "-"}
    return [signs[each["type"]] + each["stepName"] for each in sent if each["type"] in signs]


def test_iterations_of_mounted_agents_carry_their_scope() -> None:
    at = "step-a/sf-llm-call/call-llm#9"

    sent = mapped([iteration("start", 1, at), iteration("end", 1, "step-a/final/prepare-final#12")])

    assert steps(sent) == ["+step-a iteration 1", "-step-a iteration 1"]


def test_the_second_step_of_a_name_is_told_apart_and_the_latest_ends_first() -> None:
    sent = mapped([*[iteration("start", 1)] * 3, *[iteration("end", 1)] * 4])

    assert steps(sent) == [
        *("+iteration 1", "+iteration 1~2", "+iteration 1~3"),
        *("-iteration 1~3", "-iteration 1~2", "-iteration 1"),
    ]


def test_compositions_and_loops_nest_and_what_stays_open_ends_innermost_first() -> None:
    events = [
        composition("enter", "Sequence", "pipe"),
        composition("enter", "Loop", "rep"),
        loop("start", "rep", 1),
        loop("exit", "rep", 1),
        loop("start", "rep", 2),
    ]

    assert steps(mapped(events)) == [
        *("+Sequence:pipe", "+Loop:rep", "+Loop:rep#1", "-Loop:rep#1", "+Loop:rep#2"),
        *("-Loop:rep#2", "-Loop:rep", "-Sequence:pipe"),
    ]


def test_an_end_without_a_start_is_nothing() -> None:
    sent = mapped([iteration("end", 7), composition("exit", "Sequence", "pipe"), loop("exit", "rep", 1)])

    assert steps(sent) == []


def test_an_end_of_another_scope_or_composition_ends_nothing() -> None:
    sent = mapped([iteration("start", 1, "a/call-llm#1"), iteration("end", 1, "b/call-llm#1")])

    assert steps(sent) == ["+a iteration 1", "-a iteration 1"]


def test_hidden_steps_still_begin_and_end() -> None:
    sent = mapped([event(f"agent.iteration_{edge}", "[REDACTED]") for edge in ("start", "start", "end", "end")])

    assert steps(sent) == [
        *("+iteration [REDACTED]", "+iteration [REDACTED]~2"),
        *("-iteration [REDACTED]~2", "-iteration [REDACTED]"),
    ]


def test_steps_may_be_left_out() -> None:
    events = [iteration("start", 1), composition("enter", "Loop", "rep"), loop("start", "rep", 1), iteration("end", 1)]

    assert steps(mapped(events, AgUiOptions(steps=False))) == []
