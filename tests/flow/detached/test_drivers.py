"""Tests of agentfootprint.flow.detached.drivers."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.flow import (
    Chart,
    CheckpointDriver,
    DetachCancelledError,
    DetachDriver,
    DetachEnvironmentError,
    DetachFailedError,
    DetachHandle,
    DrainResult,
    ImmediateDriver,
    PoolDriver,
    Stage,
    StageContext,
    State,
    TimerDriver,
    detach_and_forget,
    detach_and_join_later,
    flush_all_detached,
)
from tests.flow.detached.children import DOUBLING, FAILING, LOUD, WHO, Gate


async def test_children_of_one_turn_begin_together_at_the_next_checkpoint() -> None:
    order: list[str] = []

    def begin(s: State, ctx: StageContext) -> None:
        order.append(ctx.args.name)

    flow = Chart.of("Order", Stage(begin, id="begin")).build()
    driver = CheckpointDriver()
    for name in ("a", "b"):
        detach_and_forget(driver, flow, {"name": name})
    order.append("starter")

    await flush_all_detached()

    assert order == ["starter", "a", "b"]


async def test_a_timer_waits_as_long_as_it_was_told() -> None:
    delays: list[float] = []
    due = asyncio.Event()

    async def sleep(delay: float) -> None:
        delays.append(delay)
        await due.wait()

    handle = detach_and_join_later(TimerDriver(30.0, sleep=sleep), DOUBLING, {"n": 2})
    await asyncio.sleep(0)
    assert (delays, handle.status) == ([30.0], "queued")

    due.set()

    assert (await handle.wait()).value == 4


def test_a_timer_that_goes_back_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"-1") as caught:
        TimerDriver(-1)

    assert caught.value.option == "TimerDriver.delay"


@pytest.mark.parametrize("driver", [ImmediateDriver(), CheckpointDriver(), TimerDriver(0)])
async def test_a_child_sees_the_context_of_its_starter_and_not_the_other_way(driver: DetachDriver) -> None:
    seen: list[str] = []

    def look(s: State) -> None:
        seen.append(WHO.get())
        WHO.set("child")

    WHO.set("starter")
    handle = detach_and_join_later(driver, Chart.of("Look", Stage(look, id="look")).build())
    WHO.set("later")
    await handle.wait()

    assert seen == ["starter"]
    assert WHO.get() == "later"


async def test_a_pool_of_threads_runs_the_child_on_one_of_them_with_the_context() -> None:
    def look(s: State) -> tuple[str, int]:
        return WHO.get(), threading.get_ident()

    WHO.set("starter")
    with ThreadPoolExecutor(1) as pool:
        handle = detach_and_join_later(PoolDriver(pool), Chart.of("Look", Stage(look, id="look")).build())

        who, thread = (await handle.wait()).value

    assert who == "starter"
    assert thread != threading.get_ident()


async def test_a_failure_in_a_pool_of_threads_arrives() -> None:
    with ThreadPoolExecutor(1) as pool:
        handle = detach_and_join_later(PoolDriver(pool), FAILING)

        with pytest.raises(ValueError, match="no"):
            await handle.wait()


def test_a_pool_needs_no_event_loop_to_start_a_child() -> None:
    with ThreadPoolExecutor(1) as pool:
        handle = detach_and_join_later(PoolDriver(pool), DOUBLING, {"n": 3})

        assert asyncio.run(handle.wait()).value == 6


def test_a_pool_of_processes_runs_the_child_in_one_and_brings_its_result_back() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        done = detach_and_join_later(PoolDriver(pool), DOUBLING, {"n": 3})
        failed = detach_and_join_later(PoolDriver(pool), FAILING)
        loud = detach_and_join_later(PoolDriver(pool), LOUD)
        asyncio.run(flush_all_detached())

    assert done.result is not None
    assert (done.result.value, done.result.state["doubled"]) == (6, 6)
    assert [bundle.stage_id for bundle in done.result.snapshot().commit_log] == ["double"]
    assert repr(failed.error) == "ValueError('no')"
    assert isinstance(loud.error, DetachFailedError)
    assert loud.error.name == "LoudError"


def test_a_pool_that_is_shut_down_is_refused() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()

    with pytest.raises(DetachEnvironmentError, match=r"takes no work any more"):
        detach_and_forget(PoolDriver(pool), DOUBLING)


@pytest.mark.parametrize("driver", [ImmediateDriver(), CheckpointDriver(), TimerDriver(0)])
def test_a_driver_that_needs_an_event_loop_refuses_where_there_is_none(driver: DetachDriver) -> None:
    with pytest.raises(DetachEnvironmentError, match=r"none is running here"):
        detach_and_forget(driver, DOUBLING)


def test_a_child_that_its_event_loop_left_behind_says_so() -> None:
    async def start() -> list[DetachHandle]:
        forever = Gate()
        drivers = (ImmediateDriver(), CheckpointDriver(), TimerDriver(1000))
        return [detach_and_join_later(driver, forever.flow()) for driver in drivers]

    handles = asyncio.run(start())

    for handle in handles:
        with pytest.raises(DetachCancelledError, match=r"PoolDriver"):
            asyncio.run(handle.wait())
    assert asyncio.run(flush_all_detached()) == DrainResult()
