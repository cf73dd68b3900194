"""Tests of a run that goes on with one that paused: its first event names it, in every form (EVT-31)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentfootprint import Agent, Mock, ask_human, tool
from agentfootprint.events import Event, PauseResume, decode_event, encode_event
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.observe import AuditExporter
from agentfootprint.recording import Recording


@tool
def confirm(amount: int) -> None:
    """Ask a person."""
    ask_human(f"Send {amount}?")


async def test_the_paused_run_is_named_live_recorded_kept_and_audited(tmp_path: Path) -> None:
    replies = [LLMResponse("", tool_calls=[ToolCall("c1", "confirm", {"amount": 900})]), "Sent."]
    agent, heard, audit = Agent(Mock(replies), tools=[confirm]), list[Event[Any]](), AuditExporter()
    agent.on("agentfootprint.pause.resume", heard.append)
    agent.attach(audit)

    first = await agent.run("Refund me")
    assert first.paused is not None
    second = await agent.resume(first.paused, "yes")

    (live,) = heard
    assert (live.meta.resumed_run_id, live.meta.run_id) == (first.run_id, second.run_id)
    assert decode_event(encode_event(live)).meta == live.meta
    native = Recording.load(second.recording.save(tmp_path / "native.json"))
    wire = Recording.load(second.recording.save(tmp_path / "wire.json", form="wire"))
    for recording in (second.recording, native, wire):
        named = [each.meta.resumed_run_id for each in recording.events if isinstance(each.payload, PauseResume)]
        assert named == [first.run_id]
    assert [each.meta.resumed_run_id for each in first.recording.events if each.meta.resumed_run_id] == []
    metas = [each["meta"] for each in audit.bundle()["records"] if each["eventType"].endswith("pause.resume")]
    assert [each["resumedRunId"] for each in metas] == [first.run_id]
