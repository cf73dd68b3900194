"""How is damage in a file said, whoever meets it? As one error that names the line, also when a value is read late.

A file is read lazily, so a line that is no row shows itself where it is decoded. What the code that meets it raises
then (an index too large, a number that is a text) becomes `NotARecordingError` here, at the edge of the room.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

import msgspec

from agentfootprint.errors import AgentFootprintError
from agentfootprint.recording.errors import NotARecordingError

__all__ = ["BROKEN", "damaged", "guarded"]

P = ParamSpec("P")
R = TypeVar("R")

BROKEN: Final = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    AssertionError,
    OverflowError,
    RecursionError,
    msgspec.MsgspecError,
)
"""What code raises that was given something else than it was written for."""
_FIX: Final = "Read the file as it was written; a line was changed, moved or lost."


def damaged(line: int | None = None) -> NotARecordingError:
    """The error for damage that was met while reading.

    Args:
        line: The line, from 1; `None` when only the whole is known to be wrong.
    """
    where = "Its lines don't fit together" if line is None else f"Line {line} is not what a recording has there"
    return NotARecordingError(f"The recording is damaged. {where}.", fix=_FIX)


def guarded(read: Callable[P, R]) -> Callable[P, R]:
    """A function that reads a file, whose failures are damage; errors of the library pass."""

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return read(*args, **kwargs)
        except AgentFootprintError:
            raise
        except BROKEN as broken:
            raise damaged() from broken

    return reading
