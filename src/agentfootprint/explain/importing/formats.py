"""Which formats are known, and which of them a document is of: judged by content, never by the file's name.

One row a format; a document is of the first that knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from agentfootprint.explain.importing import who_and_when
from agentfootprint.explain.importing.conversation import Conversation
from agentfootprint.explain.importing.errors import AlreadyRecordingError, UnknownTraceError

__all__ = ["FORMATS", "Format", "recognise"]

_SHOWN: Final = 5
_WIDTH: Final = 40
_OURS: Final = "agentfootprint."
_RECORDINGS: Final = ("agentfootprint.recording", "agentfootprint.runlog")


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of foreign log."""

    name: str
    """In words."""
    looked_for: str
    """What a document must show, in words."""
    how_known: Callable[[Mapping[str, Any]], str | None]
    """By what a document shows that it is one; `None` when it does not."""
    read: Callable[[Mapping[str, Any], str], Conversation]
    """Reads a document, given the file's name for refusals."""


FORMATS: Final = (Format(who_and_when.NAME, who_and_when.LOOKED_FOR, who_and_when.how_known, who_and_when.read),)


def recognise(document: object, where: str) -> tuple[Format, str]:
    """The format of a document, and by what it was known.

    Args:
        document: The decoded file.
        where: The file's name, for refusals.

    Raises:
        AlreadyRecordingError: It is a recording of ours.
        UnknownTraceError: It is of no known format; says what stands there and what was looked for.
    """
    if isinstance(document, dict):
        found = cast("dict[str, Any]", document)
        if is_recording(found):
            raise AlreadyRecordingError(where)
        for kind in FORMATS:
            known = kind.how_known(found)
            if known is not None:
                return kind, known
    raise UnknownTraceError(where, _described(cast("object", document)), [kind.looked_for for kind in FORMATS])


def is_recording(found: Mapping[str, Any]) -> bool:
    """Whether a document is a recording, or the first line of one."""
    name = found.get("format")
    if isinstance(name, str) and name.startswith(_RECORDINGS):
        return True
    return isinstance(found.get("snapshot"), dict) and isinstance(found.get("events"), list)


def _described(document: object) -> str:
    if isinstance(document, list):
        return f"a list of {len(cast('list[object]', document))}"
    if not isinstance(document, dict):
        return f"one value of type {type(document).__name__}"
    found = cast("dict[str, object]", document)
    name = found.get("format")
    if isinstance(name, str) and name.startswith(_OURS):
        return f"a document of the format {name[:_WIDTH]!r}"
    if not found:
        return "an object without keys"
    shown = ", ".join(repr(key if len(key) <= _WIDTH else key[:_WIDTH] + "...") for key in list(found)[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"an object with the keys {shown}{more}"
