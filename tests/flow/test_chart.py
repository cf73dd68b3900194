"""Tests of agentfootprint.flow.chart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.flow import Chart, ChartBuildError, FlowResult, Rule, Stage, StageContext, State, decide
from agentfootprint.trace import thaw
from tests.flow.charts import raw


def idle(s: State) -> None:
    """A stage that does nothing."""


def setting(key: str, value: Any) -> Callable[[State], None]:
    def stage(s: State) -> None:
        s[key] = value

    return stage


class Loan(State):
    score: int
    status: str = "new"


def loan_chart() -> Chart:
    chart = Chart("Loan", state=Loan)

    @chart.start(id="pull", description="fetch the credit score")
    async def pull(s: Loan, ctx: StageContext) -> None:
        s.score = ctx.args["score"]

    @chart.decider(id="classify", after="pull")
    def classify(s: Loan) -> Any:
        rules = [Rule(when={"score": {"gte": 700}}, then="approve", label="good credit")]
        return decide(s, rules, default="reject")

    @classify.branch("approve")
    async def approve(s: Loan) -> None:
        s.status = "approved"

    @classify.branch("reject", default=True)
    async def reject(s: Loan) -> None:
        s.status = "rejected"

    assert callable(pull)
    assert callable(approve)
    assert callable(reject)
    return chart


@pytest.mark.parametrize(("score", "status"), [(710, "approved"), (600, "rejected")])
def test_a_chart_written_with_decorators_runs(score: int, status: str) -> None:
    chart = Chart("Loan", state=Loan)

    @chart.start(id="pull")
    async def pull(s: Loan, ctx: StageContext) -> None:
        s.score = ctx.args["given"]

    @chart.decider(id="classify")
    def classify(s: Loan) -> Any:
        return decide(s, [Rule(when={"score": {"gte": 700}}, then="approve")], default="reject")

    @classify.branch("approve")
    def approve(s: Loan) -> None:
        s.status = "approved"

    @classify.branch("reject")
    def reject(s: Loan) -> None:
        s.status = "rejected"

    result = chart.build().run_sync({"given": score})

    assert (result.status, thaw(result.state)) == ("done", {"score": score, "status": status})
    assert pull is not None
    assert approve is not reject


def test_building_leaves_the_chart_open() -> None:
    chart = loan_chart()
    first = chart.build()

    chart.stage(id="more")(idle)

    assert [info.id for info in first.stages] == ["pull", "classify", "approve", "reject"]
    assert [info.id for info in chart.build().stages] == [*(info.id for info in first.stages), "more"]


def test_every_kind_of_stage_can_be_written_with_a_decorator() -> None:
    inner = Chart("Inner")
    inner.start(id="i")(setting("v", 1))
    chart = Chart("All")
    chart.start(id="s")(idle)
    chart.fork([Stage(setting("f", 1), id="f1"), lambda_named_f2])

    @chart.streaming(id="talk", stream="t")
    async def talk(s: State) -> Any:
        yield "he"
        yield "llo"

    @chart.selector(id="pick")
    def pick(s: State) -> list[str]:
        return ["a"]

    pick.branch("a")(setting("a", 1))
    pick.mount("b", inner, output=["v"])

    @chart.pausable(id="ask")
    def ask(s: State) -> str | None:
        return None

    @ask.resume
    def answered(s: State, answer: Any) -> None:
        """Nothing to do."""

    chart.mount(inner, id="sf", output=["v"])

    @chart.decider(id="again")
    def again(s: State, ctx: StageContext) -> str:
        return "more" if ctx.iteration < 1 else "stop"

    again.branch("more", loop_to="pick")(idle)
    again.branch("stop")(idle)
    again.mount("unused", inner)

    result: FlowResult = chart.build().run_sync()

    assert thaw(result.state) == {"runs": {"f1": {"f": 1}, "a": {"a": 1}}, "v": 1}
    assert callable(answered)
    assert again(None, type("C", (), {"iteration": 5})()) == "stop"
    assert pick(None) == ["a"]
    assert ask(None) is None
    assert talk is not None


def lambda_named_f2(s: State) -> None:
    """A child of a fork."""


def test_a_loop_closes_the_main_line() -> None:
    chart = Chart("Loop")
    chart.start(id="s")(idle)

    @chart.stage(id="work")
    def work(s: State, ctx: StageContext) -> None:
        s["n"] = ctx.get("n", 0) + 1
        if s["n"] == 3:
            ctx.break_()

    chart.loop("work")

    result = chart.build().run_sync()

    assert (result.status, thaw(result.state)) == ("broken", {"n": 3})
    assert work is not None


def test_after_says_where_a_stage_stands() -> None:
    chart = Chart("After")
    chart.start(id="one")(idle)
    chart.stage(id="three", after="two")(idle)
    chart.stage(id="two", after="one")(idle)

    assert [part.id for part in chart.parts if isinstance(part, Stage)] == ["one", "two", "three"]


@pytest.mark.parametrize(("after", "why"), [("one", "is followed by another stage"), ("gone", "is no stage")])
def test_a_place_that_is_taken_or_does_not_exist_is_refused(after: str, why: str) -> None:
    chart = Chart("After")
    chart.start(id="one")(idle)
    chart.stage(id="two", after="one")(idle)
    chart.stage(id="three", after=after)(idle)

    with pytest.raises(ChartBuildError, match=rf"'three' comes after '{after}', which {why}"):
        chart.build()


def test_a_second_start_and_a_part_before_the_start_are_refused() -> None:
    chart = Chart("Starts")
    with pytest.raises(ChartBuildError, match=r"no start yet"):
        chart.loop("s")
    chart.start(id="one")(idle)

    with pytest.raises(ChartBuildError, match=r"has a start already"):
        chart.start(id="two")


def test_a_pausable_stage_without_its_second_half_is_refused() -> None:
    chart = Chart("Ask")
    chart.start(id="s")(idle)
    chart.pausable(id="ask")(idle)

    with pytest.raises(ChartBuildError, match=r"'ask' has no second half"):
        chart.build()


def test_data_and_decorators_give_the_same_chart() -> None:
    written = Chart("Same")
    written.start(id="a")(idle)
    written.stage(id="b")(idle)

    data = Chart.of("Same", Stage(idle, id="a"), Stage(idle, id="b"))

    assert written.build().stages == data.build().stages


def test_a_state_type_that_is_none_is_refused() -> None:
    with pytest.raises(ChartBuildError, match=r"is no State"):
        Chart.of("Typed", raw("s"), state=dict).build()
