"""Tests of agentfootprint.recording.sinks; the vectors are in tests/vectors/test_events_recording.py."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.recording import (
    FileRecordingSink,
    Recording,
    RecordingSink,
    RunFacts,
    StoredRecording,
    UnsafeRecordingIdError,
    persist_recording,
    recording_file_name,
)
from agentfootprint.trace import JsonObject
from tests.recording.runs import agent_recording

COMPLETE = RunFacts(complete=True)


def names_in(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


async def test_a_recording_is_kept_as_one_file_and_opens_again(tmp_path: Path) -> None:
    recording = await _recorded()

    stored = await persist_recording(recording, sink=FileRecordingSink(tmp_path / "a" / "b"), run=COMPLETE)

    path = tmp_path / "a" / "b" / f"{recording.run_id}.json"
    text = await asyncio.to_thread(path.read_text, encoding="utf-8")
    assert stored == StoredRecording(id=recording.run_id, uri=path.as_uri())
    assert text.startswith('{\n  "format": "agentfootprint.recording.v1",\n')
    assert text.endswith("}\n")
    assert Recording.load(path).to_wire() == recording.to_wire()
    assert names_in(path.parent) == [path.name]


async def _recorded() -> Recording:
    return await asyncio.to_thread(agent_recording, 2)


async def test_the_same_run_replaces_its_file(tmp_path: Path) -> None:
    recording = await _recorded()
    sink = FileRecordingSink(tmp_path)

    first = await persist_recording(recording, sink=sink, run=COMPLETE)
    second = await persist_recording(recording, sink=sink, run=COMPLETE)

    assert first == second
    assert len(names_in(tmp_path)) == 1


async def test_an_unsafe_id_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    recording = await _recorded()
    run = RunFacts(complete=True, run_id="../escape")

    with pytest.raises(UnsafeRecordingIdError, match=r"'\.\./escape' can't be a file name"):
        await persist_recording(recording, sink=FileRecordingSink(tmp_path / "new"), run=run)

    assert not (tmp_path / "new").exists()


async def test_an_envelope_that_json_can_t_hold_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    envelope: dict[str, Any] = {"run": {"runId": "run-1"}, "recording": {"bad": {1, 2}}}

    with pytest.raises(TypeError):
        await FileRecordingSink(tmp_path).write(envelope)
    envelope["recording"] = {"bad": float("nan")}
    with pytest.raises(TypeError, match="as JSON"):
        await FileRecordingSink(tmp_path).write(envelope)

    assert names_in(tmp_path) == []


@pytest.mark.parametrize("folder", ["", "  ", None, 3])
def test_a_sink_needs_a_folder(folder: Any) -> None:
    with pytest.raises(TypeError, match="A folder for recordings"):
        FileRecordingSink(folder)


async def test_anything_with_an_asynchronous_write_is_a_sink() -> None:
    class Kept:
        def __init__(self) -> None:
            self.envelopes: list[JsonObject] = []

        async def write(self, envelope: JsonObject) -> StoredRecording:
            self.envelopes.append(envelope)
            return StoredRecording(id="1", uri="memory:1")

    sink = Kept()
    stored = await persist_recording(await _recorded(), sink=sink, run=COMPLETE)

    assert isinstance(sink, RecordingSink)
    assert isinstance(FileRecordingSink("x"), RecordingSink)
    assert (stored.uri, len(sink.envelopes)) == ("memory:1", 1)


def test_a_name_with_a_line_end_behind_it_is_no_name() -> None:
    """REC-16: `$` would let it pass."""
    with pytest.raises(UnsafeRecordingIdError):
        recording_file_name("run-1\n")
