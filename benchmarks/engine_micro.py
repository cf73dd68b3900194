"""What the engine itself costs: the agent's chart with trivial bodies, and with reads and writes, beside bare loops.

Run it: `python -m benchmarks.engine_micro [iterations]`. Candidates alternate, so that a busy machine disturbs them
alike; the smallest of the rounds counts. Printed are microseconds an iteration and a stage execution, the collector's
share, and the objects that the cyclic collector must look at for each iteration that is kept.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Callable
from typing import Any

from agentfootprint.flow import Chart, Decider, Flow, FlowRun, Handle, Pausable, Selector, Stage, Subflow

STAGES = 22
"""Stage executions of one iteration."""
ROUNDS = 9
KEYS = 40

Body = Callable[[Handle], Any]


def nothing(h: Handle) -> None:
    """The body of a stage that does nothing."""


async def nothing_async(h: Handle) -> None:
    """The same, as a coroutine function that never suspends."""


def working(*reads: str, write: str = "", append: str = "") -> Body:
    """A body with so many reads and writes."""

    def body(h: Handle) -> None:
        for key in reads:
            h[key]
        if write:
            h[write] = h.index
        if append:
            h.append(append, [h.index])

    return body


def agent_chart(iterations: int, *, work: bool) -> Flow:  # noqa: C901  one function a stage
    """The shape of the agent's chart: 22 executions an iteration, 6 mounts, three of them in a selector."""
    bodies: dict[str, Body] = {}
    if work:
        bodies = {
            "gather": working("k0", "k1", "k2", "k3", write="g"),
            "evaluate": working("k0", "k1", "g", "k4", write="k5"),
            "route": working("k0", "k5", "k2"),
            "delta": working("k5", "k1", write="k6"),
            "compose": working("k0", "k1", "k2", write="k7"),
            "discover": working("k3", "k4", write="k8"),
            "call-llm": working("k0", "k1", "k2", "k3", "k4", "k5", "k6", write="k9"),
            "tool-calls": working("k9", "k10", "k11", append="history"),
        }

    def stage(name: str) -> Stage:
        return Stage(bodies.get(name, nothing), id=name, raw=True)

    def seed(h: Handle) -> None:
        for n in range(KEYS):
            h[f"k{n}"] = n
        h["history"] = []

    def route(h: Handle) -> str:
        return "tool-calls" if h.run.visits[h.info.number] <= iterations else "final"

    def end(h: Handle) -> None:
        h.break_()

    def unmarked(_: Handle) -> str:
        return "no-markers"

    def every_slot(_: Handle) -> tuple[str, ...]:
        return slots

    def answered(_: Handle, __: object) -> None:
        """Nothing pauses here."""

    keys = tuple(f"k{n}" for n in range(5))
    mapped: dict[str, Any] = {"input": keys, "output": keys, "array_merge": "replace-all", "inputs": "mutable"}
    engine = Chart.of("Injection engine", stage("gather"), stage("evaluate"), stage("route"), stage("delta"))
    slot = Chart.of("Slot", stage("compose"))
    tools = Chart.of("Tools", stage("discover"), stage("compose"))
    gate = Decider(unmarked, [stage("no-markers"), stage("apply-markers")], id="cache-gate", raw=True)
    cache = Chart.of("Cache", stage("decide-cache-markers"), gate)
    thinking = Chart.of("Thinking", stage("thinking-mock"))
    final = Chart.of("Final", stage("prepare-final"), Stage(end, id="break-final", raw=True))
    slots = ("sf-system-prompt", "sf-messages", "sf-tools")
    call = bodies.get("call-llm", nothing)
    batch = bodies.get("tool-calls", nothing)

    async def call_llm(h: Handle) -> None:
        call(h)

    async def tool_calls(h: Handle) -> None:
        batch(h)

    return Chart.of(
        "Agent",
        Stage(seed, id="seed", raw=True),
        Subflow(engine, id="sf-injection-engine", **mapped),
        Selector(
            every_slot,
            [Subflow(chart, id=name, **mapped) for name, chart in zip(slots, (slot, slot, tools), strict=True)],
            id="context",
            raw=True,
            fail_fast=True,
        ),
        Subflow(cache, id="sf-cache", **mapped),
        Stage(call_llm, id="call-llm", raw=True),
        Subflow(thinking, id="sf-thinking", **mapped),
        Decider(
            route,
            [
                Pausable(tool_calls, answered, id="tool-calls", raw=True, loop_to="sf-injection-engine"),
                Subflow(final, id="final", propagate_break=True),
            ],
            id="sf-route",
            raw=True,
            default="final",
        ),
    ).build()


def run_engine(iterations: int, *, work: bool) -> tuple[float, FlowRun]:
    """Seconds for so many iterations, and the run."""
    run = FlowRun(agent_chart(iterations, work=work), max_iterations=iterations + 1)

    async def timed() -> float:
        begun = time.perf_counter()
        await run.start()
        return time.perf_counter() - begun

    return asyncio.run(timed()), run


def run_bare(iterations: int) -> float:
    """Seconds for a loop that calls two coroutine functions an iteration and keeps nothing."""

    async def loop() -> float:
        begun = time.perf_counter()
        for n in range(iterations):
            await nothing_async(n)  # pyright: ignore[reportArgumentType]  only its cost counts
            await nothing_async(n)  # pyright: ignore[reportArgumentType]
        return time.perf_counter() - begun

    return asyncio.run(loop())


def run_recorded(iterations: int) -> float:
    """Seconds for a loop that appends 20 small records and 8 commits an iteration."""

    async def loop() -> float:
        begun = time.perf_counter()
        rows: list[dict[str, Any]] = []
        state: dict[str, Any] = {f"k{n}": n for n in range(KEYS)}
        for n in range(iterations):
            await nothing_async(n)  # pyright: ignore[reportArgumentType]  only its cost counts
            for k in range(20):
                rows.append({"type": "event", "index": n, "dt": time.perf_counter_ns(), "payload": k})  # noqa: PERF401
            for _ in range(8):
                state = {**state, "k1": n}
                rows.append({"index": n, "writes": {"k1": n}})
        return time.perf_counter() - begun

    return asyncio.run(loop())


def tracked_per_iteration(*, work: bool) -> float:
    """Objects that the cyclic collector has to look at, for each iteration that is kept."""
    counts: list[int] = []
    kept: list[FlowRun] = []
    for iterations in (200, 1200):
        kept.append(run_engine(iterations, work=work)[1])
        gc.collect()
        counts.append(len(gc.get_objects()))
        kept.clear()
    return (counts[1] - counts[0]) / 1000


def main() -> None:
    """Measure and print."""
    iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    candidates: dict[str, Callable[[], float]] = {
        "bare loop": lambda: run_bare(iterations),
        "loop with 20 records and 8 commits": lambda: run_recorded(iterations),
        "engine, empty bodies": lambda: run_engine(iterations, work=False)[0],
        "engine, reads and writes": lambda: run_engine(iterations, work=True)[0],
    }
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(ROUNDS):
        for name, candidate in candidates.items():
            gc.collect()
            best[name] = min(best[name], candidate())
    gc.disable()
    quiet = min(run_engine(iterations, work=True)[0] for _ in range(ROUNDS))
    gc.enable()
    print(f"{iterations} iterations, the smallest of {ROUNDS} rounds")
    for name, seconds in best.items():
        print(f"{seconds / iterations * 1e6:9.2f} us an iteration  {name}")
    print(f"{best['engine, empty bodies'] / iterations / STAGES * 1e6:9.2f} us a stage execution, empty bodies")
    print(f"{(1 - quiet / best['engine, reads and writes']) * 100:9.1f} % of it is the collector's")
    print(f"{tracked_per_iteration(work=True):9.2f} tracked objects an iteration")


if __name__ == "__main__":
    main()
