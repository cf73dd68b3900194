"""The vectors of the area `events` that exporters answer: console lines and spans."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider

from agentfootprint.events import decode_event
from agentfootprint.observe import ConsoleExporter, OtelExporter
from agentfootprint.observe.aws import XRayExporter
from tests.vectors.harness import Case, assert_same, load

EVENTS = load("events")
ADDED = {"gen_ai.agent.id", "gen_ai.tool.type", "gen_ai.conversation.id"}  # SNK-27


@pytest.mark.parametrize("case", EVENTS.cases("console-line"))
def test_console_line(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    ConsoleExporter().export(decode_event(json.dumps(case.input)))

    assert capsys.readouterr().out == f"{case.expected}\n"


class Order(SpanProcessor):
    """Keeps spans in the order they start and end."""

    def __init__(self) -> None:
        self.started: list[Span] = []
        self.ended: list[int] = []

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        self.started.append(span)

    def on_end(self, span: ReadableSpan) -> None:
        assert span.context is not None
        self.ended.append(span.context.span_id)

    def told(self) -> list[dict[str, Any]]:
        return [self._told(span) for span in self.started]

    def _told(self, span: Span) -> dict[str, Any]:
        assert span.context is not None
        status = span.status.status_code.value
        return {
            "name": span.name,
            "attributes": {key: value for key, value in (span.attributes or {}).items() if key not in ADDED},
            "events": [{"name": each.name, "attributes": dict(each.attributes or {})} for each in span.events],
            "status": status or None,
            "ended": self.ended.index(span.context.span_id),
        }


def scenario(name: str) -> list[dict[str, Any]]:
    return next(each["expected"]["events"] for each in EVENTS.document("run-streams")["cases"] if each["name"] == name)


def counted_once(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """DEC-42: the mock's `input` leaves the cached parts out, a span's counts them in; the root holds the sum."""
    total = 0
    for span in reversed(spans):
        attributes: dict[str, Any] = span["attributes"]
        if attributes.get("gen_ai.operation.name") == "chat" and "gen_ai.usage.input_tokens" in attributes:
            for part in ("cache_read", "cache_creation"):
                attributes["gen_ai.usage.input_tokens"] += attributes.get(f"gen_ai.usage.{part}.input_tokens", 0)
            total += attributes["gen_ai.usage.input_tokens"]
    if "gen_ai.usage.input_tokens" in spans[0]["attributes"]:
        spans[0]["attributes"]["gen_ai.usage.input_tokens"] = total
    return spans


@pytest.mark.parametrize("case", EVENTS.cases("otel-spans"))
def test_otel_spans(case: Case) -> None:
    """SNK-20 to SNK-25, with the sums where the reference has them (DEC-1)."""
    options: Mapping[str, bool] = case.input["options"]
    order, provider = Order(), TracerProvider()
    provider.add_span_processor(order)
    exporter = OtelExporter(
        "desk",
        tracer=provider.get_tracer("test"),
        gen_ai_names=options.get("genAiSpanNames", False),
        explain=options.get("explainability", True),
        root_usage="gen_ai",
    )

    for event in scenario(case.input["scenario"]):
        exporter.export(decode_event(json.dumps(event)))

    assert_same(order.told(), counted_once(case.expected))


class Sent:
    """Keeps the documents that an exporter sends to X-Ray."""

    def __init__(self) -> None:
        self.documents: list[dict[str, Any]] = []

    def put_trace_segments(self, **given: list[str]) -> dict[str, Any]:
        self.documents += [json.loads(text) for text in given["TraceSegmentDocuments"]]
        return {}

    def told(self) -> list[dict[str, Any]]:
        """Ids by position, times as 0, as the vectors have them."""
        places = {each["id"]: n for n, each in enumerate(self.documents)}
        for each in self.documents:
            each.update({key: places[each[key]] for key in ("id", "parent_id") if key in each}, trace_id="T")
            each.update(start_time=0, end_time=0)
        return self.documents


@pytest.mark.parametrize("include_content", [True, False])
@pytest.mark.parametrize("case", EVENTS.cases("xray-segments"))
async def test_xray_segments(case: Case, include_content: bool) -> None:
    client, expected = Sent(), json.loads(json.dumps(case.expected))
    exporter = XRayExporter("desk", client=client, include_content=include_content)
    if not include_content:
        for each in expected:
            for event in each.get("metadata", {}).values():
                event["event"] = {key: event["event"][key] for key in ("usage", "stopReason", "durationMs")}

    for event in scenario(case.input["scenario"]):
        exporter.export(decode_event(json.dumps(event)))
    await exporter.flush()

    assert_same(client.told(), expected)
