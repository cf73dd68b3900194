"""Tests of agentfootprint.flow.plan.growing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    ChartBuildError,
    Decider,
    Executor,
    Flow,
    FlowRun,
    ForEach,
    Fork,
    LoopTo,
    Pausable,
    PauseCheckpoint,
    Selector,
    Stage,
    StageContext,
    State,
    Subflow,
)
from agentfootprint.trace import Journal
from tests.flow.charts import Listener, always, echoed, nothing, raw, steps_of


class Made:
    """Makes a chart each time it is called, and counts."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts
        self.calls = 0

    def __call__(self) -> Chart:
        self.calls += 1
        return Chart.of("Made", *self.parts)


def add_one(s: State) -> None:
    s["y"] = s["x"] + 1


def lazy(made: Any, id: str = "lazy", **options: Any) -> Subflow:
    return Subflow(made, id=id, lazy=True, **options)


def flow_of(*parts: Any) -> Flow:
    return Chart.of("Test", *parts).build()


def setting(s: State) -> None:
    s["x"] = 1


async def test_a_lazy_mount_is_made_when_a_run_first_comes_to_it() -> None:
    made = Made(Stage(add_one))
    flow = flow_of(Stage(setting), lazy(made, input=["x"], output={"out": "y"}))
    before = made.calls

    result = await flow.run()

    assert (before, made.calls) == (0, 1)
    assert result.state["out"] == 2
    assert steps_of(result.journal) == ["setting#0", "lazy#1", "lazy/add-one#2"]


async def test_it_is_made_once_a_run_and_never_when_no_run_comes_there() -> None:
    made = Made(raw("work"))

    def choose(s: State, ctx: StageContext) -> str:
        return "again" if ctx.iteration < 3 else "end"

    branches = [lazy(made, id="again", loop_to="start"), raw("end"), lazy(made, id="never")]
    flow = flow_of(raw("start"), Decider(choose, branches, id="choose"))
    await flow.run()
    first = made.calls
    await flow.run()

    assert (first, made.calls) == (1, 2)


async def test_the_chart_of_a_lazy_mount_may_be_given_as_it_is() -> None:
    result = await flow_of(Stage(setting), lazy(Chart.of("Plain", raw("work")))).run()

    assert steps_of(result.journal)[1:] == ["lazy#1", "lazy/work#2"]


async def test_bld_23_runs_side_by_side_do_not_see_what_the_others_made() -> None:
    arrived = asyncio.Barrier(2)

    def make() -> Chart:
        async def work(s: State) -> None:
            await arrived.wait()
            s["mine"] = s["name"]

        return Chart.of("Made", Stage(work))

    def who(s: State, ctx: StageContext) -> None:
        s["name"] = ctx.args.who

    flow = flow_of(Stage(who), lazy(make, input=["name"], output={"out": "mine"}))
    stages = flow.stages
    first, second = await asyncio.gather(*(Executor(flow).run({"who": name}) for name in ("a", "b")))

    assert (first.state["out"], second.state["out"]) == ("a", "b")
    assert flow.stages is stages
    assert len(flow.stages) == 2
    assert flow.stages[1].entry == -1


async def test_bld_23_a_chart_without_its_lazy_mount_made_goes_on_beside_one_that_made_it() -> None:
    gate = asyncio.Event()

    async def maybe_wait(s: State, ctx: StageContext) -> None:
        if ctx.args.late:
            await gate.wait()
        else:
            gate.set()

    made = Made(raw("work"))
    flow = flow_of(Stage(maybe_wait), lazy(made))
    early, late = await asyncio.gather(Executor(flow).run({"late": False}), Executor(flow).run({"late": True}))

    assert made.calls == 2
    assert steps_of(early.journal) == steps_of(late.journal)


@pytest.mark.parametrize("made", [always("no chart"), lambda: Chart.of("Built", raw("a")).build()])
async def test_what_is_no_chart_is_refused_with_the_mount(made: Any) -> None:
    def make() -> Any:
        return made(None) if made.__name__ == "function" else made()

    listener = Listener()
    executor = Executor(flow_of(Stage(setting), lazy(make)), recorders=[listener])

    with pytest.raises(ChartBuildError, match=r"lazy mount 'lazy' was given a (str|Flow)") as raised:
        await executor.run()

    assert raised.value.ids == ("lazy",)
    assert "on_subflow_entry" not in listener.hooks()
    tree = executor.snapshot().execution_tree
    assert tree is not None
    assert tree["next"]["errors"]["subflowError"].startswith("ChartBuildError")


async def test_a_lazy_branch_that_can_not_be_made_is_one_failed_branch() -> None:
    def broken() -> Chart:
        raise OSError("no chart today")

    before = raw("before", lambda h: h.write({"x": 1}))
    result = await flow_of(before, Fork([raw("fine"), lazy(broken, id="broken", input=["x"])]), raw("after")).run()

    assert result.status == "done"
    log = [bundle.stage_id for bundle in result.snapshot().commit_log]
    assert log == ["before", "fine", "fine", "broken", "broken", "after"]
    assert result.snapshot().subflow_results["broken"]["treeContext"]["history"] == []


async def test_lazy_mounts_may_be_branches_of_selectors_and_forks() -> None:
    made = Made(Stage(add_one))
    flow = flow_of(
        Stage(setting),
        Fork([lazy(made, id="child", input=["x"], output={"a": "y"})]),
        Selector(always(["one"]), [lazy(made, id="one", input=["x"], output={"b": "y"})], id="pick", raw=True),
    )

    result = await flow.run()

    assert (result.state["a"], result.state["b"]) == (2, 2)
    assert made.calls == 2


async def test_the_decorators_mount_lazily_too() -> None:
    made, branch = Made(Stage(add_one)), Made(raw("work"))
    chart = Chart("Test")

    @chart.start()
    def begin(s: State) -> None:
        s["x"] = 1

    chart.mount(made, id="lazy", lazy=True, input=["x"], output=["y"])

    @chart.decider()
    def turn(s: State) -> str:
        return "only"

    turn.mount("only", branch, lazy=True)

    result = await chart.build().run()

    assert result.state["y"] == 2
    assert (made.calls, branch.calls) == (1, 1)
    assert steps_of(result.journal)[-1] == "only/work#5"


async def test_a_lazy_mount_inside_a_lazy_mount_has_the_ids_of_both_in_front() -> None:
    flow = flow_of(raw("first"), lazy(lambda: Chart.of("Outer", lazy(Made(raw("deep")), id="inner"))))

    result = await flow.run()

    assert steps_of(result.journal)[-1] == "lazy/inner/deep#3"


async def test_a_chart_that_mounts_itself_lazily_for_ever_is_refused_by_depth() -> None:
    def make() -> Chart:
        return Chart.of("Endless", lazy(make))

    with pytest.raises(ChartBuildError, match="levels deep"):
        await flow_of(raw("first"), lazy(make)).run()


def asking() -> Chart:
    return Chart.of("Ask", Pausable(always("?"), echoed, id="ask", raw=True), raw("then"))


@pytest.mark.parametrize("fresh", [False, True])
async def test_a_run_that_paused_in_a_lazy_mount_comes_back_to_it(fresh: bool) -> None:
    flow = flow_of(raw("first"), lazy(asking, output=()), raw("last"))
    executor = Executor(flow)
    paused = await executor.run()
    checkpoint: Any = paused.checkpoint

    if fresh:
        executor, checkpoint = Executor(flow), PauseCheckpoint.from_wire(checkpoint.to_wire())
    result = await executor.resume(checkpoint, "yes")

    assert result.status == "done"
    assert steps_of(result.journal)[-4:] == ["lazy#3", "lazy/ask#4", "lazy/then#5", "last#6"]


async def test_visit_counts_of_a_lazy_mount_go_on_after_a_resume() -> None:
    seen: list[int] = []

    def resume(s: State, answer: Any, ctx: StageContext) -> None:
        seen.append(ctx.iteration)

    def make() -> Chart:
        return Chart.of("Ask", Pausable(always("?"), resume, id="ask"))

    flow = flow_of(raw("first"), lazy(make), LoopTo("first"))
    checkpoint: Any = (await Executor(flow).run()).checkpoint
    for _ in range(2):
        checkpoint = (await Executor(flow).resume(checkpoint, 1)).checkpoint

    assert seen == [1, 3]


def branch(item: Any, index: int) -> Chart:
    return Chart.of("B", raw("w"))


async def test_what_grew_stands_in_the_journal_and_its_stages_are_numbered_by_position() -> None:
    flow = flow_of(
        Stage(setting),
        lazy(Made(raw("work"))),
        ForEach(branch, always([1, 2]), id="each", max_branches=2, into="r"),
    )

    run = FlowRun(flow)
    await run.start()

    journal: Journal = run.journal
    assert [info.number for info in journal.stages] == list(range(8))
    assert [info.id for info in journal.stages] == [
        "setting",
        "lazy",
        "each",
        "lazy/work",
        "each~0",
        "each~0/w",
        "each~1",
        "each~1/w",
    ]
    assert journal.stages[1].entry == 3
    assert journal.stages[journal.stages[5].mount].id == "each~0"


async def test_two_stages_of_one_id_in_a_made_chart_are_refused_when_it_is_made() -> None:
    with pytest.raises(ChartBuildError, match="'twice' stands for two stages"):
        await flow_of(raw("first"), lazy(Made(raw("twice"), raw("twice")))).run()


def test_a_function_as_chart_needs_lazy() -> None:
    with pytest.raises(ChartBuildError, match="lazy=True"):
        flow_of(raw("first"), Subflow(Made(raw("work")), id="mount"))


def test_a_lazy_mount_takes_its_id_from_the_function() -> None:
    def night_shift() -> Chart:
        return Chart.of("Anything", Stage(nothing, raw=True))

    flow = flow_of(raw("first"), Subflow(night_shift, lazy=True))

    assert flow.stages[1].id == "night-shift"
