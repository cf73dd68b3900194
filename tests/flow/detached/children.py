"""Charts that the tests start apart; in a module, so that they go to another process."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

from agentfootprint.flow import (
    Chart,
    Executor,
    Flow,
    Stage,
    StageContext,
    State,
)

__all__ = ["DOUBLING", "FAILING", "LOUD", "WHO", "Gate", "parent"]

WHO: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")


def double(s: State, ctx: StageContext) -> int:
    s["doubled"] = ctx.args.n * 2
    return ctx.args.n * 2


def fail(s: State) -> None:
    raise ValueError("no")


class LoudError(Exception):
    """An exception that can't come back from a pickle."""

    def __init__(self, what: str, how: str) -> None:
        super().__init__(what)


def fail_loudly(s: State) -> None:
    raise LoudError("a", "b")


DOUBLING = Chart.of("Doubling", Stage(double, id="double")).build()
FAILING = Chart.of("Failing", Stage(fail, id="fail")).build()
LOUD = Chart.of("Loud", Stage(fail_loudly, id="fail")).build()


class Gate:
    """A stage function that waits until it is let through."""

    def __init__(self) -> None:
        self.open = asyncio.Event()

    async def __call__(self, s: State) -> str:
        await self.open.wait()
        return "through"

    def flow(self) -> Flow:
        async def wait(s: State) -> str:
            return await self(s)

        return Chart.of("Waiting", Stage(wait, id="wait")).build()


def parent(work: Any) -> Executor:
    return Chart.of("Parent", Stage(work, id="work")).build().executor()
