"""What did each priced model call cost, for whoever keeps accounts (CST-5)?

Invariants: a line says what its event says and nothing else, with 0 where it says nothing; what a sink raises is
counted and told, and changes no run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol, runtime_checkable

import msgspec

from agentfootprint.events import CostTick, Event
from agentfootprint.observe.views.reading import told
from agentfootprint.observe.views.tail import Tail
from agentfootprint.trace import Record

__all__ = ["CostExporter", "CostLine", "CostSink", "InMemoryCostSink", "cost_line"]

_UNKNOWN: Final = "unknown"


class CostLine(Record, frozen=True, kw_only=True, gc=False):
    """What one model call cost, and the run so far. Tokens are counted as the prices are: each part once (DEC-42)."""

    cumulative_input_tokens: int
    """Of the run so far."""
    cumulative_output_tokens: int
    """Of the run so far."""
    cumulative_cost_usd: float
    """Of the run so far."""
    recent_input_tokens: int
    """Of this call."""
    recent_output_tokens: int
    """Of this call."""
    recent_cost_usd: float
    """Of this call."""
    model: str
    """The model; `unknown` when the event doesn't say."""
    provider: str | None = None
    """Who served it."""
    iteration: int | None = None
    """The iteration, from 1."""
    runtime_stage_id: str | None = None
    """Where it was asked."""

    def to_wire(self) -> dict[str, Any]:
        """The line as JSON; a key that has nothing to say is left out."""
        return msgspec.to_builtins(self)


@runtime_checkable
class CostSink(Protocol):
    """Where cost lines go: a meter, a bill."""

    def record(self, line: CostLine) -> None:
        """Take a line; called in the run, so it must not wait."""
        ...


def cost_line(event: Event[Any]) -> CostLine | None:
    """The line of a `cost.tick`; `None` for any other event, and for one that a policy redacted whole."""
    payload = event.payload
    if event.type != CostTick.type or isinstance(payload, str):
        return None
    cumulative, meta = told(payload, "cumulative"), event.meta
    provider, address = told(payload, "provider"), meta.runtime_stage_id
    iteration = meta.iter_index if meta.iter_index is not None else told(payload, "iteration")
    return CostLine(
        cumulative_input_tokens=_number(told(cumulative, "tokens_input")),
        cumulative_output_tokens=_number(told(cumulative, "tokens_output")),
        cumulative_cost_usd=_number(told(cumulative, "estimated_usd")),
        recent_input_tokens=_number(told(payload, "tokens_input")),
        recent_output_tokens=_number(told(payload, "tokens_output")),
        recent_cost_usd=_number(told(payload, "estimated_usd")),
        model=str(told(payload, "model") or _UNKNOWN),
        provider=provider if isinstance(provider, str) else None,
        iteration=iteration if isinstance(iteration, int) else None,
        runtime_stage_id=None if address == "unknown#0" else address,
    )


class CostExporter:
    """Gives a sink the cost lines of what it is attached to: `agent.attach(CostExporter(sink))`.

    Args:
        sink: Has a `record(line)`.
    """

    name: str = "cost"
    """How it is called in logs."""
    default_tier: Final = "standard"
    relevant_types: Final = (CostTick.type,)

    def __init__(self, sink: CostSink) -> None:
        self.sink = sink

    def export(self, event: Event[Any]) -> None:
        """Give the sink the line of an event, if it is one that costs."""
        line = cost_line(event)
        if line is not None:
            self.sink.record(line)


class InMemoryCostSink:
    """Keeps cost lines in memory.

    Args:
        max_ticks: How many at most, the latest; `None`: 10,000.
    """

    def __init__(self, max_ticks: int | None = None) -> None:
        self._max = max_ticks
        self._tail = Tail[CostLine](max_ticks)

    def record(self, line: CostLine) -> None:
        """Keep a line."""
        self._tail.push(line)

    def extend(self, events: Iterable[Event[Any]]) -> None:
        """Keep the lines of events, such as those of a recording."""
        for event in events:
            line = cost_line(event)
            if line is not None:
                self.record(line)

    def ticks(self) -> Sequence[CostLine]:
        """What is kept, in order."""
        return self._tail.events

    def since(self, index: int) -> Sequence[CostLine]:
        """The lines from a place on, counted from the first that was ever recorded."""
        return self._tail.events[max(0, index - self._tail.dropped_events) :]

    def __len__(self) -> int:
        """How many were ever recorded: where `since` goes on."""
        return self._tail.dropped_events + self._tail.event_count

    def clear(self) -> None:
        """Forget all of them, and count from 0 again."""
        self._tail = Tail[CostLine](self._max)


def _number(value: Any) -> Any:  # noqa: ANN401  a number, whole or not, as the event has it
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
