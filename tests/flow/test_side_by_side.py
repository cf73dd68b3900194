"""Many runs at once stay apart, a finished one leaves nothing behind, an unwatched one makes nothing for watchers."""

from __future__ import annotations

import asyncio
import gc
import sys
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    Continue,
    Decider,
    Executor,
    Flow,
    FlowRun,
    ForEach,
    Fork,
    MetricRecorder,
    NarrativeRecorder,
    Part,
    Pausable,
    Recorder,
    RedactionPolicy,
    RetryPolicy,
    Selector,
    Stage,
    StageContext,
    Subflow,
)
from agentfootprint.trace import Dials
from tests.flow.charts import Listener


async def take(s: Any, ctx: StageContext) -> None:
    s.n = ctx.args.number
    await asyncio.sleep(0)
    s.seen = [s.n]


async def add(s: Any) -> None:
    for _ in range(2):
        await asyncio.sleep(0)
        s.seen.append(s.n)


def inside(s: Any, ctx: StageContext) -> None:
    s.double = ctx.args.n * 2
    ctx.emit("doubled", s.double)


def choose(s: Any) -> str:
    return "again" if len(s.seen) < 5 + s.n % 3 else "done"


def nothing(s: Any) -> None:
    """A stage that does nothing."""


def busy() -> Flow:
    """A chart that waits, forks, mounts and loops, and whose length depends on its input."""
    return Chart.of(
        "Busy",
        Stage(take, id="take"),
        Stage(add, id="add"),
        Fork([Stage(add, id="left"), Stage(add, id="right")]),
        Subflow(Chart.of("Inner", Stage(inside, id="inside")), id="m", input=("n",), output=("double",)),
        Decider(choose, [Stage(nothing, id="again", loop_to="add"), Stage(nothing, id="done")], id="choose"),
    ).build()


def check(n: int, result: Any) -> None:
    loops = next(count for count in range(1, 9) if 1 + 2 * count >= 5 + n % 3)
    assert result.state["seen"] == [n] * (1 + 2 * loops)
    assert result.state["double"] == 2 * n
    branches: Any = result.state["runs"]
    assert set(branches) == {"left", "right"}
    assert all(item == n for branch in branches.values() for item in branch["seen"])
    assert sorted(result.journal.executions()) == list(range(len(result.journal.executions())))


async def test_a_thousand_runs_of_one_flow_stay_apart() -> None:
    flow = busy()
    heard = [Listener() for _ in range(1000)]

    async def one(n: int) -> Any:
        recorders = [heard[n]] if n % 10 == 0 else []
        return await Executor(flow, recorders=recorders).run({"number": n})

    results = await asyncio.gather(*map(one, range(1000)))

    for n, result in enumerate(results):
        check(n, result)
    assert len({result.run_id for result in results}) == 1000
    assert [result.run_id for result in results] == sorted(result.run_id for result in results)
    for n in range(0, 1000, 10):
        told = [event for event in heard[n].seen if event.hook == "on_emit"]
        assert {event.to_wire()["payload"] for event in told} == {2 * n}


def test_threads_share_a_flow() -> None:
    flow = busy()

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(flow.run_sync, [{"number": n} for n in range(64)]))

    for n, result in enumerate(results):
        check(n, result)


async def test_a_run_that_is_cancelled_or_fails_harms_none_beside_it() -> None:
    flow = busy()

    async def one(n: int) -> Any:
        if n % 3 == 0:
            return await flow.run({"number": n})
        if n % 3 == 1:
            return await flow.run({"number": "none"})
        task = asyncio.ensure_future(flow.run({"number": n}))
        await asyncio.sleep(0)
        task.cancel()
        return await task

    results = await asyncio.gather(*map(one, range(60)), return_exceptions=True)

    for n, result in enumerate(results):
        if n % 3 == 0:
            check(n, result)
        else:
            assert isinstance(result, (TypeError, asyncio.CancelledError)[n % 3 - 1])


# what a finished run leaves behind


class Holds(Recorder):
    """Keeps the last event of each hook."""

    def __init__(self, id: str) -> None:
        super().__init__(id)
        self.last: dict[str, Any] = {}

    def take(self, event: Any) -> None:
        self.last[event.hook] = event

    on_run_end = on_run_failed = on_commit = on_write = on_read = on_decision = on_error = on_subflow_exit = take


class PurposeError(Exception):
    """What stages raise here."""


def fails(s: Any) -> None:
    s.before = "failing"
    raise PurposeError("on purpose")


async def fails_later(s: Any) -> None:
    await asyncio.sleep(0)
    raise PurposeError("on purpose")


def asks(s: Any) -> str:
    return "may I?"


def stops_to_ask(s: Any, ctx: StageContext) -> None:
    s.answer = ctx.interrupt("may I?")


def first_branch(s: Any) -> tuple[str, ...]:
    return ("b1",)


def answered(s: Any, answer: Any) -> None:
    s.answer = answer


def items(s: Any) -> list[int]:
    return list(s.seen)


GROWN: list[weakref.ref[Any]] = []
"""Functions of charts that were made while a run went on."""


def one_more(item: int, index: int) -> Chart:
    def more(s: Any) -> int:
        return item + 1

    GROWN.append(weakref.ref(more))
    return Chart.of(f"One {index}", Stage(more, id="more"))


def all_more(item: int, index: int) -> Chart:
    def same(s: Any) -> list[int]:
        return [item]

    return Chart.of("All", ForEach(one_more, same, max_branches=3, into="all", id="all"))


def goes_on(s: Any) -> Continue:
    return Continue(Subflow(lambda: one_more(1, 0), lazy=True, id="late"), Stage(nothing, id="later"))


def growing_parts() -> list[Part]:
    """A for-each in a for-each, a lazy mount, and a stage that goes on with parts of its own."""
    return [
        Stage(take, id="take"),
        ForEach(all_more, items, max_branches=3, into="each", id="each"),
        Subflow(lambda: one_more(1, 0), lazy=True, id="lazy"),
        Stage(goes_on, id="on"),
    ]


def parts_of(ending: str) -> list[Part]:
    again = RetryPolicy(attempts=2)
    last: dict[str, list[Part]] = {
        "well": [],
        "pause": [Pausable(asks, answered, id="ask")],
        "failure": [Stage(fails, id="fails")],
        "retried": [Stage(fails_later, id="fails", retry=again)],
        "in a mount": [Subflow(Chart.of("Bad", Stage(fails_later, id="fails")), id="bad")],
        "in a branch": [
            Selector(first_branch, [Stage(fails, id="b1"), Stage(nothing, id="b2")], id="sel"),
            Stage(nothing, id="end"),
        ],
        "a question": [Stage(stops_to_ask, id="asks")],
        "strictly": [Stage(nothing, id="f"), Fork([Stage(fails_later, id="f1"), Stage(add, id="f2")], fail_fast=True)],
    }
    return [
        Stage(take, id="take"),
        Fork([Stage(add, id="left"), Stage(add, id="right")]),
        Subflow(Chart.of("Inner", Stage(inside, id="inside")), id="m", input=("n",), output=("double",)),
        *last[ending],
    ]


ENDINGS = ("well", "pause", "a question", "failure", "retried", "in a mount", "in a branch", "strictly")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_run_with_everything_on_is_freed_without_the_collector(ending: str, tmp_path: Path) -> None:
    flow = Chart.of("Whole", *parts_of(ending)).build()

    def once() -> list[weakref.ref[Any]]:
        executor = Executor(
            flow,
            recorders=[Holds("inline"), MetricRecorder(), NarrativeRecorder()],
            write_provenance="reads-prefix",
            redaction=RedactionPolicy(keys=("double",)),
            run_log=tmp_path / "run.jsonl",
        )
        executor.attach(Holds("deferred"), delivery="deferred")
        left = asyncio.run(driven(executor))
        assert executor.snapshot().to_wire()["commitLog"]
        assert executor.narrative_entries()
        return [weakref.ref(executor), *left]

    assert freed(once) == []


@pytest.mark.parametrize("redacted", [False, True])
def test_a_run_that_was_asked_is_freed_without_the_collector(redacted: bool) -> None:
    flow = Chart.of(
        "Asked", *parts_of("well"), ForEach(one_more, items, max_branches=3, into="each", id="each")
    ).build()
    policy = RedactionPolicy(keys=("double",)) if redacted else None

    def once() -> list[weakref.ref[Any]]:
        result = asyncio.run(Executor(flow, redaction=policy).run({"number": 1}))
        answer = result.why("double")
        assert answer.root is not None
        assert answer.root.parent_edges
        assert result.why("each").root is not None
        assert result.forward("n").root is not None
        assert result.timeline("seen").moments
        assert result.value_at("n", 0) == 1
        assert result.array_provenance("seen").births
        return [weakref.ref(result.journal), weakref.ref(result.journal.shown())]

    assert freed(once) == []


def test_what_a_run_added_to_its_chart_is_freed_with_it() -> None:
    flow = Chart.of("Growing", *growing_parts()).build()

    def once() -> list[weakref.ref[Any]]:
        result = asyncio.run(Executor(flow).run({"number": 1}))
        assert len(result.state["each"]) == 1
        return [weakref.ref(result.journal)]

    GROWN.clear()
    left = freed(once)

    assert left == []
    assert len(GROWN) == 6
    assert [function for function in (each() for each in GROWN) if function is not None] == []


async def driven(executor: Executor) -> list[weakref.ref[Any]]:
    """Run it to its end, whatever that is; gives what should be gone afterwards."""
    try:
        result = await executor.run({"number": 1})
        if result.checkpoint is not None:
            result = await executor.resume(result.checkpoint, "yes")
        assert result.narrative
        return [weakref.ref(result.journal)]
    except PurposeError as error:
        footprint = vars(error)["footprint"]
        return [weakref.ref(error), weakref.ref(footprint)]


def freed(once: Callable[[], list[weakref.ref[Any]]]) -> list[Any]:
    """What of the second time still stands, when the collector does not run."""
    once()
    gc.collect()
    gc.disable()
    try:
        return [there for there in (each() for each in once()) if there is not None]
    finally:
        gc.enable()


# what an unwatched run costs


async def test_a_branch_in_a_thread_sees_the_state_as_it_was_when_the_branch_began() -> None:
    go = asyncio.Event()
    loop = asyncio.get_running_loop()

    def late(s: Any) -> None:
        asyncio.run_coroutine_threadsafe(go.wait(), loop).result(5)
        s["seen"] = s["k"]

    async def early(s: Any) -> None:
        s["k"] = 2

    def mapped(state: Any, parent: Any) -> dict[str, Any]:
        loop.call_soon(go.set)
        return {"k": state["k"]}

    mount = Subflow(Chart.of("Early", Stage(early, id="e")), id="early", output=mapped)
    chart = Chart.of("Threads", Stage(nothing, id="a"), Fork([Stage(late, id="late", thread=True), mount]))

    result = await chart.build().executor(initial_state={"k": 1}).run()

    assert (result.state["k"], result.state["runs"]["late"]["seen"]) == (2, 1)


def test_an_unwatched_run_calls_nothing_that_is_there_for_watchers() -> None:
    flow = busy()
    called: list[str] = []

    def note(frame: FrameType, event: str, arg: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and ("flow/watch/" in name or name.endswith("flow/telling.py")):
            called.append(f"{name}:{frame.f_code.co_name}")

    sys.setprofile(note)
    try:
        asyncio.run(FlowRun(flow, dials=Dials()).start({"number": 1}))
    finally:
        sys.setprofile(None)

    assert called == []
