"""What does a run log say, whether its run ended, was killed or still goes on?

The file is read from its beginning once and then only where it grew. A last line that was cut off, as a crash leaves
it, is left out and told; any other line that can't be read is refused with its number.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from agentfootprint.trace.crossing.asking import RunQuestions
from agentfootprint.trace.errors import DamagedRunLogError, RunLogError
from agentfootprint.trace.rows.journal import Execution, Journal
from agentfootprint.trace.rows.projection import project_state
from agentfootprint.trace.rows.tree import project_snapshot, project_tree
from agentfootprint.trace.runlog.reading import RowReader, journal_of
from agentfootprint.trace.runlog.writing import FORMAT
from agentfootprint.trace.values import FrozenDict

__all__ = ["RunLog", "open_run_log"]

_BROKEN: Final = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    RecursionError,
    msgspec.MsgspecError,
)
"""What reading a line raises that is something else than it should be."""


class RunLog(RunQuestions):
    """A run that was read from its log. Ask it as you ask a result: `why`, `forward`, `timeline`, `value_at`.

    Make one with `open_run_log`.
    """

    def __init__(self, path: str, run: int) -> None:
        self.path = path
        """As it was given."""
        self.is_torn = False
        """Whether the last line was cut off; it is not part of what was read."""
        self._run = run
        self._offset = 0
        self._line = 0
        self._rest = b""
        self._is_closed = False
        self._reader = self._opened()
        super().__init__(RunQuestions.of_journal(self._reader.journal).runtimes)

    @property
    def journal(self) -> Journal:
        """The rows of the run."""
        return self._reader.journal

    @property
    def run_id(self) -> str:
        """Id of the run, or of the latest resume."""
        return self.journal.run_id

    @property
    def ended(self) -> str | None:
        """How the run ended: `done`, `paused`, `broken` or `failed`; None when it was cut off or goes on."""
        return self._reader.ended

    @property
    def open_steps(self) -> tuple[Execution, ...]:
        """Steps that had begun and not committed where the log stops."""
        return tuple(self._reader.open_steps())

    @property
    def state(self) -> FrozenDict:
        """The committed state of the top where the log stops."""
        return FrozenDict(project_state(self.journal))

    def tree(self) -> dict[str, Any] | None:
        """The execution tree in wire form (2.4)."""
        return project_tree(self.journal)

    def snapshot(self) -> dict[str, Any]:
        """State, log, tree and mounts in wire form (2.3)."""
        return project_snapshot(self.journal)

    def refresh(self) -> int:
        """Read what was added to the file since; gives the number of new rows.

        Raises:
            DamagedRunLogError: A line is not what a run log has there.
            OSError: The file can't be read.
        """
        before = len(self.journal.rows)
        self._feed()
        return len(self.journal.rows) - before

    def _opened(self) -> RowReader:
        data = _bytes_of(self.path)
        starts = _headers_of(data, self.path)
        if not -len(starts) <= self._run < len(starts):
            raise RunLogError(
                f"The run log {self.path!r} has {len(starts)} runs, and no number {self._run}.",
                fix="Count from 0, or from -1 backwards.",
                where=self.path,
            )
        number = self._run % len(starts)
        start = starts[number]
        self._offset, self._line = start, data.count(b"\n", 0, start)
        end = data.find(b"\n", start)
        is_whole = end >= 0
        reader = self._reader = RowReader(
            self._header(data[start:end] if is_whole else data[start:], is_whole=is_whole)
        )
        self._offset = end + 1 if is_whole else len(data)
        self._line += 1
        self._read(data[self._offset :])
        return reader

    def _header(self, line: bytes, *, is_whole: bool) -> Journal:
        try:
            found: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
            known = found["format"]
            journal = journal_of(found) if known == FORMAT else None
        except _BROKEN as broken:
            if is_whole:
                raise DamagedRunLogError(self.path, self._line + 1) from broken
            raise RunLogError(
                f"The run log {self.path!r} was cut off in its header, before the first step.",
                fix="There is nothing in it to read; run again.",
                where=self.path,
            ) from broken
        if journal is None:
            raise RunLogError(
                f"The run log {self.path!r} has the format {known!r}; {FORMAT!r} is known here.",
                fix="Open it with the version that wrote it.",
                where=self.path,
            )
        return journal

    def _feed(self) -> None:
        with Path(self.path).open("rb") as file:
            file.seek(self._offset)
            self._read(file.read())

    def _read(self, data: bytes) -> None:
        """Read the lines that are complete, and the last one when it is whole without its line break."""
        if self._is_closed:
            return
        lines = data.split(b"\n")
        for place, line in enumerate(lines):
            is_last = place == len(lines) - 1
            if is_last and not line:
                self.is_torn = False
                return
            if line.startswith(b"{"):  # the next run of the file
                self._is_closed = True
                return
            follows = lines[place + 1][:1] if not is_last else b""
            try:
                row = msgspec.json.decode(line)
            except msgspec.DecodeError as broken:
                if is_last or follows == b"{":
                    self.is_torn = True
                    return
                raise DamagedRunLogError(self.path, self._line + 1) from broken
            if is_last:  # whole, but its line break is to come: read then, or never when the run was killed
                self.is_torn = True
                return
            try:
                self._reader.read(row)
            except _BROKEN as broken:
                raise DamagedRunLogError(self.path, self._line + 1) from broken
            self._offset += len(line) + 1
            self._line += 1


def open_run_log(path: str | Path, *, run: int = -1) -> RunLog:
    """Open the log of a run: of one that ended, was killed, or goes on.

    Args:
        path: The file that `run_log=` named.
        run: Which run of the file, from 0; -1 is the last one.

    Returns:
        The run, ready to be asked. `is_torn` says that its last line was cut off; `refresh` reads what was added.

    Raises:
        RunLogError: The file is no run log, or of a format that is not known here.
        DamagedRunLogError: A line is not what a run log has there, and it is not the torn last one.
        OSError: The file can't be read.
    """
    return RunLog(str(path), run)


def _bytes_of(path: str) -> bytes:
    return Path(path).read_bytes()


def _headers_of(data: bytes, path: str) -> list[int]:
    """Where the runs of a file begin."""
    if not data.startswith(b"{"):
        raise RunLogError(
            f"The file {path!r} is no run log: it does not begin with a header.",
            fix="Name a file that was written with run_log=.",
            where=path,
        )
    starts = [0]
    found = data.find(b"\n{")
    while found >= 0:
        starts.append(found + 1)
        found = data.find(b"\n{", found + 1)
    return starts
