"""Where is a recording: in a running process, a native file, or a file of the wire form? Each gives the same parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from agentfootprint.events import (
    ErrorFatal,
    Event,
    IntegrityDisposition,
    PauseRequest,
    RunConfigured,
    RunFacts,
    TurnEnd,
    event_to_wire,
)
from agentfootprint.recording.damage import guarded
from agentfootprint.recording.deep import decode_deep, encode_deep
from agentfootprint.recording.derived import MessageRows, field_of, remembering_rows
from agentfootprint.recording.errors import RecordingTooLargeError
from agentfootprint.recording.feed import EventFeed, Form
from agentfootprint.recording.native.decode import journal_of
from agentfootprint.recording.native.quiet import without_collector
from agentfootprint.recording.native.rowlog import RowLog
from agentfootprint.recording.native.runlog import dump_rows, dump_runlog
from agentfootprint.recording.questions.trail import JournalTrail, RowTrail, Trail
from agentfootprint.recording.questions.wiretrail import StoredEvents, WireTrail
from agentfootprint.recording.redacting.marking import kept_out_words, marked, recorder_row, report_of, stored_report
from agentfootprint.trace import (
    FrozenDict,
    FrozenList,
    Journal,
    JsonObject,
    MappedRow,
    Record,
    Value,
    as_list,
    as_object,
    freeze,
    project_commit_log,
    project_snapshot,
    project_state,
    project_subflow_results,
    project_tree,
    thaw,
)

__all__ = ["JournalSource", "NativeSource", "RowSource", "Source", "WireSource"]


_ENDS: Final = (TurnEnd.type, IntegrityDisposition.type)
_MOST_BYTES: Final = 256 * 1024 * 1024
_BYTES_A_PASS: Final = 20_000
_BYTES_A_MESSAGE: Final = 1_930
_COPIES_OF_A_TEXT: Final = 15


class Source(ABC):
    """The parts of a recording, wherever it is."""

    native: bool
    run_id: str
    about: JsonObject
    """What it says about the agent and itself."""
    structure: JsonObject | None
    flags: tuple[str, ...]
    ended: str | None
    trail: Trail
    redaction: JsonObject | None
    """What is kept out, by name; `None` when nothing is."""

    @abstractmethod
    def events(self) -> Sequence[Event[Any]]:
        """All events, in order."""

    @abstractmethod
    def snapshot(self) -> JsonObject:
        """State, tree and log."""

    @abstractmethod
    def to_wire(self) -> dict[str, Any]:
        """The reference's form, as plain JSON that the caller owns."""

    def finish(self, outcome: str) -> None:
        """The run has ended, and how."""
        self.ended = outcome


class Snapshot(Mapping[str, Any]):
    """The engine's snapshot of a journal; reading a part does not build the others (LIN-25)."""

    def __init__(
        self,
        journal: Journal,
        *,
        of_file: bool = False,
        redaction: JsonObject | None = None,
        observers: Value = None,
    ) -> None:
        parts: dict[str, Callable[[], Any]] = {
            "runId": lambda: journal.run_id,
            "sharedState": lambda: FrozenDict(project_state(journal)),
            "executionTree": lambda: project_tree(journal),
            "commitLog": lambda: [bundle.to_wire() for bundle in project_commit_log(journal)],
            "commitValues": lambda: journal.dials.values,
            "writeProvenance": lambda: journal.dials.provenance,
            "subflowResults": lambda: project_subflow_results(journal),
        }
        if redaction is not None:
            parts["recorders"] = lambda: [recorder_row(redaction)]
        if observers is not None:
            parts["observerStats"] = lambda: observers
        self._parts = {key: guarded(part) for key, part in parts.items()} if of_file else parts
        self._built: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401  JSON
        if key not in self._built:
            with remembering_rows():
                self._built[key] = self._parts[key]()
        value = self._built[key]
        if key == "subflowResults" and not value:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter([key for key in self._parts if key != "subflowResults" or self._has_results()])

    def __len__(self) -> int:
        return len(self._parts) - (not self._has_results())

    def _has_results(self) -> bool:
        return "subflowResults" in self

    def __repr__(self) -> str:
        return f"<snapshot of {', '.join(self._parts)}>"


class NativeSource(Source):
    """What a run in this process and a native file have in common: a journal, now or when it is needed."""

    native = True
    facts: RunFacts

    @abstractmethod
    def journal(self) -> Journal:
        """The rows."""

    def feed(self, form: Form) -> EventFeed:
        """The events from the beginning, in either form."""
        return EventFeed(self.journal(), self.facts, form)

    def rows(self) -> list[Any]:
        """The lines of the native form."""
        about: JsonObject = freeze({**self.about, "flags": list(self.flags)}) if self.flags else self.about
        return dump_rows(self.journal(), self.facts, about, structure=self.structure, ended=self.ended)

    def data(self) -> bytes:
        """The bytes of a native file."""
        with without_collector():
            return dump_runlog(self.rows())  # the lines are gone before the collector is back

    def to_wire(self) -> dict[str, Any]:
        """Every projection, expanded."""
        journal = self.journal()
        size = wire_size(journal)
        if size > _MOST_BYTES:
            raise RecordingTooLargeError(size, _MOST_BYTES)
        with remembering_rows(), without_collector():
            wire: dict[str, Any] = {
                "snapshot": project_snapshot(journal),
                "events": [event_to_wire(event) for event in self.feed("wire").take()],
            }
        if self.redaction is not None:
            wire["snapshot"]["recorders"] = [thaw(freeze(recorder_row(self.redaction)))]
        if self.structure is not None:
            wire["structure"] = thaw(self.structure)
        return wire | _said(self.about, self.flags)


class JournalSource(NativeSource):
    """A run in this process; it may still go on."""

    def __init__(
        self,
        journal: Journal,
        facts: RunFacts,
        about: JsonObject | Callable[[], JsonObject],
        structure: JsonObject | Callable[[], JsonObject] | None,
    ) -> None:
        self._journal = journal
        self.facts = facts
        self.run_id = facts.run_id
        self._given = about
        self._chart = structure
        self.ended = None
        self._events: tuple[Event[Any], ...] = ()
        self._snapshot: tuple[int, Snapshot] | None = None
        self._observers: Value = None

    def note_observers(self, stats: Value) -> None:
        """Keep how those who were told later did."""
        self._observers, self._snapshot = stats, None

    @cached_property
    def about(self) -> JsonObject:  # pyright: ignore[reportIncompatibleVariableOverride]  frozen when it is first read
        """As it was given."""
        given = self._given
        said: JsonObject = given() if callable(given) else given
        return freeze(said if self.redaction is None else {**said, "redaction": self.redaction})

    @cached_property
    def redaction(self) -> JsonObject | None:  # pyright: ignore[reportIncompatibleVariableOverride]  like `about`
        """As the run's policy says."""
        veil = self._journal.veil
        return None if veil is None or veil.policy is None else freeze(report_of(veil.policy))

    @cached_property
    def structure(self) -> JsonObject | None:  # pyright: ignore[reportIncompatibleVariableOverride]  like `about`
        """As it was given."""
        given = self._chart
        return freeze(given()) if callable(given) else given

    @cached_property
    def flags(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]  like `about`
        """As the header says."""
        return _flags_of(self.about)

    @cached_property
    def trail(self) -> Trail:  # pyright: ignore[reportIncompatibleVariableOverride]  nothing is scanned before a question
        """From the rows."""
        return JournalTrail(self._journal)

    @cached_property
    def _feed(self) -> EventFeed:
        return EventFeed(self._journal, self.facts)

    def journal(self) -> Journal:
        """The run's own, as it may be shown."""
        return self._journal.shown()

    def feed(self, form: Form) -> EventFeed:
        """The events from the beginning, which go on while the run does."""
        return EventFeed(self._journal, self.facts, form)

    def to_wire(self) -> dict[str, Any]:
        """Every projection, expanded."""
        wire = super().to_wire()
        if self._observers is not None:
            wire["snapshot"]["observerStats"] = thaw(self._observers)
        return wire

    def events(self) -> Sequence[Event[Any]]:
        """Those so far."""
        if self._feed.is_behind():
            self._events = (*self._events, *self._feed.take())
        return self._events

    def snapshot(self) -> JsonObject:
        """As things are now."""
        known = self._snapshot
        if known is None or known[0] != len(self._journal.rows):
            shown = Snapshot(self._journal.shown(), redaction=self.redaction, observers=self._observers)
            known = self._snapshot = len(self._journal.rows), shown
        return known[1]


class RowSource(NativeSource):
    """A native file."""

    def __init__(self, rows: RowLog, flags: tuple[str, ...]) -> None:
        header = rows.header
        self._rows = rows
        self.facts = header.facts
        self.run_id = header.facts.run_id
        self.about = header.about
        self.structure = header.structure
        self.flags = tuple(dict.fromkeys((*_flags_of(header.about), *flags)))
        self.redaction = as_object(header.about.get("redaction"))
        if self.redaction is not None:
            rows.mark(kept_out_words(self.redaction))
        self.ended = None if rows.ended is None else rows.ended[0]
        self.trail = RowTrail(rows)

    @cached_property
    def _journal(self) -> Journal:
        with without_collector():
            return marked(journal_of(self._rows), self.redaction)

    def journal(self) -> Journal:
        """Rebuilt from the rows, once."""
        return self._journal

    @cached_property
    def _events(self) -> tuple[Event[Any], ...]:
        return self._taken()

    @guarded
    def _taken(self) -> tuple[Event[Any], ...]:
        return tuple(self.feed("native").take())

    @guarded
    def rows(self) -> list[Any]:
        """The lines, written anew."""
        return super().rows()

    @guarded
    def to_wire(self) -> dict[str, Any]:
        """Every projection, expanded."""
        return super().to_wire()

    def events(self) -> Sequence[Event[Any]]:
        """All of the file."""
        return self._events

    @cached_property
    def _snapshot(self) -> Snapshot:
        return Snapshot(self._journal, of_file=True, redaction=self.redaction)

    def snapshot(self) -> JsonObject:
        """Projected from the rows."""
        return self._snapshot


class WireSource(Source):
    """A file in the wire form; the object is kept as it is."""

    native = False

    def __init__(self, wire: JsonObject, flags: tuple[str, ...]) -> None:
        self._wire = wire
        self._stored = StoredEvents(wire.get("events") or ())
        snapshot: JsonObject = wire["snapshot"]
        self._snapshot = snapshot
        self.structure = wire.get("structure")
        self.trail = WireTrail(snapshot, self._stored)
        self.about = self._about()
        self.redaction = stored_report(snapshot) or as_object(self.about.get("redaction"))
        self.flags = tuple(dict.fromkeys((*_flags_of(self.about), *flags)))
        self.run_id = self._run_id()
        self.ended = self._ended()

    def events(self) -> Sequence[Event[Any]]:
        """As they are in the file, each decoded when it is looked at."""
        return self._stored

    def snapshot(self) -> JsonObject:
        """As it is in the file."""
        return self._snapshot

    def to_wire(self) -> dict[str, Any]:
        """A copy of the file's object."""
        copied: dict[str, Any] = decode_deep(
            encode_deep(self._wire if isinstance(self._wire, dict) else thaw(self._wire))
        )
        return copied | _said(self.about, self.flags)

    def _about(self) -> JsonObject:
        stated = as_object(self._wire.get("header"))
        if stated is not None:
            return freeze(stated)
        for mark in self.trail.marks:
            if mark.type == RunConfigured.type:
                configured = self.trail.payload(mark)
                if isinstance(configured, RunConfigured):
                    given: Any = configured.llm  # a file may leave out what an agent always says
                    said: dict[str, Any] = thaw(given) if isinstance(given, Record) else {}
                    said["id"] = configured.agent_id
                    keys = [key for key in ("id", "provider", "model") if isinstance(said.get(key), str)]
                    return freeze({"agent": {key: said[key] for key in keys}})
        return {}

    def _run_id(self) -> str:
        for event in self._stored.raw:
            found = (as_object(event.get("meta")) or {}).get("runId")
            if isinstance(found, str) and found not in ("", "consumer-scope"):
                return found
        return str(self._snapshot.get("runId", ""))

    def _ended(self) -> str | None:
        kinds = {event.get("type") for event in self._stored.raw}
        ends = {ErrorFatal.type: "failed", PauseRequest.type: "paused"} | dict.fromkeys(_ENDS, "done")
        return next((how for kind, how in ends.items() if kind in kinds), None)


def wire_size(journal: Journal) -> int:
    """About how many bytes the wire form of a journal takes, which repeats the window in every pass (LIN-30).

    Measured on the reference's form: a message stands fifteen times in a pass, as text, as row, and under both.
    """
    size = 0
    lengths: list[int] = [0]
    window: FrozenList | None = None
    for row in journal.rows:
        rows = row.writes.get("messagesInjections") if isinstance(row, MappedRow) else None
        if not isinstance(rows, MessageRows):
            continue
        if window is None or not rows.of.starts_with(window):
            window, lengths = rows.of[:0], [0]
        for message in rows.of.tail(len(window)):
            lengths.append(lengths[-1] + len(field_of(message, "content", "content") or ""))
        window = rows.of
        size += _BYTES_A_PASS + _BYTES_A_MESSAGE * len(window) + _COPIES_OF_A_TEXT * lengths[len(window)]
    return size


def _flags_of(about: JsonObject) -> tuple[str, ...]:
    found = as_list(about.get("flags")) or ()
    return tuple(str(flag) for flag in found)


def _said(about: JsonObject, flags: tuple[str, ...]) -> dict[str, Any]:
    """What a file says beside the parts of the wire form, which leave it no place."""
    said: dict[str, Any] = thaw(about)
    if flags:
        said["flags"] = list(flags)
    return {"header": said} if said else {}
