"""How long one candidate takes, what it records and what memory it needs: one process, one candidate, one length.

`python -m benchmarks.peers.measure NAME ITERATIONS SECONDS` prints the figures as JSON. A run that takes longer than
SECONDS is cut off and says how far it came. Peers' agents, graphs and scripts are made before the clock starts; ours
and the floors' while it runs. No candidate can reach a network: connecting raises.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import os
import resource
import socket
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import candidates
from benchmarks.peers.script import Script

if TYPE_CHECKING:
    from agentfootprint import RunResult

Run = Callable[[], Awaitable[object]]

WARM = 30
"""Iterations of the run before the first that counts."""
PATIENCE = 20.0
"""Seconds after which a run isn't repeated in the same process."""

PEERS: dict[str, tuple[str, str, str]] = {
    "LangGraph": ("benchmarks.peers.langgraph", "prepare", ""),
    "LangGraph, saved": ("benchmarks.peers.langgraph", "prepare_saved", "saved_bytes"),
    "pydantic-ai": ("benchmarks.peers.pydantic_ai", "prepare", "conversation_bytes"),
    "OpenAI Agents": ("benchmarks.peers.openai_agents", "prepare", "span_bytes"),
}
"""Module, what prepares a run, and what tells the bytes that it recorded."""
NAMES = (*candidates.CANDIDATES, *PEERS)


def saved_recording(result: RunResult) -> int:
    """Size of our recording, as it is saved."""
    with tempfile.TemporaryDirectory() as folder:
        return Path(result.recording.save(Path(folder) / "run.json")).stat().st_size


def find(name: str) -> tuple[Callable[[int], Run], Callable[[Any], int] | None]:
    """What prepares a run of this candidate, and what tells the bytes recorded."""
    if name in candidates.CANDIDATES:
        candidate = candidates.CANDIDATES[name]

        def prepare(iterations: int) -> Run:
            return lambda: candidate(iterations)

        return prepare, saved_recording if name == "agentfootprint" else None
    module, prepares, sizes = PEERS[name]
    loaded = importlib.import_module(module)
    return getattr(loaded, prepares), getattr(loaded, sizes) if sizes else None


def forbid_network() -> None:
    """Make every attempt to connect fail, and switch off what would try."""

    def refuse(*_: object, **__: object) -> object:
        raise AssertionError("A candidate tried to reach a network.")

    os.environ.update(LANGSMITH_TRACING="false", LANGCHAIN_TRACING_V2="false")
    socket.socket.connect = refuse  # type: ignore[method-assign]
    socket.socket.connect_ex = refuse  # type: ignore[method-assign]
    socket.getaddrinfo = refuse


def highest() -> int:
    """Bytes of memory that the process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def status(field: str) -> int:
    """A field of Linux's account of this process, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


class Memory:
    """What a run adds to the memory of the process, at its highest; known on Linux only."""

    def __init__(self) -> None:
        self.before: int | None = None
        try:
            # Forget the peak of the imports, which may be higher than anything that the run needs.
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
            self.before = status("VmRSS")
        except OSError:
            pass

    def added(self) -> int | None:
        """Bytes since this object was made."""
        return None if self.before is None else max(0, status("VmHWM") - self.before)


async def figures(name: str, iterations: int, limit: float) -> dict[str, Any]:
    """Warm up, then run until it has run often enough, or long enough, or too long."""
    prepare, size = find(name)
    await prepare(WARM)()
    gc.collect()
    repeats = 5 if iterations <= 200 else 2
    seconds, recorded, peak, added, begun = float("inf"), None, 0, None, time.perf_counter()
    for number in range(repeats):
        run = prepare(iterations)
        gc.collect()
        memory = Memory()
        started = time.perf_counter()
        try:
            async with asyncio.timeout(limit):
                kept = await run()
        except TimeoutError:
            reached = Script.latest.taken if Script.latest else 0
            return {"seconds": None, "reached": reached, "bytes": None, "peak": highest(), "added": memory.added()}
        seconds = min(seconds, time.perf_counter() - started)
        if number == 0:  # of one run: repeats leave fragments behind, and a recording is saved after it
            peak, added = highest(), memory.added()
            recorded = size(kept) if size else None
        del kept
        if time.perf_counter() - begun > PATIENCE:
            break
    return {
        "seconds": seconds / iterations,
        "reached": iterations,
        "bytes": recorded,
        "peak": peak,
        "added": added,
    }


if __name__ == "__main__":
    forbid_network()
    print(json.dumps(asyncio.run(figures(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))), flush=True)
    # What a cut run left behind (tasks, threads, gigabytes) isn't worth tidying.
    os._exit(0)
