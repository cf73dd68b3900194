"""Tests of agentfootprint.tools.cassette."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from agentfootprint import Agent, Mock, tool
from agentfootprint.tools import Cassette, UnrecordedToolCall, current_cassette, replaying

Tape = tuple[str, dict[str, Any], str, Any, bool]

RAN: list[str] = []


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    RAN.append(order_id)
    return f"live {order_id}"


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


def on_tape(order_id: str, text: str, *, is_error: bool = False) -> Tape:
    return "lookup", {"order_id": order_id}, text, text, is_error


def asks(*order_ids: str, **options: Any) -> Agent[Any, str]:
    script = [Mock.call("lookup", order_id=order_id) for order_id in order_ids]
    return Agent(Mock([*script, "Done."], cursor="run"), tools=[lookup], **options)


def results(agent: Agent[Any, str], cassette: Cassette) -> list[Any]:
    with replaying(cassette):
        return [call.result for call in agent.run_sync("Go.").tool_calls]


def texts(cassette: Cassette, name: str, *args: dict[str, Any]) -> list[str]:
    found = [cassette.answer(name, each) for each in args]
    return ["(the tool)" if each is None else each.text for each in found]


def test_a_call_is_known_by_its_tool_and_arguments_whatever_their_order() -> None:
    tape: list[Tape] = [("f", {"a": 1, "b": {"x": [1], "y": None}}, "one", 1, False), ("g", {}, "none", None, False)]
    cassette = Cassette(tape)

    assert texts(cassette, "f", {"b": {"y": None, "x": [1]}, "a": 1}, {"a": 1.0, "b": {"x": [1], "y": None}}) == [
        "one",
        "one",
    ]
    assert texts(cassette, "g", {}) == ["none"]


@pytest.mark.parametrize(
    ("name", "args"),
    [("f", {"a": "1"}), ("f", {}), ("f", {"a": 1, "b": None}), ("f", {"a": True}), ("g", {"a": 1}), ("", {})],
    ids=str,
)
def test_what_is_not_on_tape_is_never_run(name: str, args: dict[str, Any]) -> None:
    with pytest.raises(UnrecordedToolCall) as caught:
        Cassette([("f", {"a": 1}, "one", 1, False)]).answer(name, args)

    assert caught.value.tool == name
    assert not isinstance(caught.value, Exception)


def test_equal_calls_are_answered_in_the_order_of_the_record_and_then_by_the_last() -> None:
    cassette = Cassette([on_tape("A", "first"), on_tape("B", "other"), on_tape("A", "second")])

    assert results(asks("A", "B", "A", "A"), cassette) == ["first", "other", "second", "second"]
    assert RAN == []


def test_a_rewound_cassette_begins_anew_and_leaves_the_first_where_it_was() -> None:
    first = Cassette([on_tape("A", "first"), on_tape("A", "second"), on_tape("A", "third")])

    assert results(asks("A"), first) == ["first"]
    assert results(asks("A", "A"), first.rewound()) == ["first", "second"]
    assert results(asks("A", "A"), first) == ["second", "third"]


def test_a_recorded_failure_is_a_failure_again() -> None:
    with replaying(Cassette([on_tape("A", "station offline", is_error=True)])):
        result = asks("A").run_sync("Go.")

    assert (result.tool_calls[0].ok, result.messages[2].content) == (False, "station offline")


@pytest.mark.parametrize(
    ("options", "got", "ran"),
    [
        ({"policy": "live"}, ["live A", "live B"], ["A", "B"]),
        ({"policy": "stub"}, ["(no result: tools are stubbed in this re-run)"] * 2, []),
        ({"live": frozenset({"lookup"})}, ["on tape", "live B"], ["B"]),
    ],
    ids=["live", "stub", "some live"],
)
def test_a_policy_says_who_answers(options: dict[str, Any], got: list[str], ran: list[str]) -> None:
    assert results(asks("A", "B"), Cassette([on_tape("A", "on tape")], **options)) == got
    assert ran == RAN


def test_arguments_that_are_refused_use_up_nothing_of_the_tape() -> None:
    agent = Agent(Mock([Mock.call("lookup", order_id=7), Mock.call("lookup", order_id="A"), "Done."]), tools=[lookup])

    assert results(agent, Cassette([on_tape("A", "first"), on_tape("A", "second")]))[1:] == ["first"]


async def test_a_call_that_is_not_on_tape_ends_the_run_past_every_except_exception() -> None:
    heard: list[str] = []
    agent = asks("A", "B")
    agent.on("*", lambda event: heard.append(event.type.rpartition(".")[2]))

    tape = replaying(Cassette([on_tape("A", "first")]))
    with pytest.raises(UnrecordedToolCall, match=r"lookup"), contextlib.suppress(Exception), tape:
        await agent.run("Go.")

    assert heard[-3:] == ["tool_start", "fatal", "disposition"]
    assert (RAN, agent.inflight, current_cassette()) == ([], (), None)


async def test_it_also_passes_through_the_tool_of_an_outer_run() -> None:
    inner = asks("A")

    @tool
    async def delegate(task: str) -> str:
        """Hand a task to another agent. Use it for tasks."""
        with contextlib.suppress(Exception), replaying(Cassette([])):
            return (await inner.run(task)).text
        return "swallowed"

    outer = Agent(Mock([Mock.call("delegate", task="x"), "Done."]), tools=[delegate])

    with pytest.raises(UnrecordedToolCall):
        await outer.run("Go.")

    assert RAN == []


async def test_runs_at_the_same_time_never_see_each_others_cassette() -> None:
    agent = asks("A", "A")

    async def answered(cassette: Cassette | None) -> list[Any]:
        with contextlib.nullcontext() if cassette is None else replaying(cassette):
            await asyncio.sleep(0)
            return [call.result for call in (await agent.run("Go.")).tool_calls]

    tape = Cassette([on_tape("A", "first"), on_tape("A", "second")])
    mixed = [tape.rewound(), None, Cassette([on_tape("A", "other")]), tape.rewound(), None]

    assert await asyncio.gather(*map(answered, mixed)) == [
        ["first", "second"],
        ["live A", "live A"],
        ["other", "other"],
        ["first", "second"],
        ["live A", "live A"],
    ]
    assert current_cassette() is None


async def test_a_run_started_inside_keeps_its_cassette_and_one_started_before_gets_none() -> None:
    agent = asks("A")
    before = agent.start("Go.")
    with replaying(Cassette([on_tape("A", "on tape")])):
        inside = agent.start("Go.")

    assert [(await run.result()).tool_calls[0].result for run in (before, inside)] == ["live A", "on tape"]


def test_cassettes_nest_and_go_even_when_the_code_inside_fails() -> None:
    outer, inner = Cassette([]), Cassette([])

    with replaying(outer):
        with contextlib.suppress(LookupError), replaying(inner):
            assert current_cassette() is inner
            raise LookupError
        assert current_cassette() is outer
    assert current_cassette() is None
