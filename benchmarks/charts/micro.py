"""Single costs of the engine and of its questions, in this process: name, value, unit, detail; minima of repeats."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

from agentfootprint.flow import Chart, Executor, Flow, Stage, State, Subflow
from agentfootprint.trace import (
    ChainOptions,
    CommitBundle,
    LogIndex,
    apply_smart_merge,
    keys_read_from_map,
    slice_key,
    value_at,
)

Row = tuple[str, float, str, str]
LOG = 100_000
"""Commits of the log that questions are asked of."""


def best(work: Callable[[], object], repeats: int = 5) -> float:
    """Seconds, the least of some repeats."""
    least = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - started)
    return least


def ran(flow: Flow, **options: Any) -> Callable[[], object]:  # noqa: ANN401  options of Executor
    """A run with everything on record, as a plain call."""
    return lambda: asyncio.run(Executor(flow, **options).run())


def writing(count: int) -> Flow:
    """One stage that writes so many keys."""

    def write(s: State) -> None:
        for number in range(count):
            s[f"k{number}"] = number

    return Chart.of("Writes", Stage(write, id="write")).build()


def reading(count: int, value: object) -> Flow:
    """One stage that reads one key so many times."""

    def read(s: State) -> None:
        for _ in range(count):
            s["big"]

    return Chart.of("Reads", Stage(lambda s: s.__setitem__("big", value), id="seed"), Stage(read, id="read")).build()


def nested(depth: int) -> Flow:
    """A stage inside so many mounts."""
    chart = Chart.of("Inner", Stage(lambda s: s.__setitem__("n", 1), id="work"))
    for _ in range(depth):
        chart = Chart.of("Outer", Subflow(chart, id="sf", output={"n": "n"}))
    return chart.build()


def long_log(size: int) -> tuple[list[CommitBundle], dict[str, list[str]]]:
    """A log in which every step reads what the last one wrote, in the form that files have."""
    log = [
        CommitBundle.from_wire(
            {
                "idx": number,
                "stage": "Step",
                "stageId": "step",
                "runtimeStageId": f"step#{number}",
                "trace": [{"path": f"k{number % 50}", "verb": "set"}],
                "overwrite": {f"k{number % 50}": number},
                "updates": {},
                "redactedPaths": [],
            }
        )
        for number in range(size)
    ]
    reads = {f"step#{number}": [f"k{(number - 1) % 50}", f"k{(number - 7) % 50}"] for number in range(size)}
    return log, reads


def questions(size: int) -> Iterator[Row]:
    """What it costs to ask a log of this size."""
    log, reads = long_log(size)
    source = keys_read_from_map(reads)
    told = f"{size:,} commits"

    def indexed() -> LogIndex:
        index = LogIndex(log)
        index.last_write_before("k7", size)
        return index

    def sliced(**limits: int) -> object:
        return slice_key(index, "k7", source, options=ChainOptions(**limits)).root

    yield "one pass to index", best(indexed, 2), "s", told
    index = indexed()
    yield "slice, default limits", best(sliced), "s", told
    yield "slice of everything", best(lambda: sliced(max_depth=size, max_nodes=size), 2), "s", told
    value_at(index, size - 1, "k7")
    places = range(0, size, size // 1000)
    yield "value_at, indexed", best(lambda: [value_at(index, at, "k7") for at in places]) / 1000, "s", told
    state: dict[str, Any] = {}

    def replayed() -> None:
        after: Any = state
        for bundle in log[:1000]:
            after = apply_smart_merge(after, bundle)

    yield "replay of a commit", best(replayed) / 1000, "s", "50 keys"


def rows() -> Iterator[Row]:
    """All of them."""
    for count in (1_000, 10_000):
        yield f"write {count:,} keys in a stage", best(ran(writing(count))) / count, "s", "a key"
    text = "x" * 1_000_000
    for tracking in ("full", "summary", "off"):
        options = {"read_tracking": tracking}
        yield f"read 1 MB, {tracking}", best(ran(reading(50, text), **options)) / 50, "s", "a read"
    for count in (1, 10, 100):
        yield f"commit of {count} writes", best(ran(writing(count)), 20), "s", "a run of one stage"
    for depth in (10, 50, 100):
        yield f"{depth} nested mounts", best(ran(nested(depth)), 20) / depth, "s", "a mount"
    yield from questions(LOG)
    yield from questions(LOG // 10)
