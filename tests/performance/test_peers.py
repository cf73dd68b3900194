"""Tests of benchmarks.peers: what is made of the measurements, without the peers installed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from benchmarks.peers import measure, table


def sample(microseconds: float, recorded: int | None = None) -> dict[str, Any]:
    seconds = microseconds / 1e6
    return {"seconds": seconds, "reached": 0, "bytes": recorded, "peak": 40_000_000, "added": 2_000_000}


def cut(reached: int | None) -> dict[str, Any]:
    return {"seconds": None, "reached": reached, "bytes": None, "peak": 900_000_000, "added": None}


SAMPLES: table.Samples = {
    "agentfootprint": {
        50: [sample(160, 100_000), sample(150, 100_000)],
        200: [sample(145, 360_000)],
        2000: [sample(165, 3_400_000)],
    },
    "LangGraph": {50: [sample(1500)], 200: [sample(1600)], 2000: [sample(4500)]},
    "LangGraph, saved": {50: [sample(2000, 1_000_000)], 200: [sample(3000, 20_000_000)], 2000: [cut(1324)]},
}
IMPORTS = {table.LAZY: [0.004, 0.003], table.EAGER: [0.05], table.EAGER_PEER: [0.5]}


def test_the_measures_are_ratios_of_minima() -> None:
    measures = table.report(SAMPLES, IMPORTS, limit=60)["measures"]

    assert measures == {
        "ofLangGraph": pytest.approx(0.1),
        "growth": pytest.approx(1.1),
        "import": pytest.approx(0.1),
        "lazyImport": pytest.approx(0.006),
    }


def test_a_candidate_that_was_cut_off_is_shown_with_a_lower_bound_and_says_where() -> None:
    told = table.lines(table.report(SAMPLES, IMPORTS, limit=60))

    (row,) = [line for line in told if line.startswith("LangGraph, saved")]
    assert "> 30,000" in row
    assert "> 15" in row
    assert "cut off after 60 s: LangGraph, saved at N=2,000, in iteration 1,324" in told


def test_a_row_shows_times_growth_bytes_and_memory() -> None:
    told = table.lines(table.report(SAMPLES, IMPORTS, limit=60))

    assert ["agentfootprint", "150", "145", "165", "1.10", "2,000", "1,800", "1,700", "40", "2"] in [
        line.split() for line in told
    ]


def test_a_measure_that_is_missed_says_so() -> None:
    slow: table.Samples = {**SAMPLES, "agentfootprint": {**SAMPLES["agentfootprint"], 50: [sample(300, 1)]}}

    told = table.lines(table.report(slow, IMPORTS, limit=60))

    assert [line.split()[-1] for line in told if "(at most" in line] == ["MISSED", "ok", "ok", "ok"]


def test_what_was_not_measured_is_left_open() -> None:
    only_peers: table.Samples = {"LangGraph": {50: [], 200: [], 2000: [cut(None)]}}

    figures = table.report(only_peers, {}, limit=1)

    assert figures["measures"] == {}
    assert "cut off after 1 s: LangGraph at N=2,000" in table.lines(figures)


def test_a_run_of_ours_is_measured_in_time_bytes_and_memory() -> None:
    found = asyncio.run(measure.figures("agentfootprint", 3, limit=60))

    assert 0 < found["seconds"] < 1
    assert found["bytes"] > 1000
    assert found["peak"] > 1_000_000


def test_a_run_that_takes_too_long_is_cut_off() -> None:
    found = asyncio.run(measure.figures("agentfootprint", 2000, limit=0.001))

    assert found["seconds"] is None
