"""Tests of agentfootprint.flow.detached.ending."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest

from agentfootprint.flow import (
    CheckpointDriver,
    ImmediateDriver,
    detach_and_join_later,
)
from tests.flow.detached.children import FAILING, Gate


async def test_a_handle_goes_from_queued_over_running_to_done_and_stays_there() -> None:
    gate = Gate()
    handle = detach_and_join_later(CheckpointDriver(), gate.flow())
    seen: list[str] = [handle.status]

    await asyncio.sleep(0)
    seen.append(handle.status)
    gate.open.set()
    child = await handle.wait()
    seen.append(handle.status)
    handle.fail(ValueError("late"))
    handle.begin()

    assert seen == ["queued", "running", "done"]
    assert (handle.status, handle.error) == ("done", None)
    assert await handle.wait() is child
    assert await handle.wait() is child


async def test_any_number_may_wait_and_one_who_stops_waiting_harms_nobody() -> None:
    gate = Gate()
    handle = detach_and_join_later(ImmediateDriver(), gate.flow())
    impatient = asyncio.create_task(handle.wait())
    patient = [asyncio.create_task(handle.wait()) for _ in range(3)]
    await asyncio.sleep(0)

    impatient.cancel()
    await asyncio.sleep(0)
    gate.open.set()

    assert {id(result) for result in await asyncio.gather(*patient)} == {id(handle.result)}
    assert impatient.cancelled()


async def test_a_failed_child_raises_for_who_waits() -> None:
    handle = detach_and_join_later(ImmediateDriver(), FAILING)

    with pytest.raises(ValueError, match="no"):
        await handle.wait()

    assert (handle.status, handle.result) == ("failed", None)
    assert isinstance(handle.error, ValueError)


async def test_a_failed_child_keeps_no_cycle() -> None:
    handle = detach_and_join_later(ImmediateDriver(), FAILING)
    await handle.settled()
    gc.collect()
    gc.disable()
    try:
        gone = weakref.ref(handle)
        del handle
        await asyncio.sleep(0)

        assert gone() is None
    finally:
        gc.enable()
