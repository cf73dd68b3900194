"""What do a run's steps look like while it goes on, and its trace when it is over (REC-34)?

For a page beside the program that runs the agent. Invariants: only runs that begin afterwards are watched, because
nothing of a run can be recorded later; what the functions raise is the listener's failure and changes no run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol, Self

from agentfootprint.errors import ConfigError
from agentfootprint.events import (
    CompositionExit,
    ErrorFatal,
    Event,
    IntegrityDisposition,
    LLMEnd,
    PauseRequest,
    Subscription,
)
from agentfootprint.observe.boundaries.graph import StepGraph, StepGraphBuilder
from agentfootprint.observe.boundaries.happenings import DomainEvent
from agentfootprint.observe.boundaries.log import BoundaryLog
from agentfootprint.observe.boundaries.traces import TraceFile, to_trace_file
from agentfootprint.recording import Recording

__all__ = ["LocalWatch", "observe_locally"]

_MOST_RUNS: Final = 64
_TURNS: Final = 1_000
"""Of the event loop that a trace waits for the end of its run."""
_AGENT: Final = "Agent"
_CALL: Final = "LLMCall"


class Recorded(Protocol):
    """What can be watched: an agent or a model call."""

    run_watchers: list[Callable[[Recording], object]]

    def on(self, pattern: str, listener: Callable[[Event[Any]], object], /) -> Subscription:
        """Listen to events."""
        ...


class _Run:
    """A run that is watched."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.log = BoundaryLog(recording)
        self.told = False
        self._builder = StepGraphBuilder()
        self._position = 0

    def graph(self) -> StepGraph:
        """The steps so far; costs what came since it was last asked, and the graph."""
        events = self.log.events()
        if len(events) < self._position:  # a policy that came late made all of them anew
            self._builder, self._position = StepGraphBuilder(), 0
        for event in events[self._position :]:
            self._builder.add(event)
        self._position = len(events)
        return self._builder.graph()


class LocalWatch:
    """A runner that is watched; `observe_locally` makes one. Also a context manager that ends it."""

    def __init__(
        self,
        runner: Recorded,
        *,
        on_live: Callable[[StepGraph], object] | None,
        on_recorded: Callable[[TraceFile], object] | None,
        redact: Callable[[DomainEvent], DomainEvent] | None,
        include_snapshot: bool,
    ) -> None:
        self._runner = runner
        self._on_live = on_live
        self._on_recorded = on_recorded
        self._redact = redact
        self._include_snapshot = include_snapshot
        self._runs: dict[str, _Run] = {}
        self._latest: _Run | None = None
        runner.run_watchers.append(self._begun)
        self._subscription = runner.on("*", self._hear)

    @property
    def boundary(self) -> BoundaryLog | None:
        """The boundaries of the run that began last; `None` before one has."""
        return None if self._latest is None else self._latest.log

    def snapshot(self) -> StepGraph:
        """The steps of the run that began last, as they are now."""
        return StepGraphBuilder().graph() if self._latest is None else self._latest.graph()

    def trace(self, run_id: str | None = None) -> TraceFile:
        """The trace of a run, as it is now.

        Args:
            run_id: The run; `None`: the one that began last.

        Raises:
            ConfigError: Nothing is known of it.
        """
        run = self._latest if run_id is None else self._runs.get(run_id)
        if run is None:
            raise ConfigError("run_id", "No such run was watched.", fix="Start the run after observe_locally.")
        return self._trace_of(run.recording)

    def close(self) -> None:
        """Watch no more; what is known stays."""
        self._subscription.close()
        if self._begun in self._runner.run_watchers:
            self._runner.run_watchers.remove(self._begun)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *at: object) -> None:
        self.close()

    def _begun(self, recording: Recording) -> None:
        if len(self._runs) >= _MOST_RUNS:
            del self._runs[next(iter(self._runs))]
        self._latest = self._runs[recording.run_id] = _Run(recording)

    def _hear(self, event: Event[Any]) -> Awaitable[None] | None:
        run = self._runs.get(event.meta.run_id)
        if run is None:
            return None
        if self._on_live is not None:
            self._on_live(run.graph())
        if self._on_recorded is None or run.told or not _is_last(event):
            return None
        run.told = True
        return self._tell(run.recording, self._on_recorded)  # awaited when the run has ended, before it returns

    async def _tell(self, recording: Recording, on_recorded: Callable[[TraceFile], object]) -> None:
        for _ in range(_TURNS):
            if recording.ended is not None:
                break
            await asyncio.sleep(0)  # a workflow says that it is over a moment before its run is
        on_recorded(self._trace_of(recording))

    def _trace_of(self, recording: Recording) -> TraceFile:
        snapshot = recording.snapshot if self._include_snapshot else None
        return to_trace_file(recording, redact=self._redact, snapshot=snapshot)


def observe_locally(
    runner: Recorded,
    *,
    on_live: Callable[[StepGraph], object] | None = None,
    on_recorded: Callable[[TraceFile], object] | None = None,
    redact: Callable[[DomainEvent], DomainEvent] | None = None,
    include_snapshot: bool = False,
) -> LocalWatch:
    """Watch the runs of an agent or a model call in this process, from now on.

    Args:
        runner: Who runs.
        on_live: Gets the steps so far with each event; drawing them anew is up to it.
        on_recorded: Gets the trace of each run once, when it has ended, failed or paused, before control returns.
        redact: Gives what may be in the trace instead of each boundary, such as `redact_content`.
        include_snapshot: Whether state, tree and log are in the trace. No `redact` reaches them.

    Returns:
        Ask it for `snapshot()` and `trace()`; close it to stop watching.
    """
    return LocalWatch(
        runner, on_live=on_live, on_recorded=on_recorded, redact=redact, include_snapshot=include_snapshot
    )


def _is_last(event: Event[Any]) -> bool:
    """Whether a run has nothing to say behind it: what that is depends on the runner that was run."""
    kind, path = event.type, event.meta.composition_path
    if kind == ErrorFatal.type:
        return True
    runner = path[0].partition(":")[0] if path else _AGENT
    if runner == _AGENT:
        return kind == IntegrityDisposition.type
    if runner == _CALL:
        return kind == LLMEnd.type
    return kind == PauseRequest.type or (kind == CompositionExit.type and not event.meta.subflow_path)
