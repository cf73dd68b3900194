"""What the recording room refuses, and how to mend it."""

from __future__ import annotations

import errno
from typing import Any

from agentfootprint.errors import AgentFootprintError

__all__ = [
    "FileProblemError",
    "IndeterminateRunFactError",
    "NotARecordingError",
    "RecordingTooLargeError",
    "UnknownDerivedValueError",
    "UnsafeRecordingIdError",
    "UnsupportedPrivacyModeError",
    "UnsupportedRecordingFormatError",
    "file_problem",
]


class UnsupportedRecordingFormatError(AgentFootprintError, ValueError):
    """A file can't be read as a recording: it is none, it is cut off, or its format is not known here.

    `where` is the file's name, when there is a file.
    """

    code = "ERR_UNSUPPORTED_RECORDING_FORMAT"

    def __init__(self, problem: str, *, fix: str, where: str | None = None) -> None:
        super().__init__(problem, fix=fix)
        self.where = where


class NotARecordingError(UnsupportedRecordingFormatError):
    """The file is no recording, or not a whole one (DEC-64)."""

    code = "ERR_NOT_RECORDING"


class UnknownDerivedValueError(UnsupportedRecordingFormatError):
    """A value is derived in a way that this version does not know; everything else of the file can be read (LIN-12)."""

    code = "ERR_UNKNOWN_DERIVED_VALUE"

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"A value of this recording is derived by {name!r}, which this version does not know.",
            fix="Read it with a newer version; questions that don't need this value can be asked here.",
        )


class RecordingTooLargeError(AgentFootprintError, ValueError):
    """The wire form of a recording, which repeats everything, would be larger than was allowed (LIN-30)."""

    code = "ERR_RECORDING_TOO_LARGE"

    def __init__(self, size_bytes: int, max_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.max_bytes = max_bytes
        super().__init__(
            f"The wire form of this recording would take about {size_bytes:,} bytes; {max_bytes:,} are allowed.",
            fix='Save the native form, save(path, form="native"): it grows with what happened and says the same.',
        )


class IndeterminateRunFactError(AgentFootprintError, ValueError):
    """A fact of an envelope can't be read off the recording and was not stated (REC-12); `field` says which."""

    code = "ERR_INDETERMINATE_RUN_FACT"

    def __init__(self, field: str, problem: str, *, fix: str) -> None:
        super().__init__(problem, fix=fix)
        self.field = field


class UnsupportedPrivacyModeError(AgentFootprintError, ValueError):
    """An envelope was to claim a privacy mode that nothing here enforces (REC-11)."""

    code = "ERR_UNSUPPORTED_PRIVACY_MODE"

    def __init__(self, mode: object) -> None:
        self.mode = mode
        super().__init__(
            f"The privacy mode {mode!r} is not supported: nothing would be taken out of the recording.",
            fix='Use "full", or redact while the run is recorded.',
        )


class UnsafeRecordingIdError(AgentFootprintError, ValueError):
    """A run id that is no safe file name on every system (REC-16)."""

    code = "ERR_UNSAFE_RECORDING_ID"

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(
            f"The run id {run_id!r} can't be a file name.",
            fix="Use lower-case letters, digits, '.', '_' and '-', beginning with a letter or digit, at most 200 of "
            "them, and no device name of Windows.",
        )


class FileProblemError(AgentFootprintError, OSError):
    """A file can't be read or written, as the system says; also an `OSError` of the system's own kind.

    `errno`, `strerror` and `filename` are the system's, with the path as it was given.
    """

    code = "ERR_FILE"

    def __init__(self, problem: str, *, fix: str, where: str, reason: OSError) -> None:
        super().__init__(problem, fix=fix)
        self.where = where
        self.errno, self.strerror, self.filename = reason.errno, reason.strerror, where

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (type(self), self.problem, self.fix, self.where, self.errno, self.strerror)


class _MissingFileError(FileProblemError, FileNotFoundError):
    """There is no such file or folder."""


class _IsAFolderError(FileProblemError, IsADirectoryError):
    """The path is a folder."""


class _NotAFolderError(FileProblemError, NotADirectoryError):
    """A file stands where a folder is needed."""


class _ForbiddenFileError(FileProblemError, PermissionError):
    """The file or its folder may not be used."""


def _revived(
    kind: type[FileProblemError], problem: str, fix: str, where: str, number: int | None, strerror: str | None
) -> FileProblemError:
    return kind(problem, fix=fix, where=where, reason=OSError(number, strerror))


_FILE_KINDS: tuple[tuple[type[OSError], type[FileProblemError]], ...] = (
    (FileNotFoundError, _MissingFileError),
    (IsADirectoryError, _IsAFolderError),
    (NotADirectoryError, _NotAFolderError),
    (PermissionError, _ForbiddenFileError),
)
_FILE_FIXES = {
    errno.EISDIR: "Name a file in it.",
    errno.ENOSPC: "Make room, or name a file on another disk.",
    errno.ENAMETOOLONG: "Name it shorter.",
    errno.EINVAL: "Name a file.",
}


def file_problem(reason: OSError | ValueError, path: str, done: str) -> FileProblemError:
    """The error for a file that the system refused, of the same kind as the system's.

    Args:
        reason: What the system said; a `ValueError` says that the path is none.
        path: The path as the user gave it.
        done: What was to be done with it: `read` or `written`.
    """
    if not isinstance(reason, OSError):
        reason = OSError(errno.EINVAL, "it is no path")
    kind = next((ours for system, ours in _FILE_KINDS if isinstance(reason, system)), FileProblemError)
    said = reason.strerror or type(reason).__name__
    fix = _FILE_FIXES.get(reason.errno or 0, "Check the path and its permissions, or name another file.")
    if kind is _MissingFileError and done == "written":
        said, fix = "its folder does not exist", "Create the folder first, or name a file in one that is there."
    elif kind is _MissingFileError:
        said, fix = "there is no such file", "Check the path, or make one: result.recording.save(...)."
    elif kind is _IsAFolderError:
        said = "it is a folder"
    return kind(f"{path!r} can't be {done}: {said[:1].lower()}{said[1:]}.", fix=fix, where=path, reason=reason)
