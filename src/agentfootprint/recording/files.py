"""What is in a file that somebody says is a recording? Told apart by content, refused in words that help."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from agentfootprint.events import LLMStart
from agentfootprint.recording.deep import decode_deep
from agentfootprint.recording.errors import NotARecordingError, file_problem
from agentfootprint.recording.native.quiet import without_collector
from agentfootprint.recording.native.rowlog import RowLog
from agentfootprint.recording.native.runlog import is_runlog, load_rows, load_runlog, unknown_format
from agentfootprint.recording.native.shapes import FORMAT
from agentfootprint.trace import JsonObject, as_list, as_object

__all__ = [
    "ENVELOPE",
    "NATIVE_ENVELOPE",
    "Found",
    "check_wire",
    "read_bytes",
    "read_file",
]

ENVELOPE: Final = "agentfootprint.recording.v1"
NATIVE_ENVELOPE: Final = "agentfootprint.recording.native/1"
_FIX: Final = "Write one with result.recording.save(...), or convert a trace with agentfootprint import {name}."
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_MODEL_STEP: Final = "call-llm#"
_BLANK: Final = b" \t\r\n"
_CUT_FIX: Final = "Copy the file again, or write it again with result.recording.save(...)."


class Found(msgspec.Struct):
    """What a file holds."""

    rows: RowLog | None = None
    """A native recording."""
    wire: JsonObject | None = None
    """A recording in the wire form."""
    flags: tuple[str, ...] = ()
    """What there is to say about how it was found."""


def read_file(path: Path | str) -> Found:
    """Read a recording of any form.

    Raises:
        FileProblemError: There is no such file, or it can't be read; an `OSError` of the same kind as the system's.
        UnsupportedRecordingFormatError: It is no recording, is cut off, or has a format that is not known here.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
    except (OSError, ValueError) as error:  # a path with a NUL is a ValueError
        raise file_problem(error, str(path), "read") from error
    return read_bytes(data, file.name)


def read_bytes(data: bytes, name: str) -> Found:
    """Read a recording of any form from the bytes of a file; `name` is for errors."""
    data = data.removeprefix(_BYTE_ORDER_MARK).lstrip(_BLANK)
    if not data:
        raise NotARecordingError(f"{name} is not a recording: it is empty.", fix=_fix(name), where=name)
    first, _, more = data.partition(b"\n")
    whole = _decoded(first) if more.strip() else None
    if not is_runlog(whole):
        with without_collector():
            whole = _whole(data, name, whole)
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
    events, commits = as_list(found.get("events")) or (), as_list(snapshot["commitLog"]) or ()
    for place, event in enumerate(events):
        _check_event(event, place, name)
    asked = False
    for place, bundle in enumerate(commits):
        fields = as_object(bundle)
        step = None if fields is None else fields.get("runtimeStageId", "")
        if fields is None or not isinstance(step, str) or as_list(fields.get("trace")) is None:
            raise _misshapen(name, f"snapshot.commitLog[{place}]")
        asked = asked or step.rpartition("/")[2].startswith(_MODEL_STEP)
    if asked and not events:  # the log says that a model was asked, and only the events say what
        if found.get("events") is None:
            raise _without(name, "events")
        raise NotARecordingError(
            f'{name} is not a recording: its "events" is empty, and its log has model calls.',
            fix=_fix(name),
            where=name,
        )
    return found


def _check_event(event: object, place: int, name: str) -> None:
    fields = as_object(event)
    if fields is None or not isinstance(fields.get("type"), str) or "payload" not in fields:
        raise _misshapen(name, f"events[{place}]")
    meta = as_object(fields.get("meta"))
    if fields["type"] == LLMStart.type and (meta is None or not isinstance(meta.get("runtimeStageId"), str)):
        raise _without(name, f"events[{place}].meta" + ("" if meta is None else ".runtimeStageId"))
    if meta is None and fields.get("meta", meta) is not None:
        raise _misshapen(name, f"events[{place}].meta")


def _decoded(line: bytes) -> object:
    """The first of several lines, when it is JSON of its own."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _whole(data: bytes, name: str, first: object) -> object:
    """The file as one JSON value; `first` is its first line, when there are more and it is JSON of its own."""
    try:
        return decode_deep(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as malformed:
        stated = (as_object(first) or {}).get("format")
        if isinstance(stated, str):
            raise unknown_format(stated, name, FORMAT) from malformed
        if "truncated" in str(malformed):
            raise NotARecordingError(
                f"{name} is cut off: its JSON ends after {len(data):,} byte{'s' * (len(data) != 1)}, in the middle.",
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
