"""Events as lines of a file: one JSON object a line, whole lines only, rotated by size (chapter 6, "File").

Invariants: an event is encoded and written in a thread, never in the run; a line stands in the file whole or not at
all, also after a crash or a full disk; what could not be written is counted and told of. One process writes a path.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import logging
import os
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from agentfootprint.errors import ConfigError
from agentfootprint.events import Event, encode_event
from agentfootprint.observe.errors import EventFileError

__all__ = ["FileExporter"]

_LOG: Final = logging.getLogger("agentfootprint.observe")
_BATCH: Final = 100
"""Events that are written without waiting for the interval."""
_CHUNK: Final = 65_536
"""Bytes that are written at once."""
_MOST: Final = 10_000
"""Events that wait at most while the file can't be written."""


class FileExporter:
    """Appends every event as a line of JSON, keys `type`, `payload`, `meta`.

    `decode_event` reads a line back. An `iteration_end` holds the whole history, so that the file of one long run grows
    faster than the run; `RecordOptions(spill=...)` keeps each fact once.

    Args:
        path: The file; its folder is made if need be. A torn last line that a crash left behind is cut off.
        max_bytes: Before a write would make the file larger it is renamed to `<path>.1`, over the one before, and a new
            one begun. A single event that is larger gets a file of its own.
        flush_interval: Seconds an event waits at most until it is written; 100 events don't wait.

    Raises:
        TypeError: No path is given.
        ConfigError: An option can't work.
        EventFileError: The file can't be opened for appending.
    """

    def __init__(self, path: Path | str, *, max_bytes: int | None = None, flush_interval: float = 1.0) -> None:
        if not isinstance(path, (str, Path)) or not str(path).strip():  # pyright: ignore[reportUnnecessaryIsInstance]  configuration gives anything
            raise TypeError("A file for events must be given as a path that is not empty.")
        if max_bytes is not None and max_bytes <= 0:
            raise ConfigError(
                "max_bytes", f"max_bytes is {max_bytes!r}.", fix="Give a positive number of bytes, or None to keep all."
            )
        if not flush_interval > 0:
            raise ConfigError(
                "flush_interval", f"flush_interval is {flush_interval!r}.", fix="Give a positive number of seconds."
            )
        self.name = "file"
        self.path = Path(path)
        self.max_bytes = max_bytes
        self.flush_interval = flush_interval
        self.dropped = 0
        """Events that never reached the file."""
        self._waiting: list[Event[Any]] = []
        self._failure: EventFileError | None = None
        self._wake = threading.Condition()
        self._writing = threading.Lock()
        self._writer: threading.Thread | None = None
        self._stopped = False
        self._open()
        atexit.register(_write_at_exit, weakref.ref(self))

    def export(self, event: Event[Any]) -> None:
        """Take an event; it is written within `flush_interval`.

        Raises:
            EventFileError: An earlier write failed; says how many events are lost so far. This event is kept.
        """
        with self._wake:
            if len(self._waiting) >= _MOST:
                del self._waiting[0]
                self.dropped += 1
            self._waiting.append(event)
            if self._writer is None and not self._stopped:
                self._writer = threading.Thread(target=self._write_soon, name="export-file", daemon=True)
                self._writer.start()
            elif len(self._waiting) == _BATCH:
                self._wake.notify_all()
            failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    async def flush(self) -> None:
        """Write what waits.

        Raises:
            EventFileError: It can't be written; says how many events are lost so far.
        """
        await asyncio.to_thread(self._write)
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    async def stop(self) -> None:
        """Write no more by itself; what is exported later waits for a `flush`."""
        with self._wake:
            self._stopped = True
            self._wake.notify_all()

    def _write_soon(self) -> None:
        """The writer thread: it ends when nothing waits, and the next event starts another."""
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._stopped or not 0 < len(self._waiting) < _BATCH, self.flush_interval)
                if self._stopped:
                    self._writer = None
                    return
            self._write()
            with self._wake:
                if not self._waiting:
                    self._writer = None
                    return

    def _write(self) -> None:
        """Write what waits; a failure is kept for whoever calls next."""
        with self._writing:
            with self._wake:
                taken, self._waiting = self._waiting, []
                self._wake.notify_all()  # the writer has nothing to wait for
            written = 0
            try:
                for chunk, count in self._chunks(taken):
                    self._append(chunk)
                    written += count
            except OSError as error:
                self.dropped += len(taken) - written
                self._failure = EventFileError(self.path, f"can't be written: {error.strerror}", dropped=self.dropped)
                self._failure.__cause__ = error

    def _chunks(self, events: list[Event[Any]]) -> Iterator[tuple[bytes, int]]:
        """Whole lines to write at once, and how many events they are."""
        lines: list[bytes] = []
        size = 0
        for event in events:
            line = encode_event(event) + b"\n"
            room = _CHUNK if self.max_bytes is None else min(_CHUNK, self.max_bytes)
            if lines and size + len(line) > room:
                yield b"".join(lines), len(lines)
                lines, size = [], 0
            lines.append(line)
            size += len(line)
        if lines:
            yield b"".join(lines), len(lines)

    def _append(self, data: bytes) -> None:
        handle = self._opened()
        try:
            before = os.fstat(handle).st_size
            if self.max_bytes is not None and before and before + len(data) > self.max_bytes:
                os.close(handle)
                handle = -1
                self.path.replace(f"{self.path}.1")
                handle = self._opened()
                before = 0
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(handle, rest) :]
            except OSError:
                with contextlib.suppress(OSError):  # half a line is worse than none
                    os.ftruncate(handle, before)
                raise
        finally:
            if handle >= 0:
                os.close(handle)

    def _opened(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)

    def _open(self) -> None:
        """Try the file, and end it with a whole line."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as file:
                _mend(file.fileno(), self.path)
        except OSError as error:
            raise EventFileError(self.path, f"can't be opened: {error.strerror}") from error


def _mend(handle: int, path: Path) -> None:
    size = os.fstat(handle).st_size
    begin, tail = size, b""
    while begin and b"\n" not in tail:
        step = min(_CHUNK, begin)
        begin -= step
        tail = os.pread(handle, step, begin) + tail
    torn = tail.rpartition(b"\n")[2]
    if not torn:
        return
    try:
        json.loads(torn)
    except ValueError:
        os.ftruncate(handle, size - len(torn))
        _LOG.warning("The event file %s ended in a torn line of %d bytes, which was cut off.", path, len(torn))
    else:
        os.write(handle, b"\n")  # whole, only its end is missing


def _write_at_exit(exporter: weakref.ref[FileExporter]) -> None:
    found = exporter()
    if found is not None:
        found._write()  # noqa: SLF001  the class's own last act  # pyright: ignore[reportPrivateUsage]
