"""Tests of agentfootprint.observe.boundaries.traces."""

from __future__ import annotations

import json

from agentfootprint.observe import TraceFile, build_step_graph, redact_content, to_trace_file
from tests.observe.made import desk


def test_a_trace_goes_elsewhere_and_its_graph_is_drawn_there() -> None:
    recording = desk(turns=2).run_sync("Weather?").recording

    trace = to_trace_file(recording, captured_at_ms=5)
    read = TraceFile.from_wire(json.loads(json.dumps(trace.to_wire())))

    assert read is not None
    assert read.to_wire() == trace.to_wire()
    assert build_step_graph(read.events) == build_step_graph(recording)
    wire = trace.to_wire()
    assert (wire["version"], wire["redaction"], wire["capturedAtMs"]) == (1, "none", 5)
    assert (wire["summary"]["llmCalls"], wire["summary"]["toolCalls"]) == (3, 2)
    assert "snapshot" not in wire


def test_a_redacted_trace_says_so_and_holds_nothing_that_was_said() -> None:
    recording = desk(system="The word is swordfish.").run_sync("swordfish").recording

    trace = to_trace_file(recording, redact=redact_content).to_wire()

    assert trace["redaction"] == "pii"
    assert "swordfish" not in json.dumps(trace)
    assert to_trace_file(recording, redact=redact_content, redaction_label="policy").redaction == "policy"


def test_what_is_no_trace_is_none() -> None:
    assert TraceFile.from_wire({"version": 2, "events": []}) is None
    assert TraceFile.from_wire({}) is None
