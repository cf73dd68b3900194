"""Tests of agentfootprint.flow.watched."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import weakref
from typing import Any

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.flow import (
    AsyncHookError,
    Chart,
    CommitSeen,
    DrainResult,
    EmitSeen,
    ErrorSeen,
    Executor,
    FlowDevWarning,
    ReadSeen,
    Recorder,
    RunEnded,
    Sighting,
    Stage,
    StageContext,
    State,
    enable_dev_mode,
)
from tests.flow.charts import Listener


def write(s: State) -> None:
    s["a"] = 1


def read(s: State, ctx: StageContext) -> str:
    ctx.emit("app.read", {"a": s["a"]})
    return "done"


def two_stages() -> Executor:
    return Chart.of("Two", Stage(write, id="write"), Stage(read, id="read")).build().executor()


class Emits(Recorder):
    def __init__(self, id: str | None = None) -> None:
        super().__init__(id)
        self.seen: list[str] = []

    def on_emit(self, event: EmitSeen) -> None:
        self.seen.append(event.name)


def emitting(count: int, **options: Any) -> tuple[Executor, Emits]:
    """An executor that emits so many events in a row, to a deferred recorder."""

    def emit(s: State, ctx: StageContext) -> None:
        for number in range(count):
            ctx.emit(str(number))

    executor = Chart.of("Emitting", Stage(emit, id="emit")).build().executor()
    recorder = Emits()
    executor.attach(recorder, delivery="deferred", **options)
    return executor, recorder


def test_a_deferred_recorder_is_told_the_same_in_the_same_order_as_an_inline_one() -> None:
    executor = two_stages()
    inline, deferred = Listener(), Listener()
    inline.id = "inline"
    executor.attach(inline)
    executor.attach(deferred, delivery="deferred")

    executor.run_sync()

    assert [event.to_wire() for event in deferred.seen] == [event.to_wire() for event in inline.seen]
    assert len(deferred.seen) > 10


async def test_what_waits_is_told_at_the_next_turn_of_the_event_loop() -> None:
    recorder = Emits()
    known: list[list[str]] = []

    async def wait(s: State, ctx: StageContext) -> None:
        ctx.emit("first")
        known.append(list(recorder.seen))
        await asyncio.sleep(0)
        known.append(list(recorder.seen))

    executor = Chart.of("Waiting", Stage(wait, id="wait")).build().executor()
    executor.attach(recorder, delivery="deferred")

    await executor.run()

    assert known == [[], ["first"]]


def test_a_hook_that_is_a_coroutine_function_is_accepted_deferred_and_refused_inline() -> None:
    class Slow(Emits):
        async def on_emit(self, event: EmitSeen) -> None:  # type: ignore[override]  deferred hooks may
            await asyncio.sleep(0)
            self.seen.append(event.name)

    slow, executor = Slow(), two_stages()
    with pytest.raises(AsyncHookError, match=r"'on_emit'"):
        executor.attach(slow)

    executor.attach(slow, delivery="deferred")
    executor.run_sync()

    assert slow.seen == ["app.read"]


async def test_drain_waits_for_async_hooks_and_counts_how_they_ended() -> None:
    go = asyncio.Event()

    class Slow(Recorder):
        async def on_emit(self, event: EmitSeen) -> None:  # type: ignore[override]  deferred hooks may
            await go.wait()
            if event.name == "1":
                raise ValueError("no")

    executor, _ = emitting(3)
    executor.attach(Slow("slow"), delivery="deferred")
    await executor.run()
    assert executor.observer_stats is not None
    assert executor.observer_stats.inflight == 3

    early = await executor.drain_observers(timeout=0)
    go.set()
    late = await executor.drain_observers()

    assert early == DrainResult(0, 0, 3)
    assert late == DrainResult(2, 1, 0)
    assert executor.recorder_failures == {("slow", "on_emit"): 1}
    assert executor.observer_stats.inflight == 0


async def test_drain_gives_zeros_when_nobody_is_told_later() -> None:
    assert await two_stages().drain_observers() == DrainResult(0, 0, 0)


def test_a_blocking_run_waits_for_async_hooks_also_when_it_fails() -> None:
    heard: list[str] = []

    class Slow(Recorder):
        async def on_run_failed(self, event: Sighting) -> None:  # type: ignore[override]  deferred hooks may
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            heard.append(event.hook)

    def fail(s: State) -> None:
        raise ValueError("no")

    executor = Chart.of("Failing", Stage(fail, id="fail")).build().executor()
    executor.attach(Slow(), delivery="deferred")

    with pytest.raises(ValueError, match="no"):
        executor.run_sync()

    assert heard == ["on_run_failed"]


def test_a_failing_hook_is_told_to_the_other_deferred_recorders_and_harms_nobody() -> None:
    class Broken(Recorder):
        errors: int = 0

        def on_emit(self, event: EmitSeen) -> None:
            raise KeyError("mine")

        def on_error(self, event: ErrorSeen) -> None:
            self.errors += 1

    class Errors(Emits):
        def on_error(self, event: ErrorSeen) -> None:
            self.seen.append(f"{event.channel} {event.stage_name!r} {event.error} {event.runtime_stage_id}")

    executor = two_stages()
    broken, errors, inline = Broken("broken"), Errors("errors"), Errors("inline")
    executor.attach(inline)
    executor.attach(broken, delivery="deferred")
    executor.attach(errors, delivery="deferred")

    result = executor.run_sync()

    assert result.value == "done"
    assert sorted(errors.seen) == ["app.read", "scope '' KeyError read#1"]
    assert broken.errors == 0
    assert inline.seen == ["app.read"]
    assert executor.recorder_failures == {("broken", "on_emit"): 1}


def test_an_on_error_that_raises_is_told_to_nobody() -> None:
    class Broken(Recorder):
        def on_emit(self, event: EmitSeen) -> None:
            raise KeyError("mine")

        def on_error(self, event: ErrorSeen) -> None:
            raise KeyError("that too")

    executor = two_stages()
    executor.attach(Broken("a"), delivery="deferred")
    executor.attach(Broken("b"), delivery="deferred")

    executor.run_sync()

    assert executor.recorder_failures == {
        ("a", "on_emit"): 1,
        ("b", "on_emit"): 1,
        ("a", "on_error"): 1,
        ("b", "on_error"): 1,
    }


def test_stats_tell_what_each_recorder_was_told_and_stand_in_the_snapshot() -> None:
    executor, recorder = emitting(3)

    result = executor.run_sync()

    wire = result.snapshot().to_wire()["observerStats"]
    told = wire.pop("perListener")
    assert set(wire) == {
        "depth",
        "drops",
        "flushes",
        "budgetExhausted",
        "p95FlushMs",
        "inlineDeliveries",
        "inflight",
        "terminalStranded",
    }
    assert set(told) == {recorder.id}
    assert told[recorder.id]["events"] == 3
    assert told[recorder.id]["lastFlushMs"] == told[recorder.id]["totalMs"] > 0
    assert executor.snapshot().to_wire()["observerStats"]["flushes"] == wire["flushes"] == 1


def test_without_a_deferred_recorder_there_are_no_stats() -> None:
    executor = two_stages()
    executor.attach(Listener())

    result = executor.run_sync()

    assert executor.observer_stats is None
    assert "observerStats" not in result.snapshot().to_wire()


def test_the_snapshot_of_a_failed_run_has_the_stats_too() -> None:
    def fail(s: State) -> None:
        raise ValueError("no")

    executor = Chart.of("Failing", Stage(fail, id="fail")).build().executor()
    executor.attach(Listener(), delivery="deferred")

    with pytest.raises(ValueError, match="no") as caught:
        executor.run_sync()

    assert caught.value.footprint.to_wire()["observerStats"]["depth"] == 0  # type: ignore[attr-defined]


def test_recorders_with_something_to_show_are_in_the_snapshot_and_are_cleared_before_a_run() -> None:
    class Counting(Recorder):
        count = 0

        def on_commit(self, event: CommitSeen) -> None:
            self.count += 1

        def clear(self) -> None:
            self.count = 0

        def to_snapshot(self) -> dict[str, Any]:
            return {"name": "Counting", "data": self.count}

    executor, counting = two_stages(), Counting("counting")
    executor.attach(counting, delivery="deferred")
    executor.run_sync()

    result = executor.run_sync()

    assert result.snapshot().recorders == [{"id": "counting", "name": "Counting", "data": 2}]
    assert executor.recorders == (counting,)


def test_events_are_made_only_for_hooks_that_somebody_has() -> None:
    executor = two_stages()
    executor.attach(Emits(), delivery="deferred")

    executor.run_sync()

    watch = executor._watch  # pyright: ignore[reportPrivateUsage]  what is asked before an event is made
    assert watch.wants("on_emit")
    assert not watch.wants("on_read")
    assert not watch.wants("on_commit")


def test_an_id_stands_for_one_recorder_whatever_way_it_was_attached_last() -> None:
    executor = two_stages()
    first, second, third = Emits("same"), Emits("same"), Emits("same")

    executor.attach(first)
    executor.attach(second, delivery="deferred")
    executor.run_sync()
    assert (first.seen, second.seen) == ([], ["app.read"])

    executor.attach(third)
    executor.run_sync()
    assert (second.seen, third.seen) == (["app.read"], ["app.read"])
    assert executor.recorders == (third,)


def test_a_recorder_attached_during_a_run_is_told_from_the_next_one_on() -> None:
    late = Emits()

    def attach(s: State, ctx: StageContext) -> None:
        executor.attach(late, delivery="deferred")
        ctx.emit("now")

    executor = Chart.of("Late", Stage(attach, id="attach")).build().executor()
    executor.attach(Emits("other"), delivery="deferred")

    executor.run_sync()
    assert late.seen == []

    executor.run_sync()
    assert late.seen == ["now"]


def test_options_of_the_queue_without_deferred_delivery_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"'max_queue', but not as deferred") as caught:
        two_stages().attach(Emits(), max_queue=3)
    assert caught.value.option == "attach.max_queue"

    with pytest.raises(ConfigError, match=r"'delivery', but not as deferred"):
        two_stages().attach(Emits(), delivery="later")  # type: ignore[arg-type]


def test_a_refused_option_attaches_nothing() -> None:
    executor = two_stages()

    with pytest.raises(ConfigError, match="'max_queue'"):
        executor.attach(Emits(), delivery="deferred", max_queue=0)

    assert executor.recorders == ()
    assert executor.observer_stats is None


def test_the_first_deferred_recorder_chooses_the_queue_and_later_options_are_said_in_dev_mode() -> None:
    executor, _ = emitting(10, max_queue=4)
    enable_dev_mode()
    try:
        with pytest.warns(FlowDevWarning, match=r"ignored for 'late': overflow\."):
            executor.attach(Emits("late"), delivery="deferred", max_queue=4, overflow="block")
    finally:
        enable_dev_mode(on=False)

    executor.run_sync()

    assert executor.observer_stats is not None
    assert executor.observer_stats.inline_deliveries == 0


def test_a_stage_on_another_thread_is_heard_in_order() -> None:
    recorder = Emits()

    async def work(s: State, ctx: StageContext) -> None:
        def emit() -> None:
            for number in range(5):
                ctx.emit(str(number))

        await asyncio.to_thread(emit)

    executor = Chart.of("Threaded", Stage(work, id="work")).build().executor()
    executor.attach(recorder, delivery="deferred")

    executor.run_sync()

    assert recorder.seen == ["0", "1", "2", "3", "4"]


async def test_a_cancelled_run_still_tells_what_happened() -> None:
    recorder = Listener()
    forever = asyncio.Event()
    begun = asyncio.Event()

    async def wait(s: State) -> None:
        begun.set()
        await forever.wait()

    executor = Chart.of("Waiting", Stage(wait, id="wait")).build().executor()
    executor.attach(recorder, delivery="deferred")
    running = asyncio.create_task(executor.run())
    await begun.wait()

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert [event.hook for event in recorder.seen][-1] == "on_run_failed"


def test_a_finished_run_is_in_no_cycle_with_its_queue() -> None:
    class Holds(Recorder):
        last: RunEnded | None = None

        def on_run_end(self, event: RunEnded) -> None:
            self.last = event

    executor = two_stages()
    executor.attach(Holds(), delivery="deferred")
    executor.run_sync()
    run = weakref.ref(executor._last)  # type: ignore[arg-type]
    assert run() is not None

    gc.collect()
    gc.disable()
    try:
        executor.run_sync()

        assert run() is None
    finally:
        gc.enable()


def test_without_a_deferred_recorder_nothing_of_them_is_loaded() -> None:
    program = """
import sys
from agentfootprint.flow import Chart, Recorder, Stage

class Reads(Recorder):
    def on_read(self, event): ...

flow = Chart.of("One", Stage(lambda s: None, id="one")).build()
executor = flow.executor(recorders=[Reads()])
executor.run_sync()
executor.snapshot().to_wire()
print([name for name in sys.modules if ".flow.observers" in name or ".flow.detached" in name])
"""

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "[]"


def test_a_run_allocates_nothing_for_deferred_recorders_that_there_are_not() -> None:
    executor = two_stages()

    executor.run_sync()

    assert executor._deferred is None  # pyright: ignore[reportPrivateUsage]  nothing was made
    assert executor._watch.recorders == ()  # pyright: ignore[reportPrivateUsage]  no tap


def test_a_summary_reaches_the_hooks_as_the_same_class_of_event() -> None:
    class Reads(Recorder):
        def __init__(self) -> None:
            super().__init__()
            self.events: list[ReadSeen] = []

        def on_read(self, event: ReadSeen) -> None:
            self.events.append(event)

    reads, executor = Reads(), two_stages()
    executor.attach(reads, delivery="deferred", capture="summary")

    executor.run_sync()

    assert [(event.key, event.value["type"]) for event in reads.events] == [("a", "number")]
