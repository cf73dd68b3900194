"""Tests of agentfootprint.flow.detached.starting."""

from __future__ import annotations

import asyncio
import gc
import re
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    CheckpointDriver,
    Detach,
    DetachArgumentError,
    DetachHandle,
    DrainResult,
    Flow,
    FlowError,
    ImmediateDriver,
    InputValidationError,
    Stage,
    StageContext,
    State,
    detach_and_forget,
    detach_and_join_later,
    flush_all_detached,
)
from agentfootprint.trace import FrozenDict
from tests.flow.detached.children import DOUBLING, FAILING, Gate, parent


async def test_a_stage_starts_a_child_and_somebody_waits_for_it_later() -> None:
    handles: list[DetachHandle] = []

    def work(s: State, ctx: StageContext) -> str:
        handles.append(ctx.detach_and_join_later(ImmediateDriver(), DOUBLING, {"n": 4}))
        return "went on"

    result = await parent(work).run()
    child = await handles[0].wait()

    assert result.value == "went on"
    assert child.value == 8
    assert handles[0].result is child
    assert child.state == FrozenDict({"doubled": 8})


async def test_a_child_is_a_run_of_its_own_and_in_nobodys_log() -> None:
    handles: list[DetachHandle] = []

    def work(s: State, ctx: StageContext) -> None:
        handles.append(ctx.detach_and_join_later(ImmediateDriver(), DOUBLING, {"n": 4}))

    result = await parent(work).run()
    child = await handles[0].wait()

    assert child.run_id != result.run_id
    assert [bundle.stage_id for bundle in result.snapshot().commit_log] == ["work"]
    assert [bundle.stage_id for bundle in child.snapshot().commit_log] == ["double"]
    assert result.state == FrozenDict({})


async def test_ids_name_the_starter_and_are_never_given_twice() -> None:
    handles: list[DetachHandle] = []

    def work(s: State, ctx: StageContext) -> None:
        handles.extend(ctx.detach_and_join_later(ImmediateDriver(), DOUBLING, {"n": 1}) for _ in range(2))

    executor = parent(work)
    await executor.run()
    handles.append(executor.detach_and_join_later(ImmediateDriver(), DOUBLING, {"n": 1}))
    await flush_all_detached()

    assert [re.sub(r"\d+$", "n", handle.id) for handle in handles] == [
        "work#0:detach:n",
        "work#0:detach:n",
        "__executor__:detach:n",
    ]
    assert len({handle.id.rpartition(":")[2] for handle in handles}) == 3


async def test_a_failed_child_that_nobody_waits_for_says_nothing() -> None:
    said: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context))

    for driver in (ImmediateDriver(), CheckpointDriver()):
        detach_and_forget(driver, FAILING)
    result = await flush_all_detached()
    gc.collect()
    await asyncio.sleep(0)

    assert result == DrainResult(0, 2, 0)
    assert said == []


async def test_an_unfinished_child_is_not_collected_on_its_way() -> None:
    gate = Gate()
    detach_and_forget(ImmediateDriver(), gate.flow())

    for _ in range(3):
        await asyncio.sleep(0)
        gc.collect()
    gate.open.set()

    assert await flush_all_detached() == DrainResult(1, 0, 0)


async def test_flushing_waits_for_what_is_started_meanwhile_too() -> None:
    def again(s: State, ctx: StageContext) -> None:
        ctx.detach_and_forget(CheckpointDriver(), DOUBLING, {"n": 1})

    detach_and_forget(CheckpointDriver(), Chart.of("Again", Stage(again, id="again")).build())

    assert await flush_all_detached(timeout=None) == DrainResult(2, 0, 0)
    assert await flush_all_detached() == DrainResult(0, 0, 0)


async def test_flushing_gives_up_when_its_time_is_up_and_says_what_is_left() -> None:
    gate = Gate()
    detach_and_forget(ImmediateDriver(), gate.flow())

    early = await flush_all_detached(timeout=0)
    gate.open.set()
    late = await flush_all_detached()

    assert early == DrainResult(0, 0, 1)
    assert late == DrainResult(1, 0, 0)


def test_what_is_no_driver_is_refused_by_what_it_is() -> None:
    for wrong, said in (
        (None, "a NoneType"),
        (DOUBLING, "a Flow"),
        (ImmediateDriver, "the class ImmediateDriver"),
    ):
        with pytest.raises(TypeError, match=rf"driver of a detached start is {said}\.") as caught:
            detach_and_join_later(wrong, DOUBLING)  # type: ignore[arg-type]
        assert isinstance(caught.value, FlowError)


def test_a_chart_that_was_not_built_is_refused() -> None:
    chart: Any = Chart.of("Raw")

    with pytest.raises(DetachArgumentError, match=r"child of a detached start is a Chart\. .*build\(\)"):
        detach_and_join_later(ImmediateDriver(), chart)
    with pytest.raises(DetachArgumentError, match=r"driver of a detached start is a NoneType"):
        Detach(None, DOUBLING)  # type: ignore[arg-type]


async def test_a_driver_that_returns_no_handle_is_named() -> None:
    class Broken:
        def schedule(self, child: Flow, input: Any, ref_id: str) -> Any:
            return None

    with pytest.raises(DetachArgumentError, match=r"gave a NoneType"):
        detach_and_join_later(Broken(), DOUBLING)


async def test_a_driver_of_ones_own_may_settle_the_handle_at_once() -> None:
    done = await DOUBLING.run({"n": 1})

    class Known:
        def schedule(self, child: Flow, input: Any, ref_id: str) -> DetachHandle:
            handle = DetachHandle(ref_id)
            handle.succeed(done)
            return handle

    handle = detach_and_join_later(Known(), DOUBLING)

    assert await handle.wait() is done
    assert await flush_all_detached() == DrainResult()


async def test_input_that_can_not_be_recorded_is_refused_before_anything_starts() -> None:
    with pytest.raises(InputValidationError, match=r"run's input"):
        detach_and_join_later(ImmediateDriver(), DOUBLING, {"n": {1}})
    with pytest.raises(InputValidationError, match=r"is a list, not an object"):
        detach_and_join_later(ImmediateDriver(), DOUBLING, [1])  # type: ignore[arg-type]

    assert await flush_all_detached() == DrainResult()


async def test_input_is_taken_as_it_is_when_the_child_is_started() -> None:
    handles: list[DetachHandle] = []

    def work(s: State, ctx: StageContext) -> None:
        s["inner"] = {"n": 5}
        handles.append(ctx.detach_and_join_later(CheckpointDriver(), DOUBLING, s["inner"]))
        s["inner"].n = 6

    await parent(work).run()

    assert (await handles[0].wait()).value == 10
