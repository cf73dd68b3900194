"""The vectors of the area `events` about views: lines and sentences, graphs and stops, lineage, thinking, the cache."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from agentfootprint.events import Event, decode_event
from agentfootprint.observe import (
    CacheMeter,
    Tail,
    ThinkingTrace,
    ToolLineage,
    build_run_steps,
    build_step_graph,
    cost_line,
    domain_event,
    extract_commentary_vars,
    milestone_for,
    redact_content,
    render_status,
    select_commentary_key,
    select_status,
    slot_of,
    stage_role,
)
from agentfootprint.resilience import StaticPricing
from agentfootprint.trace import thaw
from tests.vectors.harness import Case, assert_same, load

EVENTS = load("events")
STREAMS: dict[str, list[dict[str, Any]]] = {
    case["name"]: case["expected"]["events"] for case in EVENTS.document("run-streams")["cases"]
}
PRICES = {"m": {"input": 0.001, "output": 0.01, "cacheRead": 0.0001, "cacheWrite": 0.002}}


def read(event: dict[str, Any]) -> Event[Any]:
    return decode_event(json.dumps(event))


@pytest.mark.parametrize("case", EVENTS.cases("live-status"))
def test_live_status(case: Case) -> None:
    """STA-1, STA-2."""
    state = select_status([read(event) for event in case.input["events"]])
    line = render_status(state, case.input["appName"], case.input["templates"])

    assert_same({"state": None if state is None else thaw(state), "line": line}, case.expected)


@pytest.mark.parametrize("case", EVENTS.cases("commentary-keys"))
def test_commentary_keys(case: Case) -> None:
    """STA-5."""
    event = read(case.input)

    key = select_commentary_key(event)

    values = extract_commentary_vars(event, app_name="App", templates={})
    assert_same({"key": "<none>" if key is ... else key, "vars": values}, case.expected)


@pytest.mark.parametrize("case", EVENTS.cases("milestones"))
def test_milestones(case: Case) -> None:
    """REC-27."""
    milestone = milestone_for(case.input)

    found = {"milestone": None if milestone is None else thaw(milestone)}
    assert_same({**found, "role": stage_role(case.input), "slot": slot_of(case.input)}, case.expected)


@pytest.mark.parametrize("case", EVENTS.cases("step-graph"))
def test_step_graph(case: Case) -> None:
    """REC-25; the reference takes what comes one after the other for one loop, so branches side by side mix there."""
    assert_same(build_step_graph(case.input, scope="arrival").to_wire(), case.expected)


@pytest.mark.parametrize("case", [param for param in EVENTS.cases("step-graph") if "parallel" not in str(param.id)])
def test_step_graph_by_loop(case: Case) -> None:
    """Where nothing runs side by side both ways are one."""
    assert_same(build_step_graph(case.input).to_wire(), case.expected)


@pytest.mark.parametrize("case", EVENTS.cases("run-steps"))
def test_run_steps(case: Case) -> None:
    """REC-26; the clock of most expected steps is not the one of their events."""
    steps = [step.to_wire() for step in build_run_steps(case.input["events"], case.input.get("drillPath", ()))]

    assert_same(*([{**step, "tsMs": 0} for step in each] for each in (steps, case.expected)))


@pytest.mark.parametrize("case", EVENTS.cases("redact-content"))
def test_redact_content(case: Case) -> None:
    """REC-32."""
    event = domain_event(case.input)
    assert event is not None

    assert_same(redact_content(event).to_wire(), case.expected)


@pytest.mark.parametrize("case", EVENTS.cases("event-tail"))
def test_event_tail(case: Case) -> None:
    """REC-2."""
    tail = Tail[int](case.input["maxEvents"])

    for value in range(case.input["pushed"]):
        tail.push(value)

    found = {
        "count": tail.event_count,
        "dropped": tail.dropped_events,
        "firstRetainedIndex": tail.first_retained_event_index,
        "first": tail.events[0],
        "last": tail.events[-1],
    }
    assert_same(found, case.expected)


@pytest.mark.parametrize("case", EVENTS.cases("tool-lineage"))
def test_tool_lineage(case: Case) -> None:
    """03 s.19."""
    lineage = ToolLineage(match_numbers=case.input["options"].get("matchNumbers", False))

    for given in case.input["events"]:
        meta = {"runtimeStageId": given.get("runtimeStageId", "x#0")}
        lineage.hear(read({"type": given["name"], "payload": given["payload"], "meta": meta}))

    assert_same(lineage.to_wire(), case.expected)


@pytest.mark.parametrize("case", EVENTS.cases("thinking-trace"))
def test_thinking_trace(case: Case) -> None:
    """05 s.5.6."""
    events = [read(event) for event in STREAMS[case.input["scenario"]]]
    wanted = case.expected

    trace = ThinkingTrace.of(events, **case.input["options"]).to_wire(task=case.input["task"])

    for step, want in zip(trace["steps"], wanted["steps"], strict=True):
        if want["brain"] == "*":
            assert step["brain"]
            step["brain"] = "*"
    assert_same(trace, wanted)


@pytest.mark.parametrize("case", EVENTS.cases("cache-meter"))
def test_cache_meter(case: Case) -> None:
    """CST-7."""
    options = case.input["options"]
    meter = CacheMeter(
        strategy=options.get("strategy"), pricing=StaticPricing(PRICES) if options.get("pricing") else None, model="m"
    )

    for number, usage in enumerate(case.input["usages"]):
        payload = {"iteration": number + 1, "content": "", "toolCallCount": 0, "usage": usage}
        rest = {"stopReason": "stop", "durationMs": 0}
        where = {"runId": "r", "runtimeStageId": f"call-llm#{number}"}
        meter.hear(read({"type": "agentfootprint.stream.llm_end", "payload": {**payload, **rest}, "meta": where}))

    assert_same(figures(meter.report().to_wire()), figures(case.expected))


def figures(value: Any) -> Any:
    """Without the sentences of the claims, and numbers to 12 places."""
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        return {key: figures(item) for key, item in found.items() if key not in ("evidence", "reason")}
    if isinstance(value, list):
        return [figures(item) for item in cast("list[Any]", value)]
    return round(value, 12) if isinstance(value, float) else value


@pytest.mark.parametrize("case", EVENTS.cases("cost-tick"))
def test_cost_tick(case: Case) -> None:
    """CST-5."""
    line = cost_line(read({"type": "agentfootprint.cost.tick", **case.input}))

    assert line is not None
    assert_same(line.to_wire(), case.expected)
