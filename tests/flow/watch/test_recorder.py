"""Tests of agentfootprint.flow.watch.recorder."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint.flow import AsyncHookError, Chart, FlowDevWarning, Pausable, Recorder, Stage, StageContext, State
from agentfootprint.flow.watch.recorder import Watch, attach
from agentfootprint.flow.watch.sightings import (
    CommitSeen,
    EmitSeen,
    ErrorSeen,
    ReadSeen,
    RunEnded,
    Sighting,
    StageExecuted,
)
from tests.flow.charts import Listener


def work(s: State, ctx: StageContext) -> None:
    s["a"] = 1
    _ = s["a"]
    ctx.emit("app.work", {"n": 1})


def told(*recorders: Any) -> Any:
    executor = Chart.of("Watched", Stage(work, id="work")).build().executor(recorders=recorders)
    asyncio.run(executor.run())
    return executor


def test_only_overridden_hooks_are_called() -> None:
    class Reads(Recorder):
        def __init__(self) -> None:
            super().__init__()
            self.keys: list[str] = []

        def on_read(self, event: ReadSeen) -> None:
            self.keys.append(event.key)

    reads = Reads()
    told(reads)

    assert reads.keys == ["a"]
    assert Watch([reads]).wants("on_read")
    assert not Watch([reads]).wants("on_write")
    assert not Watch([Recorder()]).any


def test_any_object_with_a_hook_is_a_recorder() -> None:
    class Duck:
        id = "duck"
        seen = 0

        def on_emit(self, event: EmitSeen) -> None:
            self.seen += 1

    duck = Duck()
    told(duck)

    assert duck.seen == 1


def test_recorders_are_told_in_the_order_they_were_attached() -> None:
    order: list[str] = []

    class Named(Recorder):
        def on_run_end(self, event: RunEnded) -> None:
            order.append(self.id)

    told(Named("b"), Named("a"))

    assert order == ["b", "a"]


def test_a_recorder_with_a_known_id_takes_the_others_place() -> None:
    first, second, other = Recorder("one"), Recorder("one"), Recorder("two")

    recorders = attach(attach(attach((), first), other), second)

    assert recorders == (second, other)


def test_ids_are_unique_by_default() -> None:
    assert Recorder().id != Recorder().id


def test_a_coroutine_function_as_hook_is_refused_by_name() -> None:
    class Slow(Recorder):
        async def on_read(self, event: ReadSeen) -> None: ...  # pyright: ignore[reportIncompatibleMethodOverride]  refused

    with pytest.raises(AsyncHookError, match=r"'on_read' of the recorder 'slow'"):
        attach((), Slow("slow"))


class Broken(Recorder):
    """Raises in every hook."""

    def fail(self, event: Sighting) -> None:
        raise RuntimeError(event.hook)

    on_run_start = on_run_end = on_stage_start = on_read = on_write = on_emit = on_stage_end = fail
    on_commit = on_stage_executed = on_error = fail


def test_a_failing_recorder_harms_neither_the_run_nor_the_others_and_is_counted() -> None:
    listener = Listener()

    executor = told(Broken("broken"), listener)

    hooks = [event.hook for event in listener.seen if event.hook != "on_error"]
    assert hooks == [
        "on_run_start",
        "on_stage_start",
        "on_write",
        "on_read",
        "on_emit",
        "on_stage_end",
        "on_commit",
        "on_stage_executed",
        "on_run_end",
    ]
    failures = executor.recorder_failures
    assert failures["broken", "on_commit"] == failures["broken", "on_read"] == 1
    assert all(recorder == "broken" for recorder, _ in failures)


def test_a_failure_in_a_state_hook_is_told_to_every_on_error_and_no_further() -> None:
    listener = Listener()

    told(Broken("broken"), listener)

    errors = [event for event in listener.seen if isinstance(event, ErrorSeen)]
    assert [(error.channel, error.operation, error.error) for error in errors if error.operation] == [
        ("scope", "write", "RuntimeError"),
        ("scope", "read", "RuntimeError"),
    ]
    assert len(errors) == 4  # and of on_stage_start and on_stage_end; never of on_commit or of the flow


def test_recorders_are_cleared_before_a_run_but_not_before_a_resume() -> None:
    cleared: list[int] = []

    class Clears(Recorder):
        def on_commit(self, event: CommitSeen) -> None: ...

        def clear(self) -> None:
            cleared.append(1)

    executor = told(Clears())
    asyncio.run(executor.run())

    assert len(cleared) == 2


def test_a_clear_that_raises_is_counted() -> None:
    class Clears(Recorder):
        def on_commit(self, event: CommitSeen) -> None: ...

        def clear(self) -> None:
            raise RuntimeError

    executor = told(Clears("bad"))

    assert executor.recorder_failures["bad", "clear"] == 1


def test_events_share_the_runs_values() -> None:
    seen: list[Any] = []

    class Reads(Recorder):
        def on_read(self, event: ReadSeen) -> None:
            seen.append(event.value)

    def read(s: State) -> None:
        seen.append(s["big"].raw)

    executor = Chart.of("Share", Stage(read)).build().executor(recorders=[Reads()], initial_state={"big": [1, 2]})
    result = asyncio.run(executor.run())

    assert seen[0] is seen[1] is result.state["big"]
    with pytest.raises(TypeError):
        seen[0][0] = 5


def test_without_recorders_no_event_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr("agentfootprint.flow.telling.StageExecuted", refuse)
    monkeypatch.setattr("agentfootprint.flow.stage.traced.ReadSeen", refuse)

    told()
    told(Recorder())
    assert StageExecuted.hook == "on_stage_executed"


def test_a_hook_that_only_the_object_has_counts_too() -> None:
    seen: list[str] = []
    recorder = Recorder()
    recorder.on_commit = lambda event: seen.append(event.runtime_stage_id)

    told(recorder)

    assert seen == ["work#0"]


def test_in_dev_mode_a_recorder_without_hooks_is_pointed_out(dev_mode: None) -> None:
    with pytest.warns(FlowDevWarning, match="'idle' has no hook"):
        attach((), Recorder("idle"))


def test_in_dev_mode_a_failure_that_nobody_is_told_of_is_said_once(dev_mode: None) -> None:
    class BrokenFlow(Recorder):
        def on_stage_executed(self, event: StageExecuted) -> None:
            raise RuntimeError("mine")

        def on_commit(self, event: CommitSeen) -> None:
            raise RuntimeError("swallowed entirely")

    executor = Chart.of("Watched", Stage(work, id="a"), Stage(work, id="b")).build().executor()
    executor.attach(BrokenFlow("broken"))

    with pytest.warns(FlowDevWarning) as said:
        executor.run_sync()

    assert [str(warning.message) for warning in said] == [
        "The recorder 'broken' raised RuntimeError in on_stage_executed."
    ]


@pytest.mark.filterwarnings("error")
def test_a_warning_made_an_error_does_not_end_the_run(dev_mode: None) -> None:
    executor = told(Broken("broken"))

    assert executor.recorder_failures["broken", "on_run_end"] == 1


def test_a_recorder_attached_after_a_pause_sees_the_resume_with_the_steps_before_it() -> None:
    def ask(s: State) -> Any:
        return {"q": 1}

    def answered(s: State, answer: Any) -> None: ...

    flow = Chart.of("Watched", Stage(work, id="a"), Pausable(ask, answered, id="p"), Stage(work, id="b")).build()
    executor = flow.executor(recorders=[Listener()])
    result = executor.run_sync()
    assert result.checkpoint is not None
    late = Listener()
    late.id = "late"

    executor.attach(late)
    executor.resume_sync(result.checkpoint, 1)

    first = next(event for event in late.seen if isinstance(event, StageExecuted))
    assert first.traversal_context.parent_runtime_stage_id == "p#1"
    assert late.hooks()[:3] == ["on_resume", "on_resume", "on_run_start"]


def test_the_snapshot_has_each_recorder_once_also_those_without_an_id() -> None:
    class Shows:
        def __init__(self, seen: int) -> None:
            self.seen = seen

        def on_run_end(self, event: RunEnded) -> None: ...

        def to_snapshot(self) -> dict[str, Any]:
            return {"name": "Shows", "data": self.seen}

    shown = told(Shows(1), Shows(2)).snapshot().recorders

    assert [entry["data"] for entry in shown] == [1, 2]
    assert len({entry["id"] for entry in shown}) == 2


def test_default_ids_count_by_kind() -> None:
    class Kind(Recorder):
        label = "kind-of-this-test"

    assert [Kind().id, Kind().id] == ["kind-of-this-test-1", "kind-of-this-test-2"]
