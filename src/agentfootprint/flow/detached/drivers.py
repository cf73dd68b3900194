"""When and where a detached child runs: at once, at the next checkpoint, after a delay, in a pool (FLOW-DET-4).

Every driver copies the context variables of the starter as they are at the start, except across processes. A child
that runs in the starter's event loop ends with that loop: `run_sync` ends its own when the run is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import pickle
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor as Pool
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from agentfootprint.errors import ConfigError
from agentfootprint.flow.detached.ending import DetachHandle
from agentfootprint.flow.errors import DetachCancelledError, DetachEnvironmentError, DetachFailedError
from agentfootprint.trace import thaw

if TYPE_CHECKING:
    from agentfootprint.flow.executor import Flow
    from agentfootprint.flow.result import FlowResult

__all__ = [
    "CheckpointDriver",
    "DetachCapabilities",
    "DetachDriver",
    "ImmediateDriver",
    "PoolDriver",
    "TimerDriver",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DetachCapabilities:
    """What can be relied on with a driver."""

    needs_event_loop: bool
    """Whether the child runs in the starter's event loop, and ends with it."""
    delays: bool = False
    """Whether it may run a good while after it was started."""
    parallel: bool = False
    """Whether it may use another processor than the starter."""


@runtime_checkable
class DetachDriver(Protocol):
    """Starts detached children. `validate()`, which may refuse the environment, and `capabilities` are optional."""

    def schedule(self, child: Flow, input: Mapping[str, Any], ref_id: str) -> DetachHandle:
        """Start a child, now or later.

        Args:
            child: The built chart; it makes a run of its own.
            input: Of that run; nobody can change it.
            ref_id: For the handle, which is told when the child begins and how it ends.
        """
        ...


_IN_LOOP: Final = DetachCapabilities(needs_event_loop=True)


class _LoopDriver:
    """What drivers have in common whose children run in the starter's event loop."""

    name = ""
    capabilities = _IN_LOOP

    def validate(self) -> None:
        """Refuse to start where no event loop runs.

        Raises:
            DetachEnvironmentError: None does.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            raise DetachEnvironmentError(
                f"The driver {self.name!r} runs children in the event loop, and none is running here.",
                fix="Start it from a stage or from async code, or use a PoolDriver.",
            ) from None

    def _start(
        self, child: Flow, input: Mapping[str, Any], ref_id: str, first: Callable[[], Awaitable[object]] | None = None
    ) -> DetachHandle:
        handle = DetachHandle(ref_id)
        task = asyncio.get_running_loop().create_task(_run_here(handle.begin, child, input, first), name=ref_id)
        handle.hold(task)
        task.add_done_callback(functools.partial(_task_ended, handle))
        return handle


async def _run_here(
    begin: Callable[[], None], child: Flow, input: Mapping[str, Any], first: Callable[[], Awaitable[object]] | None
) -> FlowResult:
    if first is not None:
        await first()
    begin()
    del begin  # a failure keeps this frame, and must not lead back to the handle that keeps the failure
    return await child.run(input)


def _task_ended(handle: DetachHandle, task: asyncio.Task[FlowResult]) -> None:
    error = None if task.cancelled() else task.exception()
    if task.cancelled():
        handle.fail(DetachCancelledError(handle.id))
    elif error is not None:
        handle.fail(error)
    else:
        handle.succeed(task.result())


class ImmediateDriver(_LoopDriver):
    """Starts the child at once, beside what is running: it takes its first step when the starter first waits."""

    name = "immediate"

    def schedule(self, child: Flow, input: Mapping[str, Any], ref_id: str) -> DetachHandle:
        """Start it; see `DetachDriver`."""
        handle = self._start(child, input, ref_id)
        handle.begin()
        return handle


class CheckpointDriver(_LoopDriver):
    """Starts all children of one turn of the event loop together, in order, at its next turn."""

    name = "checkpoint"

    def schedule(self, child: Flow, input: Mapping[str, Any], ref_id: str) -> DetachHandle:
        """Start it; see `DetachDriver`."""
        return self._start(child, input, ref_id)


class TimerDriver(_LoopDriver):
    """Starts the child after a delay.

    Args:
        delay: Seconds, from 0 on.
        sleep: What waits that long; for tests.

    Raises:
        ConfigError: `delay` is negative.
    """

    name = "timer"
    capabilities = DetachCapabilities(needs_event_loop=True, delays=True)

    def __init__(self, delay: float, *, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
        if not delay >= 0:
            raise ConfigError("TimerDriver.delay", f"The delay of a TimerDriver is {delay!r}.", fix="Give seconds.")
        self.delay = delay
        self._sleep = sleep

    def schedule(self, child: Flow, input: Mapping[str, Any], ref_id: str) -> DetachHandle:
        """Start it; see `DetachDriver`."""
        return self._start(child, input, ref_id, functools.partial(self._sleep, self.delay))


class PoolDriver:
    """Runs the child in a pool of threads or processes, in an event loop of its own.

    A pool of processes gets the chart, the input and the result as pickles, and no context variables.

    Args:
        pool: A `concurrent.futures` executor; it stays yours, to shut down.
    """

    name = "pool"
    capabilities = DetachCapabilities(needs_event_loop=False, delays=True, parallel=True)

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def schedule(self, child: Flow, input: Mapping[str, Any], ref_id: str) -> DetachHandle:
        """Start it; see `DetachDriver`.

        Raises:
            DetachEnvironmentError: The pool is shut down.
        """
        handle = DetachHandle(ref_id)
        try:
            if isinstance(self._pool, ThreadPoolExecutor):
                context = contextvars.copy_context()
                future = self._pool.submit(context.run, _run_in_thread, handle.begin, child, input)
            else:
                future = self._pool.submit(_run_in_process, child, thaw(input))
                handle.begin()
        except RuntimeError as refused:
            raise DetachEnvironmentError(
                "The pool of the driver 'pool' takes no work any more.", fix="Detach before you shut it down."
            ) from refused
        handle.hold(future)
        future.add_done_callback(functools.partial(_future_ended, handle))
        return handle


def _run_in_thread(begin: Callable[[], None], child: Flow, input: Mapping[str, Any]) -> FlowResult:
    begin()
    del begin  # as in `_run_here`
    return child.run_sync(input)


def _run_in_process(child: Flow, input: dict[str, Any]) -> FlowResult:
    try:
        return child.run_sync(input)
    except Exception as error:
        with contextlib.suppress(AttributeError):
            del error.footprint  # type: ignore[attr-defined]  the run's record stays where the run was
        if not _travels(error):
            raise DetachFailedError(type(error).__name__) from None
        raise


def _travels(error: Exception) -> bool:
    """Whether an exception survives the way between processes; one that doesn't would break the pool."""
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)  # noqa: S301  made here
    except Exception:  # noqa: BLE001  a user's exception may do anything when it is pickled
        return False


def _future_ended(handle: DetachHandle, future: Future[FlowResult]) -> None:
    if future.cancelled():
        handle.fail(DetachCancelledError(handle.id))
        return
    error = future.exception()
    if error is not None:
        handle.fail(error)
    else:
        handle.succeed(future.result())
