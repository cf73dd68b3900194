"""Tests of agentfootprint.flow.walking.reentry."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.flow import (
    BranchFailedError,
    Chart,
    CheckpointError,
    Decider,
    Executor,
    FlowRun,
    ForEach,
    Fork,
    Handle,
    LoopTo,
    Pausable,
    PauseCheckpoint,
    ResumeError,
    Selector,
    Stage,
    Subflow,
)
from agentfootprint.testing import EventOrderChecker
from agentfootprint.trace import project_tree, thaw
from tests.flow.charts import Listener, always, raw, steps_of


def over_the_wire(checkpoint: PauseCheckpoint) -> dict[str, Any]:
    return json.loads(json.dumps(checkpoint.to_wire()))


def asking(id: str, **more: Any) -> Pausable:
    def resume(h: Handle, answer: Any) -> Any:
        h[f"answer-{id}"] = answer
        return f"value of {id}"

    return Pausable(always(f"{id}?"), resume, id=id, raw=True, **more)


def started(chart: Chart) -> tuple[Any, FlowRun]:
    run = FlowRun(chart.build())
    return asyncio.run(run.start()), run


def resumed(chart: Chart, checkpoint: PauseCheckpoint | dict[str, Any], answer: Any) -> tuple[Any, FlowRun]:
    run = FlowRun(chart.build())
    wire = checkpoint if isinstance(checkpoint, dict) else over_the_wire(checkpoint)
    return asyncio.run(run.resume(wire, answer)), run


def writing(key: str, value: Any, returned: Any = None) -> Callable[[Handle], Any]:
    def write(h: Handle) -> Any:
        h[key] = value
        return returned

    return write


# forks


def three(*, suspends: bool = False, **more: Any) -> Chart:
    ran: list[str] = []

    async def work_later(h: Handle) -> str:
        await asyncio.sleep(0)
        return work(h)

    def work(h: Handle) -> str:
        ran.append("worker")
        h["done"] = len(ran)
        return "worked"

    def broken(h: Handle) -> None:
        raise ValueError("no luck")

    inner = Chart.of("Inner", raw("i", writing("own", 1)), asking("ask"))
    children = [
        asking("one"),
        raw("worker", work_later if suspends else work),
        raw("broken", broken),
        Subflow(inner, id="sf", output={"from-mount": "answer-ask"}),
    ]
    return Chart.of("Fork", raw("s"), Fork(children), *more.get("after", ()))


@pytest.mark.parametrize("suspends", [False, True])
def test_a_paused_branch_of_a_fork_runs_again_alone_and_the_others_keep_their_results(suspends: bool) -> None:
    chart = three(suspends=suspends)
    first, _ = started(chart)

    second, run = resumed(chart, first.checkpoint, "yes")
    third, last = resumed(chart, second.checkpoint, "also")

    assert [first.checkpoint.pause_data, second.checkpoint.pause_data] == ["one?", "ask?"]
    assert second.checkpoint.subflow_path == ("sf",)
    assert steps_of(run.journal) == ["one#7", "sf#8", "sf/ask#9"]
    assert steps_of(last.journal) == ["sf#10", "sf/ask#11"]
    assert thaw(last.state)["runs"] == {"worker": {"done": 1}, "one": {"answer-one": "yes"}}
    assert last.state["from-mount"] == "also"
    ends = third.value
    assert list(ends) == ["one", "worker", "broken", "sf"]
    assert (ends["one"].result, ends["worker"].result) == ("value of one", "worked")
    assert ends["broken"].is_error
    assert isinstance(ends["broken"].result, BranchFailedError)
    assert (ends["broken"].result.name, ends["broken"].result.args[0]) == ("ValueError", "no luck")
    assert ends["sf"].result == "value of ask"


def test_what_follows_a_fork_runs_once_when_all_have_been_answered() -> None:
    chart = three(after=[raw("join", always("joined"))])
    first, _ = started(chart)
    second, _ = resumed(chart, first.checkpoint, 1)

    third, run = resumed(chart, second.checkpoint, 2)

    assert third.value == "joined"
    assert steps_of(run.journal) == ["sf#10", "sf/ask#11", "join#12"]


def test_in_the_same_executor_what_follows_a_fork_hangs_on_the_fork() -> None:
    listener = Listener()
    executor = Executor(three(after=[raw("join")]).build(), recorders=[listener])
    result: Any = executor.run_sync()
    result = executor.resume_sync(result.checkpoint, 1)

    result = executor.resume_sync(result.checkpoint, 2)

    join = result.journal.execution(12)
    assert join is not None
    assert join.parent == 0  # the stage before the fork
    assert result.snapshot().execution_tree["next"]["id"] == "join"
    assert listener.hooks().count("on_run_start") == 3
    assert listener.hooks().count("on_run_end") == 1
    last = [event for event in listener.seen if event.hook == "on_pause"][-1]
    assert last.to_wire()["stageId"] == "sf/ask"


def test_under_fail_fast_a_failure_beside_a_pause_ends_the_run() -> None:
    def broken(h: Handle) -> None:
        raise ValueError("no luck")

    chart = Chart.of(
        "Fork",
        raw("s"),
        Selector(always(["a", "b"]), [asking("a"), raw("b", broken)], id="p", raw=True, fail_fast=True),
    )

    with pytest.raises(ValueError, match=r"no luck"):
        started(chart)


def test_a_branch_that_fails_after_its_answer_is_a_result_of_the_fork() -> None:
    def resume(h: Handle, answer: Any) -> None:
        h["kept"] = 1
        raise ValueError("refused")

    chart = Chart.of("Fork", raw("s"), Fork([Pausable(always("?"), resume, id="a", raw=True), raw("b")]))
    first, _ = started(chart)

    again, run = resumed(chart, first.checkpoint, 1)

    assert (again.status, again.value["a"].is_error, again.value["b"].is_error) == ("done", True, False)
    assert thaw(run.state) == {"runs": {"a": {"kept": 1}}}


def test_a_branch_that_had_ended_with_what_json_can_not_hold_is_named_when_the_checkpoint_is_written() -> None:
    chart = Chart.of("Fork", raw("s"), Fork([asking("a"), raw("b", always({1, 2}))]))
    first, run = started(chart)

    with pytest.raises(CheckpointError, match=r"set") as refused:
        first.checkpoint.to_wire()

    assert refused.value.field == "resumeFrames[0].results.b"
    again = asyncio.run(FlowRun(run.plan).resume(first.checkpoint, 1))
    assert again.value["b"].result == {1, 2}


def test_a_fork_in_a_mount_in_a_fork_comes_back() -> None:
    deep = Chart.of("Deep", raw("d"), Fork([raw("x", writing("x", 1, "x value")), asking("ask")]), raw("end"))
    middle = Chart.of("Middle", raw("m"), Subflow(deep, id="deep", output={"got": "runs"}))
    chart = Chart.of(
        "Top",
        raw("s"),
        Fork([raw("beside", always("beside value")), Subflow(middle, id="mid", output={"all": "got"})]),
        raw("join", lambda h: thaw(h["all"])),
    )
    first, _ = started(chart)

    again, run = resumed(chart, first.checkpoint, 5)

    assert first.checkpoint.subflow_path == ("mid", "mid/deep")
    assert again.value == {"x": {"x": 1}, "ask": {"answer-ask": 5}}
    assert steps_of(run.journal) == ["mid#8", "mid/deep#9", "mid/deep/ask#10", "mid/deep/end#11", "join#12"]


# deciders and loops


def test_a_branch_that_looped_back_before_the_pause_still_has_its_decider_to_go_on_with() -> None:
    def route(h: Handle) -> str:
        return "stop" if "answer-ask" in h else "back"

    def count(h: Handle) -> None:
        h["after"] = h.get("after", 0) + 1

    def chart_of(first: Any) -> Chart:
        decider = Decider(route, [raw("back", loop_to="s"), raw("stop")], id="d", raw=True)
        return Chart.of("Loop", raw("s"), first, decider, raw("after", count))

    def ask(h: Handle) -> str | None:
        return "?" if h.run.visits[h.info.number] == 2 else None

    def answered(h: Handle, answer: Any) -> None:
        h["answer-ask"] = answer

    def known(h: Handle) -> None:
        if h.run.visits[h.info.number] == 2:
            h["answer-ask"] = 1

    chart = chart_of(Pausable(ask, answered, id="ask", raw=True))
    first, _ = started(chart)
    _, unpaused = started(chart_of(raw("ask", known)))

    _, run = resumed(chart, first.checkpoint, 1)

    assert over_the_wire(first.checkpoint)["resumeFrames"] == [{"decider": "d"}]
    assert thaw(run.state) == thaw(unpaused.state) == {"answer-ask": 1, "after": 2}


def test_a_paused_branch_whose_decider_loops_counts_that_loop() -> None:
    def route(h: Handle) -> str:
        return "stop" if "answer-ask" in h else "ask"

    def stop(h: Handle) -> None:
        h.break_("enough")

    decider = Decider(route, [asking("ask"), raw("stop", stop)], id="d", raw=True)
    chart = Chart.of("Loop", raw("s"), decider, LoopTo("s"))
    first, _ = started(chart)

    again, run = resumed(chart, first.checkpoint, 1)

    assert again.status == "broken"
    assert steps_of(run.journal) == ["ask#3", "s#4", "d#5", "stop#6"]
    loop = run.journal.execution(4)
    assert loop is not None
    assert loop.link == 1


# mounts


def from_y(state: Any) -> dict[str, Any]:
    return {"x": state["y"]}


@pytest.mark.parametrize("inputs", ["readonly", "mutable"])
def test_what_a_mount_was_given_is_there_again(inputs: Any) -> None:
    def resume(h: Handle, answer: Any) -> None:
        h["seen"] = [h.args["x"], answer]

    inner = Chart.of("Inner", Pausable(always("?"), resume, id="ask", raw=True))
    mount = Subflow(inner, id="sf", input=from_y, output={"seen": "seen"}, inputs=inputs)
    chart = Chart.of("Outer", raw("s", writing("y", 7)), mount)
    first, _ = started(chart)

    _, run = resumed(chart, first.checkpoint, 8)

    assert thaw(run.state["seen"]) == [7, 8]


def test_a_key_that_a_mount_was_given_by_a_function_is_read_only_again() -> None:
    def resume(h: Handle, answer: Any) -> None:
        h["x"] = answer

    inner = Chart.of("Inner", Pausable(always("?"), resume, id="ask", raw=True))
    chart = Chart.of("Outer", raw("s"), Subflow(inner, id="sf", input=always({"x": 1})))
    first, _ = started(chart)

    with pytest.raises(KeyError, match=r"'x'"):
        resumed(chart, first.checkpoint, 8)


# refusals


def deep() -> Chart:
    inner = Chart.of("Inner", raw("i"), asking("ask"))
    middle = Chart.of("Middle", raw("m"), Subflow(inner, id="in"))
    return Chart.of("Outer", raw("s"), Fork([Subflow(middle, id="out"), raw("b")]), raw("end"))


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"subflowPath": ["out"]}, "resumeFrames", "subflowPath"),
        ({"subflowPath": [], "resumeFrames": []}, "subflowPath", "'out/in/ask'"),
        ({"subflowStates": {"out": {}}}, "subflowStates", "'out/in'"),
        (
            {"resumeFrames": [{"fork": "s", "branch": "b"}, {"mount": "out"}, {"mount": "out/in"}]},
            "resumeFrames",
            "'b'",
        ),
        (
            {"resumeFrames": [{"fork": "s", "branch": "x"}, {"mount": "out"}, {"mount": "out/in"}]},
            "resumeFrames",
            "'x'",
        ),
        (
            {"resumeFrames": [{"fork": "end", "branch": "x"}, {"mount": "out"}, {"mount": "out/in"}]},
            "resumeFrames",
            "fork",
        ),
        ({"resumeFrames": [{"decider": "s"}, {"mount": "out"}, {"mount": "out/in"}]}, "resumeFrames", "no decider"),
    ],
)
def test_a_way_that_is_not_in_the_chart_is_refused(change: dict[str, Any], field: str, words: str) -> None:
    first, _ = started(deep())
    wire = {**over_the_wire(first.checkpoint), **change}

    with pytest.raises(CheckpointError, match=words) as refused:
        resumed(deep(), wire, 1)

    assert refused.value.field == field


def test_a_chart_that_has_changed_is_refused_with_the_stages_that_differ() -> None:
    first, _ = started(Chart.of("Ask", raw("s"), asking("ask"), raw("old"), raw("end")))
    changed = Chart.of("Ask", raw("s"), asking("ask"), raw("new"), raw("end"))

    with pytest.raises(ResumeError, match=r"added: 'new'; removed: 'old'; changed: 'ask'") as refused:
        resumed(changed, first.checkpoint, 1)

    assert (refused.value.added, refused.value.removed, refused.value.changed) == (("new",), ("old",), ("ask",))


def test_without_a_fingerprint_a_chart_that_still_has_the_stage_goes_on() -> None:
    first, _ = started(Chart.of("Ask", raw("s"), asking("ask"), raw("old")))
    wire = over_the_wire(first.checkpoint)
    del wire["chartFingerprint"]

    again, _ = resumed(Chart.of("Ask", raw("s"), asking("ask"), raw("new")), wire, 1)

    assert again.status == "done"


def question(h: Handle) -> Any:
    return h.interrupt("?")


def test_a_stage_that_did_not_interrupt_and_is_not_pausable_is_refused() -> None:
    interrupting = Stage(question, id="ask", raw=True)
    first, _ = started(Chart.of("Ask", interrupting))
    wire = over_the_wire(first.checkpoint)
    del wire["pausedBy"]

    with pytest.raises(ResumeError, match=r"no pausable stage"):
        resumed(Chart.of("Ask", interrupting), wire, 1)


# for-each


def each_chart(ran: list[str], *, items: Callable[[Handle], Any] = lambda h: h["orders"]) -> Chart:
    def of_item(item: Any, index: int) -> Chart:
        def work(h: Handle) -> None:
            ran.append(f"work {h.args['item']}")
            h["worked"] = True

        def pay(h: Handle, answer: Any) -> str:
            return f"{h.args['item']} paid {answer}"

        def mail(h: Handle) -> str:
            return f"{h.args['item']} mailed"

        asks = Pausable(always(f"pay {item}?"), pay, id="ask", raw=True)
        return Chart.of(f"Item {index}", raw("work", work), asks if item != "b" else raw("mail", mail))

    each = ForEach(of_item, items, id="each", max_branches=5, into="done", raw=True)
    return Chart.of("Each", raw("s", writing("orders", ["a", "b", "c"])), each, raw("end"))


@pytest.mark.parametrize("fresh", [False, True])
def test_a_for_each_takes_up_its_paused_branches_one_by_one(*, fresh: bool) -> None:
    ran: list[str] = []
    executor = Executor(each_chart(ran).build())
    result = executor.run_sync()
    asked: list[Any] = []
    parts: list[list[str]] = []

    while result.checkpoint is not None:
        asked.append(result.checkpoint.pause_data)
        wire = over_the_wire(result.checkpoint)
        executor = Executor(each_chart(ran).build()) if fresh else executor
        before = 0 if fresh else len(result.journal.executions())
        result = executor.resume_sync(wire, f"for {asked[-1]}")
        parts.append(steps_of(result.journal)[before:])

    assert asked == ["pay a?", "pay c?"]
    assert ran == ["work a", "work b", "work c"]
    assert thaw(result.state["done"]) == ["a paid for pay a?", "b mailed", "c paid for pay c?"]
    assert parts == [
        ["each#11", "each~0#12", "each~0/ask#13", "each~2#14", "each~2/ask#15"],
        ["each#16", "each~2#17", "each~2/ask#18", "end#19"],
    ]


def test_a_for_each_whose_items_are_gone_is_refused() -> None:
    first, _ = started(each_chart([]))

    with pytest.raises(ResumeError, match=r"'each' has no branch 'each~1' any more"):
        resumed(each_chart([], items=lambda h: ["a"]), first.checkpoint, 1)


def test_a_pause_in_a_lazy_mount_comes_back_there() -> None:
    made: list[int] = []

    def make() -> Chart:
        made.append(1)
        return Chart.of("Inner", raw("i", writing("own", 1)), asking("ask"), raw("last"))

    def chart() -> Chart:
        return Chart.of("Lazy", raw("s"), Subflow(make, id="sf", lazy=True, output={"got": "answer-ask"}), raw("end"))

    first, _ = started(chart())

    again, run = resumed(chart(), first.checkpoint, 7)

    assert again.status == "done"
    assert steps_of(run.journal) == ["sf#4", "sf/ask#5", "sf/last#6", "end#7"]
    assert thaw(run.state) == {"got": 7}
    assert made == [1, 1]


def test_a_lazy_mount_in_a_fork_settles_as_itself() -> None:
    listener = Listener()
    inner = Chart.of("Inner", raw("i", always("value")))
    fork = Fork([Subflow(lambda: inner, id="sf", lazy=True), asking("ask")])
    executor = Executor(Chart.of("Fork", raw("s"), fork).build(), recorders=[listener])
    paused: Any = executor.run_sync()

    result = executor.resume_sync(paused.checkpoint, 1)

    assert result.value["sf"].result == "value"
    assert not result.value["sf"].is_error


def test_a_question_that_is_asked_again_in_a_mount_names_the_step_it_comes_from() -> None:
    checker = EventOrderChecker()
    both = Selector(always(["one", "two"]), [asking("one"), asking("two")], id="both", raw=True)
    chart = Chart.of("Twice", raw("s"), Subflow(Chart.of("Inner", raw("i"), both), id="sf"))
    executor = Executor(chart.build(), recorders=[checker])
    first: Any = executor.run_sync()

    second = executor.resume_sync(first.checkpoint, 1)
    assert second.checkpoint is not None
    last = executor.resume_sync(second.checkpoint, 2)

    assert last.status == "done"
    checker.check()


@pytest.mark.parametrize("mounted", [False, True])
def test_the_second_branch_that_asks_stands_in_the_tree_of_a_moved_run_too(mounted: bool) -> None:
    parts = (Stage(raw("a").function, id="a", raw=True), Fork([asking("x"), asking("y")]))
    chart = Chart.of("Outer", Subflow(Chart.of("Inner", *parts), id="sf")) if mounted else Chart.of("Plain", *parts)
    paused, _ = started(chart)

    _, run = resumed(chart, paused.checkpoint, "yes")

    mount = next((step.index for step in run.journal.executions().values() if step.info.kind == "mount"), -1)
    told = json.dumps(project_tree(run.journal, mount))
    asked = [step.runtime_stage_id for step in run.journal.executions().values() if step.info.kind == "pausable"]
    assert len(asked) == 2
    assert all(f'"{step}"' in told for step in asked)
