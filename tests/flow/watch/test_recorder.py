"""Tests of agentfootprint.flow.watch.recorder."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint.flow import AsyncHookError, Chart, Recorder, Stage, StageContext, State
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
