"""How a child chart is started apart from what runs, and how a program waits for all that were (FLOW-DET-1, 3, 5).

A child is a run of its own: own executor, own id, in nobody's log or checkpoint. Those that have not ended are held
here, so that none is collected on its way.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint.flow.detached.drivers import DetachDriver
from agentfootprint.flow.detached.ending import DetachHandle
from agentfootprint.flow.draining import DrainResult
from agentfootprint.flow.errors import DetachArgumentError
from agentfootprint.flow.given import object_given

if TYPE_CHECKING:
    from agentfootprint.flow.executor import Flow

__all__ = ["EXECUTOR", "check_detachable", "detach_and_forget", "detach_and_join_later", "flush_all_detached"]

EXECUTOR: Final = "__executor__"
"""Where a child comes from that no stage started."""

_numbers = itertools.count(1)
_unfinished: Final[set[DetachHandle]] = set()
_flushing: Final[list[list[str]]] = []
"""For each flush that waits now, how those ended that ended meanwhile."""
_lock = threading.Lock()


def detach_and_join_later(
    driver: DetachDriver, child: Flow, input: Mapping[str, Any] | None = None, *, origin: str = EXECUTOR
) -> DetachHandle:
    """Start a chart apart from what runs now, and go on.

    Args:
        driver: When and where it runs.
        child: The built chart.
        input: Of its run; taken as it is now.
        origin: The execution it comes from, for its id.

    Returns:
        Its handle; `await handle.wait()` gives how it ended.

    Raises:
        DetachArgumentError: `driver` is no driver, or `child` no built chart.
        DetachEnvironmentError: The driver can't start anything here.
        InputValidationError: `input` is no object of JSON values.
    """
    check_detachable(driver, child)
    given = cast("Mapping[str, Any]", object_given("input", input))
    validate = getattr(driver, "validate", None)
    if callable(validate):
        validate()
    handle = driver.schedule(child, given, f"{origin}:detach:{next(_numbers)}")
    if not isinstance(handle, DetachHandle):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
        raise DetachArgumentError("driver", handle, "gave", fix="Let its `schedule` return a DetachHandle.")
    with _lock:
        _unfinished.add(handle)
    handle.when_settled(_finished)
    return handle


def detach_and_forget(
    driver: DetachDriver, child: Flow, input: Mapping[str, Any] | None = None, *, origin: str = EXECUTOR
) -> None:
    """Start a chart apart from what runs now; how it ends is nobody's business. As `detach_and_join_later`."""
    detach_and_join_later(driver, child, input, origin=origin)


async def flush_all_detached(*, timeout: float | None = 30.0) -> DrainResult:  # noqa: ASYNC109  the caller's option
    """Wait until every detached child of this process has ended, those started meanwhile too.

    Args:
        timeout: Seconds to wait at most; None waits as long as it takes.

    Returns:
        How many ended well while it waited, failed, or have not ended.
    """
    ends: list[str] = []
    with _lock:
        _flushing.append(ends)
    try:
        async with asyncio.timeout(timeout):
            while left := _left():
                for handle in left:
                    await handle.settled()
    except TimeoutError:
        pass
    finally:
        with _lock:
            _flushing[:] = [other for other in _flushing if other is not ends]
    return DrainResult(ends.count("done"), ends.count("failed"), len(_left()))


def _left() -> list[DetachHandle]:
    with _lock:
        return list(_unfinished)


def _finished(handle: DetachHandle) -> None:
    with _lock:
        _unfinished.discard(handle)
        for ends in _flushing:
            ends.append(handle.status)


def check_detachable(driver: object, child: object) -> None:
    """Refuse what is no driver, or no built chart (FLOW-DET-1).

    Raises:
        DetachArgumentError: One of them is not.
    """
    if isinstance(driver, type) or not callable(getattr(driver, "schedule", None)):
        raise DetachArgumentError("driver", driver, "is", fix="Give a driver first, for example ImmediateDriver().")
    if isinstance(child, type) or not (callable(getattr(child, "run", None)) and hasattr(child, "run_sync")):
        raise DetachArgumentError("child", child, "is", fix="Give a built chart: `chart.build()`.")
