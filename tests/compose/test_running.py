"""Tests of agentfootprint.compose.running."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
import weakref
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agentfootprint import (
    Agent,
    Conditional,
    ConfigError,
    Identity,
    Limits,
    LLMCall,
    Loop,
    Mock,
    Output,
    OutputSchemaError,
    Parallel,
    Recording,
    RecordOptions,
    RunOptions,
    Sequence,
    ToolContext,
    ask_human,
    tool,
)
from agentfootprint.agent import (
    DeadlineExceededError,
    RunCancelledError,
    conversation_redaction,
)
from agentfootprint.compose import Branch, Case, Composed, CompositionError, Step, runner
from agentfootprint.events import Event, event_to_wire
from agentfootprint.flow import CommitSeen, Recorder, StageStarted
from agentfootprint.trace import compact_json, freeze
from tests.compose.parts import Gate, boom, brackets, ex, heard_by, up


def nested() -> Sequence:
    both = Parallel({"a": up, "b": LLMCall(Mock("B"))}, merge=lambda said: "".join(said.values()), id="both")
    return Sequence([Step("both", both), Step("say", Agent(Mock("said"), id="sayer"))], id="all")


async def test_a_run_has_one_id_one_log_and_addresses_that_say_where_each_thing_was() -> None:
    line = nested()
    heard = heard_by(line)

    result = await line.run(
        "hi", session_id="s", identity=Identity(tenant="acme", principal="ann", conversation_id="c")
    )

    assert {event.meta.run_id for event in heard} == {result.run_id}
    assert {event.meta.composition_path for event in heard} == {("Sequence:all",)}
    assert {(event.meta.principal, event.meta.session_id) for event in heard} == {("ann", "s")}
    steps = [event.meta.runtime_stage_id for event in heard if event.execution is not None]
    for event in heard:
        assert "/".join(event.meta.subflow_path) == event.meta.runtime_stage_id.partition("#")[0].rpartition("/")[0]
    assert len({step.rpartition("#")[2] for step in steps}) == len(set(steps))
    assert [event.type for event in result.recording.events] == [
        event.type for event in heard if ".context." not in event.type or event.type.endswith("evaluated")
    ] or len(result.recording.events) == len(heard)


async def test_a_recording_of_several_agents_is_read_back_and_answers_alike(tmp_path: Path) -> None:
    result = await nested().run("hi")

    read = Recording.load(result.recording.save(tmp_path / "run.json"))

    assert compact_json(freeze(read.to_wire())) == compact_json(freeze(result.recording.to_wire()))
    assert [call.content for call in read.calls] == ["B", "said"]
    assert read.answer == result.recording.answer
    assert read.user_message == "hi"
    assert str(read.header["composition"]["id"]) == "all"


async def test_one_composition_serves_many_runs_at_once() -> None:
    line = Sequence([Step("loud", up), Step("sure", Loop(ex, max_iterations=3))])

    results = await asyncio.gather(*(line.run(f"m{n}") for n in range(20)))

    assert [result.output for result in results] == [f"M{n}!!!" for n in range(20)]
    assert len({result.run_id for result in results}) == 20
    assert line.plan.flow is line.plan.flow


async def test_a_stream_reads_every_child_and_leaving_it_stops_them() -> None:
    gate = Gate()
    line = Sequence([Step("loud", up), Step("wait", gate.runner)], id="line")
    heard = heard_by(line)

    async with line.stream("hi") as run:
        seen = [event.type async for event in _until_begun(run, gate)]
    with pytest.raises(RunCancelledError):
        await run.result()

    assert seen[0] == "agentfootprint.composition.enter"
    assert gate.was_stopped
    assert brackets(heard)[-1] == ("exit", "line", "err")


async def _until_begun(run: Any, gate: Gate) -> AsyncIterator[Event[Any]]:
    async for event in run:
        yield event
        await gate.begun.wait()
        return


async def test_a_deadline_stops_every_child() -> None:
    gates = Gate(), Gate()
    both = Parallel(
        {"a": gates[0].runner, "b": gates[1].runner}, merge=lambda _: "", limits=Limits(deadline=0.02), id="both"
    )
    heard = heard_by(both)

    with pytest.raises(DeadlineExceededError):
        await both.run("hi")

    assert all(gate.was_stopped for gate in gates)
    assert brackets(heard)[-1] == ("exit", "both", "err")
    assert heard[-1].type == "agentfootprint.error.fatal"


async def test_a_child_keeps_its_own_deadline_and_sees_the_nearer_one() -> None:
    seen: list[float | None] = []

    @tool
    async def look(ctx: ToolContext) -> str:
        """Look at the clock."""
        seen.append(ctx.deadline)
        await asyncio.Event().wait()
        return ""

    agent = Agent(Mock([Mock.call("look"), "x"]), tools=[look], limits=Limits(deadline=0.02))

    with pytest.raises(DeadlineExceededError, match=r"0\.02 s"):
        await Sequence([agent], limits=Limits(deadline=60)).run("hi")

    assert seen[0] is not None


async def test_a_composition_in_another_keeps_its_own_deadline() -> None:
    gate = Gate()
    inner = Sequence([gate.runner], id="inner", limits=Limits(deadline=0.02))
    line = Sequence([Step("in", inner), Step("ex", ex)], id="line")
    heard = heard_by(line)

    with pytest.raises(DeadlineExceededError, match=r"0\.02 s"):
        await line.run("hi")

    assert gate.was_stopped
    assert brackets(heard)[-2:] == [("exit", "inner", "err"), ("exit", "line", "err")]


async def test_a_tool_sees_the_nearest_of_the_deadlines_around_it() -> None:
    seen: list[float] = []

    @tool
    async def look(ctx: ToolContext) -> str:
        """Look at the clock."""
        assert ctx.deadline is not None
        seen.append(ctx.deadline - time.monotonic())
        return ""

    agent = Agent(Mock([Mock.call("look"), "x"], cursor="history"), tools=[look], limits=Limits(deadline=1000))
    inner = Sequence([agent], limits=Limits(deadline=100))

    await Sequence([Step("in", inner), Step("out", agent)], limits=Limits(deadline=500)).run("hi")

    assert [round(left, -2) for left in seen] == [100, 500]


async def test_what_an_agent_kept_open_for_an_answer_is_closed_when_the_run_fails_beside_it() -> None:
    closed: list[str] = []
    gate = Gate()

    @tool
    async def hold(ctx: ToolContext) -> object:
        """Ask a person, with something open."""
        ctx.on_teardown(lambda: closed.append("closed"))
        gate.opened.set()
        return ask_human("Shall I?")

    async def fail(message: str) -> str:
        await gate.opened.wait()
        await asyncio.sleep(0.01)
        raise TypeError(message)

    asker = Agent(Mock([Mock.call("hold"), "x"]), tools=[hold], id="asker")
    branches = {"ask": Branch(asker, required=True), "fail": Branch(runner(fail), required=True)}

    with pytest.raises(CompositionError, match="fail: hi"):
        await Parallel(branches, merge=lambda _: "").run("hi")

    assert closed == ["closed"]


async def test_the_same_call_of_two_agents_is_two_calls() -> None:
    keys: list[str] = []

    @tool
    async def pay(ctx: ToolContext, amount: int) -> str:
        """Pay."""
        keys.append(str(ctx.idempotency_key))
        return "paid"

    def payer(id: str) -> Agent[object, str]:
        return Agent(Mock([Mock.call("pay", amount=1), "done"], cursor="history"), tools=[pay], id=id)

    result = await Sequence([payer("a"), payer("b")]).run("pay")
    again = await Sequence([Loop(payer("a"), max_iterations=2)]).run("pay")

    assert len(set(keys)) == 4
    assert [call.name for call in result.tool_calls] == ["pay", "pay"]
    assert len(again.tool_calls) == 2


async def test_deps_reach_the_tools_of_every_child() -> None:
    got: list[object] = []

    @tool
    async def look(ctx: ToolContext) -> str:
        """Look."""
        got.append(ctx.deps)
        return "x"

    agent = Agent(Mock([Mock.call("look"), "x"], cursor="history"), tools=[look])
    await Parallel({"a": agent, "b": agent}, merge=lambda _: "done").run("hi", deps="mine")

    assert got == ["mine", "mine"]


class Answer(BaseModel):
    """A decision."""

    yes: bool


async def test_a_typed_child_hands_on_its_text_and_a_strict_one_its_failure() -> None:
    fits = Agent(Mock('{"yes": true}'), output=Answer, id="typed")
    misses = Agent(Mock("maybe"), output=Output(Answer, strict=True), id="strict")

    assert (await Sequence([fits]).run("?")).output == '{"yes": true}'
    with pytest.raises(OutputSchemaError):
        await Sequence([misses]).run("?")


async def test_whoever_listens_to_a_child_hears_nothing_and_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    child = Agent(Mock("x"), id="child")
    heard: list[object] = []
    child.on("*", heard.append)
    line = Sequence([child], id="line")

    with caplog.at_level(logging.WARNING):
        await line.run("a")
        await line.run("b")

    assert heard == []
    assert [record.getMessage() for record in caplog.records] == [
        "Somebody listens to 'child', and hears nothing of the runs of 'line' that it is a part of; listen to 'line'."
    ]


class Notes(Recorder):
    """Notes nothing, at every commit."""

    def on_commit(self, event: CommitSeen) -> None:
        pass


async def test_listeners_and_recorders_of_a_childs_child_are_told_of_too(caplog: pytest.LogCaptureFixture) -> None:
    deep, near = Agent(Mock("x"), id="deep"), Agent(Mock("y"), id="near")
    deep.on("*", lambda _: None)
    near.attach(Notes("notes"))

    with caplog.at_level(logging.WARNING):
        await Sequence([Step("in", Loop(deep, max_iterations=1)), near], id="line").run("a")

    assert [record.getMessage().partition(",")[0] for record in caplog.records] == ["Somebody listens to 'in/body'"]
    assert "'near'" in caplog.records[0].getMessage()


async def test_what_the_tools_of_children_keep_open_for_a_session_is_closed_from_outside() -> None:
    closed: list[str] = []

    @tool
    async def hold(ctx: ToolContext) -> str:
        """Keep something open."""
        ctx.on_teardown(lambda: closed.append(str(ctx.session_id)), scope="session", key="one")
        return "held"

    agent = Agent(Mock([Mock.call("hold"), "done"]), tools=[hold], id="holder")
    line = Sequence([Step("in", Sequence([agent]))])

    await line.run("hi", session_id="s1")
    before = list(closed)
    counts = [await line.close_tool_sessions(each) for each in ("s2", "s1", "s1")]

    assert (before, counts, closed) == ([], [0, 1, 0], ["s1"])


async def test_where_a_child_is_not_recorded_nothing_is_unless_the_run_says_so() -> None:
    line = Sequence([Step("in", Loop(Agent(Mock("x"), record=False), max_iterations=1)), ex])

    result = await line.run("hi")
    asked_for = await line.run("hi", options=RunOptions(record=True))

    assert result.output == asked_for.output == "x!"
    with pytest.raises(ConfigError, match="was not recorded"):
        result.why()
    assert len(asked_for.recording.calls) == 1


async def test_what_one_child_keeps_out_of_the_record_is_kept_out_of_all_of_it(tmp_path: Path) -> None:
    shy = Agent(Mock("mark-shy"), record=RecordOptions(redaction=conversation_redaction()), id="shy")
    both = Parallel({"shy": shy, "bad": boom}, merge_outcomes=lambda said: f"mark-merged {said}")
    line = Sequence(
        [
            Step("both", both, pipe=lambda asked: f"mark-piped {asked}"),
            Step("call", LLMCall(Mock("mark-call"))),
            Step("loop", Loop(ex, max_iterations=2)),
            Step("way", Conditional([Case("all", {"message": {"ne": "mark-x"}}, up)], otherwise=ex)),
        ]
    )
    heard = heard_by(line)

    result = await line.run("mark-asked")

    assert result.output == "MARK-CALL!!"
    texts = [result.recording.save(tmp_path / f"{form}.json", form=form).read_text() for form in ("native", "wire")]
    texts += [str(event_to_wire(event)) for event in heard]
    assert [text for text in texts if "mark-" in text.lower()] == []
    assert str(result.why())


async def test_options_that_only_an_agent_has_are_refused() -> None:
    for options in (RunOptions(model="x"), RunOptions(instructions="x")):
        with pytest.raises(ConfigError, match=r"decides nothing"):
            await Sequence([up]).run("hi", options=options)


class Counting:
    """A recorder of what the engine does."""

    id = "counting"

    def __init__(self) -> None:
        self.stages: list[str] = []

    def on_stage_start(self, event: StageStarted) -> None:
        self.stages.append(event.runtime_stage_id)


async def test_a_recorder_that_is_attached_is_told_of_the_steps_of_every_child() -> None:
    line, counting = nested(), Counting()

    with line.attach(counting):
        await line.run("hi")
    await line.run("hi")

    assert {step.partition("#")[0] for step in counting.stages} >= {"seed", "step-both/merge", "step-say/call-llm"}
    assert len([step for step in counting.stages if step == "seed#0"]) == 1


async def test_a_run_may_have_an_id_of_the_callers_and_no_record() -> None:
    result = await Sequence([up]).run("hi", options=RunOptions(run_id="mine", record=False))

    assert result.run_id == "mine"
    with pytest.raises(ConfigError, match=r"was not recorded"):
        result.recording  # noqa: B018


async def test_sources_of_several_agents_are_not_proven_as_one() -> None:
    result = await nested().run("hi")

    with pytest.raises(ConfigError, match=r"can't be proved"):
        await result.prove()
    with pytest.raises(ConfigError, match=r"can't be run again"):
        await result.rerun()


async def test_closing_closes_what_the_tools_of_children_keep_open() -> None:
    closed: list[str] = []

    @tool
    async def open_it(ctx: ToolContext) -> str:
        """Open it."""
        ctx.on_teardown(lambda: closed.append("closed"), scope="session")
        return "open"

    async with Sequence([Agent(Mock([Mock.call("open_it"), "x"]), tools=[open_it])]) as line:
        await line.run("hi", session_id="s")
        assert closed == []

    assert closed == ["closed"]


async def test_a_run_that_was_started_is_in_flight_until_it_has_ended() -> None:
    gate = Gate()
    line = Sequence([Step("wait", gate.runner)])

    handle = line.start("hi")
    assert line.inflight == (handle,)
    gate.opened.set()
    assert (await handle.result()).output == "hi"

    assert line.inflight == ()


def test_a_finished_run_is_freed_without_the_collector() -> None:
    def run() -> weakref.ref[Any]:
        result = nested().run_sync("hi")
        return weakref.ref(result)

    gc.collect()
    gc.disable()
    try:
        assert run()() is None
    finally:
        gc.enable()


def test_what_it_is_made_of_is_told_by_names() -> None:
    spec = nested().spec

    assert [child["mount"] for child in spec["children"]] == ["step-both", "step-say"]
    assert spec["children"][0]["composition"]["kind"] == "Parallel"
    assert spec["children"][1]["agent"]["id"] == "sayer"
    assert isinstance(nested(), Composed)
    assert repr(nested()) == "Sequence(id='all')"


@runner
async def unused(message: str) -> str:
    return message


def test_a_branch_is_what_it_says() -> None:
    assert Branch(unused, name="U", required=True).name == "U"


async def test_the_record_of_a_composition_holds_that_of_each_child_once() -> None:
    def chatty(name: str) -> Agent[object, str]:
        return Agent(Mock(f"{name} " + "says a lot. " * 400), id=name)

    alone = [len(str((await chatty(name).run("go")).recording.native_rows())) for name in ("a", "b")]
    line = Sequence([chatty("a"), chatty("b")])
    together = len(str((await line.run("go")).recording.native_rows()))

    assert together <= sum(alone) + 4_000  # what was handed on is the same text, and stands there once


def test_the_program_of_the_manual_runs() -> None:
    @runner
    async def shout(message: str) -> str:
        return message.upper()

    legal, ops, editor = (Agent(Mock(text), id=text.lower()) for text in ("Legal", "Ops", "DONE"))
    panel = Parallel(
        {"legal": legal, "ops": Branch(ops, required=True)}, merge=lambda parts: " / ".join(parts.values())
    )
    desk = Sequence([Step("panel", panel), Step("edit", Loop(editor, until=lambda done: "DONE" in done.latest_output))])
    route = Conditional([Case("urgent", lambda given: given.message.startswith("!"), shout)], otherwise=desk)
    result = route.run_sync("my card was declined")

    assert (result.output, result.iterations) == ("DONE", 3)
    assert "reached it: 0" in str(result.why())
    assert route.run_sync("!now").output == "!NOW"
