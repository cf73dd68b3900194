"""Charts that can be imported, so that they can be pickled; and one with a bit of everything."""

from __future__ import annotations

from typing import Any

from agentfootprint.flow import Chart, Decider, Flow, Fork, LoopTo, Pausable, Selector, Stage, State, Subflow
from tests.flow.charts import always, nothing, raw

__all__ = ["EVERYTHING", "LOAN", "Loan", "everything"]


class Loan(State):
    score: int
    status: str = "new"


LOAN = Chart("Loan", state=Loan)


@LOAN.start(id="pull", description="fetch the score")
def pull(s: Loan, ctx: Any) -> None:
    s.score = ctx.args["known"]


@LOAN.decider(id="classify")
def classify(s: Loan) -> str:
    return "approve" if s.score > 700 else "reject"


@classify.branch("approve", description="say yes")
def approve(s: Loan) -> None:
    s.status = "approved"


@classify.branch("reject", default=True)
def reject(s: Loan) -> None:
    s.status = "rejected"


def answered(h: Any, answer: Any) -> None:
    """A second half that does nothing."""


def everything() -> Flow:
    inner = Chart.of("Inner", raw("work"), raw("more"))
    return Chart.of(
        "Everything",
        raw("s", description="begin", icon="flag"),
        Fork([raw("p1"), Subflow(inner, id="sf-p")]),
        raw("j"),
        Decider(
            always("a"),
            [raw("a", converge_at="z"), raw("b", loop_to="j"), Subflow(inner, id="c", input={"x": "y"})],
            id="d",
            raw=True,
            default="a",
        ),
        Selector(always([]), [raw("e"), raw("f", description="eff")], id="pick", raw=True),
        Pausable(nothing, answered, id="ask", raw=True),
        Stage(nothing, id="talk", stream="words", raw=True),
        Subflow(inner, id="sub", name="The sub", output={"r": "z"}),
        raw("z"),
        LoopTo("j"),
    ).build()


EVERYTHING = everything()
