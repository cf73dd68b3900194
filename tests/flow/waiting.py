"""A stage that fails some times, and the waits between its attempts without waiting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agentfootprint.flow import Chart, FlowRun, Handle, RetryPolicy
from tests.flow.charts import raw

__all__ = ["Waits", "retried"]


class Waits:
    """Stands in for `asyncio.sleep`: keeps what it was asked for, and lets others have their turn.

    Args:
        sleep: The real one.
    """

    def __init__(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._sleep = sleep
        self.seconds: list[float] = []

    async def __call__(self, delay: float, result: object = None) -> None:
        self.seconds.append(delay)
        await self._sleep(0)


async def retried(policy: RetryPolicy, *, failures: int) -> tuple[Exception | None, int]:
    """Run a stage that fails so often; gives the error that got through, and how often it was called."""
    calls = 0

    def flaky(h: Handle) -> None:
        nonlocal calls
        calls += 1
        if calls <= failures:
            raise ValueError(f"failure {calls}")

    try:
        await FlowRun(Chart.of("Retry", raw("flaky", flaky, retry=policy)).build()).start()
    except ValueError as error:
        return error, calls
    return None, calls
