"""Tests of agentfootprint.flow.out.structure."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.flow import (
    AsyncHookError,
    Chart,
    ChartBuildError,
    Decider,
    StageAdded,
    StructureRecorder,
    Subflow,
)
from tests.flow.charts import always, raw


class Listener(StructureRecorder):
    """Keeps what it is told."""

    def __init__(self, id: str = "listener") -> None:
        super().__init__(id)
        self.told: list[tuple[str, dict[str, Any]]] = []

    def on_stage_added(self, event: Any) -> None:
        wire = event.to_wire()
        wire.pop("spec")
        self.told.append(("stage", wire))

    def on_edge_added(self, event: Any) -> None:
        self.told.append(("edge", event.to_wire()))

    def on_loop_edge_added(self, event: Any) -> None:
        self.told.append(("loop", event.to_wire()))

    def on_decider_complete(self, event: Any) -> None:
        self.told.append(("decider", event.to_wire()))

    def on_subflow_mounted(self, event: Any) -> None:
        self.told.append(("mounted", event.to_wire()))


def chart() -> Chart:
    inner = Chart.of("Inner", raw("i"))
    branches = [raw("again", loop_to="s"), Subflow(inner, id="in")]
    return Chart.of("C", raw("s"), Decider(always("in"), branches, id="d", raw=True, default="in"), raw("t"))


def test_a_recorder_is_told_stages_then_edges_then_what_is_complete() -> None:
    own, listener = chart(), Listener()
    own.attach(listener)

    own.build()

    assert listener.told == [
        ("stage", {"stageId": "s", "name": "S", "type": "stage"}),
        ("stage", {"stageId": "d", "name": "D", "type": "decider"}),
        ("edge", {"from": "s", "to": "d", "kind": "next"}),
        ("stage", {"stageId": "again", "name": "Again", "type": "stage"}),
        ("edge", {"from": "d", "to": "again", "kind": "decision-branch", "label": "again"}),
        ("loop", {"from": "again", "to": "s"}),
        ("stage", {"stageId": "in", "name": "In", "type": "stage"}),
        ("edge", {"from": "d", "to": "in", "kind": "decision-branch", "label": "in"}),
        (
            "mounted",
            {
                "subflowId": "in",
                "subflowName": "In",
                "rootStageId": "in",
                "subflowSpec": {"name": "I", "id": "i", "type": "stage"},
                "subflowPath": "in",
            },
        ),
        ("decider", {"decider": "d", "type": "decider", "branchIds": ["again", "in"], "defaultBranch": "in"}),
        ("stage", {"stageId": "t", "name": "T", "type": "stage"}),
        ("edge", {"from": "in", "to": "t", "kind": "next"}),
    ]


def test_any_object_with_some_of_the_hooks_will_do() -> None:
    class Counter:
        stages = 0

        def on_stage_added(self, event: StageAdded) -> None:
            self.stages += 1

    own, counter = chart(), Counter()
    own.attach(counter)

    own.build()

    assert counter.stages == 5
    assert own.structure_build_errors() == ()


def test_a_second_recorder_with_an_id_takes_the_place_of_the_first() -> None:
    own, first, second = chart(), Listener("same"), Listener("same")
    own.attach(first)
    own.attach(second)

    own.build()

    assert first.told == []
    assert second.told


def test_after_the_build_no_recorder_can_be_attached() -> None:
    own = chart()
    own.build()

    with pytest.raises(ChartBuildError, match=r"'late'.*after the chart 'C' was built"):
        own.attach(Listener("late"))


def test_a_hook_that_nobody_would_await_is_refused() -> None:
    class Slow(StructureRecorder):
        async def on_stage_added(self, event: StageAdded) -> None: ...  # pyright: ignore[reportIncompatibleMethodOverride]

    with pytest.raises(AsyncHookError, match=r"'on_stage_added' of the recorder 'slow'"):
        chart().attach(Slow("slow"))


def test_two_recorders_without_an_id_are_two() -> None:
    class Plain:
        def __init__(self) -> None:
            self.names: list[str] = []

        def on_stage_added(self, event: StageAdded) -> None:
            self.names.append(event.name)

    first, second = Plain(), Plain()
    made = chart()
    made.attach(first)
    made.attach(second)

    made.build()

    assert first.names == second.names != []
