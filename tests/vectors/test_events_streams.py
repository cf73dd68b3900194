"""The vectors of the area `events` about whole streams: what a listener hears, and the boundaries told from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from agentfootprint.observe import BoundaryLog
from tests.vectors.event_scenarios import play
from tests.vectors.harness import Case, assert_same, load

EVENTS = load("events")

ADDED = frozenset(
    f"agentfootprint.{name}"
    for name in (
        *("error.throttled", "tools.definition_changed", "tools.outcome_unknown", "stream.restarted"),  # DEC-43
        *("stream.thinking_delta", "composition.branch_complete", "skill.activated", "skill.deactivated"),  # EVT-33
        *("memory.written", "agent.handoff"),
    )
)
SENTENCES = {
    "rationale": "*",
    "error": "*",
    "willDo": "*",
    "durationMs": 0,
    "pausedDurationMs": 0,
    "survivalMs": 0,
    "at": 0,
}
CALLS = ("llm-call", "sequence", "parallel", "loop")
"""Scenarios of model calls, which stream here (05 s.2.3)."""
CLOCKS = ("wallClockMs", "runOffsetMs")


def forgiven(value: Any) -> Any:
    """Without clocks and the library's own sentences (scenarios.md)."""
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        return {
            key: SENTENCES[key] if key in SENTENCES and item is not True else forgiven(item)
            for key, item in found.items()
        }
    return [forgiven(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def compared(events: list[dict[str, Any]], scenario: str) -> Iterator[dict[str, Any]]:
    """Events as they are compared: run ids by their order, metas without what may be added."""
    runs: dict[str, int] = {}
    for event in events:
        if event["type"] in ADDED or (scenario in CALLS and event["type"].endswith(".token")):
            continue
        meta = {
            key: value
            for key, value in event["meta"].items()
            if key not in (*CLOCKS, "toolOrdinal", "carried", "resumedRunId")
        }
        meta["runId"] = runs.setdefault(meta["runId"], len(runs))
        if event["type"].startswith("agentfootprint.pause."):
            del meta["runId"], meta["compositionPath"]  # EVT-31
        payload = forgiven(event["payload"])
        if event["type"] == "agentfootprint.integrity.disposition":
            payload = {"workExisted": payload["workExisted"]}  # its rows are another chapter's
        yield {"type": event["type"], "payload": payload, "meta": meta}


def by_branch(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A parallel's branches one after the other, without the numbers of their steps: they go side by side."""
    out: list[dict[str, Any]] = []
    sides: dict[str, list[dict[str, Any]]] = {"x": [], "y": []}
    for event in events:
        meta = event.get("meta", event)
        side, _, rest = meta["runtimeStageId"].partition("#")[0].partition("/")
        if side not in sides:
            for waiting in sides.values():
                out += waiting
                waiting.clear()
            out.append(event)
            continue
        numberless = {**meta, "runtimeStageId": f"{side}/{rest}"}
        sides[side].append({**event, "meta": numberless} if "meta" in event else numberless)
    return out


@pytest.mark.parametrize("case", EVENTS.cases("run-streams"))
async def test_run_streams(case: Case) -> None:
    """EVT-20 to EVT-25."""
    name = case.input["scenario"]
    ran = await play(name)

    got, want = list(compared(ran.events, name)), list(compared(without_pauses(case.expected["events"]), name))
    if name == "parallel":
        got, want = by_branch(got), by_branch(want)
    assert [event["type"] for event in got] == [event["type"] for event in want]
    for event, wanted in zip(got, want, strict=True):
        if name == "budget-wrap-up":
            event, wanted = without_notice(event), without_notice(wanted)  # noqa: PLW2901  both alike
        assert_same(event, wanted)


def without_pauses(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run ids in their order: those of pauses say nothing in the reference."""
    real = [event for event in events if event["meta"]["runId"] != "consumer-scope"]
    first = real[0]["meta"]["runId"]
    return [
        {**event, "meta": {**event["meta"], "runId": first}} if event["meta"]["runId"] == "consumer-scope" else event
        for event in events
    ]


def without_notice(event: dict[str, Any]) -> dict[str, Any]:
    """Without the words that announce the wrap-up, and without what is counted of them."""
    payload = dict(event["payload"])
    if payload.get("source") == "user":
        payload = {
            key: value for key, value in payload.items() if key not in ("contentSummary", "contentHash", "rawContent")
        }
    for counted in ("budget", "sourceBreakdown", "usage", "totalInputTokens"):
        payload.pop(counted, None)
    if "history" in payload:
        payload["history"] = [
            {**message, "content": "*"} if message["role"] == "user" else message for message in payload["history"]
        ]
    return {**event, "payload": payload}


SLOTS = ("sf-system-prompt", "sf-messages", "sf-tools")
LOOSE = (
    "description",
    "primitiveKind",
    "payload",
    "ts",
    "commitIdxBefore",
    "commitIdxAfter",
    "durationMs",
    "rationale",
)


def by_slot(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The slots one after the other: they are composed side by side there and in turn here (EVT-21)."""
    out: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for event in events:
        if event["subflowPath"][-1] in SLOTS:
            waiting.append(event)
            continue
        out.extend(sorted(waiting, key=lambda each: SLOTS.index(each["subflowPath"][-1])))
        waiting = []
        out.append(event)
    return out


@pytest.mark.parametrize("case", EVENTS.cases("domain-events"))
async def test_domain_events(case: Case) -> None:
    """REC-20 to REC-24; descriptions of stages are each implementation's own."""
    name = case.input["scenario"]
    ran = await play(name)

    got: list[dict[str, Any]] = []
    for recording in ran.recordings:
        events = [event.to_wire() for event in BoundaryLog(recording, form="wire").events()]
        commits = [event["commitIdxBefore"] for event in events]
        assert commits == sorted(commits)
        got += events
    got, want = by_slot(got), by_slot(case.expected)
    if name == "parallel":
        got, want = by_branch(got), by_branch(want)
    assert [(each["type"], each["runtimeStageId"]) for each in got] == [
        (each["type"], each["runtimeStageId"]) for each in want
    ]
    for event, wanted in zip(got, want, strict=True):
        assert_same(*({key: value for key, value in each.items() if key not in LOOSE} for each in (event, wanted)))
