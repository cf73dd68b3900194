"""Ten small runs of different shapes: what they leave behind is sliced by this library and by the reference's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentfootprint.flow import (
    Chart,
    Choice,
    Decider,
    Executor,
    Flow,
    FlowResult,
    Fork,
    Pausable,
    Rule,
    Selector,
    Stage,
    StageContext,
    State,
    Subflow,
    decide,
)

__all__ = ["RUNS", "Recorded"]

Recorded = tuple[dict[str, Any], list[str]]
"""A snapshot on the wire, and the keys to ask about."""


def _seed(s: State) -> None:
    s.score = 640
    s.income = 52_000
    s.log = ["opened"]


def _weigh(s: State) -> None:
    s.risk = 1000 - s.score
    s.log.append("weighed")


def _ratio(s: State, ctx: StageContext) -> None:
    s.ratio = ctx.args.amount / s.income
    ctx.update("facts", {"ratio": s.ratio})


def _verdict(s: State) -> Choice:
    rules = [Rule(when={"score": {"gte": 700}}, then="approve"), Rule(when={"risk": {"lt": 300}}, then="reject")]
    return decide(s, rules, default="refer")


def _say(word: str) -> Callable[[State], None]:
    def stage(s: State) -> None:
        s.status = word
        s.log.append(word)

    return stage


def _loan() -> Chart:
    branches = [Stage(_say(word), id=word) for word in ("approve", "reject", "refer")]
    return Chart.of("Loan", Stage(_seed), Stage(_weigh), Stage(_ratio), Decider(_verdict, branches, id="verdict"))


def _close(s: State) -> None:
    s.closed = f"{s.status} at {s.risk}"


def _more(s: State) -> str:
    return "again" if len(s.log) < 5 else "stop"


def _again(s: State) -> None:
    s.score = s.score + 10


def _loop() -> Chart:
    branches = [Stage(_again, id="again", loop_to="weigh"), Stage(_say("settled"), id="stop")]
    return Chart.of("Loop", Stage(_seed), Stage(_weigh, id="weigh"), Decider(_more, branches, id="more"))


def _mounted() -> Chart:
    inner = Chart.of("Inner", Stage(_weigh, id="weigh"), Stage(_say("weighed"), id="say"))
    mount = Subflow(
        inner,
        id="sf",
        input={"score": "score", "log": "log"},
        output={"risk": "risk", "status": "status"},
        inputs="mutable",
    )
    return Chart.of("Mounted", Stage(_seed), mount, Stage(_close, id="close"))


def _forked() -> Chart:
    fork = Fork([Stage(_weigh, id="weigh"), Stage(_say("beside"), id="beside")])

    def join(s: State) -> None:
        s.joined = s.runs["weigh"]["risk"] + s.score

    return Chart.of("Forked", Stage(_seed), fork, Stage(join, id="join"))


def _selected() -> Chart:
    def both(_: State) -> list[str]:
        return ["weigh", "beside"]

    branches = [Stage(_weigh, id="weigh"), Stage(_say("beside"), id="beside"), Stage(_again, id="again")]
    return Chart.of("Selected", Stage(_seed), Selector(both, branches, id="both"), Stage(_say("after"), id="after"))


def _deleted() -> Chart:
    def forget(s: State, ctx: StageContext) -> None:
        ctx.delete("score")
        s.log[0] = "reopened"

    def look(s: State) -> None:
        s.status = "gone" if "score" not in s else "there"

    return Chart.of("Deleted", Stage(_seed), Stage(_weigh), Stage(forget, id="forget"), Stage(look, id="look"))


def _silent() -> Chart:
    def peek(s: State, ctx: StageContext) -> None:
        s.status = f"{ctx.peek('score')} {ctx.env.region}"

    return Chart.of("Silent", Stage(_seed), Stage(peek, id="peek"), Stage(_weigh))


def _nested() -> Chart:
    def open_order(s: State) -> None:
        s.order = {"total": 5, "lines": [{"sku": "a"}]}

    def change(s: State) -> None:
        s.order.total = s.order.total + 1
        s.order.note = "changed"

    def read(s: State) -> None:
        s.status = s.order.note

    return Chart.of("Nested", Stage(open_order), Stage(change, id="change"), Stage(read, id="read"))


def _ran(chart: Chart, **options: Any) -> FlowResult:
    return Executor(chart.build(), **options).run_sync({"amount": 26_000}, env={"region": "north"})


def _paused() -> FlowResult:
    def ask(s: State) -> str | None:
        s.asked = s.risk
        return "approve?"

    def answered(s: State, _: StageContext, answer: str) -> None:
        s.status = f"{answer} after {s.asked}"

    pausable = Pausable(ask, answered, id="ask")
    flow: Flow = Chart.of("Paused", Stage(_seed), Stage(_weigh), pausable, Stage(_close, id="close")).build()
    executor = Executor(flow)
    paused = executor.run_sync({"amount": 1})
    assert paused.checkpoint is not None
    return executor.resume_sync(paused.checkpoint, "yes")


def _delta(chart: Chart) -> FlowResult:
    return _ran(chart, commit_values="delta", write_provenance="reads-prefix")


RUNS: dict[str, tuple[Callable[[], FlowResult], list[str]]] = {
    "loan": (lambda: _ran(_loan()), ["status", "risk", "log", "facts", "ratio", "nothing"]),
    "loan, net changes and provenance": (lambda: _delta(_loan()), ["status", "risk", "log", "ratio"]),
    "loop": (lambda: _ran(_loop()), ["score", "risk", "log", "status"]),
    "loop, net changes": (lambda: _delta(_loop()), ["score", "log"]),
    "mount": (lambda: _ran(_mounted()), ["closed", "status", "risk"]),
    "fork": (lambda: _ran(_forked()), ["joined", "score", "log"]),
    "selector": (lambda: _ran(_selected()), ["status", "log"]),
    "delete": (lambda: _ran(_deleted()), ["score", "status", "log"]),
    "unseen inputs": (lambda: _ran(_silent()), ["status", "risk"]),
    "nested places": (lambda: _ran(_nested()), ["order", "status"]),
    "pause": (_paused, ["status", "closed", "asked"]),
}
