"""Tests of agentfootprint.cli.steps."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.cli.steps import StepLine, find_step, request_text, step_text, steps_of, tree_text
from agentfootprint.explain import UnknownStepError
from agentfootprint.recording import Recording
from tests.cli.commands import widest


def node(step: str, **more: Any) -> dict[str, Any]:
    return {"id": step.partition("#")[0], "runtimeStageId": step, "name": step.partition("#")[0].title(), **more}


def test_steps_come_in_the_order_they_began_mounts_and_branches_deeper() -> None:
    inside = {"treeContext": {"stageContexts": node("sub/first#2", next=node("sub/second#3"))}}
    tree = node("seed#0", next=node("sub#1", next=node("route#4", children=[node("a#5"), node("b#6")])))
    snapshot = {"executionTree": tree, "subflowResults": {"sub": inside, "sub#1": inside}}

    assert [(line.depth, line.step) for line in steps_of(snapshot)] == [
        *((0, "seed#0"), (0, "sub#1"), (1, "sub/first#2"), (1, "sub/second#3")),
        *((0, "route#4"), (1, "a#5"), (1, "b#6")),
    ]


def test_a_loop_goes_back_to_where_it_began() -> None:
    again = node("think#3", next=node("route#4", children=[node("end#5")]))
    act = node("act#2", next=again, logs={"dynamicNextTarget": "think"})
    tree = node("think#0", next=node("route#1", children=[act]))

    assert [(line.depth, line.step) for line in steps_of({"executionTree": tree})] == [
        *((0, "think#0"), (0, "route#1"), (1, "act#2"), (0, "think#3"), (0, "route#4"), (1, "end#5")),
    ]


def test_a_run_may_be_longer_than_the_stack() -> None:
    tree = node("stage#4999")
    for number in reversed(range(4_999)):
        tree = node(f"stage#{number}", next=tree)

    lines = list(steps_of({"executionTree": tree}))

    assert (len(lines), lines[-1].step) == (5_000, "stage#4999")


def test_a_run_without_a_tree_has_no_steps() -> None:
    assert list(steps_of({})) == []


def test_a_step_is_found_whole_or_by_its_own_name_and_number(recording: Recording) -> None:
    whole = find_step(recording, "sf-injection-engine/evaluate#3", where="run.json")

    assert find_step(recording, "evaluate#3", where="run.json") == whole
    assert (whole.line.name, whole.call) == ("Evaluate", None)
    assert "activeInjections" in step_text(whole, width=80)
    with pytest.raises(UnknownStepError, match=r"no step 'evaluate#4' in run\.json\. Use one of"):
        find_step(recording, "evaluate#4", where="run.json")


def test_a_text_is_cut_or_whole(recording: Recording) -> None:
    facts = find_step(recording, "call-llm#40", where="run.json")

    cut, whole = step_text(facts, width=80), step_text(facts, width=80, whole=True)

    assert cut.partition("WROTE")[2].count("...") == 1
    assert "..." not in whole
    assert widest(whole) <= 80


def test_the_request_is_word_for_word(recording: Recording) -> None:
    call = recording.calls[1]

    shown = request_text(call, width=200)

    assert all(f"    {line}".rstrip() in shown for line in call.system_text.splitlines())
    assert all(message.content in shown for message in call.messages)
    assert widest(request_text(call, width=60)) <= 60


def test_the_tree_fits_its_width() -> None:
    lines = [StepLine(0, "seed#0", "Initialize"), StepLine(3, "sf-" + "x" * 70 + "#1", "A name\x1b[2J")]

    shown = tree_text(lines, width=60)

    assert widest(shown) <= 60
    assert "\x1b" not in shown
    assert shown.splitlines()[0].split() == ["seed#0", "Initialize"]
