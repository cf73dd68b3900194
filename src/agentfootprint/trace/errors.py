"""What a question to a log may refuse, each with the fix in its words."""

from __future__ import annotations

from agentfootprint.errors import AgentFootprintError

__all__ = [
    "DamagedRunLogError",
    "FilterListTooLongError",
    "InvalidIdError",
    "InvalidKeyError",
    "MalformedBundleError",
    "RunLogError",
]


class InvalidIdError(AgentFootprintError, ValueError):
    """A part of a runtime stage id or of a branch segment would make two different things share one id."""

    code = "ERR_INVALID_ID"


class InvalidKeyError(AgentFootprintError, ValueError):
    """A segment of a key holds the character that joins the segments of a path (FLOW-ID-7)."""

    code = "ERR_INVALID_KEY"


class MalformedBundleError(AgentFootprintError, ValueError):
    """An element of a log is not a commit bundle; `position` says which, `field` what is wrong in it."""

    code = "ERR_MALFORMED_BUNDLE"

    def __init__(self, position: int | None, field: str) -> None:
        self.position = position
        self.field = field
        where = "A commit bundle" if position is None else f"Bundle {position} of the log"
        super().__init__(
            f"{where} has no valid {field!r}.",
            fix="Give the commit log of one runtime as the run or the recording holds it.",
        )


class FilterListTooLongError(AgentFootprintError, ValueError):
    """A rule compares a state value with a list that is too long to be a rule (FLOW-DEC-3)."""

    code = "ERR_FILTER_LIST_TOO_LONG"

    def __init__(self, key: str, op: str, length: int, limit: int) -> None:
        self.key = key
        self.op = op
        self.length = length
        super().__init__(
            f"The condition {op!r} on {key!r} has a list of {length} values; at most {limit} are compared.",
            fix="Write the rule as a function that looks the value up in a set.",
        )


class RunLogError(AgentFootprintError, ValueError):
    """A file is no run log, or not one that is known here; `where` is its path as it was given."""

    code = "ERR_RUN_LOG"

    def __init__(self, problem: str, *, fix: str, where: str) -> None:
        self.where = where
        super().__init__(problem, fix=fix)


class DamagedRunLogError(RunLogError):
    """A line of a run log is not what a run log has there; `line` counts from 1. A torn last line is no damage."""

    code = "ERR_DAMAGED_RUN_LOG"

    def __init__(self, where: str, line: int) -> None:
        self.line = line
        super().__init__(
            f"The run log {where!r} is damaged: line {line} is not what a run log has there.",
            fix="Read the file as it was written; a line was changed, moved or lost.",
            where=where,
        )
