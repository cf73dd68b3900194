"""Tests of agentfootprint.observe.boundaries.redacting."""

from __future__ import annotations

from agentfootprint.observe import BoundaryLog, domain_event, redact_content
from tests.observe.boundaries.test_graph import boundary
from tests.observe.made import desk


def test_nothing_that_was_said_or_given_in_a_run_is_left() -> None:
    log = BoundaryLog(desk(system="The word is swordfish.").run_sync("Say swordfish").recording, form="wire")

    shown = [redact_content(event).to_wire() for event in log.events()]

    assert "swordfish" in str([event.to_wire() for event in log.events()])
    assert "swordfish" not in str(shown)
    assert "Sunny" not in str(shown)


def test_a_record_with_nothing_to_hide_is_the_very_same() -> None:
    event = domain_event(boundary("tool.start", "a/tool-calls#2", toolName="t", toolCallId="c1"))
    assert event is not None

    assert redact_content(event) is event


def test_the_error_of_a_run_that_failed_is_hidden_too() -> None:
    event = domain_event(boundary("run.exit", "__root__#0", isRoot=True, payload={"error": "the secret"}))
    assert event is not None

    assert redact_content(event).to_wire()["payload"] == "[redacted]"
