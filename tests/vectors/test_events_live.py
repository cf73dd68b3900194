"""The vectors about what is going on right now, as the reference's recorder saw it after each event."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentfootprint.events import decode_event
from agentfootprint.observe import LiveState
from tests.vectors.harness import Case, load

EVENTS = load("events")


@pytest.mark.parametrize("case", EVENTS.cases("live-state"))
def test_live_state(case: Case) -> None:
    """REC-40, REC-41."""
    document: Any = EVENTS.document("run-streams")
    streams: dict[str, list[Any]] = {each["name"]: each["expected"]["events"] for each in document["cases"]}
    live = LiveState()

    seen: list[object] = []
    for found in streams[case.input["scenario"]]:
        live.hear(decode_event(json.dumps(found)))
        seen.append(
            {
                "after": found["type"],
                "llm": live.is_llm_in_flight,
                "partial": live.partial_text,
                "tools": [each.tool_name for each in live.executing_tools],
                "turn": live.is_in_turn,
                "turnIndex": live.turn_index,
            }
        )

    assert seen == case.expected
