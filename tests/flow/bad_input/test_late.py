"""A stage's state, its context and its views, used after the stage has committed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.flow import Chart, StageClosedError, StageContext, current_stage, interrupt
from agentfootprint.trace import thaw
from tests.flow.bad_input.pieces import nothing, result_of, stage


def test_nothing_of_a_stage_can_be_used_after_its_commit() -> None:
    kept: dict[str, Any] = {}

    def keeps(s: Any, ctx: StageContext) -> None:
        s.o = {"l": [1], "d": {"x": 1}}
        kept.update(s=s, ctx=ctx, object=s.o, list=s.o["l"], inner=s.o["d"], iterator=iter(s.o["l"]))

    result = result_of(stage(keeps), initial_state={"k": 1})
    before = len(result.journal.rows)

    late: list[Callable[[], object]] = [
        lambda: kept["s"].k,
        lambda: kept["s"]["k"],
        lambda: "k" in kept["s"],
        lambda: setattr(kept["s"], "k", 2),
        lambda: delattr(kept["s"], "k"),
        lambda: kept["object"]["l"],
        lambda: kept["object"].update(x=1),
        lambda: kept["object"].raw,
        lambda: kept["list"].append(2),
        lambda: kept["list"][0],
        lambda: len(kept["list"]),
        lambda: kept["inner"].setdefault("y", 1),
        lambda: next(kept["iterator"]),
        *(lambda use=use: use(kept["ctx"]) for use in CONTEXT_USES),
    ]
    for use in late:
        with pytest.raises(StageClosedError, match="after the stage had committed"):
            use()
    assert "committed" in repr(kept["object"])
    assert len(result.journal.rows) == before
    assert thaw(result.state) == {"k": 1, "o": {"l": [1], "d": {"x": 1}}}


CONTEXT_USES: list[Callable[[StageContext], object]] = [
    lambda ctx: ctx.get("k"),
    lambda ctx: ctx.peek("k"),
    lambda ctx: ctx.read("k"),
    lambda ctx: ctx.keys(),
    lambda ctx: ctx.set("k", 1),
    lambda ctx: ctx.set("k", 1, redact=True),
    lambda ctx: ctx.update("k", {}),
    lambda ctx: ctx.delete("k"),
    lambda ctx: ctx.batch_list("l", lambda items: items.clear()),
    lambda ctx: ctx.emit("k"),
    lambda ctx: ctx.log("late"),
    lambda ctx: ctx.debug("k", 1),
    lambda ctx: ctx.error("k", 1),
    lambda ctx: ctx.metric("k", 1),
    lambda ctx: ctx.eval("k", 1),
    lambda ctx: ctx.token("late"),
    lambda ctx: ctx.break_("late"),
    lambda ctx: ctx.interrupt("late"),
    lambda ctx: ctx.args,
    lambda ctx: ctx.env,
    lambda ctx: ctx.scope,
    lambda ctx: ctx.run_id,
    lambda ctx: ctx.iteration,
]


async def test_a_task_that_outlives_its_stage_is_told_so() -> None:
    go_on = asyncio.Event()
    tasks: list[asyncio.Task[None]] = []

    async def late(s: Any, view: Any) -> None:
        s.early = True
        await go_on.wait()
        assert current_stage() is None
        for use in (lambda: view.append(1), lambda: setattr(s, "late", True), lambda: interrupt("late")):
            with pytest.raises(StageClosedError):
                use()

    async def starts(s: Any) -> None:
        s["l"] = []
        tasks.append(asyncio.create_task(late(s, s.l)))
        await asyncio.sleep(0)

    result = await Chart.of("Late", stage(starts), stage(nothing, "after")).build().run()
    go_on.set()
    await tasks[0]

    assert thaw(result.state) == {"l": [], "early": True}


def test_a_view_of_a_list_that_is_gone_says_so() -> None:
    def stage_of(s: Any) -> None:
        s.o = {"l": [1]}
        gone = s.o["l"]
        s.o = {"l": 5}
        for use in (lambda: gone.append(1), lambda: gone[0], gone.reverse, gone.sort, gone.pop):
            with pytest.raises(KeyError, match=r"o\.l"):
                use()

    result_of(stage(stage_of))
