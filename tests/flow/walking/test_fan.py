"""Tests of agentfootprint.flow.walking.fan."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from agentfootprint.flow import (
    BranchOutcome,
    BranchTimeoutError,
    Chart,
    Flow,
    FlowRun,
    Fork,
    Handle,
    Selector,
    Stage,
    State,
    Subflow,
    Watch,
)
from tests.flow.charts import always, log_of, raw, steps_of

Work = Callable[[Handle], Coroutine[Any, Any, Any]]


def flow_of(*parts: Any) -> Flow:
    return Chart.of("Test", raw("before"), *parts).build()


async def never(h: Handle) -> None:
    h["staged"] = h.info.local_id
    await asyncio.Event().wait()


class Crowd:
    """Stages that count how many of them are on their way at once."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def __call__(self, h: Handle) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1


@pytest.mark.parametrize("limit", [1, 3])
@pytest.mark.parametrize("kind", ["fork", "selector"])
async def test_no_more_branches_than_allowed_are_on_their_way_at_once(limit: int, kind: str) -> None:
    crowd = Crowd()
    stages = [Stage(crowd, id=f"c{n}", raw=True) for n in range(7)]
    names = [f"c{n}" for n in range(7)]
    part: Any = (
        Fork(stages, max_concurrency=limit)
        if kind == "fork"
        else Selector(always(names), stages, id="pick", raw=True, max_concurrency=limit)
    )

    result = await flow_of(part).run()

    assert crowd.most == limit
    assert [step.partition("#")[0] for step in steps_of(result.journal) if step.startswith("c")] == names


async def test_plain_branches_run_one_after_the_other_whatever_the_bound() -> None:
    run = FlowRun(flow_of(Fork([raw(f"c{n}") for n in range(3)], max_concurrency=2)))

    with pytest.raises(StopIteration):
        run.start().send(None)  # no task is made


async def test_a_branch_that_takes_too_long_has_failed_and_the_others_go_on() -> None:
    async def quick(h: Handle) -> str:
        return "done"

    flow = flow_of(Fork([Stage(never, id="slow", raw=True), Stage(quick, id="quick", raw=True)], timeout=0.01))
    run = FlowRun(flow)
    outcome = await run.start()

    slow = outcome.value["slow"]
    assert slow.is_error
    assert isinstance(slow.result, BranchTimeoutError)
    assert (slow.result.branch, slow.result.seconds) == ("slow", 0.01)
    assert outcome.value["quick"].result == "done"
    assert run.state["runs"] == {"slow": {"staged": "slow"}}, "what it had staged is committed"


async def test_a_timeout_error_of_a_stage_of_its_own_stays_what_it_is() -> None:
    async def own(h: Handle) -> None:
        raise TimeoutError("theirs")

    outcome = await FlowRun(flow_of(Fork([Stage(own, id="own", raw=True)], timeout=5))).start()

    assert type(outcome.value["own"].result) is TimeoutError


async def test_a_timeout_of_a_branch_under_fail_fast_ends_the_run() -> None:
    with pytest.raises(BranchTimeoutError, match=r"'slow' took longer than 0\.01 s"):
        await flow_of(Fork([Stage(never, id="slow", raw=True)], timeout=0.01, fail_fast=True)).run()


async def test_failing_fast_cancels_the_others_and_waits_for_their_commits() -> None:
    begun = asyncio.Event()
    cleaned: list[str] = []

    async def careful(h: Handle) -> None:
        h["staged"] = True
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(h.info.local_id)

    async def fail(h: Handle) -> None:
        await begun.wait()
        raise ValueError("first")

    children = [Stage(careful, id="careful", raw=True), Stage(fail, id="fail", raw=True)]
    run = FlowRun(flow_of(Fork(children, fail_fast=True), raw("after")))
    with pytest.raises(ValueError, match="first"):
        await run.start()

    assert cleaned == ["careful"]
    log = [(bundle["stageId"], bundle["overwrite"]) for bundle in log_of(run)]
    assert log[1:] == [
        ("fail", {}),
        ("fail", {}),
        ("careful", {"runs": {"careful": {"staged": True}}}),
        ("careful", {}),
    ]


async def test_the_first_failure_in_declaration_order_is_raised_and_the_others_are_notes() -> None:
    both = asyncio.Barrier(2)

    def failing(word: str) -> Work:
        async def fail(h: Handle) -> None:
            await both.wait()
            raise ValueError(word)

        return fail

    children = [Stage(failing("one"), id="one", raw=True), Stage(failing("two"), id="two", raw=True)]

    with pytest.raises(ValueError, match="one") as raised:
        await flow_of(Fork(children, fail_fast=True)).run()

    assert "Branch 'two' failed too: ValueError." in raised.value.__notes__


async def test_branches_waiting_for_room_never_begin_after_a_failure() -> None:
    async def fail(h: Handle) -> None:
        raise ValueError("no")

    children = [Stage(fail, id="first", raw=True), *(Stage(never, id=f"w{n}", raw=True) for n in range(3))]
    run = FlowRun(flow_of(Fork(children, fail_fast=True, max_concurrency=1)))
    with pytest.raises(ValueError, match="no"):
        await run.start()

    assert steps_of(run.journal) == ["before#0", "first#1"]


async def test_a_branch_that_raises_a_cancellation_of_its_own_is_not_passed_over() -> None:
    async def stray(h: Handle) -> None:
        raise asyncio.CancelledError

    async def fine(h: Handle) -> None:
        h["fine"] = True

    run = FlowRun(flow_of(Fork([Stage(stray, id="stray", raw=True), Stage(fine, id="fine", raw=True)])))
    with pytest.raises(asyncio.CancelledError):
        await run.start()

    assert run.state["runs"] == {"fine": {"fine": True}}


@pytest.mark.parametrize("where", ["stage", "fork", "selector", "mount", "decider"])
async def test_cancelling_a_run_commits_what_was_staged_wherever_it_is(where: str) -> None:
    begun = asyncio.Event()

    async def wait(s: State) -> None:
        s["staged"] = True
        begun.set()
        await asyncio.Event().wait()

    stage = Stage(wait, id="wait")
    parts: dict[str, Any] = {
        "stage": stage,
        "fork": Fork([stage, Stage(wait, id="other")]),
        "selector": Selector(always(["wait"]), [stage], id="pick", raw=True),
        "mount": Subflow(Chart.of("Inner", stage), id="mount"),
        "decider": Selector(wait, [raw("branch")], id="wait"),
    }
    hooks: list[str] = []

    class Ends:
        def on_run_failed(self, event: Any) -> None:
            hooks.append(event.structured_error.name)

    run = FlowRun(flow_of(parts[where], raw("after")), watch=Watch([Ends()]))
    task = asyncio.create_task(run.start())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert hooks == ["CancelledError"]
    committed = run.journal.executions().values()
    assert any(step.info.local_id == "wait" and step.writes for step in committed)
    assert not any(step.info.id == "after" for step in committed)
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


def test_an_interrupt_from_the_keyboard_in_a_branch_ends_the_run_and_is_told() -> None:
    told: list[str] = []

    class Ends:
        def on_run_failed(self, event: Any) -> None:
            told.append(event.structured_error.name)

    async def interrupted(s: State) -> None:
        s["staged"] = True
        await asyncio.sleep(0)
        raise KeyboardInterrupt

    flow = flow_of(Fork([Stage(interrupted, id="a"), Stage(never, id="b", raw=True)]))

    with pytest.raises(KeyboardInterrupt):
        flow.run_sync(recorders=[Ends()])

    assert len(told) == 1


def test_an_interrupt_from_the_keyboard_in_a_stage_commits_and_is_told() -> None:
    told: list[str] = []

    class Ends:
        def on_run_failed(self, event: Any) -> None:
            told.append(event.structured_error.name)

        def on_commit(self, event: Any) -> None:
            told.append(event.stage_id)

    def interrupted(s: State) -> None:
        s["staged"] = True
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        flow_of(Stage(interrupted, id="a")).run_sync(recorders=[Ends()])

    assert told == ["before", "a", "KeyboardInterrupt"]


class OutsideError(BaseException):
    """No Exception, as pytest's own ways to end a test are none."""


@pytest.mark.parametrize("fail_fast", [False, True])
async def test_what_is_no_failure_leaves_a_branch_as_it_is_and_not_in_a_group(fail_fast: bool) -> None:
    async def leaves(h: Handle) -> None:
        await asyncio.sleep(0)
        raise OutsideError

    flow = flow_of(Fork([raw("leaves", leaves), raw("other", never)], fail_fast=fail_fast))
    run = FlowRun(flow)

    with pytest.raises(OutsideError):
        await run.start()

    assert "other#2" in steps_of(run.journal)
    assert log_of(run)[-1]["trace"] == []  # both have settled


def test_an_outcome_tells_the_message_of_its_error_and_bears_one_that_can_not_be_looked_at() -> None:
    class Hostile(Exception):  # noqa: N818  what it is called does not matter
        def __str__(self) -> str:
            raise RuntimeError("do not look")

    plain = BranchOutcome("a", ValueError("no number"), is_error=True)
    hostile = BranchOutcome("b", Hostile(), is_error=True)

    assert plain.to_wire()["result"] == {"message": "no number"}
    assert hostile.to_wire()["result"] == {"message": "[unserializable error]"}
