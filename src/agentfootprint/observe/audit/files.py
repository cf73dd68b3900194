"""How does a chain lie in a file, so that it can grow, and so that any changed byte shows which record it is in?

A segment is lines of JSON: `{"header": ...}`, a line for each record, and `{"finalHash", "headerHash", "signed"?}`.
Invariants: a file grows by whole segments, and a write that failed leaves it as it was; there is one way to write a
line, so a line that says the same in other bytes was changed.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any, Final, cast

from agentfootprint.observe.audit.canonical import record_hash
from agentfootprint.observe.audit.signing import SIGNED
from agentfootprint.observe.errors import AuditFileError
from agentfootprint.recording import FileProblemError
from agentfootprint.trace import JsonObject

__all__ = ["END", "HEADER", "HEADER_HASH", "append_segment", "file_refused", "line_of"]

HEADER: Final = "header"
END: Final = "finalHash"
HEADER_HASH: Final = "headerHash"
"""In the last line of a segment, because no record's hash covers the header."""
_LAST_LINE: Final = 1024
"""Bytes that the last line of a segment fits into."""
_FIX: Final = "Save to another file."


def line_of(value: JsonObject) -> bytes:
    """A line of the file without its end: ASCII, so that no tool between here and there can change it (AUD-7)."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def append_segment(path: Path, bundle: JsonObject) -> bool:
    """Append a bundle to a file of its chain, and make sure that it is on the disk.

    Args:
        path: The file; made when it is not there.
        bundle: What comes after what the file holds.

    Returns:
        Whether anything was written: a segment without records is not, behind others.

    Raises:
        AuditFileError: The file does not end where the bundle begins.
        FileProblemError: It can't be written. In both cases the file is as it was.
    """
    try:
        with _opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size:
                _check_end(file, size, bundle, where=str(path))
                if not bundle["records"]:
                    return False
            try:
                _write(file, bundle)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(file.fileno(), size)
                raise
    except (OSError, ValueError) as error:
        if isinstance(error, AuditFileError):
            raise
        raise file_refused(error, path, "written") from error
    return True


def _opened(path: Path) -> Any:  # noqa: ANN401  a raw binary file; unbuffered, so that closing it writes nothing
    return path.open("a+b", buffering=0)


def _write(file: Any, bundle: JsonObject) -> None:  # noqa: ANN401
    header = cast("JsonObject", bundle[HEADER])
    lines = [line_of({HEADER: header}), *map(line_of, bundle["records"])]
    end = {END: bundle[END], HEADER_HASH: record_hash(header)}
    lines.append(line_of({**end, SIGNED: bundle[SIGNED]} if SIGNED in bundle else end))
    rest = memoryview(b"".join(line + b"\n" for line in lines))
    while rest:
        rest = rest[file.write(rest) :]
    os.fsync(file.fileno())


def _check_end(file: Any, size: int, bundle: JsonObject, *, where: str) -> None:  # noqa: ANN401
    """Refuse to write behind something that the bundle does not follow."""
    file.seek(max(0, size - _LAST_LINE))
    tail = bytes(file.read(_LAST_LINE))
    last = tail.removesuffix(b"\n").rpartition(b"\n")[2]
    try:
        end = json.loads(last)
    except ValueError:
        end = None
    if not (tail.endswith(b"\n") and isinstance(end, dict) and HEADER_HASH in end):
        problem = f"{where!r} does not end with a whole segment of audit records, so nothing was added to it."
        raise AuditFileError(problem, fix=_FIX, where=where)
    if cast("dict[str, Any]", end).get(END) != bundle[HEADER]["chainHead"]:
        problem = f"{where!r} holds another chain, or not the records just before these, so nothing was added to it."
        raise AuditFileError(problem, fix=_FIX, where=where)


def file_refused(reason: OSError | ValueError, path: Path, done: str) -> FileProblemError:
    """The error for a file that the system refused.

    Args:
        reason: What the system said; a `ValueError` says that the path is none.
        path: The path as given.
        done: What was to be done with it: `read` or `written`.
    """
    said = reason if isinstance(reason, OSError) else OSError("it is no path")
    words = (said.strerror or str(said) or type(said).__name__).lower()
    return FileProblemError(
        f"{str(path)!r} can't be {done}: {words}.",
        fix="Check the path and its permissions, or name another file.",
        where=str(path),
        reason=said,
    )
