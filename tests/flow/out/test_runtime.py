"""Tests of agentfootprint.flow.out.runtime."""

from __future__ import annotations

from typing import Any

from agentfootprint.flow import Chart, Decider, Executor, ForEach, Handle, Subflow
from tests.flow.charts import raw

INNER = Chart.of("Inner", raw("work"), raw("more"))


def two_items(s: Any) -> list[int]:
    return [1, 2]


def again(h: Handle) -> str:
    h["n"] = h.get("n", 0) + 1
    return "more" if h["n"] < 4 else "stop"


def shape(chart: Chart) -> tuple[dict[str, Any], dict[str, Any]]:
    """The structure before and after a run."""
    executor = Executor(chart.build())
    before = executor.runtime_structure()
    executor.run_sync()
    assert executor.flow.to_spec() == before
    return before, executor.runtime_structure()


def test_loops_are_counted_where_they_lead_to() -> None:
    before, after = shape(
        Chart.of("L", raw("s"), raw("w"), Decider(again, [raw("more", loop_to="w"), raw("stop")], id="d", raw=True))
    )

    assert "iterationCount" not in before["next"]
    assert after["next"].pop("iterationCount") == 3
    assert after == before


def test_a_lazy_mount_that_was_made_shows_what_is_inside() -> None:
    before, after = shape(Chart.of("L", raw("s"), Subflow(lambda: INNER, id="lazy", lazy=True), raw("t")))

    assert "subflowStructure" not in before["next"]
    assert after["next"]["isLazy"] is True
    assert after["next"]["type"] == "subflow"
    assert after["next"]["subflowStructure"]["next"]["id"] == "more"
    assert after["next"]["next"]["id"] == "t"


def test_a_for_each_shows_its_branches() -> None:
    each = ForEach(lambda item, index: INNER, two_items, id="each", max_branches=5, into="all")
    before, after = shape(Chart.of("L", raw("s"), each, raw("t")))

    branches = after["next"]["children"]
    assert "children" not in before["next"]
    assert [branch["id"] for branch in branches] == ["each~0", "each~1"]
    assert [branch["type"] for branch in branches] == ["subflow", "subflow"]
    assert branches[0]["parallelGroupId"] == "each"
    assert branches[1]["subflowStructure"]["id"] == "work"


def test_a_for_each_in_a_loop_shows_each_branch_once() -> None:
    each = ForEach(lambda item, index: INNER, two_items, id="each", max_branches=5, into="all")
    decider = Decider(again, [raw("more", loop_to="each"), raw("stop")], id="d", raw=True)
    _, after = shape(Chart.of("L", raw("s"), each, decider))

    assert [branch["id"] for branch in after["next"]["children"]] == ["each~0", "each~1"]
    assert after["next"]["iterationCount"] == 3
