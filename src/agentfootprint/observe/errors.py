"""What the observe room refuses, and how to mend it."""

from __future__ import annotations

from pathlib import Path

from agentfootprint.errors import AgentFootprintError

__all__ = ["AuditFileError", "AuditKeyError", "EventFileError", "ExportFailedError"]


class EventFileError(AgentFootprintError, OSError):
    """A file for events can't be opened or written; `path` is the file, `dropped` the events lost so far."""

    code = "ERR_EVENT_FILE"

    def __init__(self, path: Path, problem: str, *, dropped: int = 0) -> None:
        self.path = path
        self.dropped = dropped
        lost = f" {dropped} events are lost." if dropped else ""
        super().__init__(
            f"The event file {str(path)!r} {problem}.{lost}",
            fix="Make room, or give a path in a folder that this process may write to.",
        )


class ExportFailedError(AgentFootprintError, OSError):
    """Something could not be sent away; `target` is where to, `dropped` how much is lost so far."""

    code = "ERR_EXPORT_FAILED"

    def __init__(self, target: str, problem: str, *, dropped: int = 0) -> None:
        self.target = target
        self.dropped = dropped
        lost = f"{dropped} are lost so far" if dropped else "nothing is lost so far"
        super().__init__(
            f"Not everything was sent to {target}: {problem}; {lost}.",
            fix="Look at the name, the region, the permissions and the connection of the receiver.",
        )


class AuditFileError(AgentFootprintError, ValueError):
    """A file can't hold the records of this chain, or holds no audit records at all; `where` is the file as given."""

    code = "ERR_AUDIT_FILE"

    def __init__(self, problem: str, *, fix: str, where: str) -> None:
        super().__init__(problem, fix=fix)
        self.where = where


class AuditKeyError(AgentFootprintError, ValueError):
    """A key can't sign or check an audit bundle; nothing of the key is in the message."""

    code = "ERR_AUDIT_KEY"
