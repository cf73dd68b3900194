"""Tests of agentfootprint.flow.stage.current."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    Fork,
    Pausable,
    Stage,
    StageClosedError,
    State,
    Subflow,
    current_stage,
    interrupt,
)
from agentfootprint.trace import thaw
from tests.flow.charts import raw


def here() -> str | None:
    """Which stage is running, seen from code that was given no handle."""
    stage = current_stage()
    return None if stage is None else stage.runtime_stage_id


def run(*parts: Any) -> Any:
    return Chart.of("Current", *parts).build().run_sync()


def test_the_running_stage_is_found_from_any_depth() -> None:
    def plain(s: State) -> None:
        s.plain = here()

    async def later(s: State) -> None:
        await asyncio.sleep(0)
        s.later = here()
        s.thread = await asyncio.to_thread(here)
        s.task = await asyncio.create_task(asyncio.sleep(0, here()))

    def ask(s: State) -> str | None:
        return here()

    def resumed(s: State, answer: Any) -> None:
        s.resumed = here()

    flow = Chart.of("Current", Stage(plain), Stage(later), Pausable(ask, resumed)).build()
    executor = flow.executor()
    paused: Any = executor.run_sync()
    result = executor.resume_sync(paused.checkpoint)

    assert paused.checkpoint.pause_data == "ask#2"
    assert thaw(result.state) == {
        "plain": "plain#0",
        "later": "later#1",
        "thread": "later#1",
        "task": "later#1",
        "resumed": "ask#3",
    }


def test_branches_side_by_side_each_see_their_own() -> None:
    async def look(s: State) -> None:
        seen = [here()]
        for _ in range(3):
            await asyncio.sleep(0)
            seen.append(here())
        s.seen = seen

    result = run(raw("s"), Fork([Stage(look, id="a"), Stage(look, id="b")]))

    assert thaw(result.state)["runs"] == {"a": {"seen": ["a#1"] * 4}, "b": {"seen": ["b#2"] * 4}}


def test_outside_of_stages_there_is_none() -> None:
    seen: list[str | None] = []

    def mapped(state: Any) -> dict[str, Any]:
        seen.append(here())
        return {}

    def typed(s: State) -> None:
        assert here() == "typed#0"

    def look(h: Any) -> None:
        seen.append(here())

    inner = Chart.of("In", raw("i"))
    run(Stage(typed), Subflow(inner, id="sf", input=mapped), raw("r", look))

    assert here() is None
    assert seen == [None, None]


async def test_after_a_run_inside_a_stage_that_stage_is_the_running_one_again() -> None:
    def within(s: State) -> None:
        s.seen = here()

    inner = Chart.of("In", Stage(within)).build()

    async def outer(s: State) -> None:
        s.within = (await inner.run()).state["seen"]
        s.seen = here()

    result = await Chart.of("Out", Stage(outer)).build().run()

    assert thaw(result.state) == {"within": "within#0", "seen": "outer#0"}
    assert here() is None


def test_asking_where_no_stage_runs_is_refused_with_what_to_do() -> None:
    with pytest.raises(StageClosedError, match=r"h\.interrupt"):
        interrupt("anybody?")
    with pytest.raises(StageClosedError, match=r"where no stage is running"):
        run(raw("r", lambda h: interrupt("raw?")))
