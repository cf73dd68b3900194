"""Tests of `vectors/events/sse-encode.json`: the exact text of a server-sent event."""

from __future__ import annotations

import pytest

from agentfootprint.hosting import encode_sse
from tests.vectors.harness import Case, load

EVENTS = load("events")


@pytest.mark.parametrize("case", EVENTS.cases("sse-encode"))
def test_sse_encode(case: Case) -> None:
    """SSE-1."""
    assert encode_sse(case.input["eventName"], case.input["payload"]) == case.expected
