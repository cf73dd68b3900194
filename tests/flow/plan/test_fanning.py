"""Tests of agentfootprint.flow.plan.fanning."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.flow import Chart, ChartBuildError, ForEach, Fork, Selector, Stage, State
from tests.flow.charts import always, nothing, raw, taking


def branch(item: Any, index: int) -> Chart:
    return Chart.of("Branch", raw("work"))


def items(s: State) -> list[int]:
    return []


def refused(part: Any) -> ChartBuildError:
    with pytest.raises(ChartBuildError) as caught:
        Chart.of("Test", raw("first"), part).build()
    return caught.value


@pytest.mark.parametrize(
    ("changed", "option"),
    [
        ({"max_branches": None}, "max_branches"),
        ({"max_branches": 0}, "max_branches"),
        ({"max_branches": True}, "max_branches"),
        ({"max_branches": 2.0}, "max_branches"),
        ({"into": ""}, "into"),
        ({"into": 1}, "into"),
        ({"errors_into": ""}, "errors_into"),
        ({"errors_into": "out"}, "errors_into"),
        ({"items": None}, "items"),
        ({"branch": "chart"}, "branch"),
        ({"max_concurrency": 0}, "max_concurrency"),
        ({"timeout": 0}, "timeout"),
    ],
)
def test_bld_12_a_for_each_without_what_it_needs_names_itself_and_the_option(
    changed: dict[str, Any], option: str
) -> None:
    given: dict[str, Any] = {"id": "each", "branch": branch, "items": items, "max_branches": 3, "into": "out"}

    error = refused(ForEach(**given | changed))

    assert error.ids == ("each",)
    assert f"`{option}` of 'each'" in str(error)


@pytest.mark.parametrize("id", ["a~b", "~", "a~1"])
def test_bld_11_the_id_of_a_for_each_holds_no_marker_of_branches(id: str) -> None:
    error = refused(ForEach(branch, items, id=id, max_branches=1, into="out"))

    assert error.ids == (id,)
    assert "'~', which is reserved" in str(error)


@pytest.mark.parametrize("id", ["", "a/b", "a#1", "__root__"])
def test_other_ids_of_a_for_each_are_refused_as_for_every_stage(id: str) -> None:
    assert refused(ForEach(branch, items, id=id, max_branches=1, into="out")).ids == (id,)


def test_an_id_comes_from_the_function_that_makes_the_charts() -> None:
    def check_orders(item: Any, index: int) -> Chart:
        """Check one order."""
        return branch(item, index)

    flow = Chart.of("Test", raw("first"), ForEach(check_orders, items, max_branches=1, into="out")).build()

    info = flow.stages[1]
    assert (info.id, info.name, info.kind, info.description) == (
        "check-orders",
        "Check Orders",
        "foreach",
        "Check one order.",
    )


@pytest.mark.parametrize("option", [{"max_concurrency": 0}, {"max_concurrency": 1.5}, {"timeout": 0}, {"timeout": -1}])
@pytest.mark.parametrize("kind", ["fork", "selector"])
def test_a_bound_that_lets_nothing_run_is_refused(kind: str, option: dict[str, Any]) -> None:
    if kind == "fork":
        part: Any = Fork([Stage(nothing, id="child", raw=True)], **option)
    else:
        part = Selector(always([]), [raw("branch")], id="pick", raw=True, **option)

    error = refused(part)

    assert f"`{next(iter(option))}` of" in str(error)


def test_the_decorator_takes_the_same_options() -> None:
    chart = Chart("Test")

    @chart.start(id="seed")
    def seed(s: State) -> None:
        s["numbers"] = [1, -2]

    @chart.for_each(
        taking("numbers"), max_branches=5, into="out", errors_into="bad", id="each", max_concurrency=1, timeout=5
    )
    def made(item: int, index: int) -> Chart:
        def work(s: State) -> int:
            if item < 0:
                raise ValueError("negative")
            return item

        return Chart.of("Work", Stage(work))

    result = chart.build().run_sync()

    assert result.state["out"] == [1, None]
    assert [entry["message"] for entry in result.state["bad"]] == ["negative"]
