"""Tests of agentfootprint.agent.running.observing, as agents that are watched."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from agentfootprint import Agent, LLMCall, Mock, RecordOptions, RunOptions, ask_human, tool
from agentfootprint.agent import RunCancelledError, RunCheckpointError
from agentfootprint.errors import ConfigError
from agentfootprint.events import Event
from agentfootprint.flow import AsyncHookError, EmitSeen, ObserverQueue, Recorder, RedactionPolicy
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.observe import ConsoleExporter
from agentfootprint.trace import ValueRefusedError
from tests.observe.made import desk

DEFERRED = RecordOptions(delivery="deferred")


class Commits:
    """A recorder that is no subclass of anything."""

    def __init__(self, id: str = "commits") -> None:
        self.id = id
        self.seen: list[str] = []

    def on_commit(self, event: Any) -> None:
        self.seen.append(event.stage_id)


class Emits(Recorder):
    def __init__(self, id: str = "emits", *, delivery: Any = None) -> None:
        super().__init__(id)
        self.delivery = delivery
        self.seen: list[EmitSeen] = []

    def on_emit(self, event: EmitSeen) -> None:
        self.seen.append(event)

    @property
    def names(self) -> list[str]:
        return [each.name for each in self.seen]


def told(events: Any) -> list[tuple[str, Any]]:
    """What happened, without the clock: a slot is composed a moment before it is recorded."""
    return [(event.type, event.payload) for event in events]


def types(events: Any) -> list[str]:
    return [event.type for event in events]


# -- recorders


async def test_a_recorder_is_told_what_the_engine_does_in_the_runs_that_begin_afterwards() -> None:
    agent, commits = desk(turns=2), Commits()
    await agent.run("Weather?")
    subscription = agent.attach(commits)

    await agent.run("Weather?")
    heard = len(commits.seen)
    subscription.close()
    await agent.run("Weather?")

    assert len(commits.seen) == heard > 10
    assert agent.recorders == ()


async def test_a_recorder_with_the_same_id_replaces_the_other() -> None:
    agent, first, second = desk(), Commits(), Commits()

    old = agent.attach(first)
    agent.attach(second)
    old.close()
    await agent.run("Weather?")

    assert first.seen == []
    assert second.seen


async def test_a_recorder_of_one_run_is_told_of_that_run() -> None:
    agent, mine, its = desk(turns=2), Emits("mine"), Emits("its")
    agent.attach(mine)

    one = await agent.run("Weather?", options=RunOptions(recorders=[its]))
    two = await agent.run("Weather?")

    assert its.names == types(recorded(one))
    assert mine.names == types(recorded(one)) + types(recorded(two))


def recorded(result: Any) -> list[Event[Any]]:
    """The events as listeners get them."""
    return list(result.recording.events)


async def test_a_recorder_hears_every_event_with_its_address() -> None:
    agent, emits, heard = desk(), Emits(), list[Event[Any]]()
    agent.on("*", heard.append)
    agent.attach(emits)

    await agent.run("Weather?")

    assert [(each.name, each.runtime_stage_id, each.payload) for each in emits.seen] == [
        (each.type, each.meta.runtime_stage_id, each.payload) for each in heard
    ]
    token = next(each for each in emits.seen if each.name.endswith("stream.token"))
    assert token.stage_name
    assert token.runtime_stage_id.startswith("call-llm#")


async def test_a_bare_model_call_takes_recorders_for_a_run() -> None:
    commits = Commits()

    await LLMCall(Mock("Hi")).run("?", options=RunOptions(recorders=[commits]))

    assert commits.seen


async def test_a_recorder_that_raises_changes_no_run() -> None:
    class Broken(Recorder):
        def on_emit(self, event: EmitSeen) -> None:
            raise RuntimeError("broken")

        def on_commit(self, event: Any) -> None:
            raise RuntimeError("broken")

    agent, beside = desk(), Emits()
    agent.attach(Broken("broken"))
    agent.attach(beside)

    result = await agent.run("Weather?")

    assert result.output == "Sunny."
    assert beside.names == types(result.recording.events)


async def test_under_a_redaction_policy_a_recorder_is_told_of_events_as_everybody_may_see_them() -> None:
    class Everything(Recorder):
        def __init__(self) -> None:
            super().__init__("everything")
            self.seen: list[Any] = []

        def on_emit(self, event: EmitSeen) -> None:
            self.seen.append(event)

        def on_write(self, event: Any) -> None:
            self.seen.append(event)

    policy = RedactionPolicy(event_fields={"agentfootprint.agent.turn_start": ["userPrompt"]})
    everything = Everything()
    agent = Agent(Mock("Fine."), record=RecordOptions(redaction=policy), observers=[everything])

    await agent.run("marker-7f3a")

    assert {type(each).__mro__[1] for each in everything.seen} == {EmitSeen}
    begun = next(each for each in everything.seen if each.name.endswith("turn_start"))
    assert "marker" not in str(begun.payload)


@pytest.mark.parametrize("given", [object(), "commits", 7])
def test_what_is_told_nothing_is_refused(given: Any) -> None:
    with pytest.raises(ConfigError):
        desk().attach(given)
    with pytest.raises(ConfigError):
        RunOptions(recorders=[given])


def test_hooks_and_words_that_can_not_work_are_refused() -> None:
    class Later(Recorder):
        async def on_emit(self, event: EmitSeen) -> None: ...  # pyright: ignore[reportIncompatibleMethodOverride]  what is refused

    with pytest.raises(AsyncHookError):
        desk().attach(Later("later"))
    with pytest.raises(ConfigError, match="sometime"):
        desk().attach(Emits(delivery="sometime"))


# -- told later


async def test_who_is_told_later_gets_the_same_events_in_the_same_order() -> None:
    """BRG-20."""
    now, later = desk(), desk(record=DEFERRED)
    heard: list[Event[Any]] = []
    wired: list[Event[Any]] = []
    later.on("*", heard.append)
    later.on("*", wired.append, form="wire")

    at_once = await now.run("Weather?")
    result = await later.run("Weather?")

    assert told(heard) == told(result.recording.events)
    assert types(heard) == types(at_once.recording.events)
    assert types(wired) == [each["type"] for each in result.recording.to_wire()["events"]]


async def test_nothing_is_told_where_it_happens_and_everything_before_the_run_returns() -> None:
    """BRG-21."""
    order: list[str] = []

    @tool
    def weather(city: str) -> str:
        """Look up the weather."""
        order.append("tool ran")
        return city

    replies = [LLMResponse("", tool_calls=[ToolCall("c1", "weather", {"city": "Paris"})]), "Sunny."]
    agent = Agent(Mock(replies), tools=[weather], record=DEFERRED)
    agent.on("agentfootprint.stream.tool_start", lambda _: order.append("told of the start"))

    await agent.run("Weather?")
    order.append("run returned")

    assert order == ["tool ran", "told of the start", "run returned"]


async def test_a_failure_and_a_pause_tell_everything_first() -> None:
    @tool
    def confirm() -> None:
        """Ask."""
        ask_human("Sure?")

    failing = Agent(Mock([RuntimeError("down")]), record=DEFERRED)
    pausing = Agent(
        Mock([LLMResponse("", tool_calls=[ToolCall("c1", "confirm", {})])]), tools=[confirm], record=DEFERRED
    )
    heard: list[Event[Any]] = []
    failing.on("*", heard.append)
    pausing.on("*", heard.append)

    with pytest.raises(RunCheckpointError):
        await failing.run("?")
    assert "agentfootprint.error.fatal" in types(heard)
    heard.clear()
    await pausing.run("?")

    assert "agentfootprint.pause.request" in types(heard)


async def test_a_run_that_was_cancelled_before_its_first_step_tells_its_end_too() -> None:
    agent, heard = desk(record=DEFERRED), list[Event[Any]]()
    agent.on("*", heard.append)
    handle = agent.start("?")
    await handle.cancel("no longer needed")

    with pytest.raises(RunCancelledError):
        await handle.result()
    await asyncio.sleep(0)

    assert "agentfootprint.error.fatal" in types(heard)


async def test_how_they_did_stands_in_the_snapshot_and_only_then() -> None:
    """BRG-23."""
    agent = desk(record=RecordOptions(delivery="deferred", queue=ObserverQueue(max_queue=5)))
    heard: list[Event[Any]] = []
    agent.on("*", heard.append)

    result = await agent.run("Weather?")
    plain = await desk().run("Weather?")

    stats = result.recording.snapshot["observerStats"]
    assert stats["drops"] > 0
    assert len(heard) + stats["drops"] == len(result.recording.events)
    assert result.recording.to_wire()["snapshot"]["observerStats"]["depth"] == 0
    assert stats["perListener"]["agent-listeners"]["events"] == len(heard)
    assert "observerStats" not in plain.recording.snapshot


async def test_a_queue_that_blocks_loses_nothing() -> None:
    """BRG-24."""
    agent = desk(record=RecordOptions(delivery="deferred", queue=ObserverQueue(max_queue=3, overflow="block")))
    heard: list[Event[Any]] = []
    agent.on("*", heard.append)

    result = await agent.run("Weather?")

    assert len(heard) == len(result.recording.events)
    assert result.recording.snapshot["observerStats"]["inlineDeliveries"] > 0


async def test_a_recorder_s_own_delivery_wins() -> None:
    """BRG-25."""
    agent, heard = desk(record=DEFERRED), list[str]()
    inline, later = Emits("inline", delivery="inline"), Emits("later")
    agent.attach(inline)
    agent.attach(later)
    agent.on("agentfootprint.agent.turn_start", lambda _: heard.append(f"{len(inline.seen)} {len(later.seen)}"))

    result = await agent.run("Weather?")

    assert inline.names == later.names == types(result.recording.events)
    ahead, behind = map(int, heard[0].split())
    assert ahead > behind


async def test_a_recorder_that_is_told_later_leaves_listeners_where_they_are() -> None:
    agent, heard = desk(), list[Event[Any]]()
    later = Emits(delivery="deferred")
    agent.attach(later)
    agent.on("*", heard.append)

    result = await agent.run("Weather?")

    assert told(heard) == told(result.recording.events)
    assert later.names == types(heard)


async def test_a_listener_that_fails_later_is_isolated(caplog: pytest.LogCaptureFixture) -> None:
    """BRG-26."""
    agent, heard = desk(record=DEFERRED), list[Event[Any]]()

    def broken(event: Event[Any]) -> None:
        raise RuntimeError("broken")

    agent.on("*", broken)
    agent.on("*", heard.append)

    with caplog.at_level(logging.ERROR, "agentfootprint.events"):
        result = await agent.run("Weather?")

    assert told(heard) == told(result.recording.events)
    assert "broken" in caplog.text or "RuntimeError" in caplog.text


async def test_runs_side_by_side_have_a_queue_each() -> None:
    agent = Agent(Mock(lambda request: request.messages[-1].content), record=DEFERRED)
    heard: dict[str, list[Event[Any]]] = {}
    agent.on("*", lambda event: heard.setdefault(event.meta.run_id, []).append(event))

    results = await asyncio.gather(*(agent.run(f"question {n}") for n in range(20)))

    for result in results:
        assert told(heard[result.run_id]) == told(result.recording.events)


async def test_events_outside_any_run_are_told_at_once() -> None:
    agent, heard = desk(record=DEFERRED), list[Event[Any]]()
    agent.on("shop.basket.filled", heard.append)

    agent.emit("shop.basket.filled", {"items": 3})

    assert [(each.type, each.meta.run_id) for each in heard] == [("shop.basket.filled", "consumer-scope")]


@pytest.mark.parametrize(
    "options", [{"delivery": "soon"}, {"queue": ObserverQueue()}, {"delivery": "deferred", "queue": 7}]
)
def test_options_that_decide_nothing_are_refused(options: Any) -> None:
    with pytest.raises(ConfigError, match=r"record\.(delivery|queue)"):
        RecordOptions(**options)


async def test_observers_may_be_given_with_the_agent(capsys: pytest.CaptureFixture[str]) -> None:
    commits = Commits()
    agent = Agent(Mock("Fine."), observers=(ConsoleExporter(), commits))

    await agent.run("?")

    assert commits.seen
    assert "turn_start" in capsys.readouterr().out


async def test_one_observer_given_twice_is_told_once_and_two_of_one_id_are_refused() -> None:
    """AGT-3, trap T13: the first of two would never be told."""
    once, console, commits = Commits(), Commits(), Commits()
    await Agent(Mock("Fine."), observers=[once]).run("?")

    await Agent(Mock("Fine."), observers=[commits, commits]).run("?")
    with pytest.raises(ConfigError, match=f"Two observers have the id '{commits.id}'"):
        Agent(Mock("Fine."), observers=[commits, console])

    assert len(commits.seen) == len(once.seen)


# -- events of the application


def test_an_event_of_the_application_reaches_who_listens_and_costs_nothing_else() -> None:
    """EVT-6."""
    agent, native, wired = desk(), list[Event[Any]](), list[Event[Any]]()
    agent.emit("agentfootprint.eval.score", {"holds": {1, 2}})
    agent.on("agentfootprint.eval.*", native.append)
    agent.on("*", wired.append, form="wire")

    agent.emit("agentfootprint.eval.score", {"metricId": "m", "value": 0.5, "target": "run", "targetRef": "r"})

    assert native == wired
    meta = native[0].meta
    assert (meta.runtime_stage_id, meta.run_id, meta.run_offset_ms) == ("consumer-emit#0", "consumer-scope", 0)
    assert (meta.subflow_path, meta.composition_path) == ((), ())
    with pytest.raises(ValueRefusedError, match=r"eval\.score"):
        agent.emit("agentfootprint.eval.score", {"holds": {1, 2}})


def test_an_event_of_the_application_is_redacted_like_any_other() -> None:
    policy = RedactionPolicy(emit_patterns=["shop.*"])
    agent, heard = desk(record=RecordOptions(redaction=policy)), list[Event[Any]]()
    agent.on("*", heard.append)

    agent.emit("shop.basket.filled", {"card": "marker-7f3a"})

    assert len(heard) == 1
    assert "marker" not in repr(heard[0])
