"""What a stage of a chart of plain functions may cost, in counts and ratios; microseconds belong to the benchmarks."""

from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import agentfootprint.flow
from agentfootprint.flow import Chart, Decider, Executor, Flow, FlowResult, Stage, State

pytestmark = pytest.mark.usefixtures("quick_collections")

EVERYTHING: dict[str, Any] = {"write_provenance": "reads-prefix", "read_tracking": "full", "commit_values": "full"}
"""The dials at which most is kept."""
WATCHING = str(Path(agentfootprint.flow.__file__).parent / "watch" / "*")


class Counting(State):
    """What the stages share."""

    n: int
    last: list[int]


def begin(s: Counting) -> None:
    s.n, s.last = 0, []


def step(s: Counting) -> None:
    """Two reads, two writes, of values that stay small."""
    s.n = s.n % 7 + 1
    s.last = [*s.last[-3:], s.n]


def chain(stages: int) -> Flow:
    """So many stages in a row."""
    line = [Stage(step, id=f"s{number}") for number in range(stages)]
    return Chart.of("Chain", Stage(begin, id="begin"), *line, state=Counting).build()


def recorded(flow: Flow) -> FlowResult:
    return asyncio.run(Executor(flow, **EVERYTHING).run())


def kept(flow: Flow, count: Callable[[], int]) -> int:
    """How much more there is, by some count, while the result of a run is held."""
    recorded(flow)
    gc.collect()
    before = count()
    result = recorded(flow)
    gc.collect()
    after = count()
    assert result.state["n"] >= 1
    return after - before


def tracked() -> int:
    return len(gc.get_objects())


def allocated() -> int:
    return tracemalloc.get_traced_memory()[0]


def bytes_per_stage(stages: int) -> float:
    flow = chain(stages)
    tracemalloc.start()
    try:
        return kept(flow, allocated) / stages
    finally:
        tracemalloc.stop()


def test_a_stage_keeps_few_objects_that_the_collector_must_look_at() -> None:
    per_stage = (kept(chain(700), tracked) - kept(chain(200), tracked)) / 500

    assert per_stage <= 2


def test_what_a_stage_keeps_does_not_depend_on_how_long_the_run_is() -> None:
    early, late = bytes_per_stage(500), bytes_per_stage(5_000)

    assert late <= 1.1 * early
    assert early <= 2_048


def test_an_unwatched_run_allocates_nothing_for_watchers() -> None:
    flow = chain(500)
    tracemalloc.start()
    try:
        result = recorded(flow)
        taken = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()

    assert result.status == "done"
    assert taken.filter_traces([tracemalloc.Filter(True, WATCHING)]).statistics("filename") == []


def test_a_late_iteration_of_a_loop_takes_as_long_as_an_early_one() -> None:
    passes, window = 4_000, 400

    def ratio() -> float:
        marks: list[float] = []

        def again(s: Counting) -> str:
            marks.append(time.process_time())
            return "again" if len(marks) < passes else "stop"

        def idle(s: Counting) -> None:
            """A stage that does nothing."""

        branches = [Stage(idle, id="again", loop_to="step"), Stage(idle, id="stop")]
        line = [Stage(begin, id="begin"), Stage(step, id="step"), Decider(again, branches, id="decide")]
        flow = Chart.of("Loop", *line, state=Counting).build()
        gc.collect()
        gc.disable()
        try:
            asyncio.run(Executor(flow, **EVERYTHING).run(max_iterations=2 * passes))
        finally:
            gc.enable()
        took = sorted(after - before for before, after in pairwise(marks[window : 2 * window]))
        later = sorted(after - before for before, after in pairwise(marks[-window:]))
        return later[len(later) // 2] / took[len(took) // 2]

    assert min(ratio() for _ in range(3)) <= 1.8
