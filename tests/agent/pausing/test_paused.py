"""Tests of agentfootprint.agent.pausing.paused."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Paused, RunPausedError
from agentfootprint.agent.pausing.checkpoint import PauseCheckpoint
from agentfootprint.agent.pausing.paused import paused_of
from agentfootprint.trace import freeze
from tests.agent.pausing.desk import desk
from tests.agent.pausing.test_checkpoint import ASKS


def paused(data: Any) -> Paused:
    return paused_of(PauseCheckpoint(state=freeze({}), paused_stage_id="tool-calls", pause_data=freeze(data)))


@pytest.mark.parametrize(
    ("data", "kind", "question"),
    [
        ({"question": "Really?"}, "ask_human", "Really?"),
        ({"data": "just text"}, "ask_human", "just text"),
        ({"data": 5}, "ask_human", ""),
        ("bare", "ask_human", "bare"),
        ({"checkIn": {"tool": "t", "args": {}, "evidence": {"willDo": "Refund"}}}, "check_in", "Refund"),
        ({"ask": {"question": "OK?", "middleware": "guard"}}, "ask", "OK?"),
        ({"question": "Sign in", "authorization": {"service": "s"}}, "authorization", "Sign in"),
        ({"awaitingInput": {"requestId": "r", "question": "Which?"}}, "input", "Which?"),
    ],
)
def test_the_kind_follows_from_the_question(data: Any, kind: str, question: str) -> None:
    found = paused(data)

    assert (found.kind, found.question) == (kind, question)
    assert found


def test_a_check_in_shows_its_evidence() -> None:
    pack = {
        "willDo": "Refund",
        "read": [{"channel": "task", "summary": "go"}],
        "drivers": [],
        "trail": {"iteration": 1},
    }
    asked = {
        "tool": "refund",
        "args": {"amount": 5},
        "intent": "Let me.",
        "evidence": pack,
        "component": {"componentId": "p"},
    }

    found = paused({"toolName": "refund", "toolCallId": "c1", "checkIn": asked}).check_in

    assert found is not None
    assert (found.tool, found.args, found.intent, found.component) == (
        "refund", {"amount": 5}, "Let me.", {"componentId": "p"},
    )  # fmt: skip
    assert (found.evidence.will_do, found.evidence.trail) == ("Refund", {"iteration": 1})
    assert found.evidence.read == ({"channel": "task", "summary": "go"},)


async def test_a_paused_result_has_no_output_and_says_what_it_waits_for() -> None:
    result = await desk(*ASKS).run("Go.")

    with pytest.raises(RunPausedError) as refused:
        _ = result.output
    assert refused.value.paused is result.paused
    assert (result.output_or_none, result.text, result.ended_because) == (None, "", "paused")
    assert result.to_wire()["paused"]["question"] == "Vip?"
    assert result.paused is not None
    assert "checkpoint" not in repr(result.paused)
