"""Tests of agentfootprint.recording.cursor."""

from __future__ import annotations

import asyncio

import pytest

from agentfootprint import Agent, ConfigError, Mock
from agentfootprint.recording import EventCursor, Recording
from tests.recording.runs import agent_recording, planted


def test_a_cursor_gives_every_event_once() -> None:
    recording = agent_recording(2)
    cursor = EventCursor(recording)

    assert cursor.is_behind()
    assert cursor.take() == list(recording.events)
    assert not cursor.is_behind()
    assert cursor.take() == []


def test_a_reader_that_is_far_behind_gets_joined_tokens_and_loses_no_text() -> None:
    words = [f"word{n} " for n in range(1500)]
    recording = Agent(Mock("".join(words).strip())).run_sync("hello").recording

    events = EventCursor(recording).take()
    tokens = [event for event in events if event.type.endswith("stream.token")]

    assert len(tokens) == 1
    assert tokens[0].payload.content == "".join(words).strip()
    assert len(recording.events) > 1500, "the recording itself joins nothing"


def test_a_stream_of_the_wire_form_has_complete_passes() -> None:
    """01b trap 8."""

    async def main() -> tuple[list[str], Recording]:
        agent = Agent(Mock("Hi."), system="Kind.")
        async with agent.stream("hello", form="wire") as run:
            types = [event.type async for event in run]
            return types, (await run.result()).recording

    types, recording = asyncio.run(main())

    assert types == [event["type"] for event in recording.to_wire()["events"]]


def test_a_file_in_the_wire_form_can_t_be_followed() -> None:
    with pytest.raises(ConfigError, match=r"no rows to follow"):
        EventCursor(Recording.from_wire(planted()))
