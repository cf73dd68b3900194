"""Recorders that raise, in every hook they have."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    Decider,
    Executor,
    FlowResult,
    Fork,
    Part,
    Pausable,
    Recorder,
    Selector,
    StageContext,
    Subflow,
)
from agentfootprint.trace import deep_equal
from tests.flow.bad_input.pieces import Broken, stage, with_ctx
from tests.flow.charts import Listener


def always(value: Any) -> Callable[[Any], Any]:
    def function(s: Any) -> Any:
        return value

    return function


def again_or_done(s: Any) -> str:
    return "again" if s.n < 4 else "done"


def writes_k(s: Any) -> None:
    s.k = 1


def busy() -> list[Part]:
    """A chart in which every kind of thing happens."""

    def work(s: Any, ctx: StageContext) -> None:
        s.n = ctx.get("n", 0) + 1
        ctx.emit("worked", s.n)

    inner = Chart.of("Inner", stage(work, "inner"))
    return [
        stage(work, "a"),
        Fork([stage(work, "f1"), stage(boom, "f2")]),
        Subflow(inner, id="m", input=("n",), output=("n",), inputs="mutable"),
        Selector(always("s1"), [stage(work, "s1"), stage(work, "s2")], id="sel"),
        Pausable(always("what?"), with_ctx(lambda s, answer: None), id="ask"),
        Decider(
            again_or_done,
            [stage(work, "again", loop_to="m"), stage(with_ctx(lambda s, ctx: ctx.break_("enough")), "done")],
            id="d",
        ),
    ]


def boom(s: Any) -> None:
    raise RuntimeError("on purpose")


def test_a_recorder_that_raises_in_every_hook_changes_nothing_for_run_and_other_recorders() -> None:
    def driven(recorders: list[Any]) -> tuple[FlowResult, dict[str, Any]]:
        executor = Executor(Chart.of("Busy", *busy()).build(), recorders=recorders)
        result = executor.run_sync()
        while result.status == "paused":
            assert result.checkpoint is not None
            result = executor.resume_sync(result.checkpoint, "that")
        return result, executor.snapshot().to_wire()

    listener, alone = Listener(), Listener()
    result, wire = driven([Broken(), listener, Broken()])
    expected, expected_wire = driven([alone])

    assert result.status == expected.status == "broken"
    assert deep_equal(result.state, expected.state)
    assert wire["commitLog"] == expected_wire["commitLog"]
    own = [hook for hook in listener.hooks() if hook != "on_error"]  # that of the broken ones is told as such
    assert own == [hook for hook in alone.hooks() if hook != "on_error"]


def test_a_recorder_that_raises_what_is_no_failure_ends_the_run_as_that() -> None:
    class Stops(Recorder):
        def on_write(self, event: object) -> None:
            raise KeyboardInterrupt

    async def driven() -> None:
        executor = Executor(Chart.of("Stops", stage(writes_k)).build(), recorders=[Stops()])
        with pytest.raises(KeyboardInterrupt):
            await executor.run()
        assert executor.snapshot().to_wire()["commitLog"]

    asyncio.run(driven())
