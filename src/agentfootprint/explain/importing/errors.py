"""What can be refused when a foreign log is imported: every refusal names the file, the place in it, and the way on.

Messages name keys, positions and formats; never what somebody said in the log.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentfootprint.explain.errors import ExplainError

__all__ = [
    "AlreadyRecordingError",
    "BrokenTraceError",
    "ImportTraceError",
    "NotJsonError",
    "UnknownTraceError",
]


class ImportTraceError(ExplainError):
    """Base of everything that is refused while a log is imported.

    Args:
        problem: What is wrong.
        fix: What to do about it.
        where: The file, as the user typed it.
    """

    code = "ERR_IMPORT_TRACE"

    def __init__(self, problem: str, *, fix: str, where: str) -> None:
        self.where = where
        super().__init__(problem, fix=fix)


class NotJsonError(ImportTraceError):
    """The file holds no JSON document, or only the beginning of one."""

    code = "ERR_TRACE_NOT_JSON"

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(
            f"{where} is not one JSON document: {reason}.",
            fix="Give the log as one JSON file, whole and in UTF-8.",
            where=where,
        )


class UnknownTraceError(ImportTraceError):
    """The document is of no format that is known here.

    Args:
        where: The file, as the user typed it.
        found: What stands in it, by its keys.
        looked_for: What would have been recognised, one text a format.
    """

    code = "ERR_UNKNOWN_TRACE"

    def __init__(self, where: str, found: str, looked_for: Sequence[str]) -> None:
        self.found = found
        self.looked_for = tuple(looked_for)
        super().__init__(
            f"{where} is no failure log of a known format: it holds {found}.",
            fix=f"Looked for {'; or '.join(self.looked_for)}. Bring the log into that form.",
            where=where,
        )


class AlreadyRecordingError(ImportTraceError):
    """The file is a recording of ours, so there is nothing to import."""

    code = "ERR_ALREADY_RECORDING"

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where} already is a recording.",
            fix=f"Ask it as it is: agentfootprint why {where}, or Recording.load(...) in Python.",
            where=where,
        )


class BrokenTraceError(ImportTraceError):
    """The format was recognised, and a part of the log is missing or of another kind.

    Args:
        where: The file, as the user typed it.
        part: The part at fault, as a path (`history[3]`).
        problem: What is wrong with it, in one clause.
        fix: What to do about it.
        index: Position in the history, from 0, when one message is at fault.
    """

    code = "ERR_BROKEN_TRACE"

    def __init__(self, where: str, part: str, problem: str, *, fix: str, index: int | None = None) -> None:
        self.part = part
        self.index = index
        super().__init__(f"{where} can't be imported: {part} {problem}.", fix=fix, where=where)
