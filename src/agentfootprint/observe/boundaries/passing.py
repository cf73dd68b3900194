"""Which boundaries did a run pass, in order, as far as its rows go?

One pass over the rows that can go on when there are more; a row is looked at once. What a slot's commit implies is
told at the commit. Redacted values stay redacted: the rows read are those that may be shown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Final, Literal, cast

from agentfootprint.events import ErrorFatal, Event, TurnEnd
from agentfootprint.observe.boundaries.happenings import (
    ROOT,
    ROOT_ADDRESS,
    DecisionTaken,
    DomainEvent,
    ForkOpened,
    LoopTurned,
    RunEntered,
    RunLeft,
    SubflowEntry,
    SubflowExit,
    is_agent_internal,
)
from agentfootprint.observe.boundaries.milestones import slot_of
from agentfootprint.observe.boundaries.telling import TOLD, Teller
from agentfootprint.observe.views.reading import text_of
from agentfootprint.recording import EventFeed
from agentfootprint.trace import (
    CHILD,
    RESUME,
    DecidedRow,
    Execution,
    FailedRow,
    Fold,
    FrozenDict,
    Journal,
    MappedRow,
    NotedRow,
    ResumedRow,
    SelectedRow,
    Value,
    split_path,
)

__all__ = ["Passage"]

_NS_PER_MS: Final = 1_000_000
_SELECTOR: Final = "selector-temp"
"""What the wire calls the parent of branches that a selector started."""
_CHOOSING: Final = ("decider", "selector")


class Passage:
    """The boundaries of a journal, taken as its rows come to be there.

    Args:
        journal: The rows that may be shown.
        feed: The journal's events from the beginning, for this passage alone.
    """

    def __init__(self, journal: Journal, feed: EventFeed) -> None:
        self._journal = journal
        self._feed = feed
        self._events: deque[Event[Any]] = deque()
        self._fold = Fold(journal)
        self._position = 0
        self._commits = 0
        self._ns = 0
        self._seen: dict[int, int] = {}
        self._forked: set[int] = set()
        self._has_entered = False
        self._said = ""
        self._rationale: dict[int, str] = {}
        self._teller = Teller()
        self._outcome: Value = None

    def take(self) -> Iterator[DomainEvent]:
        """The boundaries of the rows that were added since, up to those that are there now."""
        rows = self._journal.rows
        end = len(rows)
        self._events.extend(self._feed.take())
        while self._position < end:
            row = rows[self._position]
            position = self._position
            self._position += 1
            self._ns = max(self._ns, getattr(row, "dt", 0))
            yield from self._row(position, row)

    def leave(self, ended: Literal["done", "failed"]) -> RunLeft:
        """The run has ended."""
        payload = FrozenDict({"error": self._said}) if ended == "failed" else self._outcome
        where = self._at(ROOT_ADDRESS, (ROOT,))
        return RunLeft(is_root=True, **where) if payload is None else RunLeft(payload=payload, is_root=True, **where)

    def _row(self, position: int, row: Any) -> Iterator[DomainEvent]:  # noqa: ANN401  rows of any room
        if isinstance(row, Event):
            yield from self._told(cast("Event[Any]", row))
        elif isinstance(row, Execution):
            seen = self._seen.get(row.index, 0)
            self._seen[row.index] = seen + 1
            self._fold.run(position - 1 if seen else position)
            if seen == 0:
                yield from self._begun(row)
            else:
                yield from self._appeared_again(row, seen)
        elif isinstance(row, MappedRow):
            self._commits += row.execution.mount < 0
        elif isinstance(row, ResumedRow):
            self._teller.after_tools = True
            yield self._run_entered()
        elif isinstance(row, SelectedRow):
            yield from self._fork(row.execution, _SELECTOR, row.chosen)
        elif isinstance(row, DecidedRow):
            yield self._decided(row)
        else:
            self._noted(row)

    def _noted(self, row: object) -> None:
        """A row that is no boundary, and tells something about one."""
        if isinstance(row, FailedRow):
            self._said = row.message
        elif isinstance(row, NotedRow) and row.key == "deciderRationale" and isinstance(row.value, str):
            self._rationale[row.execution.index] = row.value

    def _told(self, event: Event[Any]) -> Iterator[DomainEvent]:
        """An event that was recorded; those before it in the feed that no row is were told at their commit."""
        while self._events and self._events.popleft() is not event:
            pass
        if event.type == ErrorFatal.type:
            self._said = text_of(event.payload, "error")
        elif event.type == TurnEnd.type:
            self._outcome = text_of(event.payload, "final_content")
        if event.type in TOLD:
            told = self._teller.tell(event, self._commits)
            if told is not None:
                yield told

    def _implied(self, row: Execution) -> Iterator[DomainEvent]:
        """The events that a commit implies; they stand next in the feed, at its execution, and are no rows."""
        rows, place = self._journal.rows, self._position
        following = next((rows[at] for at in range(place, len(rows)) if isinstance(rows[at], Event)), None)
        while self._events and self._events[0] is not following and self._events[0].execution is row:
            told = self._teller.tell(self._events.popleft(), self._commits)
            if told is not None:
                yield told

    def _begun(self, row: Execution) -> Iterator[DomainEvent]:
        if not self._has_entered:
            yield self._run_entered()
        if row.link > 0:
            yield from self._looped(row)
        elif row.link == CHILD and row.info.branch_of >= 0:
            parent = self._journal.stages[row.info.branch_of]
            if parent.kind not in _CHOOSING and row.parent not in self._forked:
                self._forked.add(row.parent)
                execution = self._journal.execution(row.parent)
                children = parent.children or (row.info.number,)
                if execution is not None:
                    yield from self._fork(execution, parent.name, children)
        if row.info.kind == "mount":
            yield self._entered(row)

    def _appeared_again(self, row: Execution, seen: int) -> Iterator[DomainEvent]:
        is_mount = row.info.kind == "mount"
        if is_mount and seen == 1:
            yield self._exited(row)
        self._commits += row.mount < 0
        if not is_mount and seen == 1 and self._events and self._events[0].execution is row:
            yield from self._implied(row)

    def _run_entered(self) -> RunEntered:
        self._has_entered = True
        return RunEntered(is_root=True, **self._at(ROOT_ADDRESS, (ROOT,)))

    def _entered(self, row: Execution) -> SubflowEntry:
        info, stages = row.info, self._journal.stages
        first = stages[info.entry] if 0 <= info.entry < len(stages) else None
        description = None if first is None else first.description
        kind = description.partition(":")[0] if description is not None and ":" in description else None
        return SubflowEntry(
            **self._at(row.runtime_stage_id, _inside(row)),
            **_named(row),
            description=description,
            primitive_kind=kind,
            payload=_whole(self._fold.states.get(row.index)),
        )

    def _exited(self, row: Execution) -> SubflowExit:
        state = self._fold.states.get(row.index)
        return SubflowExit(**self._at(row.runtime_stage_id, _inside(row)), **_named(row), payload=_whole(state))

    def _looped(self, row: Execution) -> Iterator[LoopTurned]:
        """A loop edge; the one behind a resumed step and the one round a single model call are told by nobody."""
        came = self._journal.execution(row.parent)
        if came is None or came.link == RESUME or (came.info.kind == "mount" and is_agent_internal(came.info.local_id)):
            return
        where = self._at(came.runtime_stage_id, _flow_path(came))
        yield LoopTurned(target=_display(row.info), iteration=row.link, **where)

    def _fork(self, execution: Execution, parent: str, children: tuple[int, ...]) -> Iterator[ForkOpened]:
        where = self._at(execution.runtime_stage_id, _flow_path(execution))
        for child in children:
            name = _display(self._journal.stages[child])
            yield ForkOpened(parent_subflow_id=parent, child_name=name, **where)

    def _decided(self, row: DecidedRow) -> DecisionTaken:
        execution = row.execution
        return DecisionTaken(
            decider=execution.info.name,
            chosen=self._journal.stages[row.chosen].name,
            rationale=self._rationale.pop(execution.index, None),
            is_agent_internal=is_agent_internal(execution.info.local_id),
            **self._at(execution.runtime_stage_id, _flow_path(execution)),
        )

    def _at(self, address: str, path: tuple[str, ...]) -> dict[str, Any]:
        return {
            "runtime_stage_id": address,
            "subflow_path": path,
            "depth": len(path) - 1,
            "ts": self._journal.started_at + self._ns // _NS_PER_MS,
            "commit_idx_before": self._commits,
            "commit_idx_after": self._commits,
        }


def _named(row: Execution) -> dict[str, Any]:
    info = row.info
    return {
        "subflow_id": info.id,
        "local_subflow_id": info.local_id,
        "subflow_name": info.subflow_name or info.name,
        "slot_kind": slot_of(info.local_id),
        "is_agent_internal": is_agent_internal(info.local_id),
    }


def _inside(row: Execution) -> tuple[str, ...]:
    return (ROOT, *row.info.path, row.info.local_id)


def _flow_path(row: Execution) -> tuple[str, ...]:
    """The path of what the engine tells of its control flow: the fork branch it happens in, not the mounts."""
    return (ROOT, *split_path(row.info.namespace)) if row.info.namespace else (ROOT,)


def _display(info: Any) -> str:  # noqa: ANN401  a stage's facts
    return info.subflow_name if info.kind == "mount" and info.subflow_name else info.name


def _whole(state: dict[str, Value] | None) -> FrozenDict:
    return FrozenDict(dict(state or {}))
