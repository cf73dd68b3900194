"""Tests of agentfootprint.flow.observers.tier."""

from __future__ import annotations

import asyncio
from typing import Any

from agentfootprint.flow import DrainResult, EmitSeen, ObserverQueue, Recorder
from agentfootprint.flow.observers.tier import DeferredTier
from agentfootprint.flow.watch.recorder import Watch


def emitted(name: str) -> EmitSeen:
    return EmitSeen(
        timestamp=1, name=name, payload=None, stage_name="A", runtime_stage_id="a#0", subflow_path=(), pipeline_id=""
    )


class Names(Recorder):
    def __init__(self, id: str = "names") -> None:
        super().__init__(id)
        self.seen: list[str] = []

    def on_emit(self, event: EmitSeen) -> None:
        self.seen.append(event.name)


def tier_of(recorder: object, clock: Any = None, **options: Any) -> tuple[DeferredTier, Watch]:
    """A tier in the middle of a run, and how that run tells it."""
    tier = DeferredTier(ObserverQueue(**options)) if clock is None else DeferredTier(ObserverQueue(**options), clock)
    tier.attach(recorder, options)
    watch = Watch(tier.taps())
    tier.begin("run")
    return tier, watch


async def test_a_hook_that_never_stops_telling_is_cut_and_the_rest_counted() -> None:
    class Endless(Names):
        def on_emit(self, event: EmitSeen) -> None:
            super().on_emit(event)
            watch.tell(emitted("more"))

    endless = Endless()
    tier, watch = tier_of(endless)
    watch.tell(emitted("first"))

    await tier.finish()

    assert len(endless.seen) == 1000
    assert (tier.stats().terminal_stranded, tier.stats().depth) == (1, 0)


async def test_telling_stops_when_its_time_is_up_and_goes_on_at_the_next_turn() -> None:
    now = 0.0

    class Slow(Names):
        def on_emit(self, event: EmitSeen) -> None:
            nonlocal now
            now += 1
            super().on_emit(event)

    slow = Slow()
    tier, watch = tier_of(slow, lambda: now, flush_budget=0.002)
    for number in range(5):
        watch.tell(emitted(str(number)))

    seen: list[int] = []
    while len(tier):
        await asyncio.sleep(0)
        seen.append(len(slow.seen))

    assert seen == [2, 4, 5]
    stats = tier.stats()
    assert (stats.flushes, stats.budget_exhausted, stats.p95_flush_ms) == (3, 2, 2.0)
    assert (stats.per_listener["names"].total_ms, stats.per_listener["names"].last_flush_ms) == (5.0, 1.0)


async def test_no_more_async_hooks_are_started_than_may_wait() -> None:
    go = asyncio.Event()
    started: list[str] = []

    class Slow(Recorder):
        async def on_emit(self, event: EmitSeen) -> None:  # type: ignore[override]  deferred hooks may
            started.append(event.name)
            await go.wait()

    tier, watch = tier_of(Slow("slow"), max_queue=2)
    for number in range(3):
        watch.tell(emitted(str(number)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    assert started == ["0", "1"]
    assert tier.stats().depth == 1

    go.set()
    result = await tier.drain(None)

    assert started == ["0", "1", "2"]
    assert result == DrainResult(3, 0, 0)


async def test_what_waits_is_delivered_by_a_drain() -> None:
    names = Names()
    tier, watch = tier_of(names)
    watch.tell(emitted("a"))

    result = await tier.drain(0)

    assert names.seen == ["a"]
    assert result == DrainResult()


def test_hooks_of_a_loop_that_ended_are_counted_as_failed() -> None:
    forever: list[asyncio.Event] = []

    class Slow(Recorder):
        async def on_emit(self, event: EmitSeen) -> None:  # type: ignore[override]  deferred hooks may
            forever.append(asyncio.Event())
            await forever[0].wait()

    async def first() -> DeferredTier:
        tier, watch = tier_of(Slow("slow"))
        watch.tell(emitted("a"))
        await tier.finish()
        assert tier.stats().inflight == 1
        return tier

    tier = asyncio.run(first())

    assert tier.failures == {("slow", "on_emit"): 1}
    assert asyncio.run(tier.drain(None)) == DrainResult()


async def test_a_recorder_that_can_not_be_cleared_harms_nobody() -> None:
    class Stubborn(Names):
        def clear(self) -> None:
            raise RuntimeError("no")

    tier, watch = tier_of(Stubborn())

    watch.clear()

    assert tier.failures == {("names", "clear"): 1}


async def test_the_numbers_of_a_recorder_go_on_when_another_takes_its_id() -> None:
    tier, watch = tier_of(Names())
    watch.tell(emitted("a"))
    await tier.finish()

    tier.attach(Names(), {})
    Watch(tier.taps()).tell(emitted("b"))
    await tier.finish()

    assert tier.stats().per_listener["names"].events == 2


async def told_in_a_row(count: int, **options: Any) -> tuple[list[str], DeferredTier]:
    names = Names()
    tier, watch = tier_of(names, **options)
    for number in range(count):
        watch.tell(emitted(str(number)))
    await tier.finish()
    return names.seen, tier


async def test_a_full_queue_drops_the_oldest_and_counts_them() -> None:
    seen, tier = await told_in_a_row(10, max_queue=4)

    assert seen == ["6", "7", "8", "9"]
    assert (tier.stats().drops, tier.stats().depth) == (6, 0)


async def test_a_full_queue_that_blocks_tells_the_newcomer_at_once_and_loses_nothing() -> None:
    seen, tier = await told_in_a_row(4, max_queue=2, overflow="block")

    assert seen == ["2", "3", "0", "1"]
    assert (tier.stats().inline_deliveries, tier.stats().drops) == (2, 0)


async def test_a_full_queue_that_samples_keeps_one_of_many() -> None:
    seen, tier = await told_in_a_row(8, max_queue=1, overflow="sample", sample_every=3)

    assert seen == ["6"]
    assert tier.stats().drops == 7
