"""Traps of retries, pauses, interrupts and checkpoints: 5, 9 to 16, 30, and what 17 says of policies."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    CheckpointError,
    Decider,
    Executor,
    ExecutorBusyError,
    Handle,
    InputValidationError,
    LoopTo,
    Pausable,
    RetryPolicy,
    Stage,
    StageClosedError,
    StageContext,
    State,
    Subflow,
)
from agentfootprint.trace import thaw
from tests.flow.charts import Listener, always, nothing, raw, steps_of


def executor_of(*parts: Any, **options: Any) -> Executor:
    return Chart.of("Trap", *parts).build().executor(**options)


def stored(result: Any) -> dict[str, Any]:
    return json.loads(json.dumps(result.checkpoint.to_wire()))


def asking(id: str, **more: Any) -> Pausable:
    def resume(h: Handle, answer: Any) -> None:
        h["answer"] = answer

    return Pausable(always("?"), resume, id=id, raw=True, **more)


def test_trap_5_writes_of_a_failed_stage_are_in_the_log_those_of_a_retried_attempt_are_not() -> None:
    def fail(h: Handle) -> None:
        h.get("read")
        h["tried"] = True
        raise ValueError("no")

    calls: list[int] = []

    def flaky(h: Handle) -> None:
        calls.append(1)
        if len(calls) == 1:
            fail(h)
        h["fine"] = True

    retry = RetryPolicy(attempts=2, delay=0)
    executor = executor_of(Stage(flaky, id="flaky", raw=True, retry=retry), raw("fail", fail))

    with pytest.raises(ValueError, match=r"no"):
        executor.run_sync()

    retried, failed = [bundle.to_wire() for bundle in executor.snapshot().commit_log]
    assert [retried["overwrite"], failed["overwrite"]] == [{"fine": True}, {"tried": True}]
    tree = executor.snapshot().execution_tree
    assert tree is not None
    assert "stageReads" not in tree


def test_trap_9_a_looping_mount_keeps_every_result_and_the_checkpoint_carries_the_last() -> None:
    def ask(h: Handle) -> str | None:
        return "?" if h.run.visits[h.info.number] == 3 else None

    def stop(h: Handle, answer: Any) -> None:
        h.break_()

    def work(h: Handle) -> None:
        h["round"] = h.run.visits[h.info.number]

    mount = Subflow(Chart.of("In", raw("work", work)), id="sf")
    executor = executor_of(raw("s"), mount, Pausable(ask, stop, id="ask", raw=True), LoopTo("sf"))

    result = executor.run_sync()

    results = executor.snapshot().subflow_results
    rounds = [results[key]["treeContext"]["globalContext"]["round"] for key in ("sf#1", "sf#4", "sf#7")]
    kept = stored(result)["subflowResults"]
    assert rounds == [1, 2, 3]
    assert list(kept) == ["sf"]
    assert kept["sf"]["treeContext"]["globalContext"] == {"round": 3}
    assert "history" not in kept["sf"]["treeContext"]


def test_trap_10_a_fresh_executor_goes_on_with_indices_and_loop_counts() -> None:
    listener = Listener()

    def route(h: Handle) -> str:
        return "stop" if "answer" in h else "back"

    def ask(h: Handle) -> str | None:
        return "?" if h.run.visits[h.info.number] == 2 else None

    def answered(h: Handle, answer: Any) -> None:
        h["answer"] = answer

    branches = [raw("back", loop_to="s"), raw("stop")]
    parts = [raw("s"), Pausable(ask, answered, id="ask", raw=True), Decider(route, branches, id="d", raw=True)]

    executor = executor_of(*parts)
    result = executor_of(*parts, recorders=[listener]).resume_sync(stored(executor.run_sync()), 1)

    assert steps_of(result.journal) == ["ask#6", "d#7", "stop#8"]
    told = [event.to_wire()["traversalContext"] for event in listener.seen if event.hook == "on_stage_executed"]
    assert [(step["stageId"], step.get("loopIteration")) for step in told] == [("ask", 2), ("d", 1), ("stop", None)]


@pytest.mark.parametrize("fresh", [False, True])
def test_trap_11_a_resumed_branch_loops_back_into_a_mount(*, fresh: bool) -> None:
    def route(h: Handle) -> str:
        return "stop" if "answer" in h else "ask"

    inner = Chart.of("In", raw("work", lambda h: h.write({"n": h.get("n", 0) + 1})))
    mount = Subflow(inner, id="sf", input=("n",), output=("n",), inputs="mutable")
    parts = [raw("s"), mount, Decider(route, [asking("ask", loop_to="sf"), raw("stop")], id="d", raw=True)]
    executor = executor_of(*parts)
    paused: Any = executor.run_sync()

    result = (executor_of(*parts) if fresh else executor).resume_sync(stored(paused), "yes")

    assert steps_of(result.journal)[-5:] == ["ask#5", "sf#6", "sf/work#7", "d#8", "stop#9"]
    assert thaw(result.state) == {"n": 2, "answer": "yes"}


def test_trap_12_a_pause_deep_inside_restores_the_state_there_and_skips_the_input_map() -> None:
    mapped: list[int] = []

    def given(state: Any) -> dict[str, Any]:
        mapped.append(1)
        return {"x": 1}

    inner = Chart.of("In", raw("i", lambda h: h.write({"own": [h["x"]]})), asking("ask"))
    parts = [raw("s"), Subflow(inner, id="sf", input=given, output={"got": "own", "answer": "answer"})]
    paused: Any = executor_of(*parts).run_sync()

    result = executor_of(*parts).resume_sync(stored(paused), 2)

    assert mapped == [1]
    assert thaw(result.state) == {"got": [1], "answer": 2}


def test_trap_13_changing_a_checkpoint_or_a_snapshot_never_changes_the_engine() -> None:
    executor = executor_of(raw("s", lambda h: h.write({"list": [1]})), asking("ask"))
    paused: Any = executor.run_sync()
    wire, snapshot = paused.checkpoint.to_wire(), executor.snapshot().to_wire()

    wire["sharedState"]["list"].append(2)
    wire["executionTree"]["id"] = "other"
    wire["chartFingerprint"]["stages"].clear()
    snapshot["sharedState"]["list"].append(3)
    snapshot["commitLog"].clear()
    result = executor.resume_sync(paused.checkpoint, 4)

    assert thaw(result.state) == {"list": [1], "answer": 4}
    assert thaw(paused.checkpoint.state) == {"list": [1]}
    assert len(executor.snapshot().commit_log) == 3
    assert paused.checkpoint.to_wire()["sharedState"] == {"list": [1]}


def test_trap_14_logging_what_can_not_be_stored_does_not_break_a_later_pause() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)

    def log(s: State, ctx: StageContext) -> None:
        ctx.log(object())
        ctx.debug("cycle", cycle)

    result = executor_of(Stage(log), asking("ask")).run_sync()

    logs = stored(result)["executionTree"]["logs"]
    assert logs == {"messages": ["[non-serializable: object]"], "cycle": "[non-serializable: list]"}


async def test_trap_15_a_second_run_or_resume_is_refused_and_leaves_the_first_alone() -> None:
    listener = Listener()
    gate = asyncio.Event()

    async def wait(h: Handle) -> str:
        await gate.wait()
        return "done"

    executor = executor_of(asking("ask"), raw("wait", wait), recorders=[listener])
    paused: Any = await executor.run()
    task = asyncio.create_task(executor.resume(paused.checkpoint, 1))
    await asyncio.sleep(0)
    seen = len(listener.seen)

    with pytest.raises(ExecutorBusyError):
        await executor.run()
    with pytest.raises(ExecutorBusyError):
        await executor.resume(paused.checkpoint, 2)
    gate.set()
    result = await task

    assert (result.status, result.value, result.state["answer"]) == ("done", "done", 1)
    assert len(listener.seen) > seen


def test_trap_16_a_refused_input_or_checkpoint_clears_no_recorder_and_no_pause() -> None:
    class Counting(Listener):
        cleared = 0

        def clear(self) -> None:
            self.cleared += 1

    listener = Counting()
    executor = executor_of(asking("ask"), recorders=[listener])
    paused: Any = executor.run_sync()
    seen = len(listener.seen)

    with pytest.raises(InputValidationError):
        executor.run_sync({"bad": {1}})
    with pytest.raises(CheckpointError):
        executor.resume_sync({**stored(paused), "sharedState": None}, 1)

    assert (listener.cleared, len(listener.seen)) == (1, seen)
    assert executor.checkpoint is paused.checkpoint
    assert executor.resume_sync(paused.checkpoint, 1).status == "done"


def test_trap_17_raising_policies_never_break_a_run() -> None:
    calls: list[int] = []

    def flaky(h: Handle) -> str:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("once")
        return "fine"

    def raising(_: Any) -> Any:
        raise RuntimeError("mine")

    slow = RetryPolicy(attempts=2, delay=raising)
    choosy = RetryPolicy(attempts=2, delay=0, retry_on=raising)

    assert executor_of(Stage(flaky, id="flaky", raw=True, retry=slow)).run_sync().value == "fine"
    calls.clear()
    with pytest.raises(ValueError, match=r"once"):
        executor_of(Stage(flaky, id="flaky", raw=True, retry=choosy)).run_sync()


def test_trap_30_a_handle_used_after_the_commit_raises_also_that_of_a_retried_attempt() -> None:
    kept: list[Any] = []

    def keep(s: State, ctx: StageContext) -> None:
        kept.extend([s, ctx])
        if len(kept) == 2:
            raise ValueError("again")

    executor_of(Stage(keep, retry=RetryPolicy(attempts=2, delay=0)), raw("end", nothing)).run_sync()

    assert len(kept) == 4
    for state in kept[::2]:
        with pytest.raises(StageClosedError):
            state.x = 1
        with pytest.raises(StageClosedError):
            _ = state["x"]
    for context in kept[1::2]:
        with pytest.raises(StageClosedError):
            context.interrupt("too late?")
        with pytest.raises(StageClosedError):
            context.set("x", 1)
