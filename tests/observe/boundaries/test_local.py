"""Tests of agentfootprint.observe.boundaries.local."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentfootprint import Agent, LLMCall, Mock
from agentfootprint.compose import Sequence
from agentfootprint.errors import AgentFootprintError, ConfigError
from agentfootprint.observe import StepGraph, TraceFile, build_step_graph, observe_locally, redact_content
from tests.observe.made import desk


async def test_the_graph_grows_with_the_run_and_the_trace_comes_once_at_its_end() -> None:
    agent, live, recorded = desk(turns=2), list[StepGraph](), list[TraceFile]()
    watch = observe_locally(agent, on_live=live.append, on_recorded=recorded.append)

    result = await agent.run("Weather?")

    assert len(recorded) == 1
    assert watch.snapshot() == build_step_graph(result.recording)
    assert len(live[-1].nodes) == len(watch.snapshot().nodes)
    sizes = [len(each.nodes) for each in live]
    assert sizes == sorted(sizes)
    assert [each.type for each in recorded[0].events][-1] == "run.exit"
    assert recorded[0].structure == result.recording.structure
    assert recorded[0].snapshot is None


async def test_a_failed_run_has_its_trace_too() -> None:
    agent, recorded = Agent(Mock([RuntimeError("down")])), list[TraceFile]()
    observe_locally(agent, on_recorded=recorded.append)

    with pytest.raises(AgentFootprintError):
        await agent.run("?")

    assert len(recorded) == 1


async def test_what_was_said_is_kept_out_and_the_snapshot_is_in_only_when_asked_for() -> None:
    agent, quiet, whole = desk(system="marker-7f3a"), list[TraceFile](), list[TraceFile]()
    observe_locally(agent, on_recorded=quiet.append, redact=redact_content)
    observe_locally(agent, on_recorded=whole.append, include_snapshot=True)

    await agent.run("marker-0b1c")

    assert "marker" not in json.dumps(quiet[0].to_wire()["events"])
    assert "marker-0b1c" in json.dumps(whole[0].to_wire()["snapshot"])


async def test_a_bare_model_call_is_watched_too() -> None:
    call, recorded = LLMCall(Mock("Hi")), list[TraceFile]()
    observe_locally(call, on_recorded=recorded.append)

    await call.run("?")

    assert [each.type for each in recorded[0].events if each.type.startswith("llm")] == ["llm.start", "llm.end"]


async def test_a_composition_is_watched_as_one_run() -> None:
    pair, recorded = Sequence([LLMCall(Mock("a"), id="la"), Agent(Mock("b"), id="b")]), list[TraceFile]()
    observe_locally(pair, on_recorded=recorded.append)

    await pair.run("?")

    kinds = [each.type for each in recorded[0].events]
    assert len(recorded) == 1
    assert (kinds.count("llm.start"), kinds[-1]) == (2, "run.exit")


async def test_a_closed_watch_hears_nothing_and_still_answers() -> None:
    agent, live = desk(), list[Any]()
    with observe_locally(agent, on_live=live.append) as watch:
        result = await agent.run("Weather?")
    heard = len(live)

    await agent.run("Weather?")

    assert len(live) == heard
    assert watch.trace(result.run_id).events
    assert watch.boundary is not None
    with pytest.raises(ConfigError):
        watch.trace("run-9-9")


def test_before_a_run_there_is_nothing() -> None:
    watch = observe_locally(desk())

    assert watch.snapshot().nodes == ()
    assert watch.boundary is None
    with pytest.raises(ConfigError):
        watch.trace()
