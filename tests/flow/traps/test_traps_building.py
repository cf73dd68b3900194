"""Tests of what goes wrong easily when charts are built, told and drawn (the list of traps)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.flow import (
    MAX_NESTING,
    Chart,
    ChartBuildError,
    Decider,
    Executor,
    Fork,
    Selector,
    State,
    StructureRecorder,
    Subflow,
    walk_subflow_spec,
)
from agentfootprint.trace import project_snapshot
from tests.flow.charts import always, raw

Layer = Callable[[Chart], Chart]
LAYERS: dict[str, Layer] = {
    "a mount": lambda inner: Chart.of("L", raw("a"), Subflow(inner, id="m"), raw("z")),
    "a branch of a decider that goes on": lambda inner: Chart.of(
        "L", Decider(always("m"), [Subflow(inner, id="m")], id="d", raw=True), raw("z")
    ),
    "a child of a fork": lambda inner: Chart.of("L", raw("a"), Fork([Subflow(inner, id="m"), raw("o")]), raw("z")),
    "a branch of a selector": lambda inner: Chart.of(
        "L", Selector(always(["m"]), [Subflow(inner, id="m"), raw("o")], id="p", raw=True), raw("z")
    ),
}


def nested(levels: int, layer: Layer = LAYERS["a mount"]) -> Chart:
    chart = Chart.of("Innermost", raw("i"))
    for _ in range(levels):
        chart = layer(chart)
    return chart


def test_trap_22_nested_mounting_does_not_blow_up_the_description() -> None:
    lengths = [len(nested(levels).build().description) for levels in (10, 20, 40)]

    text = nested(25).build().description
    assert text.count("1. I\n") + text.endswith("1. I") == 1
    assert len(text.splitlines()) == 2 + 3 * 25 + 1
    assert lengths[2] < 5 * lengths[1] < 25 * lengths[0]


@pytest.mark.parametrize("name", LAYERS)
def test_the_deepest_chart_builds_runs_and_is_projected(name: str) -> None:
    flow = nested(MAX_NESTING, LAYERS[name]).build()
    executor = Executor(flow)

    result = executor.run_sync()

    assert result.status == "done"
    results = project_snapshot(result.journal)["subflowResults"]  # by id and by execution
    assert len(results) == len(result.snapshot().subflow_results) == 2 * MAX_NESTING
    assert flow.description.count("Sub-Execution") == (MAX_NESTING if name in ("a mount", "a child of a fork") else 0)
    assert flow.to_mermaid(executed=result).startswith("flowchart TD")
    entered = [item for item in walk_subflow_spec(executor.runtime_structure(), "top") if item.type == "subflow-start"]
    assert len(entered) == MAX_NESTING + 1


@pytest.mark.parametrize("levels", [MAX_NESTING + 1, 10_000])
def test_a_deeper_chart_is_refused_by_name(levels: int) -> None:
    with pytest.raises(ChartBuildError, match=r"'L' is mounted 101 levels deep; 100 is the most|'Innermost'"):
        nested(levels).build()


def test_trap_17_a_raising_structure_recorder_never_breaks_a_build() -> None:
    class Broken(StructureRecorder):
        def on_stage_added(self, event: Any) -> None:
            raise RuntimeError("mine")

    heard: list[str] = []

    class Sound(StructureRecorder):
        def on_stage_added(self, event: Any) -> None:
            heard.append(event.stage_id)

    chart = Chart.of("C", raw("s"), raw("t"))
    chart.attach(Broken("broken"))
    chart.attach(Sound("sound"))

    assert chart.build().run_sync().status == "done"
    assert heard == ["s", "t"]
    assert [(error.recorder_id, error.hook, str(error.error)) for error in chart.structure_build_errors()] == [
        ("broken", "on_stage_added", "mine"),
        ("broken", "on_stage_added", "mine"),
    ]


def test_a_decider_inside_a_mount_still_finds_its_branches() -> None:
    """FLOW-BLD-20."""
    inner = Chart.of(
        "Inner", Decider(always("yes"), [raw("yes", lambda h: h.write({"r": 1})), raw("no")], id="d", raw=True)
    )
    flow = Chart.of("C", Subflow(inner, id="m", output={"got": "r"})).build()

    assert flow.run_sync().state["got"] == 1
    assert [info.branch_id for info in flow.stages if info.branch_of >= 0] == ["yes", "no"]


@pytest.mark.parametrize("key", ["items", "keys", "get", "update", "handle", "emit", "raw", "values"])
def test_any_word_is_a_key_of_the_state(key: str) -> None:
    """FLOW-MEM-6."""
    chart = Chart("Words")

    @chart.start(id="s")
    def write(s: State) -> None:
        setattr(s, key, {"a": 1})
        s[f"{key}_again"] = getattr(s, key)

    @chart.stage(id="t")
    def read(s: State) -> Any:
        return getattr(s, key).raw

    assert chart.build().run_sync().value == {"a": 1}
