"""What must a reader of an answer know about it? One note a reason why it may say less than it seems to."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agentfootprint.trace.values import Record

__all__ = ["Note", "NoteCode"]

NoteCode: TypeAlias = Literal[
    "unknown-key",
    "reads-not-recorded",
    "pre-run-origin",
    "conservative-fed-edges",
    "truncated",
    "boundary-inferred",
    "boundary-not-recorded",
    "boundary-not-followed",
]


class Note(Record, frozen=True, gc=False, rename="camel"):
    """What a reader of the answer must know about it (FLOW-FWD-4)."""

    code: NoteCode
    detail: str
