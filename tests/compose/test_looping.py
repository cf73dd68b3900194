"""Tests of agentfootprint.compose.looping."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import ConfigError, LLMCall, Loop, Mock, Sequence
from agentfootprint.compose import LoopBudgetError, LoopPass, Step
from tests.compose.parts import boom, brackets, ex, heard_by, up


async def test_until_sees_each_pass_but_the_last_that_the_limits_allow() -> None:
    seen: list[LoopPass] = []

    async def never(done: LoopPass) -> bool:
        seen.append(done)
        return False

    result = await Loop(ex, until=never, max_iterations=3).run("a")

    assert result.output == "a!!!"
    assert [(done.iteration, done.latest_output, done.outputs) for done in seen] == [
        (1, "a!", ("a!",)),
        (2, "a!!", ("a!", "a!!")),
    ]
    assert len({done.started_at for done in seen}) == 1


async def test_a_loop_that_a_limit_ended_says_so() -> None:
    stopped = (await Loop(ex, max_iterations=2).run("a")).stopped_early

    assert stopped is not None
    assert stopped.iteration == 2
    assert (await Loop(ex, until=lambda _: True).run("a")).stopped_early is None


async def test_a_limit_may_be_a_failure_and_the_last_output_is_kept_apart_from_the_message() -> None:
    loop = Loop(ex, max_iterations=2, on_budget="raise", id="l")
    heard = heard_by(loop)

    with pytest.raises(LoopBudgetError, match=r"'l' did not end by itself: max_iterations ended it after 2") as caught:
        await loop.run("secret")

    assert caught.value.last_output == "secret!!"
    assert "secret" not in str(caught.value)
    assert brackets(heard)[-1] == ("exit", "l", "budget_exhausted")


async def test_time_ends_it_between_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1_000_000, 2_000_000, 400))
    monkeypatch.setattr("agentfootprint.compose.looping.now_ms", lambda: next(clock))
    monkeypatch.setattr("agentfootprint.compose.scope.now_ms", lambda: next(clock))
    loop = Loop(ex, max_time=1.0)
    heard = heard_by(loop)

    assert (await loop.run("a")).output == "a!!!"

    reasons = [event.payload.reason for event in heard if event.type.endswith("iteration_exit")]
    assert reasons == ["body_complete", "body_complete", "budget"]


@pytest.mark.parametrize("body", [boom, Sequence([Step("x", boom)], id="in")])
async def test_a_body_that_raises_closes_every_bracket(body: Any) -> None:
    loop = Loop(body, id="l")
    heard = heard_by(loop)

    with pytest.raises(TypeError, match=r"kaput"):
        await loop.run("a")

    assert brackets(heard)[-1] == ("exit", "l", "err")
    assert len(brackets(heard)) % 2 == 0


async def test_until_that_raises_fails_the_run() -> None:
    def broken(done: LoopPass) -> bool:
        raise LookupError(done.latest_output)

    with pytest.raises(LookupError, match=r"a!"):
        await Loop(ex, until=broken).run("a")


async def test_five_hundred_passes_are_the_most_and_each_has_an_address_of_its_own() -> None:
    loop = Loop(ex, max_iterations=500)
    heard = heard_by(loop)

    assert len((await loop.run("a")).output) == 501

    starts = [event.meta.runtime_stage_id for event in heard if event.type.endswith("iteration_start")]
    assert len(set(starts)) == 500


async def test_what_is_inside_of_what_is_inside_is_heard_outside() -> None:
    loop = Loop(Sequence([Step("call", LLMCall(Mock("x"))), Step("loud", up)]), max_iterations=2)
    heard = heard_by(loop)

    await loop.run("a")

    starts = [event for event in heard if event.type.endswith("llm_start")]
    assert [event.meta.subflow_path for event in starts] == [("body", "step-call", "sf-llm-call")] * 2
    assert {event.meta.composition_path for event in heard} == {("Loop:loop",)}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_iterations": 0}, "max_iterations of the Loop is 0"),
        ({"max_iterations": -1}, "is -1"),
        ({"max_iterations": 501}, "Give a whole number from 1 to 500"),
        ({"max_iterations": 2.5}, "is 2.5"),
        ({"max_iterations": True}, "is True"),
        ({"max_time": 0}, "max_time of the Loop is 0"),
        ({"max_time": float("inf")}, "is inf"),
        ({"on_budget": "stop"}, "on_budget is 'stop'"),
        ({"until": 3}, "until is a int"),
        ({"id": ""}, "The id of the Loop is ''"),
        ({"name": 3}, "The name of the Loop is 3"),
    ],
)
def test_what_can_not_run_is_refused_when_it_is_made(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Loop(ex, **options)

    assert words in str(caught.value)
