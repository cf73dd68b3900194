"""Tests of agentfootprint.flow.streaming."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    Decider,
    Flow,
    FlowCancelledError,
    FlowStreamError,
    FlowTimeoutError,
    Fork,
    LiveRun,
    LoopTo,
    Pausable,
    RunEnded,
    RunFailed,
    RunStarted,
    Stage,
    StageContext,
    State,
    Subflow,
    WriteSeen,
)
from agentfootprint.trace import open_run_log
from tests.flow.charts import Listener, always, echoed, raw


def flow_of(*parts: Any) -> Flow:
    return Chart.of("Test", *parts).build()


def writing(s: State, ctx: StageContext) -> None:
    s["x"] = ctx.get("x", 0) + 1
    ctx.emit("app.said", {"x": s["x"]})


def everything() -> Flow:
    inner = Chart.of("Inner", Stage(writing, id="in"))

    def choose(s: State, ctx: StageContext) -> str:
        return "back" if ctx.iteration < 1 else "end"

    branches = [raw("back", loop_to="first"), raw("end")]
    return flow_of(
        Stage(writing, id="first"), Fork([raw("a"), raw("b")]), Subflow(inner), Decider(choose, branches, id="choose")
    )


async def test_it_gives_what_a_recorder_is_told_in_the_same_order() -> None:
    listener = Listener()

    async with everything().stream(recorders=[listener]) as run:
        seen = [event async for event in run]

    assert [id(event) for event in seen] == [id(event) for event in listener.seen]
    assert isinstance(seen[0], RunStarted)
    assert isinstance(seen[-1], RunEnded)
    assert {"on_emit", "on_read", "on_fork", "on_loop", "on_subflow_entry"} <= {event.hook for event in seen}


async def test_the_outcome_is_that_of_run() -> None:
    async with everything().stream({"q": 1}) as run:
        result = await run.result()

    assert result.status == "done"
    assert result.state["x"] == 2
    assert (await told_by(run))[-1] == "on_run_end"


async def told_by(run: LiveRun) -> list[str]:
    """The hooks of all events, read from the first."""
    return [event.hook async for event in run]


async def test_a_reader_that_comes_late_or_twice_misses_nothing() -> None:
    async with everything().stream() as run:
        await run.result()
        first = [event async for event in run]
        second = [event async for event in run]

    assert first == second
    assert isinstance(first[0], RunStarted)


async def test_a_slow_reader_does_not_hold_the_run_back() -> None:
    async with everything().stream() as run:
        async for _ in run:
            await run.result()  # the run ends although nobody reads on
            break


async def test_two_readers_wait_side_by_side() -> None:
    gate = asyncio.Event()

    async def wait(s: State) -> None:
        await gate.wait()

    async def read(run: LiveRun) -> list[str]:
        return [event.hook async for event in run]

    async with flow_of(Stage(wait)).stream() as run:
        readers = [asyncio.create_task(read(run)) for _ in range(2)]
        await asyncio.sleep(0)
        gate.set()
        first, second = await asyncio.gather(*readers)

    assert first == second
    assert first[-1] == "on_run_end"


async def test_leaving_the_block_cancels_the_run_and_waits_for_its_commit() -> None:
    cleaned: list[bool] = []

    async def work(s: State) -> None:
        s["staged"] = True
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    async with flow_of(Stage(work)).stream() as run:
        async for event in run:
            if isinstance(event, WriteSeen):
                break

    assert cleaned == [True]
    assert (await told_by(run))[-2:] == ["on_commit", "on_run_failed"]
    with pytest.raises(FlowCancelledError, match="'Test' was cancelled when its stream was left"):
        await run.result()


async def test_what_a_stage_raises_comes_as_an_event_and_from_the_result() -> None:
    def fail(s: State) -> None:
        raise ValueError("no")

    async with flow_of(Stage(fail)).stream() as run:
        seen = [event async for event in run]
        with pytest.raises(ValueError, match="no"):
            await run.result()

    assert isinstance(seen[-1], RunFailed)
    assert seen[-1].structured_error.name == "ValueError"


async def test_a_failure_that_nobody_asks_for_makes_no_noise_afterwards() -> None:
    def fail(s: State) -> None:
        raise ValueError("no")

    noise: list[Any] = []

    def heard(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        noise.append(context)

    asyncio.get_running_loop().set_exception_handler(heard)

    async with flow_of(Stage(fail)).stream() as run:
        async for _ in run:
            pass
    del run

    assert noise == []


async def test_a_run_that_pauses_ends_its_stream() -> None:
    async with flow_of(Pausable(always("?"), echoed, id="ask", raw=True)).stream() as run:
        hooks = [event.hook async for event in run]
        result = await run.result()

    assert hooks[-1] == "on_pause"
    assert result.status == "paused"


async def test_the_options_are_those_of_run(tmp_path: Path) -> None:
    async def wait(s: State) -> None:
        await asyncio.Event().wait()

    async with flow_of(Stage(wait)).stream(timeout=0.01) as run:
        with pytest.raises(FlowTimeoutError):
            await run.result()

    async with flow_of(raw("a"), LoopTo("a")).stream(max_iterations=2) as run:
        with pytest.raises(RuntimeError, match=r"\(2\) exceeded"):
            await run.result()

    async with flow_of(raw("a")).stream(run_log=tmp_path / "run.log") as run:
        await run.result()
    assert open_run_log(tmp_path / "run.log").ended == "done"


async def test_events_of_a_stage_in_a_thread_arrive_too() -> None:
    def work(s: State) -> None:
        s["x"] = 1

    async with flow_of(Stage(work, thread=True)).stream() as run:
        hooks = [event.hook async for event in run]

    assert hooks == [
        "on_run_start",
        "on_stage_start",
        "on_write",
        "on_stage_end",
        "on_commit",
        "on_stage_executed",
        "on_run_end",
    ]


async def test_iterating_without_entering_is_refused_and_names_the_form() -> None:
    stream: Any = flow_of(raw("a")).stream()

    with pytest.raises(FlowStreamError, match=r"async with flow\.stream\(\.\.\.\) as run"):
        async for _ in stream:
            pass


async def test_a_stream_is_entered_once() -> None:
    stream = flow_of(raw("a")).stream()
    async with stream as run:
        await run.result()

    with pytest.raises(FlowStreamError, match="second time"):
        async with stream:
            pass


async def test_tokens_and_the_stream_go_together() -> None:
    async def words(s: State) -> AsyncIterator[str]:
        yield "a"
        yield "b"

    async with flow_of(Stage(words)).stream() as run:
        result = await run.result()

    assert result.value == "ab"
