"""A run log as bytes: written from a journal, read into an index. One JSON value a line (01b s.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from agentfootprint.events import Event, RunFacts
from agentfootprint.recording.damage import BROKEN
from agentfootprint.recording.errors import NotARecordingError, UnsupportedRecordingFormatError
from agentfootprint.recording.native.encode import RowEncoder
from agentfootprint.recording.native.header import Header, header_of, read_header, read_late
from agentfootprint.recording.native.quiet import without_collector
from agentfootprint.recording.native.rowlog import DamagedLineError, RowLog
from agentfootprint.recording.native.shapes import FORMAT
from agentfootprint.trace import Journal, JsonObject, as_object

__all__ = ["INCOMPLETE", "TORN", "dump_rows", "dump_runlog", "is_runlog", "load_rows", "load_runlog", "unknown_format"]

TORN: Final = "torn-last-line"
"""The flag of a recording whose last line was cut off, as a crash leaves it."""
INCOMPLETE: Final = "incomplete"
"""The flag of a recording that could not be written to its end while the run went on, as on a full disk."""
_FAMILY: Final = "agentfootprint.runlog/"
_COMMITTED: Final = b'"committed/1"'
_LOST: Final = b'["-"]'
"""Stands for a line that a crash left without what it refers to."""
_ROWS_FIX: Final = "Copy the file again, or write it again with result.recording.save(...)."


def dump_rows(
    journal: Journal,
    facts: RunFacts,
    about: JsonObject,
    *,
    structure: JsonObject | None = None,
    ended: str | None = None,
) -> list[Any]:
    """The lines of a run log as JSON values: the header, and a list for each row.

    Args:
        journal: The rows.
        facts: The facts of the run.
        about: What the recording says about the agent and itself.
        structure: The chart as the wire has it.
        ended: How the run ended; `None` while it goes on.
    """
    encoder = RowEncoder(journal, facts)
    rows = list(journal.rows)
    encoder.feed(rows)
    lines = encoder.finish()
    if ended is not None:
        events = sum(isinstance(row, Event) for row in rows)
        lines.append(["z", ended, {"executions": len(journal.executions()), "events": events}])
    return [header_of(journal, facts, about, structure=structure, rows=1 + len(lines)), *lines]


def dump_runlog(lines: Sequence[Any]) -> bytes:
    """The lines as the bytes of a file."""
    return msgspec.json.Encoder().encode_lines(lines)


def is_runlog(first: object) -> bool:
    """Whether a decoded first line is a run log's, of any version.

    Raises:
        UnsupportedRecordingFormatError: It is one of a version that is not known here.
    """
    found = (as_object(first) or {}).get("format")
    return isinstance(found, str) and found.startswith(_FAMILY)


def unknown_format(found: object, name: str, known: str) -> UnsupportedRecordingFormatError:
    """The refusal of a file whose format is not known here."""
    return UnsupportedRecordingFormatError(
        f"{name} has the format {found!r}; this version reads {known!r}.",
        fix="Read it with a newer version of agentfootprint, or save it there in the wire form.",
        where=name,
    )


def load_runlog(data: bytes, name: str) -> tuple[RowLog, tuple[str, ...]]:
    """Read a run log, and what there is to say about how it was found.

    Args:
        data: The file.
        name: Its name, for errors.

    Raises:
        UnsupportedRecordingFormatError: It is cut off, damaged, or of an unknown version.
    """
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    with without_collector():
        return _load(_rows(data, lines), lines, name)  # the rows are gone before the collector is back


def load_rows(rows: Sequence[Any], name: str) -> tuple[RowLog, tuple[str, ...]]:
    """Read a run log from its lines as JSON values."""
    with without_collector():
        encode = msgspec.json.Encoder().encode
        return _load(rows, [encode(row) for row in rows], name)


def _rows(data: bytes, lines: Sequence[bytes]) -> list[Any]:
    """The lines decoded, up to the first that can't be."""
    try:
        return msgspec.json.Decoder().decode_lines(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return [msgspec.json.decode(line) for line in lines[: _first_bad(lines)]]


def _first_bad(lines: Sequence[bytes]) -> int:
    decode = msgspec.json.Decoder().decode
    for number, line in enumerate(lines):
        try:
            decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return number
    return len(lines)


def _load(rows: Sequence[Any], lines: Sequence[bytes], name: str) -> tuple[RowLog, tuple[str, ...]]:
    first = rows[0]
    if first.get("format") != FORMAT:
        raise unknown_format(first.get("format"), name, FORMAT)
    header = read_header(first, name)
    is_torn = len(rows) == len(lines) - 1 and header.rows is None
    problem = None if is_torn else _miscounted(len(rows), len(lines), header.rows)
    if problem is not None:
        raise NotARecordingError(f"{name} is {problem}.", fix=_ROWS_FIX, where=name)
    lines = list(lines[: len(rows)])
    try:
        if header.rows is None:
            rows = list(rows)
            _completed(header, rows, lines)
        log = RowLog(header, lines)
        log.scan(rows)
        if log.ended is None and header.rows is None:
            _without_dangling(log, lines)
    except DamagedLineError as damaged:
        raise NotARecordingError(
            f"{name} is damaged: line {damaged.number + 1} is no row of a run log.", fix=_ROWS_FIX, where=name
        ) from damaged
    is_incomplete = log.ended is not None and log.ended[1].get("incomplete") is True
    return log, ((TORN,) if is_torn else ()) + ((INCOMPLETE,) if is_incomplete else ())


def _completed(header: Header, rows: list[Any], lines: list[bytes]) -> None:
    """Put what came to be known while the run went on where a saved file has it."""
    try:
        for number in read_late(header, rows):
            lines[number] = msgspec.json.encode(rows[number])
    except BROKEN as broken:
        raise DamagedLineError(0) from broken


def _without_dangling(log: RowLog, lines: list[bytes]) -> None:
    """Leave out the events of a step that a crash left open, where they say what its commit would have written."""
    lost = {
        number for number in range(1, len(lines)) if _COMMITTED in lines[number] and log.is_open_in(log.row(number))
    }
    for number in lost:
        lines[number] = _LOST
    if lost:
        log.forget(lost)


def _miscounted(read: int, there: int, stated: int | None) -> str | None:
    """What is wrong with the number of lines, or with the first that is not JSON; `None` when nothing is.

    Args:
        read: How many lines are JSON, up to the first that is not.
        there: How many lines there are.
        stated: How many there should be, if that is known.
    """
    if stated is not None and there > stated and read >= stated:
        return f"damaged: its header says {stated:,} lines, and there are {there:,}"
    if read < there:
        is_cut = stated is not None and read == there - 1
        return f"cut off in line {read + 1} of {stated}" if is_cut else f"damaged: line {read + 1} is not JSON"
    return None if stated is None or stated == read else f"cut off: it has {read} of {stated} lines"
