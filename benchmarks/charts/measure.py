"""One candidate, one shape, one process: `python -m benchmarks.charts.measure SHAPE NAME SIZE SECONDS`, as JSON."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks import candidates
from benchmarks.charts import ours
from benchmarks.charts.shapes import MARKS

Run = Callable[[], Awaitable[Any]]
PATIENCE = 8.0
"""Seconds after which a run isn't repeated in the same process."""
PEERS = ("LangGraph", "LangGraph, saved", "Burr", "Burr, tracked")


def prepared(shape: str, name: str, size: int) -> Run:
    """A run, ready to start; peers' graphs are compiled before the clock starts, ours are built before it too."""
    if shape == "floor":
        return lambda: candidates.CANDIDATES[name](size)
    if name in PEERS:
        saved = "," in name
        if name.startswith("LangGraph"):
            from benchmarks.charts import langgraph as peer
        else:
            from benchmarks.charts import burr as peer
        return getattr(peer, shape)(size, saved=saved)
    if shape == "chain":
        return ours.CHAINS[name](size)
    return ours.looped(size) if shape == "loop" else ours.small(size)


async def once(shape: str, name: str, size: int, run: Run) -> object:
    """One measured go: a run, or for `runs` so many at once."""
    if shape != "runs":
        return await run()
    if name == "one after another":
        return [await run() for _ in range(size)]
    return await asyncio.gather(*(run() for _ in range(size)))


async def figures(shape: str, name: str, size: int, limit: float) -> dict[str, Any]:
    """Warm up, then run until it has run often enough, or long enough, or too long."""
    warm = min(size, 30)
    MARKS.begin(max(warm, 10))
    await once(shape, name, warm, prepared(shape, name, warm))
    best, growth, begun = float("inf"), None, time.perf_counter()
    for _ in range(5):
        run = prepared(shape, name, size)
        MARKS.begin(size)
        gc.collect()
        started = time.perf_counter()
        try:
            async with asyncio.timeout(limit):
                kept = await once(shape, name, size, run)
        except TimeoutError:
            return {"seconds": None, "growth": None}
        taken = time.perf_counter() - started
        if taken < best:
            best, growth = taken, MARKS.growth()
        del kept
        if time.perf_counter() - begun > PATIENCE:
            break
    return {"seconds": best / size, "growth": growth}


if __name__ == "__main__":
    shape, name, size, limit = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    print(json.dumps(asyncio.run(figures(shape, name, size, limit))), flush=True)
    os._exit(0)
