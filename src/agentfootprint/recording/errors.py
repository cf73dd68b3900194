"""What the recording room refuses, and how to mend it."""

from __future__ import annotations

from agentfootprint.errors import AgentFootprintError

__all__ = [
    "IndeterminateRunFactError",
    "NotARecordingError",
    "RecordingTooLargeError",
    "UnknownDerivedValueError",
    "UnsafeRecordingIdError",
    "UnsupportedPrivacyModeError",
    "UnsupportedRecordingFormatError",
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
