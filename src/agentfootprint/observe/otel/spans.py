"""The spans of one place where an agent, a workflow or a single model call is at work.

Invariants: tools and model calls of an iteration are its children, never each other's (SNK-21); tokens stand on model
spans, sums on the place's own (DEC-1); a status is set only for an error (DEC-2); a span that was made current is taken
off again only where it still is current.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from opentelemetry import context as contexts
from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    get_current_span,
    set_span_in_context,
)

from agentfootprint.llm import Usage
from agentfootprint.observe.otel import names
from agentfootprint.observe.otel.content import Part
from agentfootprint.observe.otel.reading import Attributes

__all__ = ["Kind", "OpenModel", "OpenSpan", "OpenTool", "Place", "Spent"]

Kind: TypeAlias = Literal["agent", "workflow", "call"]


_STAY: Final = contexts.create_key("agentfootprint-stay")
"""Where a context that was made current keeps which span is current in it, until when, and what was before."""


class _Stay:
    """How long a span is the current one."""

    __slots__ = ("before", "over", "span")

    def __init__(self, span: Span, before: Context) -> None:
        self.span = span
        self.before = before
        self.over = False


def _give_back() -> None:
    """Give the running task the span it had before those whose stay is over, whichever exporter made them current.

    Where another span is current, which is so in another task than the one that was given it, nothing changes.
    """
    now = here = contexts.get_current()
    while True:
        stay = contexts.get_value(_STAY, here)
        if not isinstance(stay, _Stay) or not stay.over or get_current_span(here) is not stay.span:
            break
        here = stay.before
    if here is not now:
        contexts.attach(here)


class OpenSpan:
    """A span that has begun, and whether it is the current one of the code that it stands for."""

    __slots__ = ("_began", "_stay", "span", "under")

    def __init__(
        self,
        tracer: Tracer,
        name: str,
        *,
        under: Context | None,
        at: int,
        attributes: Attributes | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        links: Sequence[Link] = (),
    ) -> None:
        self._began = at
        self.span: Span = tracer.start_span(
            name, context=under, kind=kind, attributes=attributes, links=links, start_time=self._began
        )
        self.under = set_span_in_context(self.span, under)
        """The context for its children."""
        self._stay: _Stay | None = None

    def enter(self) -> None:
        """Make it the current span of the running task, so that what the task calls stands under it (SNK-28)."""
        stay = self._stay = _Stay(self.span, contexts.get_current())
        contexts.attach(contexts.set_value(_STAY, stay, self.under))

    def leave(self) -> None:
        """Be current no more."""
        if self._stay is not None:
            self._stay.over = True
            self._stay = None
            _give_back()

    def end(self, at: int) -> None:
        """End it, not before it began, and give the running task its span from before back."""
        self.span.end(max(at, self._began))
        self.leave()

    def put(self, attributes: Attributes) -> None:
        """Add attributes."""
        for key, value in attributes.items():
            self.span.set_attribute(key, value)

    def tell(self, name: str, attributes: Attributes, at: int) -> None:
        """Add a span event; attributes with its name before them where spans have no events (SNK-23)."""
        add: Any = getattr(self.span, "add_event", None)
        if callable(add):
            add(name, attributes, at)
        else:
            self.put({f"{name}.{key}": value for key, value in attributes.items()})

    def fail(self) -> None:
        """Mark it as failed, without words."""
        self.span.set_status(Status(StatusCode.ERROR))


@dataclass(slots=True)
class OpenModel:
    """A model call on its way; with content capture also one that returned, until its calls are known."""

    span: OpenSpan
    provider: str | None
    ended: int | None = None
    """When it returned; `None` while it is on its way."""
    said: str | None = None
    stop_reason: str | None = None
    calls: list[Part] = field(default_factory=list[Part])


@dataclass(slots=True)
class OpenTool:
    """A tool call on its way."""

    span: OpenSpan
    call_id: object
    ordinal: int | None
    args: object


@dataclass(slots=True)
class Spent:
    """Tokens of a place and of everything in it."""

    input: int = 0
    output: int = 0
    unreported: int = 0
    calls: int = 0

    def add(self, usage: Usage) -> None:
        """Count one call."""
        self.calls += 1
        if not usage.known:
            self.unreported += 1
            return
        tokens_in, tokens_out = usage.totals()
        self.input += tokens_in
        self.output += tokens_out

    def attributes(self, *, gen_ai: bool) -> Attributes:
        """The sums; without one when a call's usage is unknown, because unknown is not zero (DEC-6)."""
        if not self.calls:
            return {}
        if self.unreported:
            return {names.UNREPORTED_CALLS: self.unreported}
        keys = (names.INPUT_TOKENS, names.OUTPUT_TOKENS) if gen_ai else (names.TOTAL_INPUT, names.TOTAL_OUTPUT)
        return {keys[0]: self.input, keys[1]: self.output}


class Place:
    """Where an agent, a workflow or a lone model call is at work: its span and what is open under it."""

    def __init__(self, kind: Kind, path: tuple[str, ...], span: OpenSpan, outer: Place | None) -> None:
        self.kind = kind
        self.path = path
        self.span = span
        self.outer = outer
        self.id: str | None = None
        """The workflow's id."""
        self.iteration: OpenSpan | None = None
        self.models: dict[str, OpenModel] = {}
        """By stage address."""
        self.tools: list[OpenTool] = []
        self.spent = Spent()
        self.asked = False
        """Whether a model was called here."""
        self.prompt: str | None = None
        self.history: Sequence[object] | None = None
        """The messages so far, when known."""

    @property
    def inner(self) -> OpenSpan:
        """The span that a model call or a tool stands under."""
        return self.iteration or self.span

    def model_at(self, address: str) -> OpenModel | None:
        """The model call on its way at a stage address."""
        found = self.models.get(address)
        return found if found is not None and found.ended is None else None

    def tool(self, call_id: object, ordinal: int | None) -> OpenTool | None:
        """The open call with this id, at this place of the batch if both are known (EVT-30)."""
        for each in self.tools:
            if each.call_id == call_id and (ordinal is None or each.ordinal is None or each.ordinal == ordinal):
                return each
        return None

    def spend(self, usage: Usage) -> None:
        """Count a model call here and in everything around."""
        place: Place | None = self
        while place is not None:
            place.spent.add(usage)
            place = place.outer

    def spans_inside(self) -> Iterable[OpenSpan]:
        """What is open, in the order it has to end."""
        yield from (each.span for each in self.models.values())
        yield from (each.span for each in self.tools)
        if self.iteration is not None:
            yield self.iteration
