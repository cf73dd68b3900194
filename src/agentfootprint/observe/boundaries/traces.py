"""How does a run's trace travel on its own, so that its graph can be drawn elsewhere (REC-30, REC-31)?

The boundaries are kept, the graph never is. A snapshot says more than the boundaries and no redactor of theirs reaches
it, so it is in only when it is given (REC-33).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, cast

from agentfootprint.observe.boundaries.counting import Counts
from agentfootprint.observe.boundaries.graph import boundary_events
from agentfootprint.observe.boundaries.happenings import ROOT_ADDRESS, DomainEvent, domain_event
from agentfootprint.recording import Recording
from agentfootprint.trace import FrozenDict, JsonObject, Record, as_list, freeze, thaw

__all__ = ["TraceFile", "to_trace_file"]

Label = Literal["none", "pii", "policy"]

_VERSION: Final = 1


class TraceFile(Record, frozen=True, kw_only=True, gc=False):
    """A trace on its own."""

    version: Literal[1] = _VERSION
    events: tuple[DomainEvent, ...]
    redaction: Label
    """Whether a redactor ran, and whose."""
    structure: JsonObject | None = None
    snapshot: JsonObject | None = None
    summary: JsonObject | None = None
    """`{"tokens", "llmCalls", "toolCalls", "durationMs"?}`."""
    captured_at_ms: int | None = None

    def to_wire(self) -> dict[str, Any]:
        """The trace as plain JSON under the keys of the wire."""
        more = {
            "structure": self.structure,
            "snapshot": self.snapshot,
            "summary": self.summary,
            "redaction": self.redaction,
            "capturedAtMs": self.captured_at_ms,
        }
        wire: dict[str, Any] = {"version": self.version, "events": [event.to_wire() for event in self.events]}
        return wire | {key: thaw(value) for key, value in more.items() if value is not None}

    @classmethod
    def from_wire(cls, found: Mapping[str, Any]) -> TraceFile | None:
        """Read a trace; `None` when it is none, or of a version that is not known here.

        Args:
            found: The object as decoded JSON; it is not kept.
        """
        events = as_list(found.get("events"))
        if found.get("version") != _VERSION or events is None:
            return None
        read = [domain_event(cast("Any", each)) for each in events if isinstance(each, (Mapping, FrozenDict))]
        label, at = found.get("redaction"), found.get("capturedAtMs")
        parts: dict[str, Any] = {name: found.get(name) for name in ("structure", "snapshot", "summary")}
        return cls(
            events=tuple(event for event in read if event is not None),
            redaction=label if label in ("pii", "policy") else "none",
            captured_at_ms=at if isinstance(at, int) else None,
            **{name: freeze(part) for name, part in parts.items() if part is not None},
        )


def to_trace_file(
    source: Recording | Iterable[DomainEvent | Mapping[str, Any] | FrozenDict],
    *,
    redact: Callable[[DomainEvent], DomainEvent] | None = None,
    redaction_label: Label | None = None,
    structure: JsonObject | None = None,
    snapshot: JsonObject | None = None,
    summary: JsonObject | None = None,
    captured_at_ms: int | None = None,
) -> TraceFile:
    """Take a run's trace.

    Args:
        source: A recording; or its boundaries, as records or as the wire has them.
        redact: Gives what may be shown instead of each boundary, such as `redact_content`.
        redaction_label: What the redaction is called; `"pii"` when a redactor is given.
        structure: The chart; of a recording its own.
        snapshot: State, tree and log. It is not redacted: give it only where it may be read.
        summary: What the run comes to; by default counted from the boundaries.
        captured_at_ms: When the trace was taken, epoch milliseconds.
    """
    events = tuple(boundary_events(source, "native"))
    if structure is None and isinstance(source, Recording):
        structure = source.structure
    return TraceFile(
        events=events if redact is None else tuple(redact(event) for event in events),
        redaction=redaction_label or ("none" if redact is None else "pii"),
        structure=structure,
        snapshot=snapshot,
        summary=_counted(events) if summary is None else summary,
        captured_at_ms=captured_at_ms,
    )


def _counted(events: Iterable[DomainEvent]) -> JsonObject | None:
    counts = Counts()
    for event in events:
        counts.add(event)
    whole = counts.of(ROOT_ADDRESS)
    if whole is None:
        return None
    summary: dict[str, Any] = {
        "tokens": thaw(whole.tokens),
        "llmCalls": whole.llm_calls,
        "toolCalls": whole.tool_calls,
    }
    if whole.duration_ms is not None:
        summary["durationMs"] = whole.duration_ms
    return cast("JsonObject", freeze(summary))
