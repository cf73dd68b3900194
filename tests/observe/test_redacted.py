"""Tests of all that watches: a payload that a policy replaced whole, or of another shape, harms none (BRG-5)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfootprint.events import EVENT_TYPES, Event
from agentfootprint.observe import (
    AuditExporter,
    CacheMeter,
    CheckInLog,
    ConsoleExporter,
    CostExporter,
    EventTail,
    FileExporter,
    InMemoryCostSink,
    LiveState,
    OtelExporter,
    RouteLog,
    StatusLine,
    StatusPhrases,
    StepLogger,
    ThinkingTrace,
    ToolLineage,
    comment_on,
    context_engineering,
)
from agentfootprint.observe.aws import CloudWatchExporter, XRayExporter
from agentfootprint.recording import record_run
from agentfootprint.trace import thaw
from tests.events.strategies import json_values
from tests.observe.aws.refusing import Client
from tests.observe.made import desk, event
from tests.observe.otel.tracing import Tracing
from tests.observe.test_long_streams import Runner

PLACEHOLDER = "[REDACTED]"
WELL_FORMED = list(desk(turns=2).run_sync("Weather?").recording.events)
quiet = logging.getLogger("tests.redacted")
quiet.setLevel(logging.CRITICAL)


def consumers(folder: Path) -> dict[str, Callable[[Event[Any]], object]]:
    runner = Runner()
    recorder = record_run(runner)
    engineered = context_engineering(runner)
    engineered.on_engineered(lambda _: None)

    def record(event: Event[Any]) -> None:
        runner.bus.dispatch(event)
        assert runner.bus.listener_errors == 0
        recorder.recording()

    return {
        "record": record,
        "live": LiveState().hear,
        "console": ConsoleExporter(logger=quiet).export,
        "file": FileExporter(folder / "events.ndjson").export,
        "audit": AuditExporter().export,
        "audit-strict": AuditExporter(payload_mode="strict").export,
        "otel": OtelExporter("s", tracer=Tracing().tracer, capture_content=True, capture_tool_content=True).export,
        "xray": XRayExporter("s", client=Client(), include_content=True).export,
        "cloudwatch": CloudWatchExporter("g", client=Client()).export,
        "cost": CostExporter(InMemoryCostSink()).export,
        "cache": CacheMeter().hear,
        "check-ins": CheckInLog().hear,
        "routes": RouteLog().hear,
        "status": StatusLine(lambda _: None).hear,
        "phrases": StatusPhrases(lambda _: None).hear,
        "steps": StepLogger(logger=quiet).hear,
        "tail": EventTail().hear,
        "thinking": ThinkingTrace().hear,
        "lineage": ToolLineage().hear,
        "commentary": comment_on,
    }


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_every_consumer_reads_past_a_placeholder_among_what_it_knows(kind: str, tmp_path: Path) -> None:
    redacted = event(kind.removeprefix("agentfootprint."), PLACEHOLDER, run=WELL_FORMED[0].meta.run_id)

    for hear in consumers(tmp_path).values():
        for each in (redacted, *WELL_FORMED[:12], redacted, *WELL_FORMED[12:], redacted):
            hear(each)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.sampled_from(EVENT_TYPES), json_values), max_size=12))
def test_every_consumer_reads_past_payloads_of_any_shape(tmp_path: Path, told: list[tuple[str, Any]]) -> None:
    strange = [event(kind.removeprefix("agentfootprint."), thaw(payload)) for kind, payload in told]

    for hear in consumers(tmp_path).values():
        for each in strange:
            hear(each)
