"""Tests of agentfootprint.recording.envelope; the vectors are in tests/vectors/test_events_recording.py."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from agentfootprint.recording import (
    IndeterminateRunFactError,
    Recording,
    RunFacts,
    StatedFacts,
    UnsupportedPrivacyModeError,
    build_recording_envelope,
)
from tests.recording.runs import agent_recording, planted

COMPLETE = RunFacts(complete=True)


def test_the_recording_of_a_run_knows_its_facts() -> None:
    recording = agent_recording(2)

    envelope = build_recording_envelope(recording, run=COMPLETE)

    assert envelope["format"] == "agentfootprint.recording.v1"
    assert envelope["producer"]["implementation"] == "python"
    assert envelope["run"]["runId"] == recording.run_id
    assert envelope["run"]["droppedEvents"] == 0, "a run's own recording drops nothing"
    assert envelope["configuration"]["manifest"]["llm"]["provider"] == "mock"
    assert envelope["recording"] == recording.to_wire()
    assert json.loads(json.dumps(envelope)) == envelope


def test_a_native_recording_inside_has_a_format_of_its_own() -> None:
    recording = agent_recording(1)

    envelope = build_recording_envelope(recording, run=COMPLETE, form="native")

    assert envelope["format"] == "agentfootprint.recording.native/1"
    assert envelope["recording"] == recording.native_rows()


def test_a_recording_from_a_file_must_be_told_what_is_missing_at_its_head() -> None:
    recording = Recording.from_wire(planted())

    with pytest.raises(IndeterminateRunFactError, match=r"missing at its head") as caught:
        build_recording_envelope(recording, run=COMPLETE)

    assert caught.value.field == "droppedEvents"
    assert build_recording_envelope(recording, run=RunFacts(complete=True, dropped_events=0))["run"]["complete"]


@pytest.mark.parametrize("complete", [None, 1, "yes"])
def test_completeness_must_be_stated_as_a_boolean(complete: Any) -> None:
    with pytest.raises(TypeError, match="complete must be True or False"):
        RunFacts(complete=complete)


def test_the_shape_of_the_argument_is_judged_first() -> None:
    """REC-10."""
    with pytest.raises(TypeError, match="must be a Recording"):
        build_recording_envelope(3, run=COMPLETE, privacy={"mode": "redacted"})  # pyright: ignore[reportArgumentType]  judged
    with pytest.raises(UnsupportedPrivacyModeError, match="'redacted'"):
        build_recording_envelope({"events": []}, run=COMPLETE, privacy={"mode": "redacted"})


@pytest.mark.parametrize(
    "moment",
    ["2023-11-14T22:13:20Z", "2023-11-14T23:13:20+01:00", 1_700_000_000_000, dt.datetime(2023, 11, 14, 22, 13, 20)],  # noqa: DTZ001  a naive time is UTC
)
def test_a_stated_time_may_be_text_milliseconds_or_a_datetime(moment: Any) -> None:
    run = StatedFacts(complete=True, dropped_events=0, started_at=moment, ended_at=moment)

    found = build_recording_envelope(planted(), run=run)["run"]

    assert (found["startedAt"], found["endedAt"]) == ("2023-11-14T22:13:20.000Z",) * 2


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"dropped_events": -1}, "droppedEvents"),
        ({"dropped_events": True}, "droppedEvents"),
        ({"dropped_events": 1, "started_at": 1, "first_retained_event_index": -1}, "firstRetainedEventIndex"),
        ({"dropped_events": 0, "started_at": [1]}, "startedAt"),
        ({"dropped_events": 0, "ended_at": "tomorrow"}, "endedAt"),
    ],
)
def test_a_stated_fact_that_is_none_is_refused_by_name(more: dict[str, Any], field: str) -> None:
    with pytest.raises(IndeterminateRunFactError) as caught:
        build_recording_envelope(planted(), run=StatedFacts(complete=True, **more))

    assert caught.value.field == field


def test_no_message_quotes_a_principal_or_a_tenant() -> None:
    """REC-12."""
    wire = planted()
    for number, event in enumerate(wire["events"]):
        event["meta"] |= {"principal": f"secret-{number}", "tenant": f"secret-{number}"}

    for principal in (None, "p"):
        with pytest.raises(IndeterminateRunFactError) as caught:
            build_recording_envelope(wire, run=StatedFacts(complete=True, dropped_events=0, principal=principal))
        assert "secret" not in str(caught.value)


def test_a_time_that_no_event_has_must_be_stated() -> None:
    wire = planted()
    for event in wire["events"]:
        del event["meta"]["wallClockMs"]

    with pytest.raises(IndeterminateRunFactError, match="No event has a clock"):
        build_recording_envelope(wire, run=RunFacts(complete=True, dropped_events=0))
