"""What every stage did, entry by entry, for whoever looks for a mistake."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import UNSET

from agentfootprint.flow.watch.recorder import Recorder, channel_of
from agentfootprint.flow.watch.sightings import (
    ErrorSeen,
    PauseSeen,
    ReadSeen,
    ResumeSeen,
    Sighting,
    StageEnded,
    StageStarted,
    WriteSeen,
)
from agentfootprint.trace import Record, SequenceStore, Value, thaw

__all__ = ["DebugEntry", "DebugRecorder"]

DebugType: TypeAlias = Literal["read", "write", "error", "stageStart", "stageEnd", "pause", "resume"]


class DebugEntry(Record, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """One thing that happened."""

    type: DebugType
    stage_name: str
    timestamp: int
    """Milliseconds since 1970."""
    runtime_stage_id: str | None = None
    data: Value = UNSET
    """The event itself."""

    def to_wire(self) -> dict[str, Any]:
        """The entry as plain JSON, its event too."""
        data = {} if self.data is UNSET else {"data": self.data.to_wire()}
        return {**{key: value for key, value in thaw(self).items() if key != "data"}, **data}


class DebugRecorder(Recorder):
    """Keeps reads, writes, errors, and how stages begin, end, pause and go on.

    Args:
        id: Unique by default.
        verbosity: `minimal` keeps errors, pauses and resumes only.
    """

    label = "debug"

    def __init__(self, id: str | None = None, *, verbosity: Literal["verbose", "minimal"] = "verbose") -> None:
        super().__init__(id)
        self.verbosity = verbosity
        self._entries = SequenceStore[DebugEntry]()

    def clear(self) -> None:
        """Forget everything: another run begins."""
        self._entries.clear()

    def on_stage_start(self, event: StageStarted) -> None:
        """Keep it."""
        self._more("stageStart", event)

    def on_read(self, event: ReadSeen) -> None:
        """Keep it."""
        self._more("read", event)

    def on_write(self, event: WriteSeen) -> None:
        """Keep it."""
        self._more("write", event)

    def on_stage_end(self, event: StageEnded) -> None:
        """Keep it."""
        self._more("stageEnd", event)

    def on_error(self, event: ErrorSeen) -> None:
        """Keep it: of a stage, or of another recorder."""
        self._keep("error", event, event.stage_name)

    def on_pause(self, event: PauseSeen) -> None:
        """Keep it, once of the two."""
        if channel_of(event) == "scope":
            self._keep("pause", event, event.stage_name)

    def on_resume(self, event: ResumeSeen) -> None:
        """Keep it, once of the two."""
        if channel_of(event) == "scope":
            self._keep("resume", event, event.stage_name)

    def entries(self, type: DebugType | None = None) -> list[DebugEntry]:
        """What was kept, in order; of one type, or all."""
        return [entry for entry in self._entries if type is None or entry.type == type]

    def entries_for_step(self, runtime_stage_id: str) -> list[DebugEntry]:
        """What one step did."""
        return self._entries.entries_for_step(runtime_stage_id)

    def to_snapshot(self) -> dict[str, Any]:
        """The entries in wire form."""
        return {
            "name": "Debug",
            "description": "What every stage did.",
            "preferredOperation": "translate",
            "data": [entry.to_wire() for entry in self._entries],
        }

    def _more(self, type: DebugType, event: StageStarted | ReadSeen | WriteSeen | StageEnded) -> None:
        if self.verbosity == "verbose":
            self._keep(type, event, event.stage_name)

    def _keep(self, type: DebugType, event: Sighting, stage_name: str) -> None:
        step = getattr(event, "runtime_stage_id", UNSET)
        if step is UNSET:
            step = getattr(getattr(event, "traversal_context", None), "runtime_stage_id", None)
        entry = DebugEntry(
            type=type, stage_name=stage_name, timestamp=event.timestamp, runtime_stage_id=step, data=event
        )
        self._entries.push(entry, step)
