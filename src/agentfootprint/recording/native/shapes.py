"""What is said once about rows that look alike: which stage, which keys, which reads (01b s.3, rows `d`).

A run repeats itself: the same stage reads the same keys and writes the same keys each time it runs. Such a pattern is
a definition, numbered in order of first use; a row then holds the number and the values. Definitions are compared by
content, so equal patterns have one number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec

from agentfootprint.events import RunFacts
from agentfootprint.recording.errors import UnsupportedRecordingFormatError

__all__ = [
    "APPEND",
    "DELETE",
    "FIELDS",
    "FORMAT",
    "SET",
    "Definition",
    "EventShape",
    "StepShape",
    "TraceShape",
    "constant_of",
    "definition_of",
]

FORMAT: Final = "agentfootprint.runlog/1"
"""Names the layout of the rows; a reader that does not know it refuses."""

SET: Final = "set"
"""The value is written whole, or by reference."""
APPEND: Final = "append"
"""The value is what was added to the list that the key held in this runtime."""
DELETE: Final = "delete"
"""The key is gone; its value in the row is null and means nothing."""
FIELDS: Final = "fields"
"""Like `set`, of an object that crossed a mount: its trace is per field (FLOW-EXE-24)."""


class TraceShape(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One entry of a trace that the values before and after don't imply."""

    path: str
    verb: str
    reads: tuple[str, ...] | None = None
    absent: bool = False
    """Nothing is recorded for it, so the row holds no value of it."""


class StepShape(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What rows `x`, `c` and `s` of one stage have in common."""

    stage: int
    """Number of the stage, a position in the header's list."""
    ops: tuple[tuple[str, str], ...] = ()
    """Key and verb of each value, in order of last touch."""
    reads: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    """What was consumed unseen: `args`, `env`, `silent`."""
    open: bool = False
    """The execution begins here and commits in a row of its own, or never."""
    link: bool = False
    """How control came is written, since it is not the usual way."""
    of: int = -1
    """Number of the mount whose output this commit is; the mount's latest execution unless the row names one."""
    then: tuple[int, ...] = ()
    """Stages whose latest executions commit an empty bundle right after."""
    trace: tuple[TraceShape, ...] | None = None
    """The trace, when the values don't imply it; its payloads follow the values."""
    detail: bool = False
    """The values last read and every tracked write follow."""
    noticed: bool = False
    """A map written as a function looked at `reads` where it takes from, an output map at `outer` in the parent too."""
    outer: tuple[str, ...] = ()

    def place_of(self, key: str) -> int:
        """The position of a key's value among the values of a row."""
        for n, (name, _) in enumerate(self.ops):
            if name == key:
                return n
        raise KeyError(key)


class EventShape(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What rows `e` of one type have in common."""

    event: str
    keys: tuple[str, ...] = ()
    """Payload keys whose values stand in the row."""
    implied: tuple[str, ...] = ()
    """Payload keys that follow from the state (LIN-14)."""
    marks: tuple[str, ...] = ()
    """Meta keys whose values follow the payload's."""
    whole: bool = False
    """The payload is no object and stands as the one value."""
    joined: bool = False
    """The row holds the texts of several tokens and when each came (LIN-16)."""
    app: bool = False
    """The payload is the application's own object, although a class has that type."""
    facts: int = -1
    """Number of the facts of the run it belongs to, where they are not the header's."""


Definition: TypeAlias = "StepShape | EventShape | RunFacts"


def constant_of(definition: Definition) -> dict[str, Any]:
    """The definition as the JSON object that a `d` row holds."""
    return msgspec.to_builtins(definition)


def definition_of(constant: Mapping[str, Any]) -> Definition:
    """Read the constant of a `d` row.

    Raises:
        UnsupportedRecordingFormatError: It defines nothing that is known here.
    """
    for key, kind in (("stage", StepShape), ("event", EventShape), ("runId", RunFacts)):
        if key in constant:
            return msgspec.convert(constant, kind)
    raise UnsupportedRecordingFormatError(
        "A definition of this recording is of no known kind.",
        fix="Read the recording with the version that wrote it.",
    )
