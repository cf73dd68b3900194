"""The vectors of the area `events` about recordings that are kept: their envelope and their file's name."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agentfootprint.errors import AgentFootprintError
from agentfootprint.recording import (
    RunFacts,
    StatedFacts,
    build_recording_envelope,
    recording_file_name,
    summarize_embeddings,
)
from tests.vectors.harness import Case, assert_same, load

EVENTS = load("events")


def facts(stated: dict[str, Any]) -> RunFacts:
    return StatedFacts(**{re.sub(r"[A-Z]", lambda m: f"_{m[0].lower()}", key): value for key, value in stated.items()})


def refused(error: Exception, expected: dict[str, Any]) -> None:
    assert type(error).__name__ == expected["error"]
    for name in ("field", "mode"):
        if name in expected:
            assert getattr(error, name) == expected[name]
    if "code" in expected:
        assert isinstance(error, AgentFootprintError)
        assert error.code == expected["code"]


@pytest.mark.parametrize("case", EVENTS.cases("recording-envelope"))
def test_recording_envelope(case: Case) -> None:
    """REC-10 to REC-13."""
    recording = {"snapshot": None, "events": case.input["events"], "structure": None}
    options: dict[str, Any] = case.input["options"]

    try:
        envelope = build_recording_envelope(
            recording,
            run=facts(options["run"]),
            configuration=options.get("configuration"),
            privacy=options.get("privacy"),
        )
    except (AgentFootprintError, TypeError) as error:
        refused(error, case.expected)
        return

    assert envelope.pop("recording") == recording
    assert envelope["producer"].pop("implementation") == "python"
    envelope["producer"] = dict.fromkeys(envelope["producer"], "*")
    assert_same(envelope, case.expected["envelope"])


@pytest.mark.parametrize("case", EVENTS.cases("recording-file-name"))
def test_recording_file_name(case: Case) -> None:
    """REC-16."""
    try:
        name = recording_file_name(case.input)
    except AgentFootprintError as error:
        refused(error, case.expected)
    else:
        assert name == case.expected["file"]


@pytest.mark.parametrize("case", EVENTS.cases("summarize-embeddings"))
def test_summarize_embeddings(case: Case) -> None:
    """REC-5."""
    assert_same(summarize_embeddings(case.input), case.expected)
