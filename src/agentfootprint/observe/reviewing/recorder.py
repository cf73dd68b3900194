"""What happened lately in the runs of any runner, within bounds (REC-2 to REC-5)?

Every run of an agent keeps a recording of its own; this one is for runners that keep none, for a bounded tail, and for
listening over many runs. Invariants: at most so many events are kept, the oldest go first and are counted; stopping
takes off this recorder's own listeners only, and what it kept stays readable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Self, cast

from agentfootprint.errors import ConfigError
from agentfootprint.events import Event, Subscription, event_to_wire
from agentfootprint.observe.boundaries.log import BoundaryLog
from agentfootprint.observe.views.tail import Tail
from agentfootprint.recording import Recording, summarize_embeddings
from agentfootprint.trace import thaw

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Recordable", "RunRecorder", "record_run"]

_MOST_RUNS: Final = 16
"""Runs whose state is held; the one that ended first makes room."""
_NO_STATE: Final[dict[str, Any]] = {"sharedState": {}, "commitLog": []}
"""Of a run that was not heard to begin, or whose runner keeps none."""
_FIX: Final = 'Use "{}" or "{}".'


class Recordable(Protocol):
    """What can be recorded: an agent, a model call, a composition."""

    def on(
        self, pattern: str, listener: Callable[[Event[Any]], object], *, form: Literal["native", "wire"] = "native"
    ) -> Subscription:
        """Listen to the events of all its runs."""
        ...


def record_run(
    runner: Recordable,
    *,
    max_events: int = 10_000,
    boundary_detail: Literal["full", "lean"] = "full",
    record_embeddings: bool = False,
    form: Literal["native", "wire"] = "native",
) -> RunRecorder:
    """Record the runs of a runner from now on, within bounds. Begin before the run: nothing can be recorded later.

    An agent's `result.recording` holds all of a run and needs no recorder.

    Args:
        runner: What is run.
        max_events: How many events are kept; what can't be a number of events counts as 10,000.
        boundary_detail: Whether the boundaries in the snapshot hold what was said and given, or `"lean"`: not.
        record_embeddings: Whether vectors are kept whole; else as their dimensions and norm.
        form: Which form of the events (LIN-19).

    Returns:
        Ask it for the `recording()`, also while a run goes on.

    Raises:
        ConfigError: A word is none of those above.

    Example:
        >>> from agentfootprint import Agent, Mock
        >>> agent = Agent(Mock("Paris."))
        >>> recorder = record_run(agent, max_events=5)
        >>> _ = agent.run_sync("Capital of France?")
        >>> recorder.event_count, len(recorder.recording().events)
        (5, 5)
    """
    return RunRecorder(
        runner,
        max_events=max_events,
        boundary_detail=boundary_detail,
        record_embeddings=record_embeddings,
        form=form,
    )


class RunRecorder:
    """A recorder at work; `record_run` makes one. Also a context manager that stops it."""

    def __init__(
        self,
        runner: Recordable,
        *,
        max_events: float | None,
        boundary_detail: Literal["full", "lean"],
        record_embeddings: bool,
        form: Literal["native", "wire"],
    ) -> None:
        for option, given, words in (
            ("boundary_detail", boundary_detail, ("full", "lean")),
            ("form", form, ("native", "wire")),
        ):
            if given not in words:
                raise ConfigError(option, f"{option} is {given!r}.", fix=_FIX.format(*words))
        self._detail: Literal["full", "lean"] = boundary_detail
        self._keeps_vectors = record_embeddings
        self._form: Literal["native", "wire"] = form
        self._tail = Tail[Event[Any]](max_events)
        self._runs: dict[str, Recording] = {}
        self._latest: str | None = None
        self._watchers: list[Callable[[Recording], object]] | None = getattr(runner, "run_watchers", None)
        if self._watchers is not None:
            self._watchers.append(self._begun)
        self._subscription = runner.on("*", self._hear, form=form)

    @property
    def event_count(self) -> int:
        """How many events are kept."""
        return self._tail.event_count

    @property
    def dropped_events(self) -> int:
        """How many events went."""
        return self._tail.dropped_events

    @property
    def first_retained_event_index(self) -> int:
        """The place of the first event that is kept, from 0."""
        return self._tail.first_retained_event_index

    @property
    def active(self) -> bool:
        """Whether it still listens."""
        return self._subscription.active

    def recording(self, run_id: str | None = None) -> Recording:
        """What is kept, as a recording of the wire form; a copy, also of a run that goes on.

        Args:
            run_id: Only the events of this run, and its state; `None`: all events, and the state of the run that began
                last.

        Raises:
            ConfigError: Nothing is known of that run.
        """
        events = [event for event in self._tail.events if run_id in (None, event.meta.run_id)]
        run = self._runs.get(self._latest or "" if run_id is None else run_id)
        if run_id is not None and run is None and not events:
            raise ConfigError(
                "run_id", f"Nothing is known of the run {run_id!r}.", fix="Give the id of a run that was recorded."
            )
        wire: dict[str, Any] = {"snapshot": dict(_NO_STATE) if run is None else self._snapshot(run)}
        wire["events"] = [event_to_wire(event) for event in events]
        if run is not None and run.structure is not None:
            wire["structure"] = thaw(run.structure)
        if run is not None and run.header:
            wire["header"] = thaw(run.header)
        return Recording.from_wire(wire if self._keeps_vectors else summarize_embeddings(wire))

    def stop(self) -> None:
        """Listen no more; what is kept stays. Stopping again changes nothing."""
        self._subscription.close()
        if self._watchers is not None and self._begun in self._watchers:
            self._watchers.remove(self._begun)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *at: object) -> None:
        self.stop()

    def _hear(self, event: Event[Any]) -> None:
        self._tail.push(event)

    def _begun(self, recording: Recording) -> None:
        if len(self._runs) >= _MOST_RUNS:
            ended = next((run_id for run_id, run in self._runs.items() if run.ended is not None), None)
            del self._runs[next(iter(self._runs)) if ended is None else ended]
        self._runs[recording.run_id] = recording
        self._latest = recording.run_id

    def _snapshot(self, run: Recording) -> dict[str, Any]:
        snapshot: dict[str, Any] = thaw(dict(run.snapshot))
        stored = cast("Sequence[Any]", snapshot.get("recorders") or ())
        snapshot["recorders"] = [*stored, BoundaryLog(run, form=self._form).to_snapshot(self._detail)]
        return snapshot
