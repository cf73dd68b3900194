"""What do the model and tool calls inside a boundary come to (REC-24)?

Counted as it happens: an event is added to the boundaries that are open around it, so neither two executions of one
mount nor the length of the run matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentfootprint.observe.boundaries.happenings import (
    DomainEvent,
    LLMEnded,
    RunEntered,
    RunLeft,
    SubflowEntry,
    SubflowExit,
    ToolStarted,
)
from agentfootprint.observe.boundaries.milestones import milestone_for
from agentfootprint.observe.views.reading import told
from agentfootprint.trace import Record

__all__ = ["Aggregate", "Counts", "TokenSum", "tokens_of"]


class TokenSum(Record, frozen=True, kw_only=True, gc=False):
    """Tokens in and out, each counted once (DEC-42)."""

    input: int
    output: int


class Aggregate(Record, frozen=True, kw_only=True, gc=False):
    """What happened inside one boundary."""

    runtime_stage_id: str
    subflow_id: str
    subflow_path: tuple[str, ...]
    primitive_kind: str | None = None
    label: str
    tokens: TokenSum
    llm_calls: int
    tool_calls: int
    """Without those that were settled and never dispatched (AGT-90)."""
    iterations: int
    started_at_ms: int
    ended_at_ms: int | None = None
    duration_ms: int | None = None


@dataclass(slots=True)
class _Count:
    entry: RunEntered | SubflowEntry
    tokens_in: int = 0
    tokens_out: int = 0
    llm_calls: int = 0
    tool_calls: int = 0
    iterations: int = 0
    ended_at: int | None = None

    def done(self) -> Aggregate:
        entry, is_run = self.entry, isinstance(self.entry, RunEntered)
        return Aggregate(
            runtime_stage_id=entry.runtime_stage_id,
            subflow_id=entry.subflow_path[0] if isinstance(entry, RunEntered) else entry.subflow_id,
            subflow_path=entry.subflow_path,
            primitive_kind="Run" if is_run else told(entry, "primitive_kind"),
            label="Run" if isinstance(entry, RunEntered) else entry.subflow_name,
            tokens=TokenSum(input=self.tokens_in, output=self.tokens_out),
            llm_calls=self.llm_calls,
            tool_calls=self.tool_calls,
            iterations=self.iterations,
            started_at_ms=entry.ts,
            ended_at_ms=self.ended_at,
            duration_ms=None if self.ended_at is None else max(0, self.ended_at - entry.ts),
        )


class Counts:
    """The counts of every boundary, by its address; a resumed run goes on counting under `__root__#0`."""

    def __init__(self) -> None:
        self._known: dict[str, _Count] = {}
        self._open: dict[tuple[str, ...], _Count] = {}

    def add(self, event: DomainEvent) -> None:
        """Take an event into account; costs its depth."""
        path = event.subflow_path
        if isinstance(event, (RunEntered, SubflowEntry)):
            if isinstance(event, SubflowEntry):
                stop = milestone_for(event.local_subflow_id)
                if stop is not None and stop.kind == "iteration":
                    self._each(path[:-1], "iterations", 1)
            known = self._known.get(event.runtime_stage_id) if isinstance(event, RunEntered) else None
            count = self._known[event.runtime_stage_id] = known or _Count(event)
            count.ended_at = None
            self._open[path] = count
        elif isinstance(event, (RunLeft, SubflowExit)):
            count = self._open.pop(path, None)
            if count is not None:
                count.ended_at = event.ts
        elif isinstance(event, LLMEnded):
            tokens_in, tokens_out = tokens_of(event.usage)
            self._each(path, "tokens_in", tokens_in)
            self._each(path, "tokens_out", tokens_out)
            self._each(path, "llm_calls", 1)
        elif isinstance(event, ToolStarted) and event.not_dispatched is None:
            self._each(path, "tool_calls", 1)

    def of(self, address: str) -> Aggregate | None:
        """What one boundary comes to so far; `None` when it is not known."""
        count = self._known.get(address)
        return None if count is None else count.done()

    def all(self) -> tuple[Aggregate, ...]:
        """Those of all boundaries, in the order of entry."""
        return tuple(count.done() for count in self._known.values())

    def _each(self, path: tuple[str, ...], name: str, more: int) -> None:
        for depth in range(1, len(path) + 1):
            count = self._open.get(path[:depth])
            if count is not None:
                setattr(count, name, getattr(count, name) + more)


def tokens_of(usage: Any) -> tuple[int, int]:  # noqa: ANN401  any part of a payload
    """Tokens in and out of one call, every part counted once (DEC-42); 0 where nothing was reported."""

    def count(name: str) -> int:
        value = told(usage, name)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    tokens_in, tokens_out = count("input"), count("output")
    if not told(usage, "input_includes_cache"):
        tokens_in += count("cache_read") + count("cache_write")
    if not told(usage, "output_includes_thinking"):
        tokens_out += count("thinking")
    return tokens_in, tokens_out
