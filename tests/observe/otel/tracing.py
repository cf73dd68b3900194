"""A real tracer provider whose spans stay in memory, and what the tests of this folder ask of spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Tracer

__all__ = ["Tracing", "texts_of"]


class Tracing:
    """Spans as they end."""

    def __init__(self) -> None:
        self._kept = InMemorySpanExporter()
        self._provider = TracerProvider()
        self._provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.tracer: Tracer = self._provider.get_tracer("tests")

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        return self._kept.get_finished_spans()

    def named(self, name: str) -> ReadableSpan:
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def parent_of(self, span: ReadableSpan) -> str | None:
        if span.parent is None:
            return None
        parent = span.parent.span_id
        return next((each.name for each in self.spans if each.context and each.context.span_id == parent), "elsewhere")

    def attribute(self, name: str, key: str) -> Any:
        return (self.named(name).attributes or {}).get(key)


def texts_of(spans: Sequence[ReadableSpan]) -> str:
    """Everything that spans say, as one text."""
    return "\n".join(
        str((span.name, dict(span.attributes or {}), span.status.description, span.resource.attributes))
        + str([(each.name, dict(each.attributes or {})) for each in span.events])
        for span in spans
    )
