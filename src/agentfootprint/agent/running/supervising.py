"""How is a run stopped, so that nothing of it goes on, and nobody waits for ever for what can't be stopped?

A run is one task inside the task that asked for it. Whatever stops it (its caller, its handle, its deadline) cancels
that task and waits for it, for so long as calls may take to stop; what goes on regardless is left behind (AGT-114).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["Overdue", "supervised", "to_the_end"]

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Overdue(Exception):  # noqa: N818  it never leaves the loop, which says it in the run's words
    """The time is up, and what was supervised has been stopped."""


async def supervised(
    work: Coroutine[Any, Any, T],
    *,
    name: str,
    seconds: float | None,
    grace: float,
    on_stop: Callable[[], object],
    on_left: Callable[[], object],
) -> T:
    """Run something to its end, to its deadline, or until the caller is cancelled.

    Args:
        work: What runs.
        name: For the log.
        seconds: How long it may take; `None`: as long as it does.
        grace: Seconds that it may take to stop.
        on_stop: Called when it is to stop, before it is cancelled.
        on_left: Called when it did not stop in time.

    Returns:
        What it gives.

    Raises:
        Overdue: It took longer than `seconds`.
        asyncio.CancelledError: The caller was cancelled; or the work cancelled itself.
    """
    task = asyncio.create_task(work, name=name)
    try:
        try:
            if seconds is None:
                await _ended(task)
            else:
                await asyncio.wait((task,), timeout=seconds)
        except asyncio.CancelledError:
            on_stop()
            await _stop(task, name, grace, on_left)
            raise
        if task.done():
            return task.result()
        on_stop()
        if await _stop(task, name, grace, on_left):
            raise asyncio.CancelledError
        raise Overdue
    finally:
        del task  # what it raised holds this frame


async def _ended(task: asyncio.Task[Any]) -> None:
    """Wait until a task has ended; a cancellation leaves it as it is. What `asyncio.wait` does of one, at less cost."""
    waiter = asyncio.get_running_loop().create_future()

    def tell(_: asyncio.Task[Any]) -> None:
        if not waiter.done():
            waiter.set_result(None)

    task.add_done_callback(tell)
    await waiter


async def _stop(task: asyncio.Task[Any], name: str, grace: float, on_left: Callable[[], object]) -> bool:
    """Cancel a task and wait for it; gives whether the caller was cancelled meanwhile, and must raise it."""
    task.cancel()
    loop = asyncio.get_running_loop()
    end = loop.time() + grace
    cancelled = False
    while not task.done() and loop.time() < end:
        try:
            await asyncio.wait((task,), timeout=end - loop.time())
        except asyncio.CancelledError:
            cancelled = True
    if task.done():
        _retrieve(task)
    else:
        _log.warning("The run %s did not stop within %g s; what still runs of it was left behind.", name, grace)
        on_left()
        task.add_done_callback(_report)
    return cancelled


async def to_the_end(work: Coroutine[Any, Any, object]) -> None:
    """Run something that must not be left half done, and is bounded by itself: a cancellation waits until it is over.

    Raises:
        asyncio.CancelledError: The caller was cancelled meanwhile.
    """
    task = asyncio.create_task(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError


def _retrieve(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()  # looked at, so that nobody reports it as lost


def _report(task: asyncio.Task[Any]) -> None:
    _retrieve(task)
    _log.warning("What was left behind of the run %s has ended; its result was discarded.", task.get_name())
