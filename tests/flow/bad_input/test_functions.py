"""Stage functions of a wrong shape, and such as never end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agentfootprint.flow import Chart, ChartBuildError, Executor, Fork, Part, Pausable, Stage, Subflow
from tests.flow.bad_input.pieces import nothing, stage


def no_argument() -> None: ...
def three(a: Any, b: Any, c: Any) -> None: ...
def keyword(s: Any, *, must: int) -> None: ...


@pytest.mark.parametrize("function", [no_argument, three, keyword, 5, "name", None])
@pytest.mark.parametrize("raw", [False, True])
def test_a_function_that_cannot_be_a_stage_is_refused_when_the_chart_is_built(function: Any, raw: bool) -> None:
    with pytest.raises(ChartBuildError, match=r"The function of stage 's'.*Write it as f\("):
        Chart.of("Shape", Stage(function, id="s", raw=raw)).build()


def test_the_second_half_of_a_pausable_stage_must_take_the_answer() -> None:
    with pytest.raises(ChartBuildError, match=r"stage 'p'.*f\(state, answer\)"):
        Chart.of("Shape", Pausable(nothing, nothing, id="p")).build()


# functions that never end


def asks(s: Any) -> str:
    return "ask"


@pytest.mark.parametrize("place", ["stage", "fork", "mount", "resume"])
async def test_a_stage_that_never_ends_is_cancelled_when_the_time_is_up(place: str) -> None:
    ended: list[str] = []

    async def forever(s: Any, *rest: Any) -> None:
        s.begun = True
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cleaned up")

    bad = stage(forever, "bad")
    parts: dict[str, list[Part]] = {
        "stage": [bad],
        "fork": [stage(nothing, "first"), Fork([bad, stage(nothing, "quick")])],
        "mount": [Subflow(Chart.of("Inner", bad), id="m")],
        "resume": [Pausable(asks, forever, id="bad")],
    }
    executor = Executor(Chart.of("Forever", *parts[place]).build())
    paused = await executor.run() if place == "resume" else None
    going = executor.run(timeout=0.01) if paused is None else executor.resume(paused.checkpoint or {}, 1, timeout=0.01)
    with pytest.raises(TimeoutError):
        await going

    assert ended == ["cleaned up"]
    wire = json.dumps(executor.snapshot().to_wire())
    assert '"begun"' in wire or place == "mount"  # what it had written is on record
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


async def test_a_stage_that_returns_an_awaitable_is_awaited_whatever_kind_it_is() -> None:
    class Awaitable:
        def __await__(self) -> Iterator[Any]:
            yield from asyncio.sleep(0).__await__()
            return "by hand"

    def future(s: Any) -> asyncio.Future[str]:
        found: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        found.set_result("future")
        return found

    def by_hand(s: Any) -> Any:
        return Awaitable()

    def coroutine(s: Any) -> Any:
        return asyncio.sleep(0, "coroutine")

    functions: list[Callable[[Any], Any]] = [by_hand, future, coroutine]
    values = [(await Chart.of("Awaits", stage(function)).build().run()).value for function in functions]

    assert values == ["by hand", "future", "coroutine"]
