"""Tests of agentfootprint.agent.keeping.failing."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest

from agentfootprint import Limits, RunCheckpointError
from agentfootprint.agent import DeadlineExceededError, RunCancelledError, RunHandle, guess_phase
from agentfootprint.events import ToolStart
from agentfootprint.llm import ProviderOverloadedError
from tests.agent.keeping.desk import Scripted, batch, desk

STUCK = batch(("look", {"order": "A"}), ("hang", {"what": "x"}), ("pay", {"amount": 5}))


async def test_the_very_first_call_leaves_a_checkpoint_too() -> None:
    agent = desk(Scripted(ProviderOverloadedError("Busy.", provider="x"), "Done."))

    with pytest.raises(RunCheckpointError) as failed:
        await agent.run("Go.")
    left = failed.value.checkpoint
    again = await agent.resume_on_error(left)

    assert [message.content for message in left.history] == ["Go."]
    assert left.last_completed_iteration == 0
    assert left.failure_point is not None
    assert (left.failure_point.iteration, left.failure_point.phase) == (1, "llm")
    assert again.text == "Done."


async def test_the_error_says_where_how_far_and_what_to_do() -> None:
    with pytest.raises(RunCheckpointError) as failed:
        await desk(Scripted(batch(("look", {"order": "A"})), RuntimeError("the wire is cut"))).run("Secret words.")

    said = str(failed.value)
    for part in (
        "iteration 2",
        "call-llm",
        "whole iteration is 1",
        "RuntimeError",
        "the wire is cut",
        "resume_on_error",
    ):
        assert part in said
    assert "Secret" not in said


async def test_a_run_that_failed_again_and_again_keeps_what_it_has() -> None:
    agent = desk(
        Scripted(batch(("look", {"order": "A"})), RuntimeError("1"), RuntimeError("2"), RuntimeError("3"), "ok")
    )
    with pytest.raises(RunCheckpointError) as failed:
        await agent.run("Go.")
    left = failed.value.checkpoint
    for _ in range(2):
        with pytest.raises(RunCheckpointError) as failed:
            await agent.resume_on_error(left)
        left = failed.value.checkpoint

    assert [message.content for message in left.history] == ["Go.", "", "A: shipped"]
    assert (await agent.resume_on_error(left)).text == "ok"


def answers(history: Any) -> list[tuple[str | None, str | None]]:
    return [
        (message.tool_name, message.not_dispatched and message.not_dispatched.cause)
        for message in history
        if message.role == "tool"
    ]


async def until_it_hangs(handle: RunHandle[str]) -> None:
    async for event in handle:
        if isinstance(event.payload, ToolStart) and event.payload.tool_name == "hang":
            return


async def stopped(way: str) -> Any:
    agent = desk(Scripted(STUCK, "Fine."), limits=Limits(deadline=0.2) if way == "deadline" else None)
    if way == "deadline":
        with pytest.raises(DeadlineExceededError) as late:
            await agent.run("Go.")
        return late.value.checkpoint
    handle = agent.start("Go.")
    await until_it_hangs(handle)
    if way == "task":
        next(iter(task for task in asyncio.all_tasks() if task.get_name() == handle.run_id)).cancel()
        with pytest.raises(asyncio.CancelledError):
            await handle.result()
        return handle.checkpoint
    await handle.cancel("enough")
    with pytest.raises(RunCancelledError) as cancelled:
        await handle.result()
    assert cancelled.value.checkpoint == handle.checkpoint
    return handle.checkpoint


@pytest.mark.parametrize("way", ["deadline", "cancel", "task"])
async def test_a_batch_that_was_stopped_is_answered_in_whole(way: str) -> None:
    left = await stopped(way)

    assert answers(left.history) == [("look", None), ("hang", None), ("pay", "stopped")]
    assert "Whether it took effect is not known" in left.history[-2].content
    assert left.in_flight is None
    assert (await desk(Scripted("Fine.")).run("Well?", continue_from=left)).text == "Fine."
    assert (await desk(Scripted("Fine.")).resume_on_error(left)).text == "Fine."


async def test_a_handle_shows_what_there_is_so_far() -> None:
    handle = desk(Scripted(batch(("look", {"order": "A"})), STUCK)).start("Go.")
    before = handle.checkpoint
    await until_it_hangs(handle)

    meanwhile = handle.checkpoint
    await handle.cancel()

    assert before is None
    assert meanwhile is not None
    assert [message.content for message in meanwhile.history] == ["Go.", "", "A: shipped"]
    assert meanwhile.last_completed_iteration == 1


def test_the_phase_is_guessed_from_what_an_error_says_of_itself() -> None:
    class ToolExplodedError(Exception):
        pass

    errors = [ProviderOverloadedError("Busy.", provider="x"), ToolExplodedError(), KeyError("x")]

    assert [guess_phase(error) for error in errors] == ["llm", "tool", "unknown"]


async def test_an_error_whose_cause_can_not_be_pickled_reaches_another_process_with_its_words() -> None:
    class SdkError(Exception):
        def __init__(self, message: str, *, response: object) -> None:
            super().__init__(message)

    with pytest.raises(RunCheckpointError) as failed:
        await desk(Scripted(SdkError("overloaded", response=object()))).run("Go.")

    revived = pickle.loads(pickle.dumps(failed.value))

    assert str(revived) == str(failed.value)
    assert revived.checkpoint == failed.value.checkpoint
    assert "SdkError: overloaded" in str(revived.cause)
