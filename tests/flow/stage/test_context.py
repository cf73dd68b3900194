"""Tests of agentfootprint.flow.stage.context."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    EmitSeen,
    FlowRun,
    FlowStreamError,
    LoopTo,
    Recorder,
    Stage,
    StageContext,
    State,
    StateValueError,
    StreamHandlers,
    Watch,
)
from agentfootprint.trace import Dials, project_commit_log, project_tree, thaw


def run_with(
    stage: Callable[..., Any], *, args: dict[str, Any] | None = None, more: tuple[Any, ...] = (), **options: Any
) -> FlowRun:
    run = FlowRun(Chart.of("Context", Stage(stage, id="s"), *more).build(), dials=Dials(), **options)
    asyncio.run(run.start(args))
    return run


def test_input_and_environment_are_read_by_name_and_cannot_be_changed() -> None:
    def stage(s: State, ctx: StageContext) -> None:
        assert (ctx.args.person.name, ctx.args["person"]["name"], ctx.env.trace) == ("Dana", "Dana", "t")
        assert dict(ctx.args) == {"person": {"name": "Dana"}}
        with pytest.raises(AttributeError, match="'missing' in it; it has person"):
            _ = ctx.args.missing
        inputs: Any = ctx.args
        with pytest.raises((AttributeError, TypeError)):
            inputs.person = 1

    run = run_with(stage, args={"person": {"name": "Dana"}}, env={"trace": "t"})

    assert project_commit_log(run.journal)[0].untracked_sources == ("args", "env")


def test_a_deep_merge_and_a_delete_are_operations_of_their_own() -> None:
    def stage(s: State, ctx: StageContext) -> None:
        ctx.update("o", {"b": 2})
        ctx.delete("gone")
        ctx.set("k", [1], description="chosen")

    run = run_with(stage, initial_state={"o": {"a": 1}, "gone": 1})

    assert thaw(run.state) == {"o": {"a": 1, "b": 2}, "k": [1]}
    trace = [(e.path, e.verb) for e in project_commit_log(run.journal)[0].trace]
    assert trace == [("o", "merge"), ("gone", "set"), ("k", "set")]
    tree = project_tree(run.journal)
    assert tree is not None
    assert tree["logs"] == {"messages": ["[WRITE] chosen"]}


def test_values_can_be_read_whole_nested_or_unseen() -> None:
    def stage(s: State, ctx: StageContext) -> None:
        assert ctx.get("o") == {"a": {"b": 1}}
        assert ctx.get("none", 5) == 5
        assert (ctx.read("o.a.b"), ctx.read("o.x.y", "absent")) == (1, "absent")
        assert ctx.peek("quiet") == 2
        assert ctx.keys() == ["o", "quiet"]

    run = run_with(stage, initial_state={"o": {"a": {"b": 1}}, "quiet": 2})

    execution = run.journal.executions()[0]
    assert execution.reads == ("o", "none")
    assert execution.untracked == ("silent",)


def test_a_list_can_be_changed_in_one_read_and_one_write() -> None:
    def stage(s: State, ctx: StageContext) -> None:
        def change(items: list[Any]) -> None:
            items.append(3)
            items.remove(1)

        ctx.batch_list("l", change)
        ctx.batch_list("new", lambda items: items.append("x"))

    run = run_with(stage, initial_state={"l": [1, 2]})

    assert thaw(run.state) == {"l": [2, 3], "new": ["x"]}


def test_diagnostics_stand_in_the_tree_and_are_told() -> None:
    class Emits(Recorder):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[tuple[str, Any]] = []

        def on_emit(self, event: EmitSeen) -> None:
            self.seen.append((event.name, thaw(event.payload)))

    def stage(s: State, ctx: StageContext) -> None:
        ctx.log("one")
        ctx.log("two")
        ctx.debug("k", 1)
        ctx.error("e", "bad")
        ctx.metric("ms", 5)
        ctx.eval("score", 0.5)
        ctx.emit("app.done", {"n": 1})

    emits = Emits()
    run = run_with(stage, watch=Watch([emits]))

    tree = project_tree(run.journal)
    assert tree is not None
    assert tree["logs"] == {"messages": ["one", "two"], "k": 1}
    assert (tree["errors"], tree["metrics"], tree["evals"]) == ({"e": "bad"}, {"ms": 5}, {"score": 0.5})
    assert [name for name, _ in emits.seen] == [
        "log.debug.messages",
        "log.debug.messages",
        "log.debug.k",
        "log.error.e",
        "metric.ms",
        "eval.score",
        "app.done",
    ]


def test_a_diagnostic_that_cannot_be_recorded_is_named_and_fails_nothing() -> None:
    def stage(s: State, ctx: StageContext) -> None:
        ctx.log(object())
        ctx.debug("k", {1, 2})

    run = run_with(stage)

    tree = project_tree(run.journal)
    assert tree is not None
    assert tree["logs"] == {"messages": ["[non-serializable: object]"], "k": "[non-serializable: set]"}


def test_a_stage_knows_where_it_is() -> None:
    seen: list[Any] = []

    def stage(s: State, ctx: StageContext) -> None:
        seen.append((ctx.runtime_stage_id, ctx.iteration, ctx.run_id, ctx.scope))
        if ctx.iteration == 1:
            ctx.break_()

    run = run_with(stage, more=(LoopTo("s"),), scope="mine")

    assert seen == [("s#0", 0, run.run_id, "mine"), ("s#1", 1, run.run_id, "mine")]


@pytest.mark.parametrize("how", ["token", "generator"])
def test_a_streaming_stage_sends_texts_and_its_value_is_what_it_returns(how: str) -> None:
    told: list[tuple[str, ...]] = []

    async def by_token(s: State, ctx: StageContext) -> str:
        for text in ("he", "llo"):
            ctx.token(text)
        return "hello"

    async def by_generator(s: State) -> Any:
        yield "he"
        yield "llo"

    function = by_token if how == "token" else by_generator
    run = FlowRun(Chart.of("Stream", Stage(function, id="talk", name="Talk", stream="")).build(), dials=Dials())
    run.stream = StreamHandlers(
        lambda stream: told.append(("start", stream)),
        lambda stream, text: told.append(("token", stream, text)),
        lambda stream, text: told.append(("end", stream, text)),
    )

    outcome = asyncio.run(run.start())

    assert outcome.value == "hello"
    assert told == [
        ("start", "Talk"),
        ("token", "Talk", "he"),
        ("token", "Talk", "llo"),
        ("end", "Talk", "hello"),
    ]


def test_a_stream_that_raises_has_no_end() -> None:
    told: list[str] = []

    async def talk(s: State, ctx: StageContext) -> None:
        ctx.token("he")
        raise ValueError("cut")

    run = FlowRun(Chart.of("Stream", Stage(talk, id="talk", stream="t")).build())
    run.stream = StreamHandlers(on_end=lambda stream, text: told.append(text))

    with pytest.raises(ValueError, match=r"cut"):
        asyncio.run(run.start())

    assert told == []


def test_a_token_of_a_stage_that_does_not_stream_is_refused() -> None:
    def stage(s: State, ctx: StageContext) -> None:
        ctx.token("hi")

    with pytest.raises(FlowStreamError, match=r"Stage 's' sent a token.*streaming"):
        run_with(stage)


def test_a_batch_change_of_what_is_no_list_is_refused_and_loses_nothing() -> None:
    def stage(s: State, ctx: StageContext) -> None:
        with pytest.raises(StateValueError, match=r"'o'.*no list to change"):
            ctx.batch_list("o", lambda items: items.append(1))

    assert thaw(run_with(stage, initial_state={"o": {"a": 1}}).state) == {"o": {"a": 1}}
