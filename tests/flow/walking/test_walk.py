"""Tests of agentfootprint.flow.walking.walk."""

from __future__ import annotations

import asyncio
import gc
import itertools
import weakref
from typing import Any

import pytest

from agentfootprint.flow import (
    BranchOutcome,
    Chart,
    Decider,
    Flow,
    FlowLimitError,
    FlowRun,
    Fork,
    Handle,
    LoopTo,
    Selector,
    Stage,
    Subflow,
)
from agentfootprint.trace import Dials, thaw
from tests.flow.charts import agent_shape, always, log_of, nothing, ran, raw, steps_of

FIRST = [
    *("seed#0", "sf-injection-engine#1", "sf-injection-engine/gather#2", "sf-injection-engine/evaluate#3"),
    *("sf-injection-engine/route#4", "sf-injection-engine/delta#5", "context#6", "sf-system-prompt#7"),
    *("sf-system-prompt/compose#8", "sf-messages#9", "sf-messages/compose#10", "sf-tools#11", "sf-tools/discover#12"),
    *("sf-tools/compose#13", "sf-cache#14", "sf-cache/decide-cache-markers#15", "sf-cache/cache-gate#16"),
    *("sf-cache/no-markers#17", "call-llm#18", "sf-thinking#19", "sf-thinking/thinking-mock#20", "sf-route#21"),
]


def run_of(chart: Chart, **options: Any) -> FlowRun:
    return FlowRun(chart.build(), **options)


async def test_the_agents_chart_has_the_pinned_indexes_without_tools() -> None:
    run = run_of(agent_shape(0))

    outcome = await run.start()

    assert steps_of(run.journal) == [*FIRST, "final#22", "final/prepare-final#23", "final/break-final#24"]
    assert (outcome.status, outcome.reason, outcome.value) == ("broken", "answered", "answer after 1")


async def test_the_agents_chart_has_the_pinned_indexes_with_tools() -> None:
    run = run_of(agent_shape(1))

    await run.start()

    steps = steps_of(run.journal)
    assert steps[:23] == [*FIRST, "tool-calls#22"]
    assert steps[23:26] == [
        "sf-injection-engine#23",
        "sf-injection-engine/gather#24",
        "sf-injection-engine/evaluate#25",
    ]
    assert steps[40] == "call-llm#40"
    assert steps[43] == "sf-route#43"


async def test_a_hundred_runs_of_one_flow_at_once_keep_apart() -> None:
    async def wait(h: Handle) -> None:
        await asyncio.sleep(0)

    flow = agent_shape(3, call=wait).build()
    runs = [FlowRun(flow, scope=n) for n in range(100)]

    outcomes = await asyncio.gather(*(run.start() for run in runs))

    assert {outcome.value for outcome in outcomes} == {"answer after 4"}
    assert len({run.run_id for run in runs}) == 100
    assert {tuple(steps_of(run.journal)) for run in runs} == {tuple(steps_of(runs[0].journal))}


def test_a_chain_of_five_thousand_stages_is_no_deeper_than_one() -> None:
    _, run = ran(*(raw(f"s{n}") for n in range(5000)))

    assert run.count == 5000
    assert len(log_of(run)) == 5000


def test_ten_thousand_iterations_are_no_deeper_than_one() -> None:
    def count(h: Handle) -> None:
        h["n"] = h.get("n", 0) + 1

    def again(h: Handle) -> str:
        return "more" if h["n"] < 10_000 else "stop"

    decider = Decider(again, [raw("more", loop_to="count"), raw("stop")], id="again", raw=True)
    _, run = ran(raw("seed"), raw("count", count), decider, max_iterations=10_000)

    assert run.state["n"] == 10_000


async def test_long_charts_of_plain_functions_give_the_event_loop_its_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(step=100_000)  # each look at it finds a tenth of a millisecond gone
    for module in ("mounting", "walk"):
        monkeypatch.setattr(f"agentfootprint.flow.walking.{module}.perf_counter_ns", lambda: next(clock))

    def count(h: Handle) -> None:
        h["n"] = h.get("n", 0) + 1

    def again(h: Handle) -> str:
        return "more" if h["n"] < 1000 else "stop"

    decider = Decider(again, [raw("more", loop_to="count"), raw("stop")], id="again", raw=True)
    inner = Chart.of("Inner", raw("seed"), raw("count", count), decider)
    flow = Chart.of("Outer", raw("start"), Subflow(inner, id="sf")).build()
    runs = [FlowRun(flow) for _ in range(2)]
    going = [asyncio.create_task(run.start()) for run in runs]
    counts: list[int] = []
    while not all(task.done() for task in going):
        await asyncio.sleep(0)
        counts.append(sum(run.count for run in runs))

    between = [after - before for before, after in itertools.pairwise(counts)]
    assert counts[-1] > 6000
    assert max(between) < 60  # so many stages of two runs take a small part of 10 ms


def test_the_loop_limit_names_the_stage_and_leaves_the_log() -> None:
    def count(h: Handle) -> None:
        h["n"] = h.get("n", 0) + 1

    run = run_of(Chart.of("Loop", raw("count", count), LoopTo("count")), max_iterations=3)

    with pytest.raises(FlowLimitError, match=r"\(3\) exceeded for node 'count'") as limit:
        asyncio.run(run.start())

    assert (limit.value.limit, limit.value.node) == (3, "count")
    assert run.state["n"] == 4


def test_each_mount_counts_its_own_loops() -> None:
    def again(h: Handle) -> str:
        return "more" if h.run.visits[h.info.number] % 3 else "stop"

    decider = Decider(again, [raw("more", loop_to="work"), raw("stop")], id="again", raw=True)
    inner = Chart.of("Inner", raw("work"), decider)
    outcome, _ = ran(raw("s"), Subflow(inner, id="one"), Subflow(inner, id="two"), max_iterations=2)

    assert outcome.status == "done"


def test_nested_deciders_are_limited_in_depth() -> None:
    back = Decider(always("again"), [raw("again", loop_to="s"), raw("end")], id="d", raw=True)

    with pytest.raises(FlowLimitError, match=r"depth exceeded \(20\)") as limit:
        ran(raw("s"), back, raw("after"), max_depth=20)

    assert limit.value.node == "d"


def test_from_the_second_loop_on_the_name_has_a_suffix() -> None:
    def again(h: Handle) -> str:
        return "more" if h.run.visits[h.info.number] < 4 else "stop"

    decider = Decider(again, [raw("more", loop_to="work"), raw("stop")], id="again", raw=True)
    _, run = ran(raw("seed"), raw("work"), decider)

    names = [bundle["stage"] for bundle in log_of(run) if bundle["stageId"] == "work"]
    assert names == ["Work", "Work", "Work.1", "Work.2"]


def test_a_stage_that_raises_commits_what_it_staged_and_its_error_comes_out_as_it_is() -> None:
    boom = ValueError("boom")

    def fail(h: Handle) -> None:
        h["kept"] = 1
        raise boom

    run = run_of(Chart.of("Fail", raw("fail", fail), raw("after")))

    with pytest.raises(ValueError, match=r"boom") as raised:
        asyncio.run(run.start())

    assert raised.value is boom
    assert "fail#0" in boom.__notes__[0]
    assert thaw(run.state) == {"kept": 1}
    assert steps_of(run.journal) == ["fail#0"]


async def test_a_cancelled_stage_commits_what_it_staged() -> None:
    waiting = asyncio.Event()

    async def wait(h: Handle) -> None:
        h["kept"] = 1
        waiting.set()
        await asyncio.Event().wait()

    run = run_of(Chart.of("Wait", raw("wait", wait)))
    task = asyncio.create_task(run.start())
    await waiting.wait()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert thaw(run.state) == {"kept": 1}


def test_only_real_awaitables_are_awaited() -> None:
    class Lookalike:
        def __init__(self) -> None:
            self.__await__ = lambda: iter(())

    value = Lookalike()
    outcome, _ = ran(raw("s", always(value)))

    assert outcome.value is value


def test_a_plain_function_may_return_an_awaitable() -> None:
    async def later() -> str:
        await asyncio.sleep(0)
        return "late"

    outcome, _ = ran(raw("s", lambda h: later()))

    assert outcome.value == "late"


def test_a_break_in_a_mount_stays_there_unless_it_propagates() -> None:
    def stop(h: Handle) -> None:
        h["v"] = 1
        h.break_("enough")

    inner = Chart.of("Inner", raw("stop", stop), raw("never"))
    stays, run = ran(raw("s"), Subflow(inner, id="sf", output={"v": "v"}), raw("after"))
    leaves, other = ran(raw("s"), Subflow(inner, id="sf", output={"v": "v"}, propagate_break=True), raw("after"))

    assert stays.status == "done"
    assert steps_of(run.journal)[-1] == "after#3"
    assert (leaves.status, leaves.reason) == ("broken", "enough")
    assert steps_of(other.journal)[-1] == "sf/stop#2"
    assert thaw(other.state) == {"v": 1}


def test_a_break_in_a_decider_or_selector_runs_no_branch() -> None:
    def stop(h: Handle) -> str:
        h.break_("no more")
        return "a"

    for part in (Decider(stop, [raw("a")], id="d", raw=True), Selector(stop, [raw("a")], id="d", raw=True)):
        outcome, run = ran(raw("s"), part, raw("after"))

        assert outcome.status == "broken"
        assert steps_of(run.journal) == ["s#0", "d#1"]


def test_the_first_reason_that_is_not_empty_stays() -> None:
    def stop(h: Handle) -> None:
        h.break_()
        h.break_("first")
        h.break_("second")

    outcome, _ = ran(raw("s", stop))

    assert outcome.reason == "first"


def test_a_break_in_a_branch_skips_what_follows_the_decider() -> None:
    def stop(h: Handle) -> None:
        h.break_("done")

    _, run = ran(raw("s"), Decider(always("a"), [raw("a", stop)], id="d", raw=True), raw("after"))

    assert steps_of(run.journal) == ["s#0", "d#1", "a#2"]


async def test_branches_that_suspend_run_side_by_side_with_indexes_in_order() -> None:
    running: set[str] = set()
    together: list[int] = []

    def slot(name: str) -> Subflow:
        async def work(h: Handle) -> None:
            running.add(name)
            await asyncio.sleep(0)
            together.append(len(running))
            running.discard(name)

        return Subflow(Chart.of(name, raw("work", work)), id=name, output=())

    part = Selector(always(["c", "a", "b"]), [slot("a"), slot("b"), slot("c")], id="pick", raw=True)
    run = run_of(Chart.of("Fan", raw("s"), part, raw("join")))

    await run.start()

    assert max(together) == 3
    steps = steps_of(run.journal)
    assert [step for step in steps if "/" not in step] == ["s#0", "pick#1", "a#2", "b#4", "c#6", "join#8"]


async def test_fail_fast_cancels_the_others_and_waits_for_them() -> None:
    ended: list[str] = []

    async def fail(h: Handle) -> None:
        await asyncio.sleep(0)
        raise ValueError("first")

    async def hang(h: Handle) -> None:
        h["kept"] = 1
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("hang")

    part = Selector(always(["a", "b"]), [raw("a", fail), raw("b", hang)], id="pick", raw=True, fail_fast=True)
    run = run_of(Chart.of("Fan", raw("s"), part, raw("join")))

    with pytest.raises(ValueError, match=r"first"):
        await run.start()

    assert ended == ["hang"]
    assert thaw(run.state) == {"runs": {"b": {"kept": 1}}}


@pytest.mark.parametrize("suspends", [False, True])
async def test_the_first_failure_in_declaration_order_is_raised_with_the_others_as_notes(suspends: bool) -> None:
    def failing(name: str) -> Stage:
        async def later(h: Handle) -> None:
            raise ValueError(name)

        def now(h: Handle) -> None:
            raise ValueError(name)

        return raw(name, later if suspends else now)

    part = Selector(always(["a", "b"]), [failing("a"), failing("b")], id="pick", raw=True, fail_fast=True)
    run = run_of(Chart.of("Fan", raw("s"), part))

    with pytest.raises(ValueError, match=r"^a") as raised:
        await run.start()

    assert any("'b'" in note for note in raised.value.__notes__)


@pytest.mark.parametrize("suspends", [False, True])
async def test_without_fail_fast_a_failure_is_that_branchs_result(suspends: bool) -> None:
    async def fail_later(h: Handle) -> None:
        raise ValueError("bad")

    def fail(h: Handle) -> None:
        raise ValueError("bad")

    fork = Fork([raw("a", fail_later if suspends else fail), raw("b", always("fine"))])
    run = run_of(Chart.of("Fan", raw("s"), fork))

    outcome = await run.start()

    ends: dict[str, BranchOutcome] = outcome.value
    assert (ends["a"].is_error, str(ends["a"].result)) == (True, "bad")
    assert (ends["b"].is_error, ends["b"].result) == (False, "fine")
    assert ends["a"].to_wire() == {"id": "a", "isError": True, "result": {"message": "bad"}}


def test_forks_of_plain_functions_run_in_declaration_order_without_tasks() -> None:
    order: list[str] = []

    def child(name: str) -> Stage:
        def work(h: Handle) -> None:
            assert len(asyncio.all_tasks()) == 1
            order.append(name)

        return raw(name, work)

    ran(raw("s"), Fork([child("b"), child("a"), child("c")]), raw("join"))

    assert order == ["b", "a", "c"]


def test_what_a_fork_child_writes_lands_in_its_namespace() -> None:
    def child(h: Handle) -> None:
        h["a"] = h.get("n", 0) + 1

    def join(h: Handle) -> None:
        assert "a" not in h

    _, run = ran(raw("s", lambda h: h.write({"n": 1})), Fork([raw("p1", child), raw("p2", child)]), raw("join", join))

    assert thaw(run.state) == {"n": 1, "runs": {"p1": {"a": 2}, "p2": {"a": 2}}}
    assert [bundle["runtimeStageId"] for bundle in log_of(run)] == ["s#0", "p1#1", "p1#1", "p2#2", "p2#2", "join#3"]


async def test_a_siblings_commit_does_not_move_what_a_stage_compares_with() -> None:
    touched, committed = asyncio.Event(), asyncio.Event()
    seen: list[Any] = []

    async def slow(h: Handle) -> None:
        seen.append(h.get("shared"))
        touched.set()
        await committed.wait()
        seen.append(h.get("shared"))  # still as it was at the first touch
        seen.append(h.get("fresh", "absent"))  # absent there: looked up in the live state
        h["out"] = 1

    async def quick(h: Handle) -> None:
        await touched.wait()

    async def mapped(h: Handle) -> None:
        h["v"] = "new"
        await touched.wait()

    writer = Chart.of("Writer", raw("mapped", mapped))
    out = {"shared": "v", "fresh": "v"}
    fork = Fork([raw("slow", slow), raw("quick", quick), Subflow(writer, id="sf", output=out, array_merge="replace")])

    async def release(h: Handle) -> None:
        await touched.wait()
        for _ in range(10):  # turns of the loop: enough for the mount to write its output back
            await asyncio.sleep(0)
        committed.set()

    fork = Fork([*fork.children, raw("release", release)])
    run = run_of(Chart.of("Fan", raw("s", lambda h: h.write({"shared": "old"})), fork))

    await run.start()

    assert seen == ["old", "old", "new"]
    assert run.state["shared"] == "new"


def test_an_iteration_keeps_few_objects_for_the_collector() -> None:
    def grown(iterations: int) -> int:
        gc.collect()
        before = len(gc.get_objects())
        run = run_of(agent_shape(iterations), max_iterations=iterations + 1)
        asyncio.run(run.start())
        gc.collect()
        return len(gc.get_objects()) - before

    grown(10)
    per_iteration = (grown(300) - grown(100)) / 200

    assert per_iteration <= 4  # here: the list that each iteration makes anew


def test_a_finished_run_is_freed_without_the_collector() -> None:
    async def wait(h: Handle) -> None:
        await asyncio.sleep(0)

    async def once(flow: Flow) -> list[weakref.ref[Any]]:
        run = FlowRun(flow)
        await run.start()
        return [weakref.ref(run), weakref.ref(run.journal)]

    flow = agent_shape(5, call=wait).build()
    gc.disable()
    try:
        left = asyncio.run(once(flow))
    finally:
        gc.enable()

    assert [ref() for ref in left] == [None, None]


@pytest.mark.parametrize("dials", [Dials(), Dials(values="delta")], ids=["full", "delta"])
def test_raw_stages_behave_alike_under_every_dial(dials: Dials) -> None:
    _, run = ran(*agent_shape(2).parts, dials=dials)
    _, native = ran(*agent_shape(2).parts)

    assert steps_of(run.journal) == steps_of(native.journal)
    assert run.state == native.state
    delta = [[e["path"] for e in bundle["trace"]] for bundle in log_of(native)]
    assert [[e["path"] for e in bundle["trace"]] for bundle in log_of(run)] == delta


def test_nothing_is_the_value_of_an_empty_chart_of_mounts() -> None:
    outcome, run = ran(raw("s"), Subflow(Chart.of("Inner", raw("i", nothing)), id="sf"))

    assert outcome.value is None
    assert thaw(run.state) == {}
