"""How does the record of a run get into a file while it happens, so that a crash loses nothing that was committed?

Rows are written when a step has committed and whenever the run waits for something: whoever kills the process finds a
prefix of the run (LIN-9). Rows that are written, and are older than the turn of the loop before this one, are let go
of. What is written is what may be shown: a value that a policy keeps out never reaches the file (LIN-37). A file that
can't be written any more ends the record and not the run; the record says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
import time
import weakref
from typing import Any, Final, cast

import msgspec

from agentfootprint.events import Event, RunFacts
from agentfootprint.recording.native.encode import RowEncoder
from agentfootprint.recording.native.held import MOST_HELD, SpilledRows
from agentfootprint.recording.redacting.serving import Served
from agentfootprint.recording.spilling.file import SpilledFile
from agentfootprint.recording.spilling.opening import open_file, place_for, reopened, write_all
from agentfootprint.trace import BrokeRow, Execution, FailedRow, Journal, MappedRow, PausedRow, ResumedRow, RetriedRow

__all__ = ["SpillWriter"]

_log = logging.getLogger(__name__)

_BOUNDARIES: Final = (MappedRow, PausedRow, ResumedRow, RetriedRow, FailedRow, BrokeRow)
_AT_ONCE: Final = 1024
"""How many rows are let go of together: taking them off the front costs what is left."""
_LEAST: Final = 256
"""How many of the latest rows always stay."""
_TOKENS: Final = 64
_TOKEN_SECONDS: Final = 0.25
"""Tokens that come one by one are written together, at least so often."""


class SpillWriter:
    """Writes the rows of one run to a file and lets go of them; takes the journal's `rows` over at once.

    Args:
        journal: Of a run that has not begun. It holds this, and not the other way round.
        path: A folder or a file, as `RecordOptions.spill` has it.
    """

    def __init__(self, journal: Journal, path: str | os.PathLike[str]) -> None:
        self._path = path
        self.file = SpilledFile()
        """Where the record is, for those who read it back."""
        self._journal: Journal = weakref.proxy(journal)
        self._rows = SpilledRows(self.file.rows)
        self._shown = self._rows
        """The rows that may be shown; others where a policy keeps something out."""
        journal.rows = cast("list[Any]", self._rows)  # a sequence, used as every reader of a journal does
        journal.append = self.append
        self._add = self._rows.tail.append
        self._lock = threading.RLock()
        self._facts: RunFacts | None = None
        self._encoder: RowEncoder | None = None
        self._encode = msgspec.json.Encoder().encode_lines
        self._handle = -1
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_due = False
        """Whether what was added is written as soon as the run waits for something."""
        self._is_timed = False
        """Whether the tokens that are held back will be written after a while."""
        self._begun = -1
        self._executions = 0
        self._events = 0
        self._restored = -1
        self._turns = (0, 0)
        """The rows at which the last two turns of a loop began."""
        self._done = 0
        self._written_at = 0.0
        self._is_over = False

    def open(self, facts: RunFacts, header: dict[str, Any]) -> None:
        """Make the file.

        Args:
            facts: What is the same for all events, as it may be shown.
            header: The first line.

        Raises:
            ConfigError: It can't be written, or is there already.
            UnsafeRecordingIdError: The run's id is no file name.
        """
        place = place_for(self._path, facts.run_id)
        first = msgspec.json.encode(header) + b"\n"
        self._handle = open_file(place, first)
        self.file.path = place.absolute()
        self.file.size = len(first)
        self._facts = facts
        self._written_at = time.monotonic()

    @property
    def has_dropped(self) -> bool:
        """Whether early rows are in the file only."""
        return self._rows.base > 0

    # as it happens

    def append(self, row: Any) -> None:  # noqa: ANN401  rows of any room
        """Add a row; it is written at the end of a step, or when the run waits for something."""
        self._add(row)
        if isinstance(row, Execution):
            if row.index > self._begun:
                self._begun = row.index
                self._executions += 1
                if row.link > 0:
                    self._turns = self._turns[1], len(self._rows) - 1
            elif row.writes:
                self.flush()
                return
        elif isinstance(row, _BOUNDARIES):
            self.flush()
            return
        if not self._is_due:
            self._soon()

    def _soon(self) -> None:
        try:
            loop = self._loop = asyncio.get_running_loop()
        except RuntimeError:  # a tool's thread says something
            loop = self._loop
            if loop is not None and not loop.is_closed():
                self._is_due = True
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(self._idle)
            return
        self._is_due = True
        loop.call_soon(self._idle)

    def _idle(self) -> None:
        self._is_due = False
        self.flush(idle=True)

    def _timed(self) -> None:
        self._is_timed = False
        self.flush(idle=True)

    def flush(self, *, idle: bool = False, last: bool = False) -> None:
        """Write what was added.

        Args:
            idle: The run waits for something; tokens may wait for more of them.
            last: The run has ended.
        """
        with self._lock:
            facts = self._facts
            if facts is None or (self._begun < 0 and not last and not self._is_over):
                return  # a resume says where it goes on before its first step
            try:
                lines = self._lines(facts, idle=idle)
            except Exception as error:  # noqa: BLE001  what can't be written must not end the run
                self._stop(type(error).__name__)
                return
            if lines:
                self._put(lines)
            if self._done - self._rows.base >= _AT_ONCE + _LEAST:
                self._drop()

    def _lines(self, facts: RunFacts, *, idle: bool) -> list[Any]:
        journal = self._journal
        shown = journal if journal.shadow is None else journal.shown()
        rows = self._rows if journal.shadow is None else self._followed(shown)
        end = len(rows)
        if self.file.stopped:
            self._done = end
            return []
        encoder = self._encoder
        if encoder is None:
            whose = journal if journal.shadow is None else weakref.proxy(shown)  # which would hold this
            encoder = self._encoder = RowEncoder(whose, facts, as_it_happens=True)
        if self._restored != len(shown.base_states):
            self._restored = encoder.restored(shown, self._restored)
        added = rows.tail[self._done - rows.base : end - rows.base]
        self._done = end
        self._events += sum(isinstance(row, Event) for row in added)
        encoder.feed(added)
        return encoder.take(tokens=not (idle and self._may_wait(encoder.pending_tokens)))

    def _may_wait(self, tokens: int) -> bool:
        """Whether tokens are held back for those that follow; if so, not for long."""
        passed = time.monotonic() - self._written_at
        if not 0 < tokens < _TOKENS or passed >= _TOKEN_SECONDS or self._loop is None:
            return False
        if not self._is_timed:
            self._is_timed = True
            self._loop.call_later(_TOKEN_SECONDS - passed, self._timed)
        return True

    def _followed(self, shown: Journal) -> SpilledRows:
        """The rows that may be shown, which are let go of like the others."""
        rows: Any = shown.rows
        if not isinstance(rows, SpilledRows):
            followed = SpilledRows(self.file.rows)
            followed.tail.extend(rows)
            shown.rows = cast("list[Any]", followed)  # as the journal's own
            shown.append = followed.append
            rows = followed
        self._shown = rows
        return rows

    def _put(self, lines: list[Any]) -> None:
        if self.file.stopped:
            return
        data = self._encode(lines)
        try:
            if self._handle < 0:  # something is said after the end
                self._handle = reopened(self.file.path)
            write_all(self._handle, data)
        except OSError as error:
            self._stop(error.strerror or type(error).__name__)
            return
        self.file.size += len(data)
        self._written_at = time.monotonic()
        if self._is_over:
            self.settle()

    def _stop(self, why: str) -> None:
        """The file can't be written any more: what stands there is the record, and the run goes on."""
        file = self.file
        if file.stopped:
            return
        file.stopped = True
        self._encoder = None
        self._done = len(self._rows)
        _log.warning("The record of a run ends early in %r: %s. The run goes on.", str(file.path), why)
        self._cut_back()

    def _put_last(self, line: list[Any]) -> None:
        """Say in a file that ends early that it does, if there is room for one line again."""
        data = self._encode([line])
        try:
            write_all(self._handle, data)
        except OSError:
            self._cut_back()
        else:
            self.file.size += len(data)

    def _cut_back(self) -> None:
        """Take away what was written in part."""
        if self._handle >= 0:
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, self.file.size)

    def _drop(self) -> None:
        rows = self._rows
        end = min(self._done - _LEAST, max(self._turns[0], self._done - MOST_HELD))
        kept = rows.needed(end, len(rows) if self.file.stopped else MOST_HELD)
        if kept - rows.base < _AT_ONCE:
            return
        rows.cut(kept)
        self._shown.cut(kept)
        self.file.forget()
        served = getattr(self._journal.shadow, "__self__", None)
        if isinstance(served, Served):
            served.let_go(next((row.index for row in rows.tail if isinstance(row, Execution)), self._begun + 1))

    # the end

    def close(self, outcome: str) -> None:
        """Write the rest, and how the run ended; `settle` then waits for the disk.

        Args:
            outcome: How it ended.
        """
        with self._lock:
            if self._is_over or self._facts is None:
                return
            self.flush(last=True)
            counts: dict[str, Any] = {"executions": self._executions, "events": self._events}
            if not self.file.stopped:
                assert self._encoder is not None  # noqa: S101  the flush made it
                self._encoder.lines.append("z", outcome, counts)
                self._put(self._encoder.lines.take())
            if self.file.stopped and self._handle >= 0:
                self._put_last(["z", outcome, counts | {"incomplete": True}])
            self._is_over = True
            kept = self._rows.needed(len(self._rows))
            self._rows.cut(kept)
            self._shown.cut(kept)
            self.file.forget()

    def settle(self) -> None:
        """Wait until the disk has it, and let the file go; may take a while."""
        with self._lock:
            handle, self._handle = self._handle, -1
        if handle >= 0:
            with contextlib.suppress(OSError):  # a file system that can't
                os.fsync(handle)
            with contextlib.suppress(OSError):
                os.close(handle)

    def __del__(self) -> None:
        handle = getattr(self, "_handle", -1)
        if handle >= 0:
            self._handle = -1
            with contextlib.suppress(OSError):
                os.close(handle)
