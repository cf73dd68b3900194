"""Traps of deferred observers: 17, 20 and 21 of the list, and the half of 26 that concerns what waits."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    EmitSeen,
    Executor,
    Pausable,
    Recorder,
    RedactionPolicy,
    Stage,
    StageContext,
    State,
)
from tests.flow.charts import Listener


def executor_of(*parts: Any) -> tuple[Executor, Listener]:
    executor = Chart.of("Trap", *parts).build().executor()
    listener = Listener()
    executor.attach(listener, delivery="deferred")
    return executor, listener


def work(s: State) -> str:
    return "done"


def ask(s: State) -> str:
    s["asked"] = True
    return "May I?"


def answered(s: State, answer: Any) -> None:
    s["answer"] = answer


def fail(s: State) -> None:
    s["tried"] = True
    raise ValueError("no")


def test_trap_17_a_raising_deferred_recorder_never_breaks_a_run() -> None:
    class Broken(Recorder):
        def __getattribute__(self, name: str) -> Any:
            if name == "on_commit":
                return self.fail
            return super().__getattribute__(name)

        def fail(self, event: object) -> None:
            raise RuntimeError("mine")

        def on_commit(self, event: object) -> None: ...

    executor, listener = executor_of(Stage(work, id="work"))
    executor.attach(Broken("broken"), delivery="deferred")

    result = executor.run_sync()

    assert result.value == "done"
    assert executor.recorder_failures == {("broken", "on_commit"): 1}
    assert [event.hook for event in listener.seen].count("on_commit") == 1


def test_trap_20_deferred_events_arrive_before_run_returns() -> None:
    executor, listener = executor_of(Stage(work, id="work"))

    executor.run_sync()

    assert listener.hooks()[-1] == "on_run_end"


async def test_trap_20_deferred_events_arrive_before_a_paused_run_returns() -> None:
    executor, listener = executor_of(Pausable(ask, answered, id="ask"))

    result = await executor.run()

    assert result.status == "paused"
    assert listener.hooks()[-1] == "on_pause"

    await executor.resume(result.checkpoint or {}, "yes")

    assert listener.hooks()[-1] == "on_run_end"
    assert listener.hooks().count("on_run_start") == 2


async def test_trap_20_deferred_events_arrive_before_an_error_is_raised() -> None:
    executor, listener = executor_of(Stage(fail, id="fail"))
    heard: list[str] = []

    try:
        await executor.run()
    except ValueError:
        heard = listener.hooks()

    assert heard[-2:] == ["on_error", "on_run_failed"]


@pytest.mark.parametrize("ways", [("deferred", "deferred"), ("inline", "deferred"), ("deferred", "inline")])
def test_trap_21_a_recorder_attached_again_is_told_once(ways: tuple[Any, Any]) -> None:
    class Emits(Recorder):
        seen = 0

        def on_emit(self, event: EmitSeen) -> None:
            self.seen += 1

    def emit(s: State, ctx: StageContext) -> None:
        ctx.emit("x")

    recorder = Emits("same")
    executor = Chart.of("Twice", Stage(emit, id="emit")).build().executor()
    for way in ways:
        executor.attach(recorder, delivery=way)

    executor.run_sync()

    assert recorder.seen == 1
    assert executor.recorders == (recorder,)


@pytest.mark.parametrize("capture", ["clone", "summary", "ref"])
def test_trap_26_a_redacted_value_is_not_in_what_waits_for_deferred_observers(capture: Any) -> None:
    def keep(s: State, ctx: StageContext) -> None:
        s["card"] = "4111-1111"
        ctx.emit("seen", {"n": len(s["card"])})

    executor = Chart.of("Secret", Stage(keep, id="keep")).build().executor(redaction=RedactionPolicy(keys=["card"]))
    listener = Listener()
    executor.attach(listener, delivery="deferred", capture=capture)

    executor.run_sync()

    told = repr([event.to_wire() for event in listener.seen])
    assert "'card'" in told
    assert "4111" not in told
