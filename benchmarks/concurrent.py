"""How fast are many runs at once, against one run alone?

One agent, one event loop, everything recorded and kept; time is the processor's, since nothing waits. The figure is
iterations a second of all runs together, as a share of what runs one after the other reach: what being one of many
costs.
"""

from __future__ import annotations

import asyncio
import gc
import json
import statistics
import sys
import time

from agentfootprint import Agent, Limits, tool
from benchmarks import candidates

__all__ = ["share_of_single_rate"]


def _agent(iterations: int) -> Agent[object, str]:
    return Agent(
        candidates.script(iterations),
        system=candidates.SYSTEM,
        tools=[tool(candidates.lookup)],
        limits=Limits(iterations=iterations + 1),
    )


async def _single_rate(runs: int, iterations: int) -> float:
    """Iterations a second of runs one after the other, on the average, as it is for those that run together."""
    agent = _agent(iterations)
    await agent.run(candidates.QUESTION)
    gc.collect()
    started = time.process_time()
    for _ in range(runs):
        result = await agent.run(candidates.QUESTION)
        assert result.iterations == iterations
    return runs * iterations / (time.process_time() - started)


async def _concurrent_rate(runs: int, iterations: int) -> float:
    """Iterations a second of many runs that go on together, all results kept."""
    agent = _agent(iterations)
    await agent.run(candidates.QUESTION)
    gc.collect()
    started = time.process_time()
    results = await asyncio.gather(*(agent.run(candidates.QUESTION) for _ in range(runs)))
    elapsed = time.process_time() - started
    assert all(result.iterations == iterations for result in results)
    return runs * iterations / elapsed


def share_of_single_rate(runs: int = 1000, iterations: int = 20, *, rounds: int = 5) -> float:
    """The rate of `runs` runs at once over that of one alone; 1.0 says that company costs nothing.

    Args:
        runs: How many are in flight.
        iterations: Of each.
        rounds: How often both are measured, in turn; the median share counts.
    """
    shares: list[float] = []
    for _ in range(rounds):
        alone = asyncio.run(_single_rate(max(50, runs // 5), iterations))
        together = asyncio.run(_concurrent_rate(runs, iterations))
        shares.append(together / alone)
    return statistics.median(shares)


if __name__ == "__main__":
    print(json.dumps(share_of_single_rate(*map(int, sys.argv[1:]))))
