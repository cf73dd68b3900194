"""Tests of agentfootprint.observe.views.reading."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.events import EVENT_TYPES, event_from_wire
from agentfootprint.observe import (
    CacheMeter,
    CheckInLog,
    EventTail,
    RouteLog,
    StatusLine,
    StatusPhrases,
    StepLogger,
    ThinkingTrace,
    ToolLineage,
    attach_exporter,
    comment_on,
)
from agentfootprint.recording import Recording
from tests.observe.made import desk

VIEWS: list[Callable[[], Any]] = [
    *(CacheMeter, CheckInLog, EventTail, RouteLog, StatusLine, StepLogger, ThinkingTrace, ToolLineage),
    lambda: StatusPhrases(str),
]


@pytest.mark.parametrize("make", VIEWS)
@pytest.mark.parametrize(
    "payload", ["[REDACTED]", {}, {"toolCallId": "[REDACTED]", "args": "[REDACTED]", "usage": "[REDACTED]"}]
)
def test_a_view_bears_every_event_whatever_a_policy_or_an_older_file_left_of_it(
    make: Callable[[], Any], payload: object
) -> None:
    view = make()

    for name in EVENT_TYPES:
        event = event_from_wire({"type": name, "payload": payload, "meta": {"runId": "run-1-1"}})
        view.hear(event)
        comment_on(event)


def told(recording: Recording) -> list[Any]:
    return [
        ToolLineage.of(recording).to_wire(),
        ThinkingTrace.of(recording).to_wire(),
        CacheMeter.of(recording, strategy=True).report().to_wire(),
        RouteLog.of(recording).hops(),
    ]


def test_a_saved_run_reads_like_the_run(tmp_path: Path) -> None:
    result = desk(turns=3, system="Be brief.").run_sync("Weather?")

    native = Recording.load(result.recording.save(tmp_path / "native.json"))
    wire = Recording.load(result.recording.save(tmp_path / "wire.json", form="wire"))

    assert told(native) == told(result.recording)
    assert told(wire) == told(result.recording)


def test_a_view_that_is_attached_sees_what_one_sees_afterwards() -> None:
    agent, live = desk(turns=2), ThinkingTrace()

    with live.attach(agent):
        result = agent.run_sync("Weather?")
    agent.run_sync("And now?")

    assert live.to_wire() == ThinkingTrace.of(result.recording).to_wire()


def test_attaching_again_to_the_same_runner_changes_nothing_and_closing_ends_it() -> None:
    agent, view = desk(), EventTail()

    first, second = view.attach(agent), view.attach(agent)
    agent.run_sync("Weather?")
    once = view.tail.event_count
    first.close()
    agent.run_sync("Weather?")

    assert first is second
    assert view.tail.event_count == once > 0


def test_a_view_is_what_an_agent_takes_as_an_exporter() -> None:
    agent, status, lines = desk(), ThinkingTrace(), list[str]()

    attach_exporter(agent.on, status)
    attach_exporter(agent.on, StatusLine(lines.append))
    result = agent.run_sync("Weather?")

    assert status.to_wire() == ThinkingTrace.of(result.recording).to_wire()
    assert lines[-1] == "Sunny."
