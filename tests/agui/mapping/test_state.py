"""Tests of agentfootprint.agui.mapping.state."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.agui import AgUiOptions
from agentfootprint.agui.mapping.outcomes import Cancelled, Failed, Interrupted, Outcome
from tests.agui.client import Client
from tests.agui.made import called, event, iteration, mapped, names, of, said, settled, token

LIVE = AgUiOptions(timestamps=False, state="live", messages_snapshot="never")
ASKED = event(
    "stream.llm_start",
    {"iteration": 1, "provider": "p", "model": "m", "systemPromptChars": 0, "messagesCount": 1, "toolsCount": 0},
    "call-llm#1",
)


def document(sent: list[dict[str, Any]]) -> dict[str, Any]:
    return Client(sent).state["agentfootprint"]


def test_the_clients_own_state_stands_beside_the_document_and_is_never_changed() -> None:
    sent = mapped([iteration("start", 1)], LIVE, client_state={"mine": [1], "agentfootprint": "old"})

    assert names(sent)[:2] == ["RUN_STARTED", "STATE_SNAPSHOT"]
    assert Client(sent).state["mine"] == [1]
    assert document(sent)["iteration"] == 1
    assert all(
        change["path"].startswith("/agentfootprint/") for each in of(sent, "STATE_DELTA") for change in each["delta"]
    )


@pytest.mark.parametrize("state", [[1], "text", 3])
def test_a_state_that_is_no_object_is_left_alone(state: object) -> None:
    sent = mapped([iteration("start", 1), called("c1")], LIVE, client_state=state)

    assert of(sent, "STATE_SNAPSHOT", "STATE_DELTA") == []


def test_nothing_of_it_is_sent_unless_it_is_asked_for() -> None:
    assert of(mapped([called("c1")], client_state={}), "STATE_SNAPSHOT", "STATE_DELTA") == []


def test_the_document_follows_the_run() -> None:
    cost = {"scope": "iteration", "model": "m", "tokensInput": 1, "tokensOutput": 2, "estimatedUsd": 0.5}
    events = [
        iteration("start", 3),
        ASKED,
        said("", calls=1),
        event("cost.tick", {**cost, "cumulative": {"tokensInput": 1, "tokensOutput": 2, "estimatedUsd": 0.75}}),
        event("skill.activated", {"skillId": "a", "reason": "manual"}),
        event("skill.activated", {"skillId": "b", "reason": "manual"}),
        event("skill.deactivated", {"skillId": "a", "reason": "done"}),
        called("c1"),
    ]

    running, done = Client(), mapped(events, LIVE)
    for each in done[:-2]:
        running.apply(each)

    assert running.state["agentfootprint"] == {
        "status": "running",
        "line": "Using weather…",
        "iteration": 3,
        "activeTools": [{"toolCallId": "r-1/tool-call/0/tool-calls#2", "name": "weather"}],
        "usage": {"inputTokens": 1, "outputTokens": 2},
        "activeSkills": ["b"],
        "costUsd": 0.75,
    }
    assert document(done) == {**document(done[:-2]), "status": "done", "line": "", "activeTools": []}


def test_what_changes_in_one_event_is_one_delta() -> None:
    sent = mapped([called("c1"), settled("c1")], LIVE)

    assert names(sent)[2:8] == [
        *("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "STATE_DELTA"),
        *("TOOL_CALL_RESULT", "STATE_DELTA"),
    ]


def test_the_text_that_streams_changes_the_document_once() -> None:
    sent = mapped([ASKED, *(token(n, "word ") for n in range(50))], LIVE)

    deltas = [change["value"] for each in of(sent, "STATE_DELTA") for change in each["delta"]]
    assert deltas == ["Thinking…", "Writing the answer…", "done", ""]


@pytest.mark.parametrize(
    ("outcome", "status"), [(None, "done"), (Cancelled(), "done"), (Failed(code="timeout"), "failed")]
)
def test_the_document_says_how_it_ended(outcome: Outcome | None, status: str) -> None:
    assert document(mapped([called("c1")], LIVE, outcome))["status"] == status


def test_a_paused_run_names_its_questions_and_a_resumed_one_has_none() -> None:
    pause = event("pause.request", {"reason": "?", "questionPayload": {"toolCallId": "c1"}}, "tool-calls#paused")
    resume = event("pause.resume", {"resumeInput": {}, "pausedDurationMs": 0}, "tool-calls#resumed")

    paused, resumed = mapped([called("c1"), pause], LIVE), mapped([called("c1"), pause, resume], LIVE)

    assert document(paused)["status"] == "paused"
    assert document(paused)["pending"] == ["r-1/interrupt/0/tool-calls#2"]
    assert "pending" not in document(resumed)
    assert document(mapped([], LIVE, Interrupted(data={"question": "?"})))["pending"] == [
        "r-1/interrupt/0/tool-calls#paused"
    ]
