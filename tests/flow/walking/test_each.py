"""Tests of agentfootprint.flow.walking.each."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.flow import (
    BranchTimeoutError,
    Chart,
    Continue,
    Executor,
    Flow,
    FlowLimitError,
    FlowRun,
    ForEach,
    ForEachError,
    Fork,
    Handle,
    LoopTo,
    Part,
    Pausable,
    Stage,
    StageContext,
    State,
    StateValueError,
    Subflow,
)
from agentfootprint.trace import GrewRow, SeededRow, parse_branch_segment
from tests.flow.charts import Listener, always, echoed, steps_of, taking


def seeding(*items: Any) -> Stage:
    def seed(s: State) -> None:
        s["items"] = list(items)

    return Stage(seed, id="seed")


def items_of(s: State) -> Any:
    return s["items"]


def double(s: State) -> None:
    s["doubled"] = s["item"] * 2


def doubling(item: Any, index: int) -> Chart:
    return Chart.of("Doubling", Stage(double))


def each(branch: Any = doubling, max_branches: int = 100, **options: Any) -> ForEach:
    return ForEach(branch, items_of, id="each", max_branches=max_branches, into="results", **options)


def flow_of(*parts: Part) -> Flow:
    return Chart.of("Test", *parts).build()


async def test_the_results_come_in_the_order_of_the_items_whoever_ends_first() -> None:
    gates = [asyncio.Event() for _ in range(3)]

    def branch(item: Any, index: int) -> Chart:
        async def work(s: State) -> str:
            if index < 2:
                await gates[index].wait()
            if index:
                gates[index - 1].set()
            return f"{index}:{item}"

        return Chart.of("Work", Stage(work))

    result = await flow_of(seeding("a", "b", "c"), each(branch)).run()

    assert result.state["results"] == ["0:a", "1:b", "2:c"]
    assert result.value == result.state["results"]


async def test_a_branch_that_returns_nothing_gives_its_final_state() -> None:
    result = await flow_of(seeding(1, {}), each(same)).run()

    assert result.state["results"] == [{"item": 1, "index": 0}, {"item": {}, "index": 1}]


def nothing(s: State) -> None:
    """The body of a stage that does nothing."""


def same(item: Any, index: int) -> Chart:
    return Chart.of("Same", Stage(nothing))


@given(st.lists(st.integers(), max_size=12), st.integers(min_value=1, max_value=12), st.booleans())
def test_order_ids_and_the_number_of_branches_follow_from_the_items(items: list[int], most: int, suspend: bool) -> None:
    def branch(item: Any, index: int) -> Chart:
        async def work(s: State) -> int:
            if suspend and item % 2:
                await asyncio.sleep(0)
            return item * 2

        return Chart.of("Work", Stage(work, id="work"))

    result = flow_of(seeding(*items), each(branch, max_branches=most)).run_sync()

    running = items[:most]
    assert result.state["results"] == [item * 2 for item in running]
    begun = [step.info.local_id for step in result.journal.executions().values() if step.info.kind == "mount"]
    assert [parse_branch_segment(segment) for segment in begun] == [
        parse_branch_segment(f"each~{n}") for n in range(len(running))
    ]
    indexes = [step.index for step in result.journal.executions().values() if step.info.kind == "mount"]
    assert indexes == sorted(indexes)


async def test_a_branch_is_on_record_as_made_from_what_its_items_came_from() -> None:
    result = await flow_of(seeding(1, 2), each()).run()

    seeds = [(row.writes, row.reads) for row in result.journal.rows if isinstance(row, SeededRow)]
    assert seeds == [({"item": 1, "index": 0}, ("items",)), ({"item": 2, "index": 1}, ("items",))]


async def test_items_beyond_max_branches_do_not_run_and_the_tree_says_so() -> None:
    result = await flow_of(seeding(1, 2, 3), each(max_branches=2)).run()

    tree: Any = result.snapshot().execution_tree
    told = tree["next"]
    assert told["logs"]["parallelForEach"] == {
        "items": 3,
        "branches": 2,
        "maxBranches": 2,
        "truncated": True,
        "into": "results",
    }
    texts = [message["description"] for message in told["flowMessages"]]
    assert texts == ["maxBranches reached: running 2 of 3 items (1 not run)"]


@pytest.mark.parametrize("returned", [None, []])
async def test_no_items_make_an_empty_list_and_no_fork(returned: Any) -> None:
    listener = Listener()

    def nothing_to_do(s: State) -> Any:
        return returned

    part = ForEach(doubling, nothing_to_do, id="each", max_branches=1, into="results")
    result = await flow_of(seeding(), part).run(recorders=[listener])

    assert result.state["results"] == []
    assert "on_fork" not in listener.hooks()


async def test_items_that_are_no_list_are_refused_by_stage_and_type() -> None:
    def wrong(s: State) -> dict[str, int]:
        return {"a": 1}

    with pytest.raises(ForEachError, match=r"'each' got a dict from `items`"):
        await flow_of(seeding(), ForEach(doubling, wrong, id="each", max_branches=1, into="results")).run()


async def test_a_branch_that_is_no_chart_is_refused_by_stage_and_index() -> None:
    def branch(item: Any, index: int) -> Any:
        return "no" if index else doubling(item, index)

    with pytest.raises(ForEachError, match=r"'each' got a str from `branch` for item 1"):
        await flow_of(seeding(0, 1), each(branch)).run()


async def test_items_may_come_from_a_coroutine_function_and_from_a_part_of_the_list() -> None:
    async def late(s: State) -> Any:
        await asyncio.sleep(0)
        return s["items"][1:]

    result = await flow_of(seeding(1, 2, 3), ForEach(doubling, late, id="each", max_branches=9, into="results")).run()

    assert [entry["doubled"] for entry in result.state["results"]] == [4, 6]


def failing(item: Any, index: int) -> Chart:
    def work(s: State) -> int:
        if item < 0:
            raise ValueError("below zero")
        return item

    return Chart.of("Work", Stage(work, id="work"))


async def test_a_failed_branch_leaves_null_in_its_place_and_its_error_beside_the_results() -> None:
    result = await flow_of(seeding(1, -1, 2), each(failing, errors_into="errors")).run()

    assert result.state["results"] == [1, None, 2]
    assert result.state["errors"] == [{"index": 1, "name": "ValueError", "message": "below zero"}]


async def test_failing_fast_raises_the_first_failure_and_writes_no_results() -> None:
    listener = Listener()
    executor = Executor(flow_of(seeding(1, -1), each(failing, fail_fast=True)), recorders=[listener])

    with pytest.raises(ValueError, match="below zero") as raised:
        await executor.run()

    assert "results" not in executor.snapshot().shared_state
    assert "each~1/work#5" in " ".join(raised.value.__notes__)
    assert listener.hooks().count("on_error") == 1, "the stage that raised, not the for-each it stands in"
    tree: Any = executor.snapshot().execution_tree
    assert tree["next"]["errors"] == {"subflowError": "ValueError: below zero"}


async def test_what_json_can_not_hold_is_refused_with_the_key_of_the_results() -> None:
    def branch(item: Any, index: int) -> Chart:
        return Chart.of("Work", Stage(always(object()), id="work"))

    with pytest.raises(StateValueError, match=r"'each' gave 'results'"):
        await flow_of(seeding(1), each(branch)).run()


async def test_a_branch_that_ends_in_a_fork_gives_how_its_children_ended() -> None:
    def branch(item: Any, index: int) -> Chart:
        return Chart.of("Work", Stage(nothing), Fork([Stage(taking("item"), id="a")]))

    result = await flow_of(seeding(7), each(branch)).run()

    assert result.state["results"] == [{"a": {"id": "a", "isError": False, "result": 7}}]


async def test_a_branch_that_breaks_ends_only_itself() -> None:
    def branch(item: Any, index: int) -> Chart:
        def stop(s: State, ctx: StageContext) -> str:
            ctx.break_("enough")
            return "stopped"

        return Chart.of("Work", Stage(stop), Stage(nothing))

    result = await flow_of(seeding(1), each(branch), Stage(nothing, id="after")).run()

    assert result.status == "done"
    assert result.state["results"] == ["stopped"]
    assert steps_of(result.journal)[-1] == "after#4"


async def test_a_break_while_the_items_are_asked_for_runs_no_branch() -> None:
    def stop(s: State, ctx: StageContext) -> Any:
        ctx.break_("enough")
        return s["items"]

    result = await flow_of(seeding(1), ForEach(doubling, stop, id="each", max_branches=1, into="results")).run()

    assert result.status == "broken"
    assert result.reason == "enough"
    assert "results" not in result.state
    assert steps_of(result.journal) == ["seed#0", "each#1"]


def looping(branch: Any, passes: int) -> list[Part]:
    def again(s: State, ctx: StageContext) -> None:
        s["pass"] = ctx.iteration + 1
        s["items"] = [ctx.iteration]
        s["kept"] = [*ctx.get("kept", ()), *ctx.get("results", ())]
        if ctx.iteration + 1 == passes:
            ctx.break_()

    return [Stage(again, id="again"), each(branch), LoopTo("again")]


async def test_each_visit_makes_its_charts_anew() -> None:
    asked: list[tuple[Any, int]] = []

    def branch(item: Any, index: int) -> Chart:
        asked.append((item, index))
        return Chart.of("Work", Stage(always(item), id="work"))

    result = await flow_of(*looping(branch, 4)).run()

    assert asked == [(0, 0), (1, 0), (2, 0)]
    assert result.state["kept"] == [0, 1, 2]
    assert {"each~0", "each~0#2", "each~0#6", "each~0#10"} == set(result.snapshot().subflow_results)


async def test_charts_that_come_out_alike_add_no_stages_on_the_second_visit() -> None:
    result = await flow_of(*looping(doubling, 6)).run()

    grown = [row for row in result.journal.rows if isinstance(row, GrewRow)]
    assert len(grown) == 1
    assert [info.number for info in result.journal.stages] == list(range(len(result.journal.stages)))


async def test_charts_that_come_out_differently_have_stages_of_their_own_and_go_on_counting() -> None:
    seen: list[int] = []

    def branch(item: Any, index: int) -> Chart:
        def work(s: State, ctx: StageContext) -> None:
            seen.append(ctx.iteration)

        extra = [Stage(nothing, id="more")] if item % 2 else []
        return Chart.of("Work", Stage(work, id="work"), *extra)

    result = await flow_of(*looping(branch, 5)).run()

    assert seen == [0, 1, 2, 3]
    ids = [step.info.id for step in result.journal.executions().values()]
    assert ids.count("each~0/more") == 2


def result_of(s: State) -> Any:
    return s["out"].raw


async def test_for_each_inside_a_branch_of_a_for_each() -> None:
    def inner(item: Any, index: int) -> Chart:
        return Chart.of("Inner", Stage(always(item + 1), id="work"))

    def outer(item: Any, index: int) -> Chart:
        return Chart.of(
            "Outer",
            ForEach(inner, taking("item"), id="deep", max_branches=9, into="out"),
            Stage(result_of, id="out"),
        )

    result = await flow_of(seeding([1, 2], [3]), each(outer)).run()

    assert result.state["results"] == [[2, 3], [4]]
    assert "each~1/deep~0/work" in {step.info.id for step in result.journal.executions().values()}


async def test_no_more_branches_than_allowed_are_on_their_way_at_once() -> None:
    running = most = 0

    def branch(item: Any, index: int) -> Chart:
        async def work(s: State) -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1

        return Chart.of("Work", Stage(work, id="work"))

    result = await flow_of(seeding(*range(9)), each(branch, max_concurrency=2)).run()

    assert most == 2
    begun = [step.info.local_id for step in result.journal.executions().values() if step.info.kind == "mount"]
    assert begun == [f"each~{n}" for n in range(9)]


async def test_a_branch_that_takes_too_long_has_failed_and_its_writes_are_kept() -> None:
    def branch(item: Any, index: int) -> Chart:
        async def work(s: State) -> str:
            s["staged"] = True
            if item == "slow":
                await asyncio.Event().wait()
            return "done"

        return Chart.of("Work", Stage(work, id="work"))

    result = await flow_of(seeding("slow", "quick"), each(branch, timeout=0.01, errors_into="errors")).run()

    assert result.state["results"] == [None, "done"]
    [told] = result.state["errors"]
    assert (told["index"], told["name"], told["code"]) == (0, "BranchTimeoutError", BranchTimeoutError.code)
    assert result.snapshot().subflow_results["each~0"]["treeContext"]["globalContext"]["staged"] is True


async def test_a_pause_in_a_branch_closes_the_for_each_and_says_where() -> None:
    def branch(item: Any, index: int) -> Chart:
        return Chart.of("Ask", Pausable(always(item), echoed, id="ask"))

    result = await flow_of(seeding(None, "really?"), each(branch)).run()

    assert result.status == "paused"
    assert result.checkpoint is not None
    assert result.checkpoint.paused_stage_id == "each~1/ask"
    assert result.checkpoint.pause_data == "really?"


async def test_a_cancelled_for_each_commits_and_so_do_its_branches() -> None:
    waiting = asyncio.Event()

    def branch(item: Any, index: int) -> Chart:
        async def work(s: State) -> None:
            s["begun"] = True
            waiting.set()
            await asyncio.Event().wait()

        return Chart.of("Work", Stage(work, id="work"))

    run = FlowRun(flow_of(seeding(1), each(branch)))
    task = asyncio.create_task(run.start())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    committed = [step.info.id for step in run.journal.executions().values() if step.writes]
    assert committed == ["seed", "each~0/work"]
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


def test_a_for_each_of_plain_functions_runs_without_tasks() -> None:
    run = FlowRun(flow_of(seeding(1, 2), each()))
    steps = run.start()

    with pytest.raises(StopIteration) as ended:
        steps.send(None)  # no event loop: a task could not be made

    assert ended.value.value.status == "done"


def raw_items(h: Handle) -> Any:
    return h["items"]


async def test_a_raw_for_each_gets_the_handle() -> None:
    part = ForEach(doubling, raw_items, id="each", max_branches=2, into="results", raw=True)

    run = FlowRun(flow_of(seeding(1, 2), part))
    await run.start()

    assert [entry["doubled"] for entry in run.state["results"]] == [2, 4]


# going on with parts of its own


async def test_a_stage_may_go_on_with_other_parts_for_this_visit_only() -> None:
    def choose(s: State, ctx: StageContext) -> Any:
        s["visits"] = ctx.iteration + 1
        return Continue(Stage(special), LoopTo("choose")) if ctx.iteration == 0 else None

    def special(s: State) -> None:
        s["special"] = True

    flow = flow_of(Stage(choose, id="choose"), Stage(nothing, id="usual"))
    result = await flow.run()

    assert steps_of(result.journal) == ["choose#0", "special#1", "choose#2", "usual#3"]
    assert result.value is None
    assert [info.id for info in flow.stages] == ["choose", "usual"], "the chart itself is as it was"


async def test_continue_with_only_an_id_goes_there() -> None:
    flow = flow_of(Stage(always(Continue(LoopTo("last"))), id="first"), Stage(nothing), Stage(nothing, id="last"))

    result = await flow.run()

    assert steps_of(result.journal) == ["first#0", "last#1"]


async def test_parts_without_a_way_back_end_the_chart_also_in_a_mount() -> None:
    def shown(value: Any, parent: Any) -> dict[str, Any]:
        return {"out": value}

    extra = Continue(Stage(always("dynamic"), id="extra"))
    inner = Chart.of("Inner", Stage(always(extra), id="in"), Stage(nothing, id="not"))

    result = await flow_of(Subflow(inner, id="sf", output=shown)).run()

    assert steps_of(result.journal) == ["sf#0", "sf/in#1", "sf/extra#2"]
    assert result.state["out"] == "dynamic"


async def test_going_on_for_ever_ends_at_the_limit() -> None:
    def again(s: State) -> Any:
        return Continue(Stage(again, id="more"))

    with pytest.raises(FlowLimitError, match=r"dynamic-next continuations \(7\) exceeded at stage 'more'") as raised:
        await flow_of(Stage(again, id="first")).run(max_iterations=7)

    assert (raised.value.limit, raised.value.node) == (7, "more")


@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        (Continue(), "'first' goes on with nothing"),
        (Continue(LoopTo("gone")), "'first' goes on with nothing, or with a stage that is not there"),
        (Continue(Stage(nothing, id="second")), "'second', which is taken"),
    ],
)
async def test_what_a_stage_can_not_go_on_with_is_refused(wanted: Continue, named: str) -> None:
    flow = flow_of(Stage(always(wanted), id="first"), Stage(nothing, id="second"))

    with pytest.raises(ValueError, match=named):
        await flow.run()
