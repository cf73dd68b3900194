"""Tests of agentfootprint.flow.recorders.composite."""

from __future__ import annotations

import pytest

from agentfootprint.flow import (
    AsyncHookError,
    Chart,
    CompositeRecorder,
    EmitSeen,
    MetricRecorder,
    Pausable,
    PauseSeen,
    QualityRecorder,
    ReadSeen,
    Recorder,
    RunEnded,
    Stage,
    StageContext,
    State,
)
from agentfootprint.flow.watch.recorder import Watch
from tests.flow.charts import Listener


def work(s: State, ctx: StageContext) -> None:
    s["n"] = ctx.get("n", 0) + 1
    ctx.emit("app.work")


FLOW = Chart.of("Watched", Stage(work, id="a")).build()


def test_every_event_reaches_every_child_in_order() -> None:
    alone, inside = Listener(), Listener()
    alone.id = "alone"

    FLOW.run_sync(recorders=[alone, CompositeRecorder("both", [inside, MetricRecorder()])])

    assert inside.hooks() == alone.hooks()


def test_events_of_the_run_emits_and_pauses_are_handed_on_too() -> None:
    seen: list[str] = []

    class Rare(Recorder):
        def on_emit(self, event: EmitSeen) -> None:
            seen.append("emit")

        def on_run_end(self, event: RunEnded) -> None:
            seen.append("end")

        def on_pause(self, event: PauseSeen) -> None:
            seen.append(event.channel)

    def ask(s: State, ctx: StageContext) -> object:
        return {"q": 1}

    def answered(s: State, answer: object) -> None: ...

    FLOW.run_sync(recorders=[CompositeRecorder("rare", [Rare()])])
    Chart.of("Pausing", Stage(work, id="a"), Pausable(ask, answered, id="p")).build().run_sync(
        recorders=[CompositeRecorder("rare", [Rare()])]
    )

    assert seen == ["emit", "end", "emit", "scope", "flow"]


def test_it_has_the_hooks_that_a_child_has_and_no_others() -> None:
    watch = Watch([CompositeRecorder("some", [MetricRecorder()])])

    assert watch.wants("on_read")
    assert not watch.wants("on_decision")
    assert not Watch([CompositeRecorder("none", [])]).any


def test_a_child_that_raises_harms_no_other_and_counts_as_the_composites_failure() -> None:
    class Broken(Recorder):
        def on_read(self, event: ReadSeen) -> None:
            raise RuntimeError

    metrics = MetricRecorder()
    executor = FLOW.executor(recorders=[CompositeRecorder("both", [Broken(), metrics])])

    executor.run_sync()

    assert metrics.metrics().reads == 1
    assert executor.recorder_failures == {("both", "on_read"): 1}


def test_a_child_is_found_by_its_type() -> None:
    metrics = MetricRecorder()

    composite = CompositeRecorder(None, [Listener(), metrics])

    assert composite.get(MetricRecorder) is metrics
    assert composite.get(QualityRecorder) is None
    assert composite.id.startswith("composite-")


def test_the_snapshot_holds_what_the_children_have_to_show() -> None:
    composite = CompositeRecorder("both", [MetricRecorder("m"), Listener()])

    (shown,) = FLOW.run_sync(recorders=[composite]).snapshot().to_wire()["recorders"]

    assert (shown["id"], shown["name"]) == ("both", "Composite")
    assert [(child["id"], child["name"]) for child in shown["data"]["children"]] == [("m", "Metrics")]


def test_a_new_run_begins_for_the_children_too() -> None:
    metrics = MetricRecorder()
    executor = FLOW.executor(recorders=[CompositeRecorder("one", [metrics, object()])])

    executor.run_sync()
    executor.run_sync()

    assert metrics.metrics().reads == 1


def test_a_child_with_a_coroutine_function_as_hook_is_refused_by_name() -> None:
    class Slow(Recorder):
        async def on_read(self, event: ReadSeen) -> None: ...  # pyright: ignore[reportIncompatibleMethodOverride]  refused

    with pytest.raises(AsyncHookError, match=r"'on_read' of the recorder 'slow'"):
        CompositeRecorder("one", [Slow("slow")])
