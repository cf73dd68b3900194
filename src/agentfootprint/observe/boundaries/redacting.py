"""How are a run's boundaries shown to somebody who may not read what was said in it (REC-32)?"""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec
from msgspec import UNSET

from agentfootprint.observe.boundaries.happenings import (
    ContextEntered,
    DecisionTaken,
    DomainEvent,
    LLMEnded,
    RunEntered,
    RunLeft,
    SubflowEntry,
    SubflowExit,
    ToolEnded,
    ToolStarted,
)
from agentfootprint.trace import utf16_length

__all__ = ["redact_content"]

E = TypeVar("E", bound=DomainEvent)

_HIDDEN: Final = "[redacted]"
_FIELDS: Final[dict[type[DomainEvent], str]] = {
    ToolStarted: "args",
    ToolEnded: "result",
    ContextEntered: "content_summary",
    RunEntered: "payload",
    RunLeft: "payload",
    SubflowEntry: "payload",
    SubflowExit: "payload",
    DecisionTaken: "rationale",
}


def redact_content(event: E) -> E:
    """The same record without what was said, given, answered or reasoned in it; the very same where there is nothing.

    Reasons why a piece is in the context stay, and so does how long an answer was.
    """
    if isinstance(event, LLMEnded):
        return _with(event, content=f"[{utf16_length(event.content)} chars]")
    name = _FIELDS.get(type(event))
    if name is None:
        return event
    value = getattr(event, name)
    is_absent = value is UNSET or (value is None and name in ("content_summary", "rationale"))
    return event if is_absent else _with(event, **{name: _HIDDEN})


def _with(event: E, **changes: object) -> E:
    return msgspec.structs.replace(event, **changes)
