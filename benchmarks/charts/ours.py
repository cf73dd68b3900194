"""The charts on this engine: as a user writes them, and with parts of the recording knocked out.

`agentfootprint` is `Flow.run` with its defaults: every read, write, commit, decision and the narrative on record. The
other candidates take one thing away each; what the time falls by is what that thing costs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agentfootprint.flow import Chart, Decider, Executor, Flow, FlowRun, Handle, Stage, State
from benchmarks.charts.shapes import MARKS, Marks

Run = Callable[[], Awaitable[Any]]


class Count(State):
    """What the charts work on."""

    n: int
    items: list[int]


def _first(s: Count) -> None:
    s.n = 0


def _add(s: Count) -> None:
    s.n = s.n + 1


def _nothing(_: Count) -> None:
    """The body of a stage that does nothing."""


def _raw_first(h: Handle) -> None:
    h["n"] = 0


def _raw_add(h: Handle) -> None:
    h["n"] = h["n"] + 1


def chain(size: int, *, body: Callable[[Any], None] = _add) -> Flow:
    """A line of stages, each with one read and one write."""
    stages = [Stage(body, id=f"s{number}") for number in range(size - 1)]
    return Chart.of("Chain", Stage(_first, id="first"), *stages, state=Count).build()


def raw_chain(size: int) -> Flow:
    """The same with bare handles."""
    stages = [Stage(_raw_add, id=f"s{number}", raw=True) for number in range(size - 1)]
    return Chart.of("Chain", Stage(_raw_first, id="first", raw=True), *stages).build()


def loop(size: int, marks: Marks) -> Flow:
    """Two stages and a decision, again and again; a list grows by one each time."""

    def start(s: Count) -> None:
        s.n = 0
        s.items = []

    def step(s: Count) -> None:
        s.items.append(s.n)
        s.n = s.n + 1

    def more(s: Count) -> str:
        marks.passed(s.n)
        return "again" if s.n < size else "stop"

    branches = [Stage(_nothing, id="again", loop_to="step"), Stage(_nothing, id="stop")]
    parts = (Stage(start, id="start"), Stage(step, id="step"), Decider(more, branches, id="more"))
    return Chart.of("Loop", *parts, state=Count).build()


def _ran(flow: Flow, size: int, **options: Any) -> Run:  # noqa: ANN401  options of Executor
    async def run() -> Any:  # noqa: ANN401  the result, kept while it is measured
        result = await Executor(flow, **options).run({"who": "bench"}, max_iterations=size + 1)
        if result.state["n"] not in (size, size - 1):
            raise AssertionError(result.state)
        return result

    return run


def _natively(size: int) -> Run:
    flow = raw_chain(size)

    async def run() -> object:
        going = FlowRun(flow)
        await going.start({"who": "bench"})
        return going

    return run


def _emptily(size: int) -> Run:
    flow = chain(size, body=_nothing)

    async def run() -> object:
        return await Executor(flow).run({"who": "bench"})

    return run


OFF: dict[str, Any] = {"read_tracking": "off", "write_tracking": "off", "commit_values": "delta"}

CHAINS: dict[str, Callable[[int], Run]] = {
    "agentfootprint": lambda size: _ran(chain(size), size),
    "no narrative": lambda size: _ran(chain(size), size, narrative=False),
    "no narrative, dials off": lambda size: _ran(chain(size), size, narrative=False, **OFF),
    "empty bodies": _emptily,
    "bare handles": _natively,
}
"""Everything on record, then less and less of it."""


def looped(size: int) -> Run:
    """The loop with everything on record."""
    return _ran(loop(size, MARKS), size)


def small(_: int) -> Run:
    """One small run, of which many go on at once."""
    flow = chain(3)

    async def run() -> object:
        return await flow.run({"who": "bench"})

    return run
