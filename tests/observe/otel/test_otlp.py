"""Tests of what leaves the process: spans over OTLP/HTTP, as a collector decodes them."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from agentfootprint import Agent, Mock, tool
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.observe import ExportOptions, OtelExporter, attach_exporter
from tests.observe.otel.importing import assert_same_as_run, read

MARK = "marker-7f3a"


@tool
def weather(city: str) -> str:
    """Look up the weather."""
    return f"{MARK} {city}"


class Collector:
    """Takes traces on the loopback interface."""

    def __init__(self) -> None:
        bodies = self.bodies = list[bytes]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                bodies.append(gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None: ...

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/traces"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def spans(self) -> list[Any]:
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [
            span
            for request in requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.close()


async def test_a_collector_reads_the_trace_of_a_run(collector: Collector) -> None:
    provider = TracerProvider(resource=Resource.create({"service.name": "shop"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=collector.url)))
    agent = Agent(
        Mock([LLMResponse(MARK, tool_calls=[ToolCall("c1", "weather", {"city": MARK})]), MARK]), tools=[weather]
    )
    exporter = OtelExporter("shop", tracer=provider.get_tracer("shop"))
    subscription = attach_exporter(agent.on, exporter, ExportOptions(detach=True))

    await agent.run(MARK)
    await subscription.stop()
    provider.shutdown()

    spans = {span.span_id: span for span in collector.spans}
    names = sorted(span.name for span in spans.values())
    assert names == [
        "chat mock-model",
        "chat mock-model",
        "execute_tool weather",
        "invoke_agent shop",
        "iteration:1",
        "iteration:2",
    ]
    tool_span = next(span for span in spans.values() if span.name == "execute_tool weather")
    assert spans[tool_span.parent_span_id].name == "iteration:1"
    attributes = {each.key: each.value for each in tool_span.attributes}
    assert attributes["gen_ai.tool.call.id"].string_value == "c1"
    assert [each.string_value for each in attributes["agentfootprint.tool.args.keys"].array_value.values] == ["city"]
    assert MARK.encode() not in b"".join(collector.bodies)


def plain(value: Any) -> Any:
    """A value of an attribute as the protocol writes it."""
    kind = value.WhichOneof("value")
    return [plain(each) for each in value.array_value.values] if kind == "array_value" else getattr(value, kind)


async def test_spans_that_a_collector_got_give_the_messages_and_the_calls_of_the_run(collector: Collector) -> None:
    """The round trip: what left the process over HTTP is enough to tell the run again."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=collector.url)))
    replies = [
        LLMResponse(
            "Let me see.", tool_calls=[ToolCall(f"c{n}", "weather", {"city": city}) for n, city in enumerate("äb")]
        ),
        LLMResponse("", tool_calls=[ToolCall("c1", "weather", {"city": "x" * 9_000})]),
        "Sunny.",
    ]
    agent = Agent(Mock(replies), tools=[weather])
    exporter = OtelExporter("shop", tracer=provider.get_tracer("shop"), capture_content=True, capture_tool_content=True)
    subscription = attach_exporter(agent.on, exporter)

    result = await agent.run("Weather?")
    await subscription.stop()
    provider.shutdown()

    spans = [
        ({each.key: plain(each.value) for each in span.attributes}, span.start_time_unix_nano)
        for span in collector.spans
    ]
    assert_same_as_run(read(spans), result)
