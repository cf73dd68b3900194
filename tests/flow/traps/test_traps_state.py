"""Traps of state and log: 1, 3 and 4 of the list, and the halves of 27 that concern state and rules."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any, Literal

import pytest

from agentfootprint.flow import Chart, Flow, LoopTo, Rule, Stage, StageContext, State, decide
from agentfootprint.trace import materialise, thaw

Mode = Literal["full", "delta"]


def test_trap_1_a_stage_that_only_reads_stages_and_copies_nothing() -> None:
    grown: list[int] = []

    def seed(s: State) -> None:
        s["big"] = [{"n": n} for n in range(20_000)]

    def read(s: State, ctx: StageContext) -> None:
        before = tracemalloc.get_traced_memory()[0]
        assert len(ctx.get("big")) == 20_000
        assert ctx.get("big") is ctx.get("big")
        grown.append(tracemalloc.get_traced_memory()[0] - before)

    tracemalloc.start()
    try:
        result = Chart.of("Trap", Stage(seed, id="a"), Stage(read, id="b")).build().run_sync()
    finally:
        tracemalloc.stop()

    assert grown[0] < 20_000
    bundle = result.snapshot().commit_log[1].to_wire()
    assert (bundle["trace"], bundle["overwrite"], bundle["updates"]) == ([], {}, {})


def growing(rounds: int) -> Flow:
    def grow(s: State, ctx: StageContext) -> None:
        s["items"].append(f"item {len(s['items']):04}")
        if len(s["items"]) == rounds:
            ctx.break_()

    def seed(s: State) -> None:
        s["items"] = []

    return Chart.of("Trap", Stage(seed, id="a"), Stage(grow, id="grow"), LoopTo("grow")).build()


def log_of(flow: Flow, mode: Mode) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    executor = flow.executor(commit_values=mode)
    result = executor.run_sync()
    return [bundle.to_wire() for bundle in result.snapshot().commit_log], thaw(result.state)


def test_trap_3_a_growing_list_is_linear_in_the_delta_log_and_quadratic_in_the_full_one_and_replays_alike() -> None:
    sizes: dict[tuple[Mode, int], int] = {}
    modes: tuple[Mode, Mode] = ("full", "delta")
    for mode in modes:
        for rounds in (100, 400):
            log, state = log_of(growing(rounds), mode)
            sizes[mode, rounds] = len(json.dumps(log))
            assert thaw(materialise(log, len(log), {})) == state

    assert sizes["full", 400] > 8 * sizes["full", 100]
    assert sizes["delta", 400] < 4.5 * sizes["delta", 100]


def test_trap_4_writes_above_and_below_each_other_replay_alike_in_both_modes() -> None:
    def overlap(s: State, ctx: StageContext) -> None:
        s["o"]["a"] = 1
        s["o"] = {"a": {"x": 1}, "b": [1]}
        s["o"]["a"]["y"] = 2
        ctx.update("o", {"b": [2], "c": 3})
        s["o"]["b"].append(4)
        del s["o"]["a"]["x"]

    def seed(s: State) -> None:
        s["o"] = {"old": True}

    flow = Chart.of("Trap", Stage(seed, id="a"), Stage(overlap, id="b")).build()

    (full, state), (delta, same) = log_of(flow, "full"), log_of(flow, "delta")

    assert state == same
    assert thaw(materialise(full, len(full), {})) == state
    assert thaw(materialise(delta, len(delta), {})) == state


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [(1, True, True), (0, False, True), (1, 1.0, False), ("1", 1, True), (None, 0, True), ([1], [True], True)],
)
def test_trap_27_a_write_of_a_value_of_another_kind_is_a_change(before: Any, after: Any, *, changes: bool) -> None:
    def write(value: Any) -> Any:
        def stage(s: State) -> None:
            s["k"] = value

        return stage

    flow = Chart.of("Trap", Stage(write(before), id="a"), Stage(write(after), id="b")).build()

    log = [bundle.to_wire() for bundle in flow.run_sync().snapshot().commit_log]

    assert bool(log[1]["trace"]) is changes


@pytest.mark.parametrize(
    ("value", "threshold", "matches"),
    [(1, 1, True), (1.0, 1, True), (True, 1, False), (False, 0, False), (None, 0, False), ("1", 1, False)],
)
def test_trap_27_a_rule_tells_kinds_apart(value: Any, threshold: Any, *, matches: bool) -> None:
    choice = decide({"k": value}, [Rule(when={"k": {"eq": threshold}}, then="yes")], default="no")

    assert (choice.branch == "yes") is matches


def test_trap_27_an_absent_key_is_not_null() -> None:
    def look(s: State, ctx: StageContext) -> None:
        s["seen"] = [ctx.get("null", "default"), ctx.get("absent", "default"), "null" in s, "absent" in s]

    def seed(s: State) -> None:
        s["null"] = None

    result = Chart.of("Trap", Stage(seed, id="a"), Stage(look, id="b")).build().run_sync()

    assert thaw(result.state)["seen"] == [None, "default", True, False]
