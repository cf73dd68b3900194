"""Tests of agentfootprint.flow.plan.build."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    ChartBuildError,
    Decider,
    Flow,
    Fork,
    LoopTo,
    Part,
    Pausable,
    Selector,
    Stage,
    Subflow,
)
from tests.flow.charts import always, nothing, ran, raw, steps_of


def built(*parts: Part) -> Flow:
    return Chart.of("Chart", *parts).build()


def decider(*branches: Any, **more: Any) -> Decider:
    return Decider(always("a"), branches, id="d", raw=True, **more)


INNER = Chart.of("Inner", raw("i"))
NO_CHART: Any = "chart"

REFUSED: dict[str, tuple[list[Part], tuple[str, ...]]] = {
    "an empty chart": ([], ("'Chart'",)),
    "one id for two stages": ([raw("s"), raw("s")], ("'s'",)),
    "one id for a stage and a branch": ([raw("a"), decider(raw("a"))], ("'a'",)),
    "one branch id twice": ([raw("s"), decider(raw("a"), raw("a"))], ("'a'", "'D'")),
    "one selector branch id twice": ([Selector(always([]), [raw("a"), raw("a")], id="d", raw=True)], ("'a'", "'D'")),
    "one fork child id twice": ([raw("s"), Fork([raw("a"), raw("a")])], ("'a'", "'S'")),
    "a decider without branches": ([raw("s"), decider()], ("'D'",)),
    "a selector without branches": ([Selector(always([]), [], id="d", raw=True)], ("'D'",)),
    "a fork before any stage": ([Fork([raw("a")])], ("fork",)),
    "a fork after a decider": ([raw("s"), decider(raw("a")), Fork([raw("b")])], ("fork",)),
    "a loop to nowhere": ([raw("s"), LoopTo("gone")], ("'gone'", "Loop to one of: s")),
    "a loop to a name": (
        [Stage(nothing, id="s", name="Start", raw=True), LoopTo("Start")],
        ("'Start' is a name", "'s'"),
    ),
    "a loop to a branch": ([raw("s"), decider(raw("a")), LoopTo("a")], ("'a'",)),
    "a loop before any stage": ([LoopTo("s")], ("'s'",)),
    "a loop to a later stage": ([raw("s"), decider(raw("a", loop_to="later")), raw("later")], ("'a'", "'later'")),
    "a branch that loops to its decider": ([raw("s"), decider(raw("a", loop_to="d"))], ("'a'", "'d'")),
    "a selector branch that loops": (
        [raw("s"), Selector(always([]), [raw("a", loop_to="s")], id="d", raw=True)],
        ("'a'", "'D'"),
    ),
    "a fork child that loops": ([raw("s"), raw("t"), Fork([raw("a", loop_to="s")])], ("'a'",)),
    "a stage after a loop": ([raw("s"), LoopTo("s"), raw("never")], ("'s'",)),
    "a second loop": ([raw("s"), LoopTo("s"), LoopTo("s")], ("'s'",)),
    "a default that is no branch": ([raw("s"), decider(raw("a"), default="z")], ("'z'", "Use one of: a")),
    "a default node that is no branch": ([raw("s"), decider(raw("a"), default_node="z")], ("'z'",)),
    "a default node beside a stage named so": ([raw("default"), decider(raw("a"), default_node="a")], ("'default'",)),
    "a tilde in a subflow id": ([raw("s"), Subflow(INNER, id="a~1")], ("'a~1'", "'~'")),
    "a tilde in a branch that is a subflow": ([raw("s"), decider(Subflow(INNER, id="a~1"))], ("'a~1'",)),
    "a slash in an id": ([raw("a/b")], ("'a/b'", "'/'")),
    "a hash in an id": ([raw("a#1")], ("'a#1'", "'#'")),
    "a slash in a subflow id": ([raw("s"), Subflow(INNER, id="a/b")], ("'a/b'",)),
    "the delimiter of paths in an id": ([raw("a\x1fb")], ("contains",)),
    "the id of the run itself": ([raw("__root__")], ("'__root__'", "the run itself")),
    "an empty id": ([raw("")], ("is empty",)),
    "a mount of something else": ([raw("s"), Subflow(NO_CHART, id="sf")], ("'sf'", "str")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name: str) -> None:
    parts, words = REFUSED[name]

    with pytest.raises(ChartBuildError) as refused:
        built(*parts)

    assert all(word in str(refused.value) for word in words)


def takes_nothing() -> None: ...


def takes_three(a: Any, b: Any, c: Any) -> None: ...


def demands(s: Any, *, other: int) -> None: ...


@pytest.mark.parametrize("function", [takes_nothing, takes_three, demands, "no function"])
def test_a_function_that_no_stage_can_call_is_refused(function: Any) -> None:
    with pytest.raises(ChartBuildError, match=r"The function of stage 's'.*f\(state\) or f\(state, ctx\)"):
        built(Stage(function, id="s"))


def test_a_pausable_stage_needs_a_second_half_that_takes_the_answer() -> None:
    with pytest.raises(ChartBuildError, match=r"f\(handle, answer\)"):
        built(Pausable(nothing, nothing, id="s", raw=True))


def test_inside_a_mount_ids_and_names_begin_with_the_mounts_path() -> None:
    inner = Chart.of("Inner", Stage(nothing, id="work", name="Do it", raw=True))
    outer = Chart.of("Outer", raw("pre"), Subflow(inner, id="in", name="Inside"))

    flow = built(raw("s"), Subflow(outer, id="out"))

    assert [(info.id, info.name, info.path) for info in flow.stages] == [
        ("s", "S", ()),
        ("out", "Out", ()),
        ("out/pre", "out/Pre", ("out",)),
        ("out/in", "out/Inside", ("out",)),
        ("out/in/work", "out/in/Do it", ("out", "in")),
    ]
    assert [info.subflow_id for info in flow.stages] == ["", "out", "", "out/in", ""]


def test_the_numbers_of_a_stage_lead_to_its_neighbours() -> None:
    flow = built(
        raw("s"),
        Fork([raw("f1"), raw("f2")]),
        Subflow(INNER, id="sf"),
        decider(raw("a", loop_to="sf"), raw("b")),
        raw("end"),
    )
    by_id = {info.id: info for info in flow.stages}

    def names(*numbers: int) -> list[str]:
        return [flow.stages[number].id for number in numbers]

    assert names(*by_id["s"].children) == ["f1", "f2"]
    assert names(by_id["s"].next, by_id["sf"].entry, by_id["sf/i"].mount) == ["sf", "sf/i", "sf"]
    assert names(*by_id["d"].children, by_id["d"].next, by_id["a"].loop_to, by_id["a"].branch_of) == [
        "a",
        "b",
        "end",
        "sf",
        "d",
    ]
    assert (by_id["f1"].namespace, by_id["a"].namespace, by_id["end"].next) == ("f1", "", -1)


def test_one_chart_can_be_mounted_many_times_and_stays_as_it_is() -> None:
    parts = INNER.parts

    _, run = ran(raw("s"), Subflow(INNER, id="one"), Subflow(INNER, id="two"))

    assert INNER.parts == parts
    assert steps_of(run.journal) == ["s#0", "one#1", "one/i#2", "two#3", "two/i#4"]


def test_deep_mounting_costs_what_it_adds() -> None:
    chart = INNER
    for depth in range(60):
        chart = Chart.of(f"Level {depth}", raw("a"), Subflow(chart, id="in"))

    flow = chart.build()

    assert len(flow.stages) == 2 * 60 + 1
    assert flow.stages[-1].id.count("/") == 60


def test_a_nested_decider_matches_ids_without_the_prefix() -> None:
    inner = Chart.of("Inner", raw("i"), decider(raw("a"), raw("b")))

    _, run = ran(raw("s"), Subflow(inner, id="sf"))

    assert steps_of(run.journal)[-1] == "sf/a#4"


def test_the_default_branch_runs_when_nothing_matches() -> None:
    branches = [raw("a"), raw("b")]

    _, plain = ran(raw("s"), Decider(always("nope"), branches, id="d", raw=True, default="b"))
    _, copied = ran(raw("s"), Decider(always("nope"), branches, id="d", raw=True, default_node="b"))

    assert steps_of(plain.journal)[-1] == "b#2"
    assert steps_of(copied.journal)[-1] == "default#2"


def test_ids_names_and_descriptions_come_from_the_function_where_none_are_given() -> None:
    def check_credit_score(s: Any) -> None:
        """Look the score up.

        More words.
        """

    (info,) = built(Stage(check_credit_score)).stages

    assert (info.id, info.name, info.description) == (
        "check-credit-score",
        "Check Credit Score",
        "Look the score up.",
    )


def test_a_raw_stage_has_no_description_but_its_own() -> None:
    (info,) = built(raw("s")).stages

    assert info.description is None


def test_a_chart_mounted_in_itself_is_refused_by_name() -> None:
    inner, outer = Chart("Inner"), Chart("Outer")
    inner.start(id="i")(nothing)
    outer.start(id="o")(nothing)
    inner.mount(outer, id="out")
    outer.mount(inner, id="in")

    with pytest.raises(ChartBuildError, match=r"'Outer' is mounted inside itself") as caught:
        outer.build()

    assert caught.value.ids == ("out",)


def test_one_chart_may_be_mounted_twice_beside_itself() -> None:
    _, run = ran(raw("s"), Subflow(INNER, id="first"), Subflow(INNER, id="second"))

    assert steps_of(run.journal) == ["s#0", "first#1", "first/i#2", "second#3", "second/i#4"]


def test_something_else_in_place_of_a_part_is_refused_by_its_kind() -> None:
    with pytest.raises(ChartBuildError, match="a Flow where a part belongs"):
        built(raw("s"), built(raw("t")))  # pyright: ignore[reportArgumentType]  what a caller may try
