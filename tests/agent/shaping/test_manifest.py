"""Tests of agentfootprint.agent.shaping.manifest."""

from __future__ import annotations

from typing import Any

from agentfootprint import Agent, Mock
from agentfootprint.agent.shaping.manifest import run_manifest
from agentfootprint.events import Event, RunConfigured
from agentfootprint.trace import thaw


def test_what_is_not_used_leaves_no_key() -> None:
    assert thaw(run_manifest("a", provider="p", model="m")) == {
        "agentId": "a",
        "llm": {"provider": "p", "model": "m"},
        "reactMode": "dynamic",
        "memories": [],
    }


def test_it_is_the_first_event_of_a_run_and_names_the_mode() -> None:
    told: list[Event[Any]] = []
    agent = Agent(Mock("done"), id="desk", mode="classic")
    agent.on("*", told.append)
    agent.run_sync("go")

    assert told[0].payload == RunConfigured(agent_id="desk", llm=told[0].payload.llm, react_mode="classic", memories=())
    assert told[0].meta.runtime_stage_id == "run-configured#0"
