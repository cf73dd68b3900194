"""Where is the record of a run that was written while it went on, and what does it hold?

This is what stays when the run has ended: a path and a size. The rows are read from there when somebody asks.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentfootprint.recording.errors import file_problem
from agentfootprint.recording.native.decode import journal_of
from agentfootprint.recording.native.quiet import without_collector
from agentfootprint.recording.native.rowlog import RowLog
from agentfootprint.recording.native.runlog import load_runlog

__all__ = ["SpilledFile"]


class SpilledFile:
    """A file that rows are written to."""

    __slots__ = ("_loaded", "_lock", "path", "size", "stopped")

    def __init__(self) -> None:
        self.path = Path()
        self.size = 0
        """Bytes that were written."""
        self.stopped = False
        """Whether it could not be written to the end."""
        self._lock = threading.Lock()
        self._loaded: Sequence[Any] | None = None

    def read(self) -> tuple[RowLog, tuple[str, ...]]:
        """What was written so far, and what there is to say about how it was found.

        Raises:
            FileProblemError: It is not there any more, or can't be read.
            UnsupportedRecordingFormatError: It was changed.
        """
        try:
            with self.path.open("rb") as file:
                data = file.read(self.size)
        except OSError as error:
            raise file_problem(error, str(self.path), "read") from error
        return load_runlog(data, self.path.name)

    def rows(self) -> Sequence[Any]:
        """The rows that were written, as they may be shown; kept until `forget`."""
        with self._lock:
            loaded = self._loaded
            if loaded is None:
                log, _ = self.read()
                with without_collector():
                    loaded = self._loaded = journal_of(log).rows
            return loaded

    def forget(self) -> None:
        """Let go of the rows that were read back."""
        self._loaded = None
