"""Tests of recordings that hold what this version does not know: it is kept over reading and writing (EVT-5, REC-6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from agentfootprint.events import UnknownEvent, event_to_wire
from agentfootprint.observe import (
    AuditExporter,
    BoundaryLog,
    CacheMeter,
    ConsoleExporter,
    LiveState,
    ThinkingTrace,
    ToolLineage,
    verify_audit,
)
from agentfootprint.recording import Recording
from agentfootprint.trace import thaw
from tests.events.strategies import json_values
from tests.observe.made import desk

RUN = desk().run_sync("Weather in Paris?").recording
NEWER = {
    "type": "agentfootprint.stream.hologram",
    "payload": {"depth": 3, "nested": {"a": [1, None, True]}},
    "meta": {**event_to_wire(RUN.events[3])["meta"], "quantumId": "q-7", "more": {"a": 1}},
}
APP = {"type": "shop.basket.filled", "payload": {"items": 3}, "meta": NEWER["meta"]}


def strange() -> dict[str, Any]:
    """A recording as a newer version, or another implementation, may write it."""
    wire = json.loads(json.dumps(RUN.to_wire()))
    for event in wire["events"]:
        if isinstance(event["payload"], dict):
            event["payload"]["newerKey"] = {"x": 1}
        event["meta"]["newerKey"] = "y"
        event["seq"] = 7
    wire["events"][4:4] = [NEWER, APP]
    wire["snapshot"]["newerPart"] = [1, 2]
    wire["newerPart"] = {"kept": True}
    return wire


def test_types_and_keys_that_nobody_knows_are_written_as_they_were_read(tmp_path: Path) -> None:
    path = tmp_path / "newer.json"
    path.write_text(json.dumps(strange()), encoding="utf-8")

    once = Recording.load(path).save(tmp_path / "once.json", form="wire")
    twice = Recording.load(once).save(tmp_path / "twice.json", form="wire")

    assert json.loads(once.read_text("utf-8")) == strange()
    assert twice.read_bytes() == once.read_bytes()


def test_what_is_known_in_it_is_read_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "newer.json"
    path.write_text(json.dumps(strange()), encoding="utf-8")

    recording = Recording.load(path)

    assert recording.run_id == RUN.run_id
    assert isinstance(recording.events[4], UnknownEvent)
    assert event_to_wire(recording.events[4]) == NEWER
    assert recording.snapshot["newerPart"] == [1, 2]
    assert len(BoundaryLog(recording).events_of("llm.end")) == 2


def test_every_reader_reads_past_it(capsys: pytest.CaptureFixture[str]) -> None:
    recording = Recording.from_wire(strange())
    audit, live = AuditExporter(), LiveState()

    for event in recording.events:
        audit.export(event)
        live.hear(event)
        ConsoleExporter().export(event)
        for view in (CacheMeter(), ThinkingTrace(), ToolLineage()):
            view.hear(event)

    bundle = audit.bundle()
    assert verify_audit(bundle).valid
    assert "agentfootprint.stream.hologram" in {record["eventType"] for record in bundle["records"]}
    assert not live.is_in_turn
    assert BoundaryLog(recording).events()
    assert "hologram" in capsys.readouterr().out


def test_a_type_that_a_native_file_names_and_nobody_knows_is_kept(tmp_path: Path) -> None:
    path = RUN.save(tmp_path / "run.json")
    path.write_text(path.read_text("utf-8").replace("stream.tool_start", "stream.tool_begun"), encoding="utf-8")

    recording = Recording.load(path)
    again = Recording.load(recording.save(tmp_path / "again.json"))

    for each in (recording, again):
        (found,) = [event for event in each.events if event.type == "agentfootprint.stream.tool_begun"]
        assert isinstance(found, UnknownEvent)
        assert event_to_wire(found)["payload"]["toolName"] == "weather"
    assert [event_to_wire(each) for each in again.events] == [event_to_wire(each) for each in recording.events]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(json_values)
def test_any_payload_of_any_type_is_kept(tmp_path: Path, value: Any) -> None:
    wire = strange()
    for place, event in enumerate(wire["events"]):
        if place % 3 == 0:
            event["payload"] = thaw(value)

    path = Recording.from_wire(wire).save(tmp_path / "any.json", form="wire")

    assert json.loads(path.read_text("utf-8")) == wire
