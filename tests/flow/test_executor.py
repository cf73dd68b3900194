"""Tests of agentfootprint.flow.executor."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.errors import BlockingCallError
from agentfootprint.flow import (
    Chart,
    CheckpointError,
    Decider,
    Executor,
    ExecutorBusyError,
    Flow,
    FlowResult,
    FlowSnapshot,
    FlowTimeoutError,
    Handle,
    InputValidationError,
    LoopTo,
    Pausable,
    ResumeError,
    Rule,
    Stage,
    StageContext,
    State,
    Subflow,
    decide,
)
from agentfootprint.trace import open_run_log, thaw
from tests.flow.charts import Listener, always, raw


def count(s: State, ctx: StageContext) -> int:
    s["n"] = ctx.get("n", 0) + 1
    return s["n"]


def take(s: State, answer: Any) -> None:
    s["got"] = answer


def asking() -> Flow:
    ask = Pausable(always({"q": "?"}), take, id="ask")
    return Chart.of("Ask", Stage(count, id="one"), ask, Stage(count, id="two")).build()


async def test_a_flow_runs_and_gives_its_value_and_state() -> None:
    result = await Chart.of("Count", Stage(count)).build().run()

    assert (result.status, result.value, thaw(result.state)) == ("done", 1, {"n": 1})
    assert result.run_id


def test_the_blocking_twin_runs_outside_a_loop() -> None:
    assert Chart.of("Count", Stage(count)).build().run_sync().value == 1


async def test_the_blocking_twin_refuses_inside_a_loop() -> None:
    with pytest.raises(BlockingCallError, match=r"Await Flow\.run instead"):
        Chart.of("Count", Stage(count)).build().run_sync()


async def test_an_executor_does_one_thing_at_a_time() -> None:
    entered, leave = asyncio.Event(), asyncio.Event()

    async def wait(s: State) -> None:
        entered.set()
        await leave.wait()

    listener = Listener()
    executor = Chart.of("Wait", Stage(wait)).build().executor(recorders=[listener])
    first = asyncio.create_task(executor.run())
    await entered.wait()
    before = len(listener.seen)

    with pytest.raises(ExecutorBusyError, match=r"'Wait'"):
        await executor.run()
    with pytest.raises(ExecutorBusyError):
        await executor.resume({})

    assert len(listener.seen) == before
    leave.set()
    assert (await first).status == "done"
    assert (await executor.run()).status == "done"


async def test_a_refused_input_leaves_no_timer_and_clears_no_recorder() -> None:
    cleared: list[int] = []

    class Clears(Listener):
        def clear(self) -> None:
            cleared.append(1)

    executor = Chart.of("Count", Stage(count)).build().executor(recorders=[Clears()])
    wrong: Any = {"x": {1}}

    with pytest.raises(InputValidationError):
        await executor.run(wrong, timeout=60)

    assert cleared == []
    assert executor.snapshot().execution_tree is None


async def test_a_timeout_cancels_the_run() -> None:
    async def wait(s: State) -> None:
        s["kept"] = 1
        await asyncio.Event().wait()

    executor = Chart.of("Wait", Stage(wait)).build().executor()

    with pytest.raises(TimeoutError):
        await executor.run(timeout=0.01)

    assert thaw(executor.snapshot().shared_state) == {"kept": 1}


async def test_a_stage_that_holds_a_timeout_up_is_the_last_one() -> None:
    async def deaf(s: State) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            s["held"] = True

    executor = Chart.of("Deaf", Stage(deaf), Stage(count)).build().executor()

    with pytest.raises(FlowTimeoutError):
        await executor.run(timeout=0.001)

    assert thaw(executor.snapshot().shared_state) == {"held": True}


async def test_an_error_carries_the_runs_snapshot() -> None:
    def fail(s: State) -> None:
        s["kept"] = 1
        raise ValueError("bad")

    with pytest.raises(ValueError, match=r"bad") as raised:
        await Chart.of("Fail", Stage(fail, id="fail")).build().run()

    footprint: Any = raised.value
    assert isinstance(footprint.footprint, FlowSnapshot)
    assert thaw(footprint.footprint.shared_state) == {"kept": 1}


async def test_the_same_executor_goes_on_with_log_tree_and_recorders() -> None:
    listener = Listener()
    executor = asking().executor(recorders=[listener])
    paused = await executor.run()
    assert executor.is_paused
    assert paused.checkpoint is not None

    result = await executor.resume(paused.checkpoint, 5)

    assert not executor.is_paused
    assert thaw(result.state) == {"n": 2, "got": 5}
    assert [b.runtime_stage_id for b in result.snapshot().commit_log] == ["one#0", "ask#1", "ask#2", "two#3"]
    assert len(result.journal.run_ids) == 2
    assert result.run_id != paused.run_id
    assert listener.seen[-1].hook == "on_run_end"


async def test_a_checkpoint_from_json_of_the_same_executor_goes_on_there_too() -> None:
    executor = asking().executor()
    paused = await executor.run()
    assert paused.checkpoint is not None

    result = await executor.resume(json.loads(json.dumps(paused.checkpoint.to_wire())), 5)

    assert len(result.snapshot().commit_log) == 4


async def test_a_fresh_executor_begins_a_log_of_its_own() -> None:
    paused = await asking().executor().run()
    assert paused.checkpoint is not None

    result = await asking().executor().resume(paused.checkpoint.to_wire(), 5)

    assert [b.runtime_stage_id for b in result.snapshot().commit_log] == ["ask#2", "two#3"]
    assert thaw(result.state) == {"n": 2, "got": 5}


async def test_a_refused_checkpoint_leaves_the_executors_own_one_good() -> None:
    executor = asking().executor()
    paused = await executor.run()
    assert paused.checkpoint is not None

    with pytest.raises(ResumeError):
        await executor.resume({**paused.checkpoint.to_wire(), "pausedStageId": "gone"}, 5)

    assert executor.checkpoint is paused.checkpoint
    assert (await executor.resume(paused.checkpoint, 5)).status == "done"


async def test_a_checkpoint_that_only_the_run_can_refuse_leaves_everything_as_it_was(tmp_path: Path) -> None:
    def made() -> Chart:
        return Chart.of("Lazy", Stage(count))

    def told(s: State) -> None:
        s["text"] = ["a long text that a log writes only once, however often it is there"]

    def told_again(s: State, ctx: StageContext) -> None:
        s["same"] = [ctx.get("text"), ctx.get("text")]

    ask = Pausable(always("?"), take, id="ask")
    lazy = Subflow(made, id="lazy", lazy=True)
    executor = Chart.of("Ask", Stage(told), ask, Stage(told_again), lazy).build().executor(run_log=tmp_path / "run.log")
    paused = await executor.run()
    assert paused.checkpoint is not None
    before = executor.snapshot().to_wire()

    with pytest.raises(CheckpointError, match=r"'subflowPath'"):
        await executor.resume({**paused.checkpoint.to_wire(), "subflowPath": ["lazy"], "subflowStates": {"lazy": {}}})

    assert executor.checkpoint is paused.checkpoint
    assert executor.snapshot().to_wire() == before
    done = await executor.resume(paused.checkpoint, 5)
    assert [step.split("#")[0] for step in _steps(done)] == ["told", "ask", "ask", "told-again", "lazy"]
    logged = open_run_log(tmp_path / "run.log")
    assert (logged.state, logged.ended) == (done.state, "done")


def _steps(result: FlowResult) -> list[str]:
    return [bundle.runtime_stage_id for bundle in result.snapshot().commit_log]


async def test_a_refused_environment_gives_the_paused_run_no_other_id() -> None:
    executor = asking().executor()
    paused = await executor.run()
    assert paused.checkpoint is not None

    with pytest.raises(InputValidationError, match=r"environment"):
        await executor.resume(paused.checkpoint, 5, env={"file": object()})

    assert executor.snapshot().run_id == paused.run_id


async def test_a_refusal_that_a_stage_itself_raises_is_a_failure_of_the_run() -> None:
    def refuse(s: State) -> None:
        s["n"] = 1
        raise ResumeError("Another run was refused.", fix="Look there.")

    executor = Chart.of("Refusing", Stage(refuse)).build().executor()

    with pytest.raises(ResumeError) as caught:
        await executor.run()

    assert caught.value.footprint.shared_state["n"] == 1  # type: ignore[attr-defined]  21.5
    assert executor.snapshot().shared_state["n"] == 1


def test_an_executor_that_two_threads_use_at_once_does_one_thing_at_a_time() -> None:
    inside, go = threading.Event(), threading.Event()

    def wait(s: State) -> None:
        inside.set()
        assert go.wait(5)

    executor = Chart.of("Slow", Stage(wait)).build().executor()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(executor.run_sync)
        assert inside.wait(5)
        with pytest.raises(ExecutorBusyError):
            executor.run_sync()
        go.set()

        assert first.result().status == "done"
    assert executor.run_sync().status == "done"


async def test_a_checkpoint_of_before_is_not_changed_by_going_on() -> None:
    executor = asking().executor()
    paused = await executor.run()
    assert paused.checkpoint is not None
    before = paused.checkpoint.to_wire()

    await executor.resume(paused.checkpoint, 5)

    assert paused.checkpoint.to_wire() == before


async def test_state_given_before_the_run_wins_over_defaults_object_by_object() -> None:
    executor = Executor(
        Chart.of("Count", Stage(count)).build(),
        initial_state={"o": {"a": 1}, "l": [1]},
        default_state={"o": {"a": 0, "b": 2}, "l": [9, 9], "x": 5},
    )

    result = await executor.run()

    assert thaw(result.state) == {"o": {"a": 1, "b": 2}, "l": [1], "x": 5, "n": 1}
    assert result.why("x").missing == "never-written"


async def test_why_explains_a_value_by_the_steps_behind_it() -> None:
    def first(s: State) -> None:
        s["score"] = 700

    def other(s: State) -> None:
        s["noise"] = 1

    def second(s: State) -> None:
        s["status"] = "good" if s["score"] > 600 else "bad"

    result = await Chart.of("Why", Stage(first), Stage(other), Stage(second)).build().run()

    text = str(result.why("status"))

    assert "Second (second#2)" in text
    assert "First (first#0) ← via score" in text
    assert "other" not in text


async def test_why_names_the_decision_that_let_a_step_run() -> None:
    def score(s: State) -> None:
        s["score"] = 700

    def choose(s: State) -> Any:
        return decide(s, [Rule(when={"score": {"gte": 700}}, then="yes", label="good credit")], default="no")

    def approve(s: State) -> None:
        s["status"] = "approved"

    def refuse(s: State) -> None:
        s["status"] = "refused"

    decider = Decider(choose, [Stage(approve, id="yes"), Stage(refuse, id="no")], id="classify")
    result = await Chart.of("Why", Stage(score), decider).build().run()

    text = str(result.why("status"))

    assert "Classify (classify#1) ← [control: good credit]" in text
    assert "Score (score#0) ← via score" in text


async def test_a_run_is_recorded_under_the_dials_of_its_executor() -> None:
    def grow(h: Handle) -> None:
        h.append("l", [h.index])
        if h.index == 2:
            h.break_()

    flow = Chart.of("Grow", raw("grow", grow), LoopTo("grow")).build()

    full = (await Executor(flow).run()).snapshot().to_wire()
    delta = (await Executor(flow, commit_values="delta").run()).snapshot().to_wire()

    assert [b["overwrite"]["l"] for b in full["commitLog"]] == [[0], [0, 1], [0, 1, 2]]
    assert [b["overwrite"]["l"] for b in delta["commitLog"]] == [[0], [1], [2]]
    assert (full["commitValues"], delta["commitValues"]) == ("full", "delta")
    assert full["sharedState"] == delta["sharedState"]


async def test_a_snapshot_taken_in_the_middle_stays_as_it_was() -> None:
    taken: list[FlowSnapshot] = []
    executor = Chart.of("Count", Stage(count, id="one"), Stage(count, id="two")).build().executor()

    class Takes(Listener):
        def on_next(self, event: Any) -> None:
            taken.append(executor.snapshot())

    executor.attach(Takes())
    await executor.run()

    (middle,) = taken
    assert thaw(middle.shared_state) == {"n": 1}
    assert [b.runtime_stage_id for b in middle.commit_log] == ["one#0"]
    assert thaw(executor.snapshot().shared_state) == {"n": 2}
    assert executor.commit_count() == 2


async def test_the_log_can_be_counted_while_it_grows() -> None:
    counts: list[int] = []
    executor = Chart.of("Count", *(Stage(count, id=f"s{n}") for n in range(3))).build().executor()
    assert executor.commit_count() == 0

    class Counts(Listener):
        def on_commit(self, event: Any) -> None:
            counts.append(executor.commit_count())

    executor.attach(Counts())
    await executor.run()
    await executor.run()

    assert counts == [1, 2, 3, 1, 2, 3]


async def test_a_snapshot_cannot_be_used_to_change_the_state() -> None:
    result = await Chart.of("Count", Stage(count)).build().run()

    with pytest.raises(TypeError):
        result.state["n"] = 5  # pyright: ignore[reportIndexIssue]  refused
    wire = result.snapshot().to_wire()
    wire["sharedState"]["n"] = 5
    assert result.state["n"] == 1


async def test_what_recorders_have_to_show_stands_in_the_snapshot() -> None:
    class Counts(Listener):
        def to_snapshot(self) -> dict[str, Any]:
            return {"name": "Counts", "data": {"events": len(self.seen)}}

    result = await Chart.of("Count", Stage(count)).build().run(recorders=[Counts()])

    (entry,) = result.snapshot().to_wire()["recorders"]
    assert (entry["id"], entry["name"]) == ("listener", "Counts")
