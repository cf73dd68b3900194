"""Where does a run begin, turn and end, and what is inside (05 s.5.3)?

A reader of a recording: of a run in this process, which may still go on, or of a file of either form. Reading again
costs what was added since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, cast

from agentfootprint.events import ErrorFatal, TurnEnd
from agentfootprint.observe.boundaries.counting import Aggregate, Counts
from agentfootprint.observe.boundaries.happenings import (
    ROOT,
    ROOT_ADDRESS,
    CompositionEnded,
    CompositionStarted,
    DomainEvent,
    RunEntered,
    RunLeft,
    SubflowEntry,
    SubflowExit,
    domain_event,
)
from agentfootprint.observe.boundaries.passing import Passage
from agentfootprint.observe.boundaries.telling import Teller
from agentfootprint.observe.views.reading import text_of
from agentfootprint.recording import EventFeed, Recording
from agentfootprint.trace import FrozenDict, Journal, as_list, as_object

__all__ = ["BoundaryLog"]

_NAME: Final = "BoundaryEvents"
_LEAN: Final = ("payload", "args", "result", "content", "contentSummary")


class BoundaryLog:
    """The boundaries of one recording.

    Args:
        recording: The run. A file of the wire form that holds no boundaries of its own gives those that its events
            tell: the run, model and tool calls, compositions and pieces, without mounts, forks and decisions.
        form: `"native"`: a piece of context where it is new. `"wire"`: in every iteration, which costs the square of
            the run's length.
    """

    def __init__(self, recording: Recording, *, form: Literal["native", "wire"] = "native") -> None:
        self._recording = recording
        self._form: Literal["native", "wire"] = form
        self._events: list[DomainEvent] = []
        self._counts = Counts()
        self._ranges: dict[str, tuple[int, int | None]] = {}
        self._shown: Journal | None = None
        self._passage: Passage | None = None
        self._has_left = False
        if recording.journal is None:
            self._add(_stored(recording.snapshot) or _from_events(recording))
            self._has_left = True

    def events(self) -> Sequence[DomainEvent]:
        """All of them, in order."""
        self._refresh()
        return self._events

    def events_of(self, kind: str) -> tuple[DomainEvent, ...]:
        """Those of one type, such as `"llm.start"`."""
        return tuple(event for event in self.events() if event.type == kind)

    def boundaries(self) -> tuple[RunEntered | SubflowEntry, ...]:
        """The run and the mounts, in the order of entry."""
        return tuple(event for event in self.events() if isinstance(event, (RunEntered, SubflowEntry)))

    def steps(self) -> tuple[SubflowEntry, ...]:
        """The mounts, in the order of entry."""
        return tuple(event for event in self.events() if isinstance(event, SubflowEntry))

    def visible_steps(self) -> tuple[SubflowEntry, ...]:
        """Those of them that are not an agent's own machinery."""
        return tuple(step for step in self.steps() if not step.is_agent_internal)

    def boundary(self, address: str) -> RunEntered | SubflowEntry | None:
        """The boundary that an address names."""
        return next((each for each in self.boundaries() if each.runtime_stage_id == address), None)

    def root(self) -> RunEntered | None:
        """Where the run began."""
        return next((each for each in self.boundaries() if isinstance(each, RunEntered)), None)

    def slots(self) -> tuple[SubflowEntry, ...]:
        """The mounts that compose a slot."""
        return tuple(step for step in self.steps() if step.slot_kind is not None)

    def range_of(self, key: str) -> tuple[int, int | None] | None:
        """How many commits the run had made where a boundary began and where it ended, if it did (REC-21).

        Args:
            key: The boundary's address; of a composition `composition:<id>`.
        """
        self._refresh()
        return self._ranges.get(key)

    def aggregate(self, address: str) -> Aggregate | None:
        """What happened inside a boundary; O(1)."""
        self._refresh()
        return self._counts.of(address)

    def aggregates(self) -> tuple[Aggregate, ...]:
        """What happened inside each boundary, in the order of entry."""
        self._refresh()
        return self._counts.all()

    def to_snapshot(self, mode: Literal["full", "lean"] = "full") -> dict[str, Any]:
        """The form in which a snapshot keeps it (REC-23), as plain JSON; lean without what anybody said or gave."""
        data = [event.to_wire() for event in self.events()]
        if mode == "lean":
            data = [{key: value for key, value in each.items() if key not in _LEAN} for each in data]
        return {
            "name": _NAME,
            "description": "Where the run, its mounts, its model and tool calls begin and end",
            "preferredOperation": "translate",
            "data": data,
            "meta": {"mode": mode},
        }

    def _refresh(self) -> None:
        if self._has_left:
            return
        journal = self._recording.journal
        assert journal is not None  # noqa: S101  else nothing is ever refreshed
        shown = journal.shown()
        if self._passage is None or shown is not self._shown:
            self._events, self._counts, self._ranges = [], Counts(), {}
            facts = self._recording.feed(self._form).facts
            self._shown, self._passage = shown, Passage(shown, EventFeed(shown, facts, self._form))
        ended = self._recording.ended
        self._add(self._passage.take())
        if self._events and ended is not None and ended != "paused":
            self._add([self._passage.leave("failed" if ended == "failed" else "done")])
            self._has_left = True

    def _add(self, events: Iterable[DomainEvent]) -> None:
        for event in events:
            self._events.append(event)
            self._counts.add(event)
            if isinstance(event, (RunEntered, SubflowEntry)):
                self._ranges[event.runtime_stage_id] = event.commit_idx_before, None
            elif isinstance(event, (RunLeft, SubflowExit)):
                self._close(event.runtime_stage_id, event)
            elif isinstance(event, CompositionStarted):
                self._ranges[f"composition:{event.composition_id}"] = event.commit_idx_before, None
            elif isinstance(event, CompositionEnded):
                self._close(f"composition:{event.composition_id}", event)

    def _close(self, key: str, event: DomainEvent) -> None:
        known = self._ranges.get(key)
        if known is not None:
            self._ranges[key] = known[0], event.commit_idx_after


def _stored(snapshot: Mapping[str, Any]) -> list[DomainEvent] | None:
    """The boundaries that a snapshot of the wire form holds."""
    for kept in as_list(snapshot.get("recorders")) or ():
        found = as_object(kept)
        if found is not None and found.get("name") == _NAME:
            listed = (as_object(each) for each in as_list(found.get("data")) or ())
            read = (None if each is None else domain_event(each) for each in listed)
            return [event for event in read if event is not None]
    return None


def _from_events(recording: Recording) -> Iterator[DomainEvent]:
    """What the events alone tell of the boundaries."""
    teller, first, said, answer = Teller(), True, "", ""
    ts = 0
    for event in recording.events:
        ts = event.meta.wall_clock_ms
        if first:
            first = False
            yield RunEntered(is_root=True, **_root(ts))
        if event.type == ErrorFatal.type:
            said = text_of(event.payload, "error")
        elif event.type == TurnEnd.type:
            answer = text_of(event.payload, "final_content")
        told = teller.tell(event, 0)
        if told is not None:
            yield told
    if recording.ended == "failed":
        yield RunLeft(payload=cast("Any", FrozenDict({"error": said})), is_root=True, **_root(ts))
    elif recording.ended == "done":
        yield RunLeft(payload=answer, is_root=True, **_root(ts))


def _root(ts: int) -> dict[str, Any]:
    return {
        "runtime_stage_id": ROOT_ADDRESS,
        "subflow_path": (ROOT,),
        "depth": 0,
        "ts": ts,
        "commit_idx_before": 0,
        "commit_idx_after": 0,
    }
