"""Tests of agentfootprint.flow.decorating."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, assert_type

import pytest

from agentfootprint.flow import Chart, ChartBuildError, Decider, Executor, Pausable, Selector, Stage, StageContext


def answer(s: Any) -> int:
    """The function that is decorated."""
    s.n = 1
    return 7


def children(s: Any) -> list[str]:
    return ["one"]


def test_a_decorator_without_options_is_written_with_or_without_parentheses() -> None:
    bare, called = Chart("Chart"), Chart("Chart")

    bare.start(answer)
    bare.stage(children)
    called.start()(answer)
    called.stage()(children)

    assert bare.parts == called.parts == (Stage(answer), Stage(children))


def test_a_function_stays_what_it_was() -> None:
    chart = Chart("Chart")

    @chart.start
    def first(s: Any) -> int:
        return 1

    @chart.stage
    def second(s: Any, ctx: StageContext) -> str:
        return "two"

    @chart.stage(id="again")
    def fourth(s: Any) -> int:
        return 4

    @chart.streaming
    async def third(s: Any) -> AsyncIterator[str]:
        yield "three"

    assert_type(first(None), int)
    assert_type(fourth(None), int)
    kept: Callable[[Any, StageContext], str] = second
    assert (first(None), fourth(None), kept.__name__, third.__name__) == (1, 4, "second", "third")
    assert [info.id for info in chart.build().stages] == ["first", "second", "again", "third"]


def test_what_chooses_or_asks_gets_its_branches_or_its_second_half_also_when_bare() -> None:
    chart = Chart("Chart")

    @chart.start
    def begin(s: Any) -> None:
        """Begin."""

    @chart.pausable
    def ask(s: Any) -> str:
        return "may I?"

    @ask.resume
    def heard(s: Any, answer: str) -> None:
        s.answer = answer

    @chart.decider
    def choose(s: Any) -> str:
        return "one"

    @choose.branch("one")
    def one(s: Any) -> None:
        s.one = 1

    @chart.selector
    def several(s: Any) -> list[str]:
        return ["two"]

    @several.branch("two")
    def two(s: Any) -> None:
        s.two = 2

    assert [type(part) for part in chart.parts] == [Stage, Pausable, Decider, Selector]
    executor = Executor(chart.build())
    paused = asyncio.run(executor.run())
    assert paused.checkpoint is not None
    resumed = asyncio.run(executor.resume(paused.checkpoint, "yes"))
    assert resumed.state["answer"] == "yes"
    assert resumed.state["one"] == 1


def test_options_are_taken_beside_the_function_too() -> None:
    chart = Chart("Chart")
    put: Any = chart.start

    assert put(answer, id="other") is answer
    assert chart.parts == (Stage(answer, id="other"),)


@pytest.mark.parametrize("decorator", ["start", "stage", "streaming", "pausable", "decider", "selector"])
def test_a_decorator_that_is_given_a_text_says_how_options_are_given(decorator: str) -> None:
    chart: Any = Chart("Chart")

    with pytest.raises(ChartBuildError, match=rf"`@chart\.{decorator}` was given a str .*id='check'"):
        getattr(chart, decorator)("check")

    assert chart.parts == ()


@pytest.mark.parametrize(
    ("decorator", "missing", "written"),
    [
        ("fork", "the list of its children", "chart.fork([left, right])"),
        ("for_each", "the items, `max_branches` and `into`", "@chart.for_each(items, max_branches=10, into='results')"),
        ("mount", "the chart, or `lazy=True`", "chart.mount(other)"),
    ],
)
def test_what_needs_more_than_a_function_refuses_to_be_put_on_one(decorator: str, missing: str, written: str) -> None:
    chart: Any = Chart("Chart")
    chart.start(answer)

    with pytest.raises(ChartBuildError) as error:
        getattr(chart, decorator)(children)

    assert f"`{decorator}` was given nothing but the function 'children'; it needs {missing}" in str(error.value)
    assert written in str(error.value)
    assert chart.parts == (Stage(answer),)


@pytest.mark.parametrize("kind", ["decider", "selector"])
@pytest.mark.parametrize("decorator", ["branch", "pausable", "mount"])
def test_a_branch_says_that_it_needs_an_id(kind: str, decorator: str) -> None:
    chart: Any = Chart("Chart")
    stage = getattr(chart, kind)(children)

    with pytest.raises(
        ChartBuildError, match=rf"`{decorator}` was given nothing but the function 'answer'.*needs .*id"
    ):
        getattr(stage, decorator)(answer)
