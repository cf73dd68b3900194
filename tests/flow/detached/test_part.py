"""Tests of agentfootprint.flow.detached.part."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    CheckpointDriver,
    Decider,
    Detach,
    DetachHandle,
    DrainResult,
    ImmediateDriver,
    Stage,
    StageContext,
    State,
    Subflow,
    flush_all_detached,
)
from tests.flow.detached.children import DOUBLING


def write(s: State) -> None:
    s["amount"] = 7


def amount_of(s: State) -> dict[str, Any]:
    return {"n": s["amount"]}


def one(s: State) -> dict[str, int]:
    return {"n": 1}


def choose_apart(s: State) -> str:
    return "apart"


@pytest.mark.parametrize("input", [{"n": "amount"}, amount_of], ids=["dict", "function"])
async def test_a_stage_of_a_chart_detaches_with_what_it_is_mapped(input: Any) -> None:
    handles: list[DetachHandle] = []
    chart = Chart.of(
        "Parent",
        Stage(write, id="write"),
        Detach(ImmediateDriver(), DOUBLING, input=input, on_handle=handles.append),
    )

    result = await chart.build().run()

    assert (await handles[0].wait()).value == 14
    assert handles[0].id.startswith("detach-doubling#1:detach:")
    assert [bundle.stage_id for bundle in result.snapshot().commit_log] == ["write", "detach-doubling"]


async def test_a_detaching_stage_maps_names_and_leaves_out_what_is_absent() -> None:
    def show(s: State, ctx: StageContext) -> list[str]:
        return list(ctx.args)

    handles: list[DetachHandle] = []
    shows = Chart.of("Show", Stage(show, id="show")).build()
    part = Detach(ImmediateDriver(), shows, input=("amount", "absent"), on_handle=handles.append, id="go")

    await Chart.of("Parent", Stage(write, id="write"), part).build().run()

    assert (await handles[0].wait()).value == ["amount"]


async def test_a_detaching_stage_without_a_taker_for_its_handle_forgets_the_child() -> None:
    seen: list[int] = []

    def note(s: State) -> None:
        seen.append(1)

    noting = Chart.of("Noting", Stage(note, id="note")).build()
    await Chart.of("Parent", Detach(CheckpointDriver(), noting)).build().run()

    assert await flush_all_detached() == DrainResult(1, 0, 0)
    assert seen == [1]


async def test_a_detaching_stage_stands_wherever_a_stage_may() -> None:
    handles: list[DetachHandle] = []
    detach = Detach(ImmediateDriver(), DOUBLING, input=one, on_handle=handles.append, id="apart")
    inner = Chart.of("Inner", Decider(choose_apart, id="choose", branches=[detach, Stage(write, id="write")]))

    await Chart.of("Outer", Subflow(inner, id="sf-inner")).build().run()

    assert [handle.id.rpartition(":detach:")[0] for handle in handles] == ["sf-inner/apart#2"]
    assert (await handles[0].wait()).value == 2


def test_a_detaching_stage_says_what_it_starts() -> None:
    flow = Chart.of("Parent", Detach(ImmediateDriver(), DOUBLING)).build()

    assert flow.stages[0].description == "Starts 'Doubling' apart."
    assert flow.stages[0].name == "Detach Doubling"


def test_a_chart_with_a_detaching_stage_goes_to_another_process() -> None:
    flow = Chart.of("Parent", Detach(ImmediateDriver(), DOUBLING, input={"n": "amount"})).build()

    again = pickle.loads(pickle.dumps(flow))

    assert [stage.id for stage in again.stages] == ["detach-doubling"]
