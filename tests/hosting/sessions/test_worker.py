"""Tests of agentfootprint.hosting.sessions.worker."""

from __future__ import annotations

import asyncio
import threading

import pytest

from agentfootprint.hosting.sessions.worker import OneThread


async def test_work_is_done_in_order_on_one_thread() -> None:
    worker, done = OneThread("test"), list[tuple[int, int]]()

    await asyncio.gather(*(worker.run(lambda n=n: done.append((n, threading.get_ident()))) for n in range(20)))
    await worker.finish(lambda: None)

    assert [n for n, _ in done] == list(range(20))
    assert len({thread for _, thread in done}) == 1
    assert done[0][1] != threading.get_ident()


async def test_what_is_cancelled_before_its_turn_is_not_done() -> None:
    worker, gate, done = OneThread("test"), threading.Event(), list[str]()
    first = asyncio.create_task(worker.run(gate.wait))
    second = asyncio.create_task(worker.run(lambda: done.append("second")))
    await asyncio.sleep(0)

    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.set()
    await first
    await worker.run(lambda: done.append("third"))
    await worker.finish(lambda: None)

    assert done == ["third"]


async def test_an_error_of_the_work_is_the_callers() -> None:
    worker = OneThread("test")

    with pytest.raises(ZeroDivisionError):
        await worker.run(lambda: 1 // 0)
    await worker.finish(lambda: None)


async def test_the_last_work_is_done_though_its_caller_is_cancelled() -> None:
    worker, gate, done = OneThread("test"), threading.Event(), threading.Event()
    first = asyncio.create_task(worker.run(gate.wait))
    await asyncio.sleep(0)
    last = asyncio.create_task(worker.finish(done.set))
    await asyncio.sleep(0)

    last.cancel()
    with pytest.raises(asyncio.CancelledError):
        await last
    gate.set()
    await first

    assert await asyncio.to_thread(done.wait, 5)
