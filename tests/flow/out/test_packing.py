"""Tests of agentfootprint.flow.out.packing."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.flow import MAX_NESTING, Chart, Flow, Fork, Stage, Subflow
from tests.flow.charts import raw
from tests.flow.out.charts import LOAN


def again(flow: Flow) -> Flow:
    return pickle.loads(pickle.dumps(flow))


def test_a_chart_of_decorators_runs_in_another_process() -> None:
    flow = again(LOAN.build())

    assert flow.run_sync({"known": 710}).state["status"] == "approved"
    assert flow.run_sync({"known": 600}).state["status"] == "rejected"


def test_a_chart_comes_back_as_it_was() -> None:
    inner = Chart.of("Inner", raw("i"), Fork([raw("a"), raw("b")]))
    chart = Chart.of("C", raw("s"), Subflow(inner, id="one", input={"x": "y"}), Subflow(inner, id="two"), raw("t"))
    flow = chart.build()

    back = again(flow)

    assert (back.name, back.stages) == (flow.name, flow.stages)
    assert back.to_spec() == flow.to_spec()
    assert again(back).stages == flow.stages


def test_a_long_and_a_deep_chart_are_packed_flat() -> None:
    chart = Chart.of("Long", *(raw(f"s{number}") for number in range(5000)))
    for _ in range(MAX_NESTING):
        chart = Chart.of("Deep", raw("a"), Subflow(chart, id="m"))

    back = again(chart.build())

    assert len(back.nodes) == 5000 + 2 * MAX_NESTING


def test_a_function_that_cannot_be_imported_can_not_be_packed() -> None:
    flow = Chart.of("L", raw("s", lambda h: None)).build()

    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(flow)


def test_a_flow_that_does_not_know_its_parts_says_so() -> None:
    made = Chart.of("L", raw("s")).build()
    flow = Flow("L", made.root, made.nodes)

    with pytest.raises(TypeError, match=r"'L' does not know what it was built from"):
        pickle.dumps(flow)


def test_a_map_that_is_a_function_goes_by_name() -> None:
    chart = Chart.of("M", raw("s"), Subflow(Chart.of("Inner", raw("i")), id="m", input=seed, output=("r",)))

    back = again(chart.build())

    assert back.run_sync().state.get("r") is None


def seed(state: Any) -> dict[str, Any]:
    return {"x": 1}


def test_an_object_that_is_called_goes_as_it_is() -> None:
    flow = again(Chart.of("P", Stage(_Adder(2), id="s", raw=True)).build())

    assert flow.run_sync().state["n"] == 2


class _Adder:
    def __init__(self, n: int) -> None:
        self.n = n

    def __call__(self, h: Any) -> None:
        h["n"] = self.n


def test_another_process_builds_the_chart_anew(tmp_path: Path) -> None:
    packed = tmp_path / "flow.pickle"
    packed.write_bytes(pickle.dumps(LOAN.build()))
    code = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).run_sync({'known': 800}).state['status'])"

    ran = subprocess.run([sys.executable, "-c", code, str(packed)], capture_output=True, text=True, check=False)

    assert (ran.stdout, ran.stderr) == ("approved\n", "")
