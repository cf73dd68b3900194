"""Tests of agentfootprint.flow.retry."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.flow import (
    Chart,
    ChartBuildError,
    Decider,
    Fork,
    Handle,
    LoopTo,
    Pausable,
    RetryPolicy,
    Selector,
    Subflow,
)
from tests.flow.charts import always, nothing, raw
from tests.flow.waiting import Waits, retried


@pytest.mark.parametrize(
    ("policy", "named"),
    [
        (RetryPolicy(attempts=0), "attempts=0"),
        (RetryPolicy(attempts=-1), "attempts=-1"),
        (RetryPolicy(attempts=True), "attempts=True"),
        (RetryPolicy(attempts=2.0), "attempts=2.0"),  # type: ignore[arg-type]  what a caller without a checker may do
        (RetryPolicy(delay=-1), "delay=-1"),
        (RetryPolicy(delay=math.nan), "delay=nan"),
        (RetryPolicy(delay=math.inf), "delay=inf"),
        (RetryPolicy(factor=-2), "factor=-2"),
        (RetryPolicy(attempts=5000, factor=10), "factor=10"),
        (3, "a int"),
    ],
)
def test_a_policy_that_can_not_be_is_refused_with_its_stage_and_value(policy: Any, named: str) -> None:
    with pytest.raises(ChartBuildError, match=rf"'flaky' .*{named}") as refused:
        Chart.of("Retry", raw("flaky", retry=policy)).build()

    assert refused.value.ids == ("flaky",)


@pytest.mark.parametrize("option", ["delay", "retry_on"])
def test_a_coroutine_function_in_a_policy_is_refused(option: str) -> None:
    async def later(_: Any) -> Any: ...

    options: dict[str, Any] = {option: later}

    with pytest.raises(ChartBuildError, match=rf"coroutine function as {option}"):
        Chart.of("Retry", raw("flaky", retry=RetryPolicy(**options))).build()


def test_what_is_no_stage_takes_no_policy() -> None:
    other = Chart.of("Other", raw("o"))
    given: Any = {"retry": RetryPolicy()}
    chart = Chart("Retry")

    for make in (
        lambda: Subflow(other, **given),
        lambda: LoopTo("s", **given),
        lambda: Fork([], **given),
        lambda: chart.mount(other, **given),
        lambda: chart.loop("s", **given),
        lambda: chart.fork([], **given),
        lambda: chart.for_each(nothing, **given)(nothing),
    ):
        with pytest.raises(TypeError, match=r"retry"):
            make()


def ignored(h: Handle, answer: Any) -> None:
    """The second half of a stage that does not care."""


def test_every_kind_of_stage_takes_a_policy() -> None:
    policy = RetryPolicy(attempts=2)

    flow = Chart.of(
        "Retry",
        raw("stage", retry=policy),
        Fork([raw("child", retry=policy)]),
        Pausable(nothing, ignored, id="pausable", raw=True, retry=policy),
        Selector(always([]), [raw("a", retry=policy)], id="selector", raw=True, retry=policy),
        Decider(always("b"), [raw("b", retry=policy)], id="decider", raw=True, retry=policy),
    ).build()

    assert {node.info.id for node in flow.nodes if node.retry is policy} == {
        *("stage", "child", "pausable", "selector", "a", "decider", "b")
    }


def test_decorated_stages_take_a_policy() -> None:  # noqa: C901  one function a stage
    policy = RetryPolicy(attempts=2)
    chart = Chart("Retry")

    @chart.start(retry=policy)
    def begin(s: Any) -> None: ...

    @chart.stage(retry=policy)
    def work(s: Any) -> None: ...

    @chart.streaming(retry=policy)
    def speak(s: Any) -> None: ...

    @chart.pausable(retry=policy)
    def ask(s: Any) -> None: ...

    @ask.resume
    def answered(s: Any, answer: Any) -> None: ...

    @chart.selector(retry=policy)
    def pick(s: Any) -> None: ...

    @pick.branch("one", retry=policy)
    def one(s: Any) -> None: ...

    @chart.decider(retry=policy)
    def route(s: Any) -> str:
        return "two"

    @route.branch("two", retry=policy)
    def two(s: Any) -> None: ...

    @route.pausable("three", retry=policy)
    def three(s: Any) -> None: ...

    three.resume(answered)

    assert all(node.retry is policy for node in chart.build().nodes)


def test_a_stage_without_a_second_attempt_has_no_policy_to_look_at() -> None:
    flow = Chart.of("Retry", raw("stage", retry=RetryPolicy(attempts=1))).build()

    assert [node.retry for node in flow.nodes] == [None]


@pytest.mark.parametrize(
    ("policy", "waits"),
    [
        (RetryPolicy(attempts=4), [0.2, 0.4, 0.8]),
        (RetryPolicy(attempts=3, delay=1, factor=1), [1, 1]),
        (RetryPolicy(attempts=4, delay=0), [0, 0, 0]),
        (RetryPolicy(attempts=3, delay=3, factor=0), [3, 0]),
        (RetryPolicy(attempts=4, delay=lambda attempt: attempt * 10), [10, 20, 30]),
    ],
)
async def test_the_waits_grow_as_the_policy_says(waits: list[float], policy: RetryPolicy, clock: Waits) -> None:
    await retried(policy, failures=9)

    assert clock.seconds == pytest.approx(waits)


def raising(attempt: int) -> float:
    raise RuntimeError("no idea")


BAD_DELAYS: list[Callable[[int], Any]] = [
    raising,
    lambda attempt: -1,
    lambda attempt: math.nan,
    lambda attempt: math.inf,
    lambda attempt: "soon",
    lambda attempt: None,
    lambda attempt: True,
]


@pytest.mark.parametrize("delay", BAD_DELAYS)
async def test_a_delay_that_is_none_counts_as_nothing(delay: Any, clock: Waits) -> None:
    error, calls = await retried(RetryPolicy(attempts=3, delay=delay), failures=9)

    assert (type(error), calls, clock.seconds) == (ValueError, 3, [0, 0])


@pytest.mark.parametrize("says", [False, None, 1, "yes", [True]])
async def test_only_an_answer_that_is_exactly_true_leads_to_another_attempt(says: Any, clock: Waits) -> None:
    error, calls = await retried(RetryPolicy(attempts=3, retry_on=lambda error: says), failures=9)

    assert (type(error), calls, clock.seconds) == (ValueError, 1, [])


async def test_a_predicate_sees_the_error(clock: Waits) -> None:
    policy = RetryPolicy(attempts=5, retry_on=lambda error: "1" in str(error) or "2" in str(error))

    error, calls = await retried(policy, failures=9)

    assert (str(error), calls) == ("failure 3", 3)


async def test_a_predicate_that_raises_makes_the_stages_own_error_final(clock: Waits) -> None:
    def confused(error: Exception) -> bool:
        raise KeyError("what")

    error, calls = await retried(RetryPolicy(attempts=3, retry_on=confused), failures=9)

    assert (str(error), calls) == ("failure 1", 1)


@given(st.integers(1, 6), st.integers(0, 8))
def test_a_stage_runs_until_it_succeeds_or_its_attempts_are_used_up(attempts: int, failures: int) -> None:
    import asyncio

    error, calls = asyncio.run(retried(RetryPolicy(attempts=attempts, delay=0), failures=failures))

    assert calls == min(attempts, failures + 1)
    assert (error is None) == (failures < attempts)
