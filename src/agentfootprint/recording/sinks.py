"""Where recordings are kept: a folder with one file a run, or whatever has a `write` (REC-14 to REC-16)."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

import msgspec

from agentfootprint.recording.deep import encode_deep
from agentfootprint.recording.envelope import RunFacts, StatedFacts, build_recording_envelope
from agentfootprint.recording.errors import UnsafeRecordingIdError
from agentfootprint.recording.recorded import Recording
from agentfootprint.recording.writing import write_file
from agentfootprint.trace import JsonObject

__all__ = ["FileRecordingSink", "RecordingSink", "StoredRecording", "persist_recording", "recording_file_name"]

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,199}")
_DEVICES: Final = frozenset(
    ("con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(1, 10)))
)


class StoredRecording(msgspec.Struct, frozen=True, kw_only=True):
    """A recording that was kept."""

    id: str
    """The run's id."""
    uri: str
    """Where it is."""


@runtime_checkable
class RecordingSink(Protocol):
    """A place that keeps recordings."""

    async def write(self, envelope: JsonObject) -> StoredRecording:
        """Keep an envelope; the same run id replaces what was kept before."""
        ...


def recording_file_name(run_id: str) -> str:
    """The name of the file that keeps a run: safe on every system, and the same name for the same id everywhere.

    Raises:
        UnsafeRecordingIdError: The id is no such name.
    """
    if _NAME.fullmatch(run_id) is None or run_id in _DEVICES:
        raise UnsafeRecordingIdError(run_id)
    return f"{run_id}.json"


class FileRecordingSink:
    """A folder with one file a run, `<run id>.json`; made with its parents when something is first written.

    Args:
        folder: The folder.

    Raises:
        TypeError: No folder is given.
    """

    def __init__(self, folder: Path | str) -> None:
        if not isinstance(folder, (str, Path)) or not str(folder).strip():  # pyright: ignore[reportUnnecessaryIsInstance]  configuration gives anything
            raise TypeError("A folder for recordings must be given as a path that is not empty.")
        self.folder = Path(folder)

    async def write(self, envelope: JsonObject) -> StoredRecording:
        """Keep an envelope, at once or not at all.

        Raises:
            UnsafeRecordingIdError: The run id is no file name; judged before anything is written.
            TypeError: The envelope holds what JSON can't; nothing is written.
            OSError: It can't be written; what was there before still is.
        """
        run_id: str = envelope["run"]["runId"]
        path = self.folder / recording_file_name(run_id)
        await asyncio.to_thread(_put, path, envelope)
        return StoredRecording(id=run_id, uri=path.resolve().as_uri())


def _put(path: Path, envelope: JsonObject) -> None:
    try:
        data = json.dumps(envelope, indent=2, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as refused:
        raise TypeError(f"The recording can't be written as JSON: {refused}.") from refused
    except RecursionError:  # the tree of a long run: indenting it would square the size
        data = encode_deep(envelope)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, data + b"\n")


class LiveRecorder(Protocol):
    """What keeps the latest events of runs: a `RunRecorder`."""

    @property
    def dropped_events(self) -> int:
        """How many went."""
        ...

    @property
    def first_retained_event_index(self) -> int:
        """The place of the first that is kept."""
        ...

    def recording(self) -> Recording:
        """What is kept."""
        ...


async def persist_recording(source: Recording | LiveRecorder, *, sink: RecordingSink, run: RunFacts) -> StoredRecording:
    """Keep a recording in an envelope of the wire form.

    Args:
        source: The recording; or a recorder, which knows itself how many events are missing.
        sink: Where to.
        run: What is stated about the run.

    Raises:
        IndeterminateRunFactError: A fact can't be read off the recording and is not stated.
    """
    if not isinstance(source, Recording):
        run = _with_counts(run, source)
        source = source.recording()
    envelope: dict[str, Any] = build_recording_envelope(source, run=run)
    return await sink.write(envelope)


def _with_counts(run: RunFacts, recorder: LiveRecorder) -> RunFacts:
    """What is stated, and what the recorder has counted; its own numbers win (REC-10)."""
    stated: dict[str, Any] = {field.name: getattr(run, field.name) for field in fields(run)}
    stated["dropped_events"] = recorder.dropped_events
    stated["first_retained_event_index"] = recorder.first_retained_event_index
    return StatedFacts(**stated)
