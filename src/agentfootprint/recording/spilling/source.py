"""Where is the recording of a run that spills? In the process while it goes on, then in its file (DEC-45).

While all of a run's rows are in memory they are read there. Once early ones were let go of, each part is read from the
file when somebody asks, up to where the run is then; when it has ended nothing of it is kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agentfootprint.events import Event, RunFacts
from agentfootprint.recording.feed import EventFeed, Form
from agentfootprint.recording.native.header import header_of
from agentfootprint.recording.native.runlog import INCOMPLETE
from agentfootprint.recording.questions.trail import Trail
from agentfootprint.recording.recorded import Recording
from agentfootprint.recording.sources import JournalSource, RowSource, Snapshot
from agentfootprint.recording.spilling.writer import SpillWriter
from agentfootprint.trace import Journal, JsonObject, thaw

__all__ = ["Spill", "SpilledSource"]


class SpilledSource(JournalSource):
    """A run whose record goes to a file.

    Args:
        spill: Writes it, from `open` on.
        journal: The run's.
        facts: What is the same for all its events.
        about: What it says about the agent and itself.
        structure: The chart.
    """

    def __init__(
        self,
        spill: SpillWriter,
        journal: Journal,
        facts: RunFacts,
        about: JsonObject | Callable[[], JsonObject],
        structure: JsonObject | Callable[[], JsonObject] | None,
    ) -> None:
        super().__init__(journal, facts, about, structure)
        self._file = spill.file
        self._spill: SpillWriter | None = spill
        self._stored: tuple[int, RowSource] | None = None

    def open(self) -> None:
        """Make the file."""
        spill = self._spill
        assert spill is not None  # noqa: S101  the run has not begun
        shown = self._journal.shown()
        spill.open(self.facts, header_of(shown, self.facts, self.about, structure=self.structure, rows=None))

    def finish(self, outcome: str) -> None:
        """The run has ended: nothing of it is kept here any more."""
        spill = self._spill
        if spill is None:
            self.ended = outcome
            return
        spill.close(outcome)
        self.ended = outcome
        self._spill = None
        self._events = ()
        self._snapshot = None
        for name in ("trail", "_feed", "_journal"):
            vars(self).pop(name, None)

    def _read(self) -> RowSource:
        """What the file holds now."""
        known = self._stored
        if known is None or known[0] != self._file.size:
            log, flags = self._file.read()
            if self._file.stopped and INCOMPLETE not in flags:
                flags = (*flags, INCOMPLETE)
            source = RowSource(log, flags)
            source.ended = self.ended
            known = self._stored = self._file.size, source
        return known[1]

    @property
    def flags(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]  it may still come
        """As the header says, and whether the file could not be written to the end."""
        said = super().flags
        return (*said, INCOMPLETE) if self._file.stopped and INCOMPLETE not in said else said

    def _filed(self) -> RowSource | None:
        """What the file holds now, where early rows are there only; brought up to date."""
        spill = self._spill
        if spill is None:
            return self._read()
        if not spill.has_dropped:
            return None
        spill.flush()
        return self._read()

    @property
    def trail(self) -> Trail:  # pyright: ignore[reportIncompatibleVariableOverride]  it changes with the end
        """From the rows, or from the file."""
        filed = self._filed()
        return super().trail if filed is None else filed.trail

    def journal(self) -> Journal:
        """The run's own, as it may be shown, which goes on while the run does; then the file's."""
        return self._read().journal() if self._spill is None else super().journal()

    def feed(self, form: Form) -> EventFeed:
        """The events from the beginning, which go on while the run does."""
        return self._read().feed(form) if self._spill is None else super().feed(form)

    def rows(self) -> list[Any]:
        """The lines of the native form."""
        filed = self._filed()
        return super().rows() if filed is None else filed.rows()

    def events(self) -> Sequence[Event[Any]]:
        """Those so far."""
        filed = self._filed()
        if filed is None:
            return super().events()
        self._events = ()
        vars(self).pop("_feed", None)
        return filed.events()

    def snapshot(self) -> JsonObject:
        """As things are now."""
        filed = self._filed()
        if filed is None:
            return super().snapshot()
        if self._observers is None:
            return filed.snapshot()
        return Snapshot(filed.journal(), of_file=True, redaction=filed.redaction, observers=self._observers)

    def to_wire(self) -> dict[str, Any]:
        """Every projection, expanded."""
        filed = self._filed()
        if filed is None:
            return super().to_wire()
        wire = filed.to_wire()
        if self._observers is not None:
            wire["snapshot"]["observerStats"] = thaw(self._observers)
        return wire


class Spill(SpillWriter):
    """Writes the rows of one run to a file while they come to be, and gives the run's recording."""

    def record(
        self,
        journal: Journal,
        *,
        facts: RunFacts,
        header: JsonObject | Callable[[], JsonObject],
        structure: JsonObject | Callable[[], JsonObject] | None = None,
    ) -> Recording:
        """Make the file, and the recording that is in it; otherwise as `Recording.of_run`.

        Args:
            journal: The run's rows.
            facts: What is the same for all its events, as it may be shown.
            header: What it says about the agent and itself.
            structure: The chart in wire form.

        Raises:
            ConfigError: The file can't be written, or is there already.
            UnsafeRecordingIdError: The run's id is no file name.
        """
        source = SpilledSource(self, journal, facts, header, structure)
        source.open()
        return Recording(source)
