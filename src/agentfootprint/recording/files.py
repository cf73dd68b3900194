"""What is in a file that somebody says is a recording? Told apart by content, refused in words that help.

Writing is atomic: a crash in the middle leaves the old file, or none, and never half of one under the final name.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from agentfootprint.recording.deep import decode_deep
from agentfootprint.recording.errors import NotARecordingError
from agentfootprint.recording.native.quiet import without_collector
from agentfootprint.recording.native.rowlog import RowLog
from agentfootprint.recording.native.runlog import is_runlog, load_rows, load_runlog, unknown_format
from agentfootprint.trace import JsonObject, as_list, as_object

__all__ = [
    "ENVELOPE",
    "NATIVE_ENVELOPE",
    "Found",
    "check_wire",
    "read_bytes",
    "read_file",
    "write_file",
]

ENVELOPE: Final = "agentfootprint.recording.v1"
NATIVE_ENVELOPE: Final = "agentfootprint.recording.native/1"
_FIX: Final = "Write one with result.recording.save(...), or convert a trace with agentfootprint import {name}."
_CUT_FIX: Final = "Copy the file again, or write it again with result.recording.save(...)."


class Found(msgspec.Struct):
    """What a file holds."""

    rows: RowLog | None = None
    """A native recording."""
    wire: JsonObject | None = None
    """A recording in the wire form."""
    flags: tuple[str, ...] = ()
    """What there is to say about how it was found."""


def read_file(path: Path) -> Found:
    """Read a recording of any form.

    Raises:
        OSError: There is no such file, or it can't be read.
        UnsupportedRecordingFormatError: It is no recording, is cut off, or has a format that is not known here.
    """
    return read_bytes(path.read_bytes(), path.name)


def read_bytes(data: bytes, name: str) -> Found:
    """Read a recording of any form from the bytes of a file; `name` is for errors."""
    if not data.strip():
        raise NotARecordingError(f"{name} is not a recording: it is empty.", fix=_fix(name), where=name)
    first, _, more = data.partition(b"\n")
    whole = _decoded(first) if more.strip() else None
    if not is_runlog(whole):
        with without_collector():
            whole = _whole(data, name)
    if is_runlog(whole):
        log, flags = load_runlog(data, name)
        return Found(rows=log, flags=flags)
    if not isinstance(whole, Mapping):
        raise NotARecordingError(
            f"{name} is not a recording: it is JSON, but not one object.", fix=_fix(name), where=name
        )
    return _of_object(cast("Mapping[str, Any]", whole), name)


def _of_object(whole: Mapping[str, Any], name: str) -> Found:
    stated = whole.get("format")
    if stated is None or "snapshot" in whole:
        return Found(wire=check_wire(whole, name))
    if stated not in (ENVELOPE, NATIVE_ENVELOPE):
        if isinstance(stated, str) and stated.startswith("agentfootprint."):
            raise unknown_format(stated, name, ENVELOPE)
        raise _without(name, "snapshot")
    if "recording" not in whole:
        raise _without(name, "recording")
    inside = whole["recording"]
    if stated == ENVELOPE and isinstance(inside, Mapping):
        return Found(wire=check_wire(cast("Mapping[str, Any]", inside), name))
    rows = as_list(inside)
    if stated == NATIVE_ENVELOPE and rows and is_runlog(rows[0]):
        log, flags = load_rows(rows, name)
        return Found(rows=log, flags=flags)
    raise NotARecordingError(
        f'{name} is not a recording: its "recording" is not what the format {stated!r} holds.',
        fix=_fix(name),
        where=name,
    )


def check_wire(found: Mapping[str, Any], name: str) -> JsonObject:
    """The object, when it has the parts of a recording in the wire form.

    Raises:
        NotARecordingError: A part is missing or is of another kind.
    """
    snapshot = as_object(found.get("snapshot"))
    if snapshot is None:
        raise _without(name, "snapshot")
    if snapshot.get("commitLog") is None:
        raise _without(name, "snapshot.commitLog")
    for key, part, is_right in (
        ("snapshot.commitLog", snapshot["commitLog"], as_list),
        ("snapshot.sharedState", snapshot.get("sharedState"), as_object),
        ("events", found.get("events"), as_list),
        ("structure", found.get("structure"), as_object),
    ):
        if part is not None and is_right(part) is None:
            raise _misshapen(name, key)
    for place, event in enumerate(as_list(found.get("events")) or ()):
        fields = as_object(event)
        if fields is None or not isinstance(fields.get("type"), str) or "payload" not in fields:
            raise _misshapen(name, f"events[{place}]")
    for place, bundle in enumerate(as_list(snapshot["commitLog"]) or ()):
        fields = as_object(bundle)
        if fields is None or as_list(fields.get("trace")) is None:
            raise _misshapen(name, f"snapshot.commitLog[{place}]")
    return found


def _decoded(line: bytes) -> object:
    """The first of several lines, when it is JSON of its own."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _whole(data: bytes, name: str) -> object:
    try:
        return decode_deep(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as malformed:
        if "truncated" in str(malformed):
            raise NotARecordingError(
                f"{name} is cut off: its JSON ends after {len(data):,} bytes, in the middle.",
                fix=_CUT_FIX,
                where=name,
            ) from malformed
        raise NotARecordingError(
            f"{name} is not a recording: it is not JSON.", fix=_fix(name), where=name
        ) from malformed


def _without(name: str, part: str) -> NotARecordingError:
    return NotARecordingError(f'{name} is not a recording: it has no "{part}".', fix=_fix(name), where=name)


def _misshapen(name: str, part: str) -> NotARecordingError:
    return NotARecordingError(
        f'{name} is not a recording: its "{part}" is not what a recording has there.', fix=_fix(name), where=name
    )


def _fix(name: str) -> str:
    return _FIX.format(name=name)


def write_file(path: Path, data: bytes) -> Path:
    """Put a file in place at once: written beside it, flushed to disk, renamed.

    Raises:
        OSError: It can't be written; nothing is left behind, and what was there before still is.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)
    return path


def _flush_folder(folder: Path) -> None:
    """Make the rename last through a power cut, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
