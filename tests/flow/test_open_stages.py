"""Tests of agentfootprint.flow.open_stages."""

from __future__ import annotations

from typing import Any

from agentfootprint.flow import Chart, Stage
from agentfootprint.trace import thaw
from tests.flow.charts import raw
from tests.flow.lambdas import one, two


def empty(s: Any) -> None:
    """A stage that does nothing."""


def answered(s: Any, answer: Any) -> None:
    """A second half that does nothing."""


def to_a(s: Any) -> str:
    return "a"


def to_nothing(s: Any) -> str:
    return "nothing"


def to_b(s: Any) -> list[str]:
    return ["b"]


def test_a_decorated_stage_can_still_be_called() -> None:
    chart = Chart("C")
    ask = chart.pausable(id="ask")(to_a)
    route = chart.decider(id="route")(to_a)
    pick = chart.selector(id="pick")(to_b)

    assert (ask(None), route(None), pick(None)) == ("a", "a", ["b"])


def test_every_stage_and_branch_says_what_viewers_need() -> None:
    chart, inner = Chart("C"), Chart.of("Inner", raw("i"))
    said: dict[str, Any] = {"icon": "star", "description": "said"}
    chart.start(id="start", **said)(empty)
    chart.stage(id="stage", **said)(empty)
    chart.streaming(id="streaming", **said)(empty)
    ask = chart.pausable(id="pausable", **said)(empty)
    ask.resume(answered)
    chart.mount(inner, id="mount", **said)
    route = chart.decider(id="decider", **said)(to_a)
    route.branch("a", default=True, converge_at="last", **said)(empty)
    route.pausable("b", converge_at="last", **said)(empty).resume(answered)
    route.mount("c", inner, converge_at="last", **said)
    pick = chart.selector(id="selector", **said)(to_b)
    pick.branch("d", converge_at="last", **said)(empty)
    chart.stage(id="last", **said)(empty)

    spec = chart.build().to_spec()

    waiting, told, joined = [spec], 0, 0
    while waiting:
        node = waiting.pop()
        assert (node["icon"], node["description"]) == ("star", "said")
        told, joined = told + 1, joined + ("convergeAt" in node)
        waiting += [*node.get("children", ()), *([node["next"]] if "next" in node else [])]
    assert (told, joined) == (12, 4)


def test_a_default_branch_runs_when_nothing_else_fits() -> None:
    chart = Chart("C")
    chart.start(id="s")(empty)
    route = chart.decider(id="route")(to_nothing)

    @route.branch("a", default=True)
    def a(s: Any) -> None:
        s.ran = "a"

    assert chart.build().run_sync().state["ran"] == "a"


def test_branches_take_what_the_parts_take() -> None:
    chart = Chart("Branches")
    chart.start(id="a", thread=True)(one(lambda s: s.__setitem__("n", counted(s))))
    decider = chart.decider(id="d")(one(lambda s: "again" if s["n"] < 2 else "sf"))
    decider.pausable("again", loop_to="a")(one(lambda s: None)).resume(answered)
    inner = Chart.of("Inner", Stage(one(lambda s: s.__setitem__("n", s["n"] + 10)), id="i"))
    decider.mount(
        "sf", inner, input=["n"], output=two(lambda state, parent: 1), inputs="mutable", on_output_error="record"
    )

    result = chart.build().run_sync()

    assert (result.status, thaw(result.state)) == ("done", {"n": 2})
    assert "SubflowMappingError" in str(result.snapshot().to_wire())


def counted(s: Any) -> int:
    """How often it was counted."""
    return s["n"] + 1 if "n" in s else 1
