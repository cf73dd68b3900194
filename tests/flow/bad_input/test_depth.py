"""Values and charts of very many levels: they work, or are refused by name, and never end the interpreter."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from typing import Any, cast

import pytest

from agentfootprint.flow import Chart, Decider, FlowLimitError, Handle, InputValidationError, StateValueError
from agentfootprint.trace import FrozenDict, deep_equal, thaw
from tests.flow.bad_input.pieces import nothing, result_of, stage

DEPTH = 10_000


def deep(levels: int, *, lists: bool = False) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if lists else {"x": value}
    return value


@pytest.mark.parametrize("lists", [False, True])
@pytest.mark.parametrize("raw", [False, True])
def test_a_value_of_too_many_levels_is_refused_by_name(lists: bool, raw: bool) -> None:
    value = deep(DEPTH, lists=lists)

    def tries(s: Any) -> None:
        with pytest.raises(StateValueError, match="nested too deeply"):
            s["k"] = value

    with pytest.raises(InputValidationError, match="nested too deeply"):
        result_of(stage(nothing), input={"k": value})
    assert not result_of(stage(tries, raw=raw)).state


def always_again(s: Any) -> str:
    return "again"


def test_a_value_that_a_run_nests_level_by_level_is_kept_however_deep_it_gets() -> None:
    levels = 700

    def nests(h: Handle) -> None:
        h["k"] = FrozenDict({"x": h.get("k", 1)})
        h["n"] = h.get("n", 0) + 1
        if h["n"] >= levels:
            h.break_()

    again, other = stage(nothing, "again", loop_to="s"), stage(nothing, "other")
    chart = Chart.of("Nests", stage(nests, raw=True), Decider(always_again, [again, other], id="d"))
    result = chart.build().run_sync(max_iterations=levels)

    value: Any = result.state["k"]
    assert deep_equal(thaw(value), deep(levels))
    assert deep_equal(value, deep(levels))
    assert not deep_equal(value, deep(levels - 1))


PROGRAM = """
    import gc, sys
    from agentfootprint.flow import Chart, ChartBuildError, Stage, Subflow
    from agentfootprint.trace import FrozenDict, freeze, thaw, deep_equal

    value = 1
    for _ in range(100_000):
        value = FrozenDict({"x": value})
    again = thaw(value)
    assert deep_equal(value, again)
    try:
        freeze(again)
    except TypeError as refused:
        print(type(refused).__name__)
    del value, again
    gc.collect()

    chart = Chart.of("Leaf", Stage(lambda s: None, id="leaf"))
    for level in range(10_000):
        chart = Chart.of("Level", Subflow(chart, id="m"))
    try:
        chart.build().run_sync()
        print("ran")
    except ChartBuildError as refused:
        print(type(refused).__name__)
    chart = None
    gc.collect()
"""


def test_ten_thousand_levels_of_values_and_of_charts_never_end_the_interpreter() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)], capture_output=True, text=True, timeout=120, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["ValueRefusedError", "ChartBuildError"]


def test_an_object_that_raises_when_it_is_looked_at_spoils_no_record() -> None:
    class Hostile:
        def __getattribute__(self, name: str) -> Any:
            raise ConnectionError(name)

    def tries(s: Any) -> None:
        s.before = 1
        with pytest.raises(ConnectionError):
            s.k = [Hostile()]

    assert thaw(result_of(stage(tries)).state) == {"before": 1}


def test_limits_below_one_are_refused() -> None:
    for option in ("max_depth", "max_iterations"):
        with pytest.raises(FlowLimitError, match=option):
            Chart.of("Limits", stage(nothing)).build().run_sync(**cast("Any", {option: 0}))


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("below", [0, 300])
def test_branches_that_nest_until_the_stack_is_full_are_ended_by_name(waits: bool, below: int) -> None:
    async def waiting(s: Any) -> None:
        await asyncio.sleep(0)

    again = stage(waiting if waits else nothing, "again", loop_to="first")
    other, after = stage(nothing, "other"), stage(nothing, "after")
    flow = Chart.of("Nests", stage(nothing, "first"), Decider(always_again, [again, other], id="d"), after).build()

    def from_a_deep_stack(levels: int) -> None:
        if levels:
            from_a_deep_stack(levels - 1)
        else:
            flow.run_sync()

    with pytest.raises(FlowLimitError, match=r"Maximum traversal depth exceeded \(\d+\) after stage 'd'"):
        from_a_deep_stack(below)
