"""What do ten listeners cost a run, against none?

One agent with everything recorded; the listeners hear every event and do nothing, so that what is measured is the way
to them. Time is the processor's, since nothing waits.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from typing import Any

from agentfootprint import Agent, Limits, tool
from agentfootprint.events import Event
from benchmarks import candidates

__all__ = ["times_unobserved"]


def _ignore(_event: Event[Any]) -> None:
    return None


def _agent(iterations: int, observers: int) -> Agent[object, str]:
    agent = Agent(
        candidates.script(iterations),
        system=candidates.SYSTEM,
        tools=[tool(candidates.lookup)],
        limits=Limits(iterations=iterations + 1),
    )
    for _ in range(observers):
        agent.on("*", _ignore)
    return agent


async def _seconds(agent: Agent[object, str]) -> float:
    gc.collect()
    started = time.process_time()
    await agent.run(candidates.QUESTION)
    return time.process_time() - started


def times_unobserved(observers: int = 10, iterations: int = 200, *, rounds: int = 15) -> float:
    """The time of a run that `observers` listeners hear, over that of one that nobody hears; minima of the rounds.

    Args:
        observers: How many listen to `*`.
        iterations: Of each run.
        rounds: How often both are measured, in turn.
    """
    alone, heard = _agent(iterations, 0), _agent(iterations, observers)

    async def both() -> float:
        await _seconds(alone), await _seconds(heard)
        pairs = [(await _seconds(alone), await _seconds(heard)) for _ in range(rounds)]
        return min(pair[1] for pair in pairs) / min(pair[0] for pair in pairs)

    return asyncio.run(both())


if __name__ == "__main__":
    print(json.dumps(times_unobserved(*map(int, sys.argv[1:]))))
