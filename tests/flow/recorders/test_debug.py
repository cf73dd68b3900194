"""Tests of agentfootprint.flow.recorders.debug."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from agentfootprint.flow import Chart, DebugRecorder, Executor, Pausable, Stage, StageContext, State


def work(s: State, ctx: StageContext) -> None:
    s["n"] = ctx.get("n", 0) + 1


def ask(s: State) -> Any:
    return {"q": 1}


def boom(s: State, answer: Any) -> None:
    raise ValueError("bad")


def paused_and_failed(*recorders: DebugRecorder) -> None:
    async def run(executor: Executor) -> None:
        result = await executor.run()
        assert result.checkpoint is not None
        await executor.resume(result.checkpoint, 1)

    flow = Chart.of("Watched", Stage(work, id="a"), Pausable(ask, boom, id="p")).build()
    with contextlib.suppress(ValueError):
        asyncio.run(run(flow.executor(recorders=recorders)))


def test_it_keeps_what_every_stage_did() -> None:
    recorder = DebugRecorder()

    paused_and_failed(recorder)

    assert [(entry.type, entry.runtime_stage_id) for entry in recorder.entries()] == [
        ("stageStart", "a#0"),
        ("read", "a#0"),
        ("write", "a#0"),
        ("stageEnd", "a#0"),
        ("stageStart", "p#1"),
        ("stageEnd", "p#1"),
        ("pause", "p#1"),
        ("resume", "p#2"),
        ("stageStart", "p#2"),
        ("error", "p#2"),
    ]
    assert [entry.type for entry in recorder.entries("error")] == ["error"]
    assert len(recorder.entries_for_step("a#0")) == 4


def test_minimal_keeps_what_went_wrong_or_stopped() -> None:
    recorder = DebugRecorder(verbosity="minimal")

    paused_and_failed(recorder)

    assert [entry.type for entry in recorder.entries()] == ["pause", "resume", "error"]


def test_the_snapshot_holds_the_events_in_wire_form() -> None:
    recorder = DebugRecorder()

    paused_and_failed(recorder)

    shown = recorder.to_snapshot()
    assert shown["name"] == "Debug"
    write = shown["data"][2]
    assert (write["type"], write["data"]["key"], write["data"]["value"]) == ("write", "n", 1)


def test_it_begins_anew_with_each_run() -> None:
    recorder = DebugRecorder()

    paused_and_failed(recorder)
    paused_and_failed(recorder)

    assert len(recorder.entries()) == 10
