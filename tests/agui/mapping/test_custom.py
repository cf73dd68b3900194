"""Tests of agentfootprint.agui.mapping.custom."""

from __future__ import annotations

from typing import Any

from agentfootprint.agui import AgUiOptions
from agentfootprint.agui.mapping.calls import OpenCall
from agentfootprint.events import event_to_wire
from tests.agui.made import called, event, mapped, of, said, settled

PROGRESS = {"toolCallId": "c1", "toolName": "weather", "iteration": 1, "payload": {"done": 1}}


def customs(sent: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    return [(each["name"].removeprefix("agentfootprint."), each["value"]) for each in of(sent, "CUSTOM")]


def test_progress_names_the_call_that_it_is_about_though_ids_repeat() -> None:
    events = [
        called("c1", ordinal=0),
        called("c1", ordinal=1),
        event("stream.tool_progress", PROGRESS, "tool-calls#2", ordinal=1),
    ]

    ((_, value),) = customs(mapped(events))

    assert value == {
        "toolCallId": "r-1/tool-call/1/tool-calls#2",
        "toolName": "weather",
        "payload": {"done": 1},
    }


def test_progress_of_a_call_that_a_paused_run_made_names_that_call() -> None:
    call = OpenCall(id="r-0/t", provider_id="c1", n=0, address="tool-calls#2", tool_name="weather", ordinal=0)
    resumed = event("pause.resume", {"resumeInput": {}, "pausedDurationMs": 0}, "tool-calls#resumed")
    progress = event("stream.tool_progress", PROGRESS, "tool-calls#3", ordinal=0)

    ((_, value),) = customs(mapped([resumed, progress], open_calls=[call]))

    assert value["toolCallId"] == "r-0/t"


def test_the_providers_id_never_stands_in_for_a_call_that_is_not_known() -> None:
    ((_, value),) = customs(mapped([event("stream.tool_progress", PROGRESS, "tool-calls#2")]))

    assert value == {"toolName": "weather", "payload": {"done": 1}}


def test_any_pattern_forwards_and_a_call_that_just_settled_is_still_known() -> None:
    options = AgUiOptions(timestamps=False, custom=["agentfootprint.stream.*"])

    sent = customs(mapped([said("x", calls=1), called("c1"), settled("c1", result=1)], options))

    assert [(name, value["toolCallId"]) for name, value in sent] == [
        ("stream.tool_start", "r-1/tool-call/0/tool-calls#2"),
        ("stream.tool_end", "r-1/tool-call/0/tool-calls#2"),
    ]


def test_an_applications_events_are_forwarded_as_they_are() -> None:
    own = event("x", {"toolCallId": "mine", "n": None}, "tool-calls#2")
    hidden = event("shop.filled", "[REDACTED]")
    options = AgUiOptions(timestamps=False, custom=["agentfootprint.x", "agentfootprint.shop.*"])

    assert customs(mapped([own, hidden], options)) == [
        ("x", {"toolCallId": "mine", "n": None}),
        ("shop.filled", "[REDACTED]"),
    ]


def test_a_shown_artifact_is_told_by_its_ticket() -> None:
    payload = {
        "ref": "a-1",
        "as": "table",
        "snapshot": {"kind": "table", "mediaType": "text/csv", "bytes": 3},
        "toolCallId": "c1",
        "iteration": 1,
    }

    ((_, value),) = customs(mapped([called("c1"), event("artifacts.presented", payload, "tool-calls#2")]))

    assert value == {**payload, "toolCallId": "r-1/tool-call/0/tool-calls#2"}


def test_no_event_is_forwarded_when_none_is_wanted() -> None:
    assert customs(mapped([event("agent.budget_exhausted", {})], AgUiOptions(custom=[]))) == []


def test_the_whole_event_is_attached_when_it_is_asked_for() -> None:
    call = called("c1", args={"a": 1})

    sent = mapped([call], AgUiOptions(raw=True))

    assert all(each["rawEvent"] == event_to_wire(call) for each in sent[1:-1])
    assert "rawEvent" not in sent[0]
