"""How does a run leave its log behind while it goes on, so that a crash loses nothing that was committed?

Rows go to the file as they are appended to the journal, in one write call a stage boundary, so that whoever kills the
process finds a prefix of the run (LIN-9). The file is only ever added to: a run begins with a header line, a resume of
the same executor goes on behind it. A file that can't be written any more ends the log, not the run.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from agentfootprint.flow.errors import ExecutorBusyError, RunLogFileError
from agentfootprint.trace import Execution, FailedRow, Journal, LineWriter, PausedRow, RetriedRow, header_line

__all__ = ["RunLogWriter"]

_BOUNDARIES: Final = (PausedRow, FailedRow, RetriedRow)


class RunLogWriter:
    """Writes the rows of one journal to a file.

    Args:
        path: The file; made when it isn't there.
        fsync: `commit` lets no stage boundary pass before the disk has it, `end` only the end of the run.

    One run at a time writes to a file; where the system has locks, a second one is refused.
    """

    def __init__(self, path: str | Path, *, fsync: Literal["none", "commit", "end"] = "end") -> None:
        self.path = Path(path)
        self._fsync = fsync
        self._journal: Journal | None = None
        self._lines: LineWriter | None = None
        self._begun: int = -1
        self._done: int = 0
        self._file = -1
        self._is_open = False
        self._first = b""
        """What comes before the next line, once there is one."""
        self._goes_on = False
        """Whether a resume's id comes before the next line, once there is one."""

    def open(self, journal: Journal) -> None:
        """Follow a journal from now on; one that is followed already goes on where it was.

        Raises:
            RunLogFileError: The file can't be opened, or another run is writing to it.
            ExecutorBusyError: This writer follows another run.
        """
        if self._is_open:
            raise ExecutorBusyError(
                f"The run log {str(self.path)!r} is being written by another run.",
                fix="Give each executor a file of its own, or wait for the other run.",
            )
        try:
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            size = os.fstat(self._file).st_size
            _lock(self._file)
            torn = size > 0 and _last_byte(self.path, size) != b"\n"
        except OSError as error:
            self._shut()
            raise RunLogFileError(str(self.path), error) from error
        self._first = b"\n" if torn else b""
        self._goes_on = journal is self._journal and self._lines is not None
        if not self._goes_on:
            self._journal, self._lines, self._begun, self._done = journal, None, journal.first_index - 1, 0
        journal.append = self.append
        self._is_open = True

    def append(self, row: Any) -> None:  # noqa: ANN401  rows of upper rooms may be anything
        """Add a row to the journal; what was added is written when a stage has committed."""
        journal = self._journal
        assert journal is not None  # noqa: S101  `open` came first
        journal.rows.append(row)
        if isinstance(row, Execution):
            if row.index > self._begun:
                self._begun = row.index
            else:
                self.flush()
        elif isinstance(row, _BOUNDARIES):
            self.flush()

    def flush(self) -> None:
        """Write what was added."""
        if self._file < 0 or self._journal is None:
            return
        shown = self._journal.shown()
        rows = shown.rows
        end = len(rows)
        if end == self._done:
            return
        data = self._before()
        if self._lines is None:
            self._lines = LineWriter(shown)
            data += msgspec.json.encode(header_line(shown)) + b"\n"
        self._lines.journal = shown  # another one once something is redacted
        data += self._lines.lines(rows[self._done : end])
        self._done = end
        self._write(data)

    def close(self, outcome: str | None) -> None:
        """Write how the run ended, and let the file go; the journal goes on without it.

        Args:
            outcome: How it ended; None when it was refused before it began.
        """
        journal = self._journal
        if journal is None:
            return
        self.flush()
        if self._lines is not None and outcome is not None:
            self._write(self._before() + self._lines.end(outcome))
        journal.append = journal.rows.append
        self._is_open = False
        if self._file >= 0 and self._fsync != "none":
            with contextlib.suppress(OSError):  # a pipe or a device that can't
                os.fsync(self._file)
        self._shut()

    def _before(self) -> bytes:
        """What comes before the next line, which is written now."""
        data, self._first = self._first, b""
        if self._goes_on and self._lines is not None and self._journal is not None:
            data += self._lines.resumed(self._journal.run_id)
        self._goes_on = False
        return data

    def _write(self, data: bytes) -> None:
        if self._file < 0:
            return
        try:
            while data:
                data = data[os.write(self._file, data) :]
            if self._fsync == "commit":
                os.fsync(self._file)
        except OSError as error:
            self._shut()
            said = error.strerror or type(error).__name__
            warnings.warn(f"The run log {str(self.path)!r} stopped: {said}. The run goes on.", stacklevel=2)

    def _shut(self) -> None:
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = -1


def _lock(file: int) -> None:
    """Keep other runs out of a file until it is closed, where that can be done.

    Raises:
        BlockingIOError: Another run is writing to it.
    """
    try:
        import fcntl
    except ImportError:  # not on this system
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as busy:
        raise BlockingIOError(busy.errno, "another run is writing to it") from busy
    except OSError:  # a file system without locks
        return


def _last_byte(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(size - 1)
        return file.read(1)
