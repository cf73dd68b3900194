"""Traps of loops, forks, continuations, breaks, limits and runs side by side: 2, 6, 7, 8, 29."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    Continue,
    Decider,
    Executor,
    Flow,
    FlowLimitError,
    FlowRun,
    FlowTimeoutError,
    ForEach,
    Fork,
    Handle,
    LoopTo,
    Selector,
    Stage,
    StageContext,
    State,
    Step,
    Subflow,
)
from tests.flow.charts import Listener, always, nothing, raw, steps_of, taking


def flow_of(*parts: Any) -> Flow:
    return Chart.of("Trap", *parts).build()


async def test_trap_2_a_siblings_commit_between_read_and_write_does_not_move_the_base() -> None:
    read, committed = asyncio.Event(), asyncio.Event()

    async def first(s: State, ctx: StageContext) -> None:
        ctx.get("shared")  # the state is looked at for the first time here
        read.set()
        await committed.wait()
        s["mine"] = ctx.get("other", "not there")

    async def second(s: State) -> None:
        await read.wait()
        s["other"] = 1
        committed.set()

    result = await flow_of(
        raw("before", lambda h: h.write({"shared": 1})), Fork([Stage(first, id="first"), Stage(second, id="second")])
    ).run()

    assert result.state["runs"] == {"first": {"mine": "not there"}, "second": {"other": 1}}


async def test_trap_6_ten_thousand_loop_iterations_at_default_depth() -> None:
    def count(h: Handle) -> None:
        n = h.get("n", 0) + 1
        h["n"] = n
        if n == 10_001:
            h.break_()

    outcome = await FlowRun(flow_of(raw("count", count), LoopTo("count")), max_iterations=10_000).start()

    assert outcome.status == "broken"


async def test_trap_6_a_chain_of_five_thousand_stages_at_default_limits() -> None:
    run = FlowRun(flow_of(*(raw(f"s{n}") for n in range(5_000))))

    outcome = await run.start()

    assert outcome.status == "done"
    assert run.count == 5_000


async def test_trap_6_a_chain_of_continuations_is_no_deeper_than_a_loop() -> None:
    def again(s: State, ctx: StageContext) -> Any:
        return Continue(Stage(again, id="more")) if ctx.iteration < 2_000 else None

    result = await flow_of(Stage(again, id="more-to-come")).run(max_iterations=5_000)

    assert len(result.journal.executions()) == 2_002


async def test_trap_7_a_chain_of_continuations_stops_at_max_iterations_of_the_whole_run() -> None:
    def one(s: State) -> Any:
        return Continue(Stage(two, id="two"))

    def two(s: State) -> Any:
        return Continue(Stage(one, id="one"))

    executor = Executor(flow_of(Stage(one, id="start")))
    with pytest.raises(FlowLimitError, match=r"\(10\) exceeded at stage"):
        await executor.run(max_iterations=10)

    assert executor.commit_count() == 11


async def test_trap_8_a_continuation_never_reaches_the_next_run_or_one_beside_it() -> None:
    both = asyncio.Barrier(2)

    async def choose(s: State, ctx: StageContext) -> Any:
        if ctx.env.both:
            await both.wait()
        return Continue(Stage(nothing, id="extra", raw=True)) if ctx.args.extra else None

    flow = flow_of(Stage(choose, id="choose"), raw("usual"))
    beside = await asyncio.gather(
        *(Executor(flow).run({"extra": extra}, env={"both": True}) for extra in (True, False))
    )
    executor = Executor(flow)
    after = [
        steps_of((await executor.run({"extra": extra}, env={"both": False})).journal) for extra in (True, False, True)
    ]

    extra, usual = ["choose#0", "extra#1"], ["choose#0", "usual#1"]
    assert [steps_of(result.journal) for result in beside] == [extra, usual]
    assert after == [extra, usual, extra]
    assert [info.id for info in flow.stages] == ["choose", "usual"]


async def test_trap_8_what_a_for_each_and_a_lazy_mount_made_never_reaches_the_next_run() -> None:
    def branch(item: Any, index: int) -> Chart:
        return Chart.of("Branch", raw(f"work-{item}"))

    def seed(s: State, ctx: StageContext) -> None:
        s["items"] = [ctx.args.word]

    flow = flow_of(
        Stage(seed, id="seed"),
        ForEach(branch, taking("items"), id="each", max_branches=1, into="out"),
        Subflow(lambda: Chart.of("Lazy", raw("in")), id="lazy", lazy=True),
    )
    executor = Executor(flow)

    first = steps_of((await executor.run({"word": "a"})).journal)
    second = steps_of((await executor.run({"word": "b"})).journal)

    assert (first[3], second[3]) == ("each~0/work-a#3", "each~0/work-b#3")
    assert len(flow.stages) == 3


async def test_trap_29_the_parents_of_steps_lead_to_the_first_from_everywhere() -> None:
    deep = Chart.of("Deep", raw("x"), raw("y"))

    def branch(item: Any, index: int) -> Chart:
        return Chart.of(
            "Branch", Subflow(deep, id="deep"), Selector(always(["l", "r"]), [raw("l"), raw("r")], id="p", raw=True)
        )

    listener = Listener()
    await flow_of(
        raw("first", lambda h: h.write({"items": [1, 2]})),
        Fork([raw("f1"), Subflow(deep, id="f2")]),
        ForEach(branch, taking("items"), id="each", max_branches=2, into="out"),
        Decider(always("d"), [Subflow(deep, id="d")], id="turn", raw=True),
    ).run(recorders=[listener])

    found = [getattr(event, "traversal_context", None) for event in listener.seen]
    steps = [step for step in found if isinstance(step, Step)]
    parent = {step.runtime_stage_id: step.parent_runtime_stage_id for step in steps}
    for step in [*parent]:
        seen: set[Any] = set()
        at: Any = step
        while isinstance(parent.get(at), str):
            assert at not in seen
            seen.add(at)
            at = parent[at]
        assert at in ("first#0", "__root__#0")


async def test_a_thousand_small_runs_in_one_loop_stay_apart() -> None:
    def begin(s: State, ctx: StageContext) -> None:
        s["mine"] = ctx.args.n
        s["items"] = [ctx.args.n, ctx.args.n + 1]

    async def work(s: State) -> None:
        await asyncio.sleep(0)
        s["seen"] = s["mine"]

    def branch(item: int, index: int) -> Chart:
        return Chart.of("Branch", Stage(always(item * 2), id="w"))

    flow = flow_of(
        Stage(begin, id="begin"),
        Fork([Stage(work, id="a"), Stage(work, id="b")]),
        ForEach(branch, taking("items"), id="each", max_branches=2, into="out"),
    )

    results = await asyncio.gather(*(flow.run({"n": n}) for n in range(1_000)))

    for n, result in enumerate(results):
        assert result.state["runs"] == {"a": {"seen": n}, "b": {"seen": n}}
        assert result.state["out"] == [n * 2, n * 2 + 2]
        assert len(result.journal.executions()) == 8
    assert len({result.run_id for result in results}) == 1_000


# break rules (5.3)


@pytest.mark.parametrize("kind", ["decider", "selector"])
async def test_a_break_in_a_decider_or_selector_ends_the_run_there(kind: str) -> None:
    def stop(s: State, ctx: StageContext) -> Any:
        s["kept"] = True
        ctx.break_()
        ctx.break_("enough")
        ctx.break_("later")
        return "b" if kind == "decider" else ["b"]

    part: Any = (Decider if kind == "decider" else Selector)(stop, [raw("b")], id="choose")
    listener = Listener()
    result = await flow_of(raw("first"), part, raw("after")).run(recorders=[listener])

    assert (result.status, result.reason) == ("broken", "enough")
    assert result.state == {"kept": True}
    assert steps_of(result.journal) == ["first#0", "choose#1"]
    assert listener.hooks()[-3:] == ["on_commit", "on_break", "on_run_end"]
    assert not {"on_decision", "on_selected", "on_fork"} & set(listener.hooks())


async def test_a_break_in_a_branch_skips_what_follows_the_decider() -> None:
    def stop(s: State, ctx: StageContext) -> str:
        ctx.break_("in the branch")
        return "value"

    flow = flow_of(Decider(always("b"), [Stage(stop, id="b")], id="d", raw=True), raw("after"))
    result = await flow.run()

    assert (result.status, result.value, result.reason) == ("broken", "value", "in the branch")
    assert steps_of(result.journal) == ["d#0", "b#1"]


async def test_breaks_of_fork_children_end_only_themselves_even_when_all_do() -> None:
    def stop(h: Handle) -> None:
        h.break_("child")

    result = await flow_of(raw("f"), Fork([raw("a", stop), raw("b", stop)]), raw("after")).run()

    assert result.status == "done"
    assert steps_of(result.journal)[-1] == "after#3"


async def test_a_break_of_a_stage_with_a_fork_runs_no_child() -> None:
    result = await flow_of(raw("f", lambda h: h.break_("no")), Fork([raw("a")]), raw("after")).run()

    assert steps_of(result.journal) == ["f#0"]


async def test_a_break_beats_what_the_stage_wants_to_go_on_with() -> None:
    def stop(s: State, ctx: StageContext) -> Any:
        ctx.break_("enough")
        return Continue(Stage(nothing, id="extra", raw=True))

    result = await flow_of(Stage(stop, id="stop"), raw("after")).run()

    assert result.status == "broken"
    assert steps_of(result.journal) == ["stop#0"]


@pytest.mark.parametrize("propagates", [False, True])
async def test_a_break_leaves_a_mount_only_when_the_mount_says_so(propagates: bool) -> None:
    inner = Chart.of("Inner", raw("stop", lambda h: (h.write({"x": 1}), h.break_("inside"))[1]), raw("not"))
    listener = Listener()

    result = await flow_of(Subflow(inner, id="sf", output=["x"], propagate_break=propagates), raw("after")).run(
        recorders=[listener]
    )

    assert result.state == {"x": 1}, "the output map runs all the same"
    assert result.status == ("broken" if propagates else "done")
    assert (steps_of(result.journal)[-1] == "after#2") is not propagates
    assert listener.hooks().count("on_break") == 1 + propagates


# limits and time


@pytest.mark.parametrize("option", ["max_depth", "max_iterations"])
async def test_a_limit_below_one_is_refused(option: str) -> None:
    limits: dict[str, Any] = {option: 0}
    with pytest.raises(FlowLimitError, match=f"`{option}` is 0"):
        await flow_of(raw("a")).run(**limits)


async def test_each_mount_has_a_depth_of_its_own_and_a_for_each_counts_one() -> None:
    def branch(item: Any, index: int) -> Chart:
        return Chart.of("B", raw("w"), Fork([raw("x")]))

    flow = flow_of(
        raw("first", lambda h: h.write({"items": [1]})),
        ForEach(branch, taking("items"), id="each", max_branches=1, into="out"),
    )

    assert (await flow.run(max_depth=1)).status == "done"


async def test_a_run_that_takes_too_long_commits_says_so_and_is_told() -> None:
    async def wait(s: State) -> None:
        s["staged"] = True
        await asyncio.Event().wait()

    listener = Listener()
    executor = Executor(flow_of(Stage(wait), raw("after")), recorders=[listener])
    with pytest.raises(FlowTimeoutError, match=r"'Trap' took longer than 0\.01 s") as raised:
        await executor.run(timeout=0.01)

    assert isinstance(raised.value, TimeoutError)
    assert executor.snapshot().shared_state == {"staged": True}
    failed: Any = listener.seen[-1]
    assert failed.hook == "on_run_failed"
    assert failed.structured_error.name == "FlowTimeoutError"


async def test_a_timeout_error_of_a_stage_is_not_that_of_the_run() -> None:
    def own(s: State) -> None:
        raise TimeoutError("theirs")

    with pytest.raises(TimeoutError, match="theirs") as raised:
        await flow_of(Stage(own)).run(timeout=60)

    assert not isinstance(raised.value, FlowTimeoutError)


async def test_a_loop_of_plain_functions_can_be_timed_out() -> None:
    with pytest.raises(FlowTimeoutError):
        await flow_of(raw("a"), LoopTo("a")).run(timeout=0.01, max_iterations=10**9)
