"""Tests of agentfootprint.flow.plan.checks: the refusals of building, each by its rule."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    ChartBuildError,
    Decider,
    ForEach,
    Fork,
    LoopTo,
    Part,
    Pausable,
    Selector,
    Stage,
    StructureRecorder,
    Subflow,
)
from tests.flow.charts import always, nothing, raw

INNER = Chart.of("Inner", raw("i"))


def nameless() -> Any:
    function: Any = eval("lambda h: None")  # its name is that of every lambda
    return function


def empty(s: Any) -> None:
    """A stage that does nothing."""


def to_a(s: Any) -> str:
    return "a"


def answered(h: Any, answer: Any) -> None:
    """A second half that does nothing."""


def no_items(s: Any) -> list[Any]:
    return []


def inner(item: Any, index: int) -> Chart:
    return INNER


def refused(*parts: Any, names: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> None:
    with pytest.raises(ChartBuildError) as error:
        Chart.of("Chart", *parts).build()
    assert all(name in str(error.value) for name in names), str(error.value)
    assert set(ids) <= set(error.value.ids)


def decider(*branches: Any, **more: Any) -> Decider:
    return Decider(always("a"), branches, id="d", name="Route", raw=True, **more)


def started() -> Chart:
    chart = Chart("Chart")
    chart.start(id="s")(empty)
    return chart


def test_bld_1_a_second_start() -> None:
    with pytest.raises(ChartBuildError, match=r"'Chart' has a start already"):
        started().start(id="t")


def test_bld_2_adding_before_the_start_and_building_nothing() -> None:
    with pytest.raises(ChartBuildError, match=r"'Chart' has no start yet"):
        Chart("Chart").fork([nothing])
    with pytest.raises(ChartBuildError, match=r"'Chart' has no start yet"):
        Chart("Chart").stage(after="x")(nothing)
    with pytest.raises(ChartBuildError, match=r"'Chart' has no stage"):
        Chart("Chart").build()


def test_bld_3_one_id_for_two_stages() -> None:
    refused(raw("s"), raw("s"), names=("'s'",), ids=("s",))
    refused(raw("s"), Subflow(INNER, id="s"), names=("'s'",))
    refused(raw("s"), decider(raw("s")), names=("'s'",))


def test_bld_4_one_id_for_two_branches_or_children() -> None:
    refused(raw("s"), decider(raw("a"), raw("a")), names=("'a'", "'Route'"), ids=("a", "d"))
    refused(raw("s"), Selector(always([]), [raw("a"), raw("a")], id="p", raw=True), names=("'a'", "'P'"))
    refused(raw("s"), Fork([raw("a"), raw("a")]), names=("'a'", "'S'"))


def test_bld_5_a_choice_without_branches_and_a_branch_without_a_function() -> None:
    no_function: Any = None

    refused(raw("s"), decider(), names=("'Route'",))
    refused(Selector(always([]), [], id="p", raw=True), names=("'P'",))
    refused(raw("s"), decider(Stage(no_function, id="a", raw=True)), names=("'a'",))
    chart = started()
    route = chart.decider(id="d")(to_a)
    route.pausable("a")(empty)
    with pytest.raises(ChartBuildError, match=r"'a' has no second half"):
        chart.build()


def test_bld_6_a_fork_child_without_an_id() -> None:
    refused(raw("s"), Fork([Stage(nameless(), raw=True)]), names=("fork after 'S'", "no id"), ids=("S",))


@pytest.mark.parametrize("target", ["nowhere", "S", "a", "default", "later", "d"])
def test_bld_7_a_loop_to_what_is_no_earlier_stage(target: str) -> None:
    parts = raw("s"), decider(raw("a", loop_to=target), raw("b"), default_node="b"), raw("later")

    refused(*parts, names=("'a'", repr(target)), ids=("a", target))


def test_bld_7_a_name_is_recognised() -> None:
    refused(
        Stage(nothing, id="s", name="Start", raw=True), LoopTo("Start"), names=("'Start' is a name: use its id 's'",)
    )


def test_bld_8_a_second_loop_or_one_where_something_follows() -> None:
    refused(raw("s"), raw("t"), LoopTo("s"), LoopTo("s"), names=("'t'",))
    refused(raw("s"), raw("t", loop_to="s"), LoopTo("s"), names=("'t'",))
    chart = started()
    chart.stage(id="t")(empty)
    chart.loop("s", after="s")
    with pytest.raises(ChartBuildError, match=r"Nothing can follow stage 's', which loops back"):
        chart.build()


def test_bld_9_a_loop_before_anything_it_could_close() -> None:
    refused(LoopTo("s"), names=("'s'",), ids=("s",))
    with pytest.raises(ChartBuildError, match=r"loop to 's' stands before any stage"):
        Chart("Chart").loop("s")


def test_bld_10_a_mount_where_something_follows() -> None:
    chart = started()
    chart.stage(id="t", after="s")(empty)
    chart.mount(INNER, id="m", after="s")
    with pytest.raises(ChartBuildError, match=r"'m' comes after 's', which is followed"):
        chart.build()


@pytest.mark.parametrize(
    "part",
    [
        Subflow(INNER, id="a~1"),
        Fork([Subflow(INNER, id="a~1")]),
        Decider(always("a~1"), [Subflow(INNER, id="a~1")], id="d", raw=True),
        Selector(always([]), [Subflow(INNER, id="a~1")], id="d", raw=True),
        Subflow(lambda: INNER, id="a~1", lazy=True),
        ForEach(inner, no_items, id="a~1", max_branches=1, into="x"),
    ],
)
def test_bld_11_a_tilde_in_the_id_of_a_mount_or_a_for_each(part: Part) -> None:
    refused(raw("s"), part, names=("'a~1'", "'~'", "reserved"))


def test_bld_11_a_tilde_in_another_id() -> None:
    assert Chart.of("Chart", raw("a~1")).build().stages[0].id == "a~1"


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"max_branches": None}, "max_branches"),
        ({"max_branches": 0}, "max_branches"),
        ({"max_branches": True}, "max_branches"),
        ({"into": ""}, "into"),
        ({"items": 3}, "items"),
        ({"branch": 3}, "branch"),
    ],
)
def test_bld_12_a_for_each_that_leaves_out_what_it_needs(given: dict[str, Any], missing: str) -> None:
    whole: dict[str, Any] = {"branch": inner, "items": no_items, "max_branches": 2, "into": "all"}

    refused(raw("s"), ForEach(**(whole | given), id="each"), names=("'each'", missing))


def test_bld_15_a_choice_on_a_choice() -> None:
    chart = started()
    route = chart.decider(id="d", name="Route")(to_a)

    with pytest.raises(ChartBuildError, match=r"'Route' is already made"):
        chart.selector(id="p")(route)
    with pytest.raises(ChartBuildError, match=r"'Route' is already made"):
        chart.decider(id="p")(route)


def test_bld_15_a_choice_as_a_branch_or_a_child() -> None:
    choice: Any = Decider(always("x"), [raw("x")], id="inner", raw=True)

    refused(raw("s"), decider(choice), names=("'Route'", "Decider"), ids=("Route",))
    refused(raw("s"), Selector(always([]), [choice], id="p", raw=True), names=("'P'", "Decider"))
    refused(raw("s"), Fork([choice]), names=("'S'", "Decider"))
    refused(raw("s"), decider("x"), names=("'Route'", "str"))


def test_bld_16_a_structure_recorder_after_the_build() -> None:
    chart = started()
    chart.build()

    with pytest.raises(ChartBuildError, match=r"'late'"):
        chart.attach(StructureRecorder("late"))


@pytest.mark.parametrize("id", ["a#b", "a/b", "a\x1fb", "__root__", ""])
def test_bld_17_an_id_that_would_be_taken_apart_wrongly(id: str) -> None:
    refused(raw(id), names=(repr(id),), ids=(id,))
    refused(raw("s"), Subflow(INNER, id=id), names=(repr(id),))


def test_bld_17_two_stages_after_one() -> None:
    chart = started()
    chart.stage(id="t", after="s")(empty)
    chart.stage(id="u", after="s")(empty)

    with pytest.raises(ChartBuildError, match=r"'u' comes after 's'"):
        chart.build()


def test_bld_17_a_stage_that_cannot_be_reached() -> None:
    refused(raw("s"), LoopTo("s"), raw("never"), names=("'s'",))
    refused(raw("s"), raw("t"), decider(raw("a", loop_to="s")), raw("never"), names=("'never'", "'d'"))
    chart = started()
    chart.stage(id="t", after="gone")(empty)
    with pytest.raises(ChartBuildError, match=r"'t' comes after 'gone', which is no stage"):
        chart.build()


def test_a_branch_converges_at_a_later_stage() -> None:
    refused(raw("s"), decider(raw("a", converge_at="s")), raw("t"), names=("'a'", "'s'", "Use one of: t"))
    refused(raw("s"), decider(raw("a", converge_at="t")), names=("'t'", "nothing follows"))
    refused(raw("s", converge_at="t"), raw("t"), names=("'s'", "is no branch"))


def test_the_first_stage_may_be_any_kind_of_stage() -> None:
    chart = Chart("P")

    @chart.pausable()
    def ask(s: Any) -> str:
        return "?"

    @ask.resume
    def answered(s: Any, answer: str) -> None:
        s.answer = answer

    flow = chart.build()

    assert flow.stages[0].kind == "pausable"
    assert Chart.of("P", Pausable(nothing, answered, id="p", raw=True)).build().stages[0].id == "p"
    assert Chart.of("P", Selector(always([]), [raw("a")], id="p", raw=True)).build().stages[0].kind == "selector"
