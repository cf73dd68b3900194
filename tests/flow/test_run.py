"""Tests of agentfootprint.flow.run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    CheckpointError,
    Decider,
    FlowLimitError,
    FlowRun,
    Fork,
    Handle,
    InputValidationError,
    LoopTo,
    Pausable,
    PauseCheckpoint,
    ResumeError,
    Selector,
    Subflow,
)
from agentfootprint.trace import ABSENT, JournalIndex, project_state, thaw
from tests.flow.charts import agent_shape, always, ran, raw, steps_of


def started(chart: Chart, args: dict[str, Any] | None = None, **options: Any) -> tuple[Any, FlowRun]:
    run = FlowRun(chart.build(), **options)
    return asyncio.run(run.start(args)), run


def resumed(chart: Chart, checkpoint: Any, answer: Any = None, **options: Any) -> tuple[Any, FlowRun]:
    """Resume in a fresh run, from JSON."""
    run = FlowRun(chart.build(), **options)
    wire = json.loads(json.dumps(checkpoint.to_wire()))
    return asyncio.run(run.resume(wire, answer)), run


def writing(values: dict[str, Any]) -> Callable[[Handle], None]:
    def write(h: Handle) -> None:
        h.write(values)

    return write


def ignored(h: Handle, answer: Any) -> None:
    """The second half of a stage that does not care."""


def returned(h: Handle, answer: Any) -> Any:
    return answer


def asking(id: str, question: Any = "?", **more: Any) -> Pausable:
    def resume(h: Handle, answer: Any) -> None:
        h[f"answer-{id}"] = answer

    return Pausable(always(question), resume, id=id, raw=True, **more)


def test_the_input_is_there_for_every_stage_and_nobody_can_change_it() -> None:
    given = {"q": [1]}

    def stage(h: Handle) -> None:
        assert thaw(h.args) == {"q": [1]}
        given["q"].append(2)
        assert thaw(h.args) == {"q": [1]}

    started(Chart.of("Input", raw("s", stage)), given)


@pytest.mark.parametrize("given", [[1], "text", {"x": {1}}, {1: 2}])
def test_an_input_that_is_no_object_of_json_values_is_refused_before_anything_runs(given: Any) -> None:
    run = FlowRun(Chart.of("Input", raw("s")).build())

    with pytest.raises(InputValidationError):
        asyncio.run(run.start(given))

    assert run.journal.rows == []


@pytest.mark.parametrize("limit", ["max_iterations", "max_depth"])
def test_a_limit_below_one_is_refused(limit: str) -> None:
    options: dict[str, Any] = {limit: 0}

    with pytest.raises(FlowLimitError, match=limit):
        FlowRun(Chart.of("Limits", raw("s")).build(), **options)


def test_a_run_starts_once() -> None:
    run = FlowRun(Chart.of("Once", raw("s")).build())
    asyncio.run(run.start())

    with pytest.raises(ResumeError, match=r"started before"):
        asyncio.run(run.start())


def test_the_initial_state_is_outside_the_log() -> None:
    _, run = started(Chart.of("Initial", raw("s", writing({"b": 2}))), initial_state={"a": 1})

    assert thaw(run.state) == {"a": 1, "b": 2}
    assert JournalIndex(run.journal).versions("a") == []
    assert JournalIndex(run.journal).value_at("a", 0) == 1


def test_a_pause_keeps_what_was_staged_and_a_fresh_run_goes_on() -> None:
    def ask(h: Handle) -> Any:
        h["asked"] = True
        return {"question": "ok?"}

    def take(h: Handle, answer: Any) -> None:
        h["approved"] = answer["approved"]

    chart = Chart.of("Ask", raw("s"), Pausable(ask, take, id="ask", raw=True), raw("after"))
    outcome, first = started(chart)

    again, run = resumed(chart, outcome.checkpoint, {"approved": True})

    assert (outcome.status, outcome.value, again.status) == ("paused", None, "done")
    assert steps_of(first.journal) == ["s#0", "ask#1"]
    assert steps_of(run.journal) == ["ask#2", "after#3"]
    assert thaw(run.state) == {"asked": True, "approved": True}
    assert run.journal.first_index == 2
    assert run.run_id != first.run_id


@pytest.mark.parametrize("data", [0, "", False, {"q": None}])
def test_anything_but_none_pauses(data: Any) -> None:
    outcome, _ = started(Chart.of("Ask", raw("s"), asking("ask", data)))

    assert outcome.status == "paused"
    assert thaw(outcome.checkpoint.pause_data) == data


def test_none_does_not_pause() -> None:
    outcome, run = started(Chart.of("Ask", raw("s"), asking("ask", None), raw("after")))

    assert outcome.status == "done"
    assert steps_of(run.journal)[-1] == "after#2"


def test_pause_data_that_cannot_be_recorded_is_refused_and_the_stage_still_commits() -> None:
    def ask(h: Handle) -> Any:
        h["kept"] = 1
        return {"when": {1, 2}}

    run = FlowRun(Chart.of("Ask", Pausable(ask, ignored, id="ask", raw=True)).build())

    with pytest.raises(CheckpointError, match=r"'ask' paused with data") as refused:
        asyncio.run(run.start())

    assert refused.value.field == "pauseData"
    assert thaw(run.state) == {"kept": 1}


def test_several_pauses_are_sequential_resumes() -> None:
    chart = Chart.of("Ask", raw("s"), asking("one"), asking("two"), raw("after"))
    first, _ = started(chart)

    second, _ = resumed(chart, first.checkpoint, 1)
    third, run = resumed(chart, second.checkpoint, 2)

    assert (second.status, third.status) == ("paused", "done")
    assert second.checkpoint.paused_stage_id == "two"
    assert thaw(run.state) == {"answer-one": 1, "answer-two": 2}
    assert steps_of(run.journal) == ["two#4", "after#5"]


def test_the_agents_tool_batch_pauses_and_goes_on_with_the_next_index() -> None:
    chart = agent_shape(2, pause_at=2)
    outcome, _ = started(chart)

    again, run = resumed(chart, outcome.checkpoint, "yes")

    checkpoint = outcome.checkpoint
    assert checkpoint.paused_stage_id == "tool-calls"
    assert checkpoint.subflow_path == ()
    assert (checkpoint.invoker_stage_id, checkpoint.continuation_stage_id) == ("sf-route", None)
    assert thaw(checkpoint.pause_data) == {"question": "may I?"}
    assert steps_of(run.journal)[:2] == ["tool-calls#45", "sf-injection-engine#46"]
    assert (again.status, again.value) == ("broken", "answer after 4")
    assert thaw(run.state["history"]) == ["hi", "call 1", "asked", "yes"]


def test_loop_counts_go_on_after_a_resume_of_a_branch_that_loops_into_a_mount() -> None:
    chart = agent_shape(2, pause_at=1)
    outcome, _ = started(chart)

    _, run = resumed(chart, outcome.checkpoint, "yes")

    engine = next(s for s in run.journal.executions().values() if s.info.id == "sf-injection-engine")
    assert engine.index == 24
    assert run.visits[engine.info.number] == 3  # once before the pause, twice after it


@pytest.mark.parametrize("loops", [False, True])
def test_a_paused_branch_goes_on_with_what_follows_its_decider(loops: bool) -> None:
    branch = asking("a", loop_to="s" if loops else None)

    def choose(h: Handle) -> str:
        return "b" if "answer-a" in h else "a"

    decider = Decider(choose, [branch, raw("b")], id="d", raw=True)
    chart = Chart.of("Branch", raw("s"), decider, raw("after"))
    outcome, _ = started(chart)

    _, run = resumed(chart, outcome.checkpoint, 42)

    assert outcome.checkpoint.invoker_stage_id == "d"
    assert outcome.checkpoint.continuation_stage_id == "after"
    if loops:
        # the decider that was left first goes on too, as it does in a run that never paused
        assert steps_of(run.journal) == ["a#3", "s#4", "d#5", "b#6", "after#7", "after#8"]
    else:
        assert steps_of(run.journal) == ["a#3", "after#4"]


def test_a_pause_deep_in_mounts_comes_back_there_with_their_state_and_without_their_input_maps() -> None:
    asked: list[str] = []

    def seen(h: Handle) -> None:
        h["seen"] = [h.get("x", "none"), h.get("answer-ask", "none")]

    def mapped(state: Any) -> dict[str, Any]:
        asked.append("input map")
        return {"x": state["x"]}

    inner = Chart.of("Inner", raw("i", writing({"own": 1})), asking("ask"), raw("seen", seen))
    middle = Chart.of("Middle", raw("m"), Subflow(inner, id="in", input=mapped, output={"seen": "seen"}))
    chart = Chart.of(
        "Outer",
        raw("s", writing({"x": 7})),
        Subflow(middle, id="out", input=("x",), output={"result": "seen"}),
        raw("after"),
    )
    outcome, _ = started(chart)
    checkpoint = outcome.checkpoint
    asked.clear()

    again, run = resumed(chart, checkpoint, "yes")

    assert checkpoint.paused_stage_id == "out/in/ask"
    assert checkpoint.subflow_path == ("out", "out/in")
    assert thaw(checkpoint.subflow_states) == {"out": {"x": 7}, "out/in": {"x": 7, "own": 1}}
    assert asked == []
    assert again.status == "done"
    assert steps_of(run.journal) == ["out#6", "out/in#7", "out/in/ask#8", "out/in/seen#9", "after#10"]
    assert thaw(run.state) == {"x": 7, "result": [7, "yes"]}
    assert thaw(project_state(run.journal, 7)) == {"x": 7, "own": 1, "answer-ask": "yes", "seen": [7, "yes"]}


def test_a_pause_in_a_mount_that_is_a_branch_goes_on_after_the_decider() -> None:
    inner = Chart.of("Inner", raw("i"), asking("ask"))
    decider = Decider(always("sf"), [Subflow(inner, id="sf"), raw("other")], id="d", raw=True)
    chart = Chart.of("Branch", raw("s"), decider, raw("after"))
    outcome, _ = started(chart)

    _, run = resumed(chart, outcome.checkpoint, 1)

    assert outcome.checkpoint.invoker_stage_id == "d"
    assert steps_of(run.journal) == ["sf#5", "sf/ask#6", "after#7"]


@pytest.mark.parametrize("suspends", [False, True])
def test_a_pause_in_a_fork_waits_for_the_others_and_the_first_one_wins(suspends: bool) -> None:
    async def work_later(h: Handle) -> None:
        await asyncio.sleep(0)
        h["done"] = True

    def work(h: Handle) -> None:
        h["done"] = True

    branches = [asking("one", "first"), raw("worker", work_later if suspends else work), asking("two", "second")]
    part = Selector(always(["one", "worker", "two"]), branches, id="pick", raw=True, fail_fast=True)

    outcome, run = started(Chart.of("Fork", raw("s"), part, raw("join")))

    assert outcome.checkpoint.pause_data == "first"
    assert thaw(run.state) == {"runs": {"worker": {"done": True}}}


def test_the_input_of_a_paused_run_is_there_again() -> None:
    def take(h: Handle, answer: Any) -> None:
        h["greeted"] = h.args["who"]

    chart = Chart.of("Ask", Pausable(always("?"), take, id="ask", raw=True))
    outcome, _ = started(chart, {"who": "Dana"})

    _, run = resumed(chart, outcome.checkpoint, 1)

    assert run.state["greeted"] == "Dana"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"sharedState": []}, "sharedState"),
        ({"pausedStageId": ""}, "pausedStageId"),
        ({"pausedStageId": 5}, "pausedStageId"),
        ({"subflowPath": "x"}, "subflowPath"),
        ({"subflowPath": [1]}, "subflowPath"),
        ({"executionCount": -1}, "executionCount"),
    ],
)
def test_a_misshapen_checkpoint_is_refused_by_field_before_anything_runs(change: dict[str, Any], field: str) -> None:
    chart = Chart.of("Ask", raw("s"), asking("ask"))
    outcome, _ = started(chart)
    run = FlowRun(chart.build())

    with pytest.raises(CheckpointError) as refused:
        asyncio.run(run.resume({**outcome.checkpoint.to_wire(), **change}))

    assert refused.value.field == field
    assert run.journal.rows == []


@pytest.mark.parametrize(("stage", "why"), [("gone", "does not exist"), ("s", "no pausable stage")])
def test_a_checkpoint_of_another_chart_is_refused(stage: str, why: str) -> None:
    chart = Chart.of("Ask", raw("s"), asking("ask"))
    outcome, _ = started(chart)
    run = FlowRun(chart.build())

    with pytest.raises(ResumeError, match=rf"'{stage}' .*{why}"):
        asyncio.run(run.resume({**outcome.checkpoint.to_wire(), "pausedStageId": stage}))


def test_an_older_checkpoint_without_counters_is_accepted() -> None:
    chart = Chart.of("Ask", raw("s"), asking("ask"))
    outcome, _ = started(chart)
    wire = outcome.checkpoint.to_wire()
    for key in ("executionCount", "visitCounts", "subflowStates"):
        del wire[key]

    run = FlowRun(chart.build())
    again = asyncio.run(run.resume(wire, 1))

    assert again.status == "done"


def test_changing_a_checkpoint_changes_nothing_in_the_run() -> None:
    chart = Chart.of("Ask", raw("s", writing({"list": [1]})), asking("ask", {"q": [1]}))
    outcome, run = started(chart)

    wire = outcome.checkpoint.to_wire()
    wire["sharedState"]["list"].append(2)
    wire["pauseData"]["q"].append(2)

    assert thaw(run.state["list"]) == [1]
    assert outcome.checkpoint.to_wire()["pauseData"] == {"q": [1]}
    with pytest.raises(TypeError):
        outcome.checkpoint.state["list"] = 1


def test_a_checkpoint_shares_its_values_with_the_run() -> None:
    chart = Chart.of("Ask", raw("s", writing({"list": list(range(1000))})), asking("ask"))

    outcome, run = started(chart)

    assert outcome.checkpoint.state["list"] is run.journal.executions()[0].writes["list"]


def test_a_looping_mount_keeps_every_result_and_the_checkpoint_none() -> None:
    inner = Chart.of("Inner", raw("i"))

    def ask(h: Handle) -> Any:
        return "?" if h.run.visits[h.info.number] == 3 else None

    pausing = Pausable(ask, ignored, id="ask", raw=True)
    chart = Chart.of("Loop", raw("s"), Subflow(inner, id="sf"), pausing, LoopTo("sf"))

    outcome, run = started(chart)

    wire = outcome.checkpoint.to_wire()
    assert list(wire["subflowResults"]) == ["sf"]
    assert "history" not in wire["subflowResults"]["sf"]["treeContext"]
    mounts = [s.runtime_stage_id for s in run.journal.executions().values() if s.info.kind == "mount"]
    assert mounts == ["sf#1", "sf#4", "sf#7"]


def test_a_resumed_stage_may_return_anything_without_pausing_again() -> None:
    chart = Chart.of("Ask", Pausable(always("?"), returned, id="ask", raw=True))
    outcome, _ = started(chart)

    again, _ = resumed(chart, outcome.checkpoint, "value")

    assert (again.status, again.value) == ("done", "value")


def test_a_checkpoint_goes_over_the_wire_and_back() -> None:
    outcome, _ = started(agent_shape(2, pause_at=1))

    wire = outcome.checkpoint.to_wire()

    assert PauseCheckpoint.from_wire(json.loads(json.dumps(wire))).to_wire() == {
        key: value for key, value in wire.items() if key != "subflowResults"
    }


def test_state_before_any_commit_is_what_was_given() -> None:
    run = FlowRun(Chart.of("S", raw("s")).build(), initial_state={"a": 1})

    assert thaw(run.state) == {"a": 1}
    assert JournalIndex(run.journal).value_at("b", 5) is ABSENT


def test_a_state_taken_during_the_run_does_not_change_with_it() -> None:
    taken: list[Any] = []

    def first(h: Handle) -> None:
        h["n"] = 1

    def second(h: Handle) -> None:
        assert isinstance(h.run, FlowRun)
        taken.append(h.run.state)
        h["n"] = 2

    _, run = ran(raw("first", first), raw("second", second))

    assert thaw(taken[0]) == {"n": 1}
    assert thaw(run.state) == {"n": 2}


def test_a_fork_of_mounts_joins_what_they_map_out() -> None:
    def inner(n: int) -> Chart:
        return Chart.of(f"Inner {n}", raw("i", writing({"r": [n]})))

    fork = Fork([Subflow(inner(n), id=f"sf-{n}", output={"all": "r"}) for n in (1, 2)])

    _, run = started(Chart.of("Fork", raw("s", writing({"all": [0]})), fork, raw("join")))

    assert thaw(run.state) == {"all": [0, 1, 2]}
