"""What text makes one server-sent event?

JSON is written as JavaScript prints it, so both implementations' streams are the same (SSE-1).
"""

from __future__ import annotations

import re
from typing import Final

from agentfootprint.errors import ConfigError
from agentfootprint.trace import Value, compact_json

__all__ = ["comment", "encode_sse"]

_LINE_ENDS: Final = re.compile("[\r\n\0]")


def encode_sse(name: str, payload: Value, *, id: str | None = None) -> str:
    r"""One event as text: its name, its payload as compact JSON, an empty line (SSE-1).

    Args:
        name: The event's name.
        payload: JSON, or a frozen value.
        id: What a client sends as `Last-Event-ID` when it comes back.

    Raises:
        ConfigError: The name or the id has a line end in it, which would begin another field.

    Example:
        >>> encode_sse("stream.token", {"content": "é"})
        'event: stream.token\ndata: {"content":"é"}\n\n'
    """
    if _LINE_ENDS.search(name) or (id is not None and _LINE_ENDS.search(id)):
        raise ConfigError("name", "The name or id of a server-sent event has a line end in it.", fix="Take it out.")
    place = "" if id is None else f"id: {id}\n"
    return f"event: {name}\n{place}data: {compact_json(payload)}\n\n"


def comment(text: str) -> str:
    """A line that clients pass over: it keeps a connection alive, or says something to a person."""
    return f": {_LINE_ENDS.sub(' ', text)}\n\n"
