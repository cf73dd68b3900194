"""Tests of agentfootprint.flow.walking.mounting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agentfootprint.flow import Chart, FlowRun, Fork, Handle, Mounted, Pausable, PauseCheckpoint, Stage, Subflow
from agentfootprint.trace import FailedRow

Go = Callable[[], Awaitable[Any]]


async def say(h: Handle) -> str:
    h["said"] = f"{h.scope}:{h['what']}"
    return h["said"]


def seed(h: Handle) -> None:
    h["what"] = "x"
    h["around"] = h.scope


def keep(value: Any, _: Any) -> dict[str, Any]:
    return {"kept": value}


def flow(within: Any, *inner: Any) -> Any:
    parts = inner or (Stage(say, id="say", raw=True),)
    mount = Subflow(Chart.of("inner", *parts), id="in", input={"what": "what"}, output=keep, within=within)
    return Chart.of("outer", Stage(seed, id="seed", raw=True), mount, Stage(seed, id="after", raw=True)).build()


async def test_what_stands_around_a_mount_gives_its_stages_a_scope_and_its_value() -> None:
    seen: list[Any] = []

    async def within(mounted: Mounted, go: Go) -> str:
        seen.extend((mounted.scope, mounted.state["what"], mounted.step.runtime_stage_id, mounted.is_resumed))
        mounted.use("inside")
        assert mounted.scope == "inside"
        return f"<{await go()}>"

    run = FlowRun(flow(within), scope="outside")
    await run.start({})

    assert seen == ["outside", "x", "in#1", False]
    assert run.state["kept"] == "<inside:x>"
    assert run.state["around"] == "outside"


async def test_what_it_catches_is_put_on_record_and_goes_no_further() -> None:
    async def fails(h: Handle) -> None:
        raise ValueError("no")

    async def within(mounted: Mounted, go: Go) -> str:
        try:
            await go()
        except ValueError as error:
            mounted.note(error)
            return "instead"
        raise AssertionError

    run = FlowRun(flow(within, Stage(fails, id="fails", raw=True)))
    outcome = await run.start({})

    assert outcome.status == "done"
    assert run.state["kept"] == "instead"
    failed = [row for row in run.journal.rows if isinstance(row, FailedRow)]
    assert [row.where for row in failed] == ["stage", "subflow"]


async def test_what_it_raises_is_raised_as_if_the_mount_had_raised_it() -> None:
    async def within(mounted: Mounted, go: Go) -> None:
        await go()
        raise LookupError("late")

    run = FlowRun(flow(within))

    with pytest.raises(LookupError, match=r"late"):
        await run.start({})
    assert "kept" not in run.state


async def test_mounts_inside_see_its_scope_and_branches_beside_it_do_not() -> None:
    async def within(mounted: Mounted, go: Go) -> Any:
        mounted.use("own")
        return await go()

    inner = Subflow(Chart.of("deep", Stage(say, id="say", raw=True)), id="deep", input=("what",), output=("said",))
    mounts = [
        Subflow(Chart.of("a", inner), id="a", input=("what",), output={"a": "said"}, within=within),
        Subflow(Chart.of("b", inner), id="b", input=("what",), output={"b": "said"}),
    ]
    run = FlowRun(Chart.of("outer", Stage(seed, id="seed", raw=True), Fork(mounts)).build(), scope="outside")
    await run.start({})

    assert (run.state["a"], run.state["b"]) == ("own:x", "outside:x")


async def test_a_resume_that_comes_back_to_it_says_so() -> None:
    resumed: list[bool] = []

    async def within(mounted: Mounted, go: Go) -> Any:
        resumed.append(mounted.is_resumed)
        mounted.use(f"leg {len(resumed)}")
        return await go()

    def ask(h: Handle) -> str:
        return "sure?"

    def answer(h: Handle, given: str) -> None:
        h["what"] = f"{h.scope} {given}"

    asks = Subflow(
        Chart.of("asks", Pausable(ask, answer, id="ask", raw=True), Stage(say, id="say", raw=True)),
        id="in",
        output=("said",),
        within=within,
    )
    chart = Chart.of("outer", Stage(seed, id="seed", raw=True), asks).build()
    paused = await FlowRun(chart).start({})
    assert paused.checkpoint is not None
    run = FlowRun(chart)
    await run.resume(PauseCheckpoint.from_wire(paused.checkpoint.to_wire()), "yes")

    assert resumed == [False, True]
    assert run.state["said"] == "leg 2:leg 2 yes"
