"""Tests of agentfootprint.flow.stage.asking."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint.flow import Chart, Executor, FlowRun, Handle, Stage, StageClosedError, StageContext, State
from agentfootprint.trace import FrozenDict, thaw


def executor(function: Any, **more: Any) -> Executor:
    return Executor(Chart.of("Ask", Stage(function, id="ask", **more)).build())


def test_a_question_says_why_and_what_it_expects() -> None:
    def ask(s: State, ctx: StageContext) -> None:
        s.answer = ctx.interrupt("may I?", expects={"type": "boolean"})

    result: Any = executor(ask).run_sync()

    assert thaw(result.checkpoint.pause_data) == {"reason": "may I?", "expects": {"type": "boolean"}}
    assert result.checkpoint.paused_by == "interrupt"


def test_what_is_expected_is_never_checked() -> None:
    def ask(s: State, ctx: StageContext) -> Any:
        return ctx.interrupt("may I?", expects={"type": "boolean"})

    asking: Any = executor(ask)

    assert asking.resume_sync(asking.run_sync().checkpoint, "perhaps").value == "perhaps"


def test_an_answer_is_unchangeable() -> None:
    def ask(h: Handle) -> Any:
        return h.interrupt("which?")

    asking: Any = executor(ask, raw=True)
    given = {"list": [1]}
    result = asking.resume_sync(asking.run_sync().checkpoint, given)
    given["list"].append(2)

    assert isinstance(result.value, FrozenDict)
    assert thaw(result.value) == {"list": [1]}


def test_none_is_an_answer() -> None:
    def ask(h: Handle) -> Any:
        return [h.interrupt("one?"), h.interrupt("two?")]

    asking: Any = executor(ask, raw=True)
    second = asking.resume_sync(asking.run_sync().checkpoint)

    assert second.checkpoint.interrupt_answers == (None,)
    assert asking.resume_sync(second.checkpoint).value == [None, None]


def test_a_closed_stage_can_not_ask() -> None:
    kept: list[Handle] = []
    asyncio.run(FlowRun(Chart.of("Ask", Stage(kept.append, id="keep", raw=True)).build()).start())

    with pytest.raises(StageClosedError):
        kept[0].interrupt("too late?")
