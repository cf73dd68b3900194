"""Tests of agentfootprint.flow.out.built."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from agentfootprint.flow import Chart, Stage
from tests.flow.charts import raw
from tests.flow.out.charts import EVERYTHING, LOAN


def test_a_flow_can_be_a_key_and_is_only_itself() -> None:
    one, other = LOAN.build(), LOAN.build()

    assert {one: 1, other: 2}[one] == 1
    assert one != other


def test_a_copy_of_what_nobody_can_change_is_itself() -> None:
    flow = LOAN.build()

    assert copy.copy(flow) is flow
    assert copy.deepcopy({"flow": flow})["flow"] is flow


def test_two_threads_run_one_flow() -> None:
    flow = LOAN.build()

    def status(score: int) -> Any:
        return flow.run_sync({"known": score}).state["status"]

    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(status, [800, 600] * 20))

    assert ends == ["approved", "rejected"] * 20


def test_the_description_is_made_once() -> None:
    assert EVERYTHING.description is EVERYTHING.description


def empty(s: Any) -> None: ...


def test_a_chart_that_is_changed_after_the_build_changes_no_flow() -> None:
    chart = Chart("C")
    chart.start(id="s")(empty)
    flow = chart.build()
    chart.stage(id="t")(empty)

    assert flow.description == "FlowChart: S\nSteps:\n1. S"
    assert chart.build().description.endswith("2. T")


def test_what_a_node_was_made_from_stays_in_reach() -> None:
    stage = raw("s")

    parts = Chart.of("C", stage).build().parts

    assert parts == (stage,)
    assert isinstance(parts[0], Stage)
