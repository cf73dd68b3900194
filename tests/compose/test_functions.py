"""Tests of agentfootprint.compose.functions."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from agentfootprint import ConfigError, runner
from agentfootprint.agent import InvalidRunInputError
from agentfootprint.flow import StateValueError
from tests.compose.parts import ex, up


async def test_a_function_runs_as_an_agent_does_and_is_on_record() -> None:
    result = await up.run("hi")

    assert result.output == "HI"
    assert (up.id, up.name) == ("up", "up")
    assert result.recording.ended == "done"
    assert result.recording.value_at("result") == "HI"
    assert result.recording.answer is not None
    assert result.recording.answer[0] == "HI"


async def test_a_plain_function_does_not_hold_up_the_event_loop() -> None:
    @runner
    def where(message: str) -> str:
        return threading.current_thread().name

    assert (await where.run("hi")).output != threading.current_thread().name
    assert ex.run_sync.__name__ == "run"


async def test_a_function_may_take_and_give_more_than_texts() -> None:
    @runner
    async def double(given: dict[str, int]) -> dict[str, int]:
        return {"n": given["n"] * 2}

    assert (await double.run({"n": 2})).output == {"n": 4}
    assert (await up.run({"message": "hi"})).output == "HI"


@pytest.mark.parametrize("message", ["", " ", None])
async def test_nothing_is_no_message(message: Any) -> None:
    with pytest.raises(InvalidRunInputError, match=r"^up\.run needs a message"):
        await up.run(message)


async def test_what_can_not_be_on_record_is_refused() -> None:
    @runner
    async def odd(message: str) -> object:
        return object()

    with pytest.raises(StateValueError, match=r"result"):
        await odd.run("hi")


def none() -> int:
    return 1


def two(a: str, b: str) -> str:
    return a + b


@pytest.mark.parametrize("given", [3, "f", str, none, two])
def test_what_is_no_function_of_one_argument_is_refused(given: Any) -> None:
    with pytest.raises(ConfigError):
        runner(given)
