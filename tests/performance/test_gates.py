"""What an iteration may cost, in counts: they don't jitter, so they stand in every test run.

Times are measured by `make bench`; here only a growth bound with a wide margin.
"""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import Agent, Fact, Instruction, Limits, Mock, Steering, tool
from agentfootprint.events import EventBus, Token
from benchmarks import candidates, observers

pytestmark = pytest.mark.usefixtures("quick_collections")


def test_an_iteration_keeps_few_objects_that_the_collector_must_look_at() -> None:
    assert candidates.tracked_objects_per_iteration() <= 8


def test_an_iteration_is_so_many_executions_bundles_and_events() -> None:
    counts = candidates.counts_per_iteration()

    assert counts["executions"] == 22
    assert counts["bundles"] == 37
    assert counts["native events"] <= 19


def test_an_iteration_takes_at_most_four_kibibytes_of_recording() -> None:
    assert candidates.recording_bytes_per_iteration() <= 4096


def test_memory_of_an_iteration_does_not_depend_on_how_long_the_run_is() -> None:
    early = candidates.memory_per_iteration(50, 150)
    late = candidates.memory_per_iteration(800, 1000)

    assert late <= 1.5 * early + 1024


def test_ten_listeners_take_at_most_half_as_long_again_as_none() -> None:
    assert min(observers.times_unobserved(iterations=60, rounds=5) for _ in range(3)) <= 1.5


def featured(iterations: int) -> Agent[object, str]:
    """An agent with rules, templates, several pieces and a tool whose results have one size."""

    @tool
    async def lookup(order_id: str) -> str:
        """Look up one order by its number. Use it when the user names an order."""
        return f"Order {order_id}: shipped."

    calls = [Mock.call("lookup", order_id=f"A-{n:04}") for n in range(iterations - 1)]
    return Agent(
        Mock([*calls, "Done."], cursor="run"),
        system="You look after orders.",
        tools=[lookup],
        context=[
            Steering("tone", "Be brief."),
            Fact("odd", "An odd iteration.", when=lambda turn: turn.iteration % 2 == 1),
            Instruction("budget", template="Action {{action}}."),
            Instruction("after", "You have looked.", on_tool_return="lookup"),
        ],
        limits=Limits(iterations=iterations + 1),
    )


def row_sizes(path: Path) -> list[int]:
    return [len(line) for line in path.read_bytes().splitlines()]


def test_no_row_of_a_recording_grows_with_the_run(tmp_path: Path) -> None:
    path = featured(400).run_sync("Go on.").recording.save(tmp_path / "run.json")

    sizes = row_sizes(path)
    tenth = len(sizes) // 10
    early, late = sizes[tenth : 2 * tenth], sizes[-2 * tenth : -tenth]

    assert max(late) <= 1.1 * max(early) + 32
    assert sum(late) <= 1.1 * sum(early) + 32 * len(late)


def test_a_finished_run_is_freed_without_the_collector() -> None:
    def run() -> weakref.ref[Any]:
        result = asyncio.run(candidates.ours(30))
        return weakref.ref(result)

    run()
    gc.collect()
    gc.disable()
    try:
        gone = run()
        assert gone() is None
    finally:
        gc.enable()


def test_nothing_is_allocated_for_an_event_that_nobody_hears() -> None:
    bus = EventBus()

    assert not bus.has_listeners(Token.type)


def test_time_of_an_iteration_does_not_grow_with_the_run() -> None:
    ratios = [
        candidates.seconds_per_iteration("agentfootprint", 1000)
        / candidates.seconds_per_iteration("agentfootprint", 50)
        for _ in range(3)
    ]

    assert min(ratios) <= 1.5, json.dumps(ratios)
