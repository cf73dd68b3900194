"""Tests of all that watches: clocks that go backwards or jump harm nothing, and nothing is measured below 0."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from agentfootprint.events import Event, event_from_wire, event_to_wire
from agentfootprint.observe import (
    AuditExporter,
    BoundaryLog,
    CacheMeter,
    CheckInLog,
    InMemoryCostSink,
    LiveState,
    OtelExporter,
    RouteLog,
    StatusLine,
    ThinkingTrace,
    ToolLineage,
    build_run_steps,
    build_step_graph,
    verify_audit,
)
from agentfootprint.observe.aws import XRayExporter
from agentfootprint.recording import Recording, RunFacts, build_recording_envelope
from tests.observe.aws.refusing import Client
from tests.observe.made import desk
from tests.observe.otel.tracing import Tracing
from tests.vectors.harness import load

RUN = desk(turns=2).run_sync("Weather?").recording
WIRE: list[dict[str, Any]] = [event_to_wire(each) for each in RUN.events]
STREAMS: list[list[dict[str, Any]]] = [
    case["expected"]["events"] for case in load("events").document("run-streams")["cases"]
]
moments = st.integers(-(2**40), 2**40)
HARD = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def at(events: Sequence[dict[str, Any]], clocks: Sequence[int]) -> list[Event[Any]]:
    """The events of a run with other clocks, as a file has them."""
    moved = [
        {**each, "meta": {**each["meta"], "wallClockMs": clock, "runOffsetMs": clock}}
        for each, clock in zip(events, clocks, strict=False)
    ]
    return [event_from_wire(json.loads(json.dumps(each))) for each in moved]


streams = st.sampled_from([WIRE, *STREAMS])
clocked = streams.flatmap(
    lambda events: st.lists(moments, min_size=len(events), max_size=len(events)).map(lambda clocks: at(events, clocks))
)


@HARD
@given(clocked)
def test_a_span_ends_not_before_it_began(events: list[Event[Any]]) -> None:
    tracing = Tracing()
    exporter = OtelExporter("shop", tracer=tracing.tracer)

    for each in events:
        exporter.export(each)

    for span in tracing.spans:
        assert span.start_time is not None
        assert span.end_time is not None
        assert span.end_time >= span.start_time >= 0


@HARD
@given(clocked)
async def test_a_segment_ends_not_before_it_began(events: list[Event[Any]]) -> None:
    client = Client()
    exporter = XRayExporter("shop", client=client)

    for each in events:
        exporter.export(each)
    await exporter.stop()
    await exporter.flush()

    sent = [json.loads(text) for batch in client.given("put_trace_segments", "TraceSegmentDocuments") for text in batch]
    assert all(each["end_time"] >= each["start_time"] >= 0 for each in sent)


@HARD
@given(clocked)
def test_a_chain_is_in_the_order_of_dispatch_whatever_the_clock_says(events: list[Event[Any]]) -> None:
    audit = AuditExporter()

    for each in events:
        audit.export(each)

    bundle = audit.bundle()
    assert verify_audit(bundle).valid
    told = [record["timestamp"] for record in bundle["records"] if record["eventType"] != "audit.genesis"]
    tokens = ("stream.token", "stream.thinking_delta")
    assert told == [each.meta.wall_clock_ms for each in events if not each.type.endswith(tokens)]


@HARD
@given(clocked)
def test_what_is_going_on_does_not_hang_on_the_clock(events: list[Event[Any]]) -> None:
    live, still = LiveState(), LiveState()

    for moved, same in zip(events, at([event_to_wire(each) for each in events], [0] * len(events)), strict=True):
        live.hear(moved)
        still.hear(same)

        assert (live.is_llm_in_flight, live.partial_text, live.turn_index) == (
            still.is_llm_in_flight,
            still.partial_text,
            still.turn_index,
        )
        assert [tool.tool_call_id for tool in live.executing_tools] == [
            tool.tool_call_id for tool in still.executing_tools
        ]


@HARD
@given(clocked)
def test_views_and_graphs_raise_for_no_clock_and_measure_nothing_below_zero(events: list[Event[Any]]) -> None:
    lines: list[str] = []
    views = [
        CacheMeter(),
        CheckInLog(),
        RouteLog(),
        ToolLineage(),
        StatusLine(lines.append),
        thinking := ThinkingTrace(),
    ]

    for each in events:
        for view in views:
            view.hear(each)
    InMemoryCostSink().extend(events)

    assert all((step.cost.ms or 0) >= 0 for step in thinking.steps() if step.cost is not None)


@HARD
@given(st.lists(moments, min_size=len(WIRE), max_size=len(WIRE)))
def test_a_recording_of_such_a_run_is_read_like_any_other(clocks: list[int]) -> None:
    wire = {**RUN.to_wire(), "events": [event_to_wire(each) for each in at(WIRE, clocks)]}
    recording = Recording.from_wire(wire)

    log = BoundaryLog(recording)

    build_run_steps(log.events())
    build_step_graph(log.events())
    assert all((each.duration_ms or 0) >= 0 for each in log.aggregates())
    envelope = build_recording_envelope(recording, run=RunFacts(complete=True, dropped_events=0))
    assert envelope["run"]["runId"] == RUN.run_id


@pytest.mark.parametrize("clock", [2**63, -(2**63), 10**18])
def test_a_clock_beyond_all_dates_is_kept_as_it_is(clock: int) -> None:
    (event,) = at(WIRE[:1], [clock])

    assert event_to_wire(event)["meta"]["wallClockMs"] == clock


async def test_a_clock_beyond_all_dates_gives_spans_that_can_be_sent() -> None:
    events = at(WIRE, [10**15 if n % 2 else -(10**15) for n in range(len(WIRE))])
    tracing, client = Tracing(), Client()
    exporters = [OtelExporter("shop", tracer=tracing.tracer), xray := XRayExporter("shop", client=client)]

    for exporter in exporters:
        for each in events:
            exporter.export(each)
    await xray.flush()

    assert encode_spans(tracing.spans).SerializeToString()
    assert client.calls
