"""Tests of agentfootprint.observe.views.steplog."""

from __future__ import annotations

import logging

import pytest

from agentfootprint.events import TurnStart
from agentfootprint.observe import StepLogger
from tests.observe.made import desk


def test_events_of_the_chosen_domains_become_lines_with_their_payload(caplog: pytest.LogCaptureFixture) -> None:
    agent = desk()
    caplog.set_level(logging.INFO, logger="agentfootprint.steps")

    with StepLogger(domains=("agent",)).attach(agent):
        agent.run_sync("Weather?")

    records = [record for record in caplog.records if record.name == "agentfootprint.steps"]
    assert any(record.getMessage().startswith('[agent.turn_start] {"turnIndex":0,') for record in records)
    assert all(record.getMessage().startswith("[agent.") for record in records)
    assert any(isinstance(vars(record)["event"].payload, TurnStart) for record in records)


def test_nothing_is_made_when_nobody_reads_the_log() -> None:
    made: list[str] = []
    quiet = logging.getLogger("tests.quiet")
    quiet.setLevel(logging.WARNING)
    logger = StepLogger(domains="all", logger=quiet, format=lambda event: made.append(event.type) or "")

    logger.hear_all(desk().run_sync("Weather?").recording)

    assert made == []
