"""Messages, arguments and results in the form of the GenAI conventions: only for who asked for content (NEW-96).

Invariants: a message list is what the model was given, whole, or it is not there at all; a text over 65,536 characters
is left out and its length told. What a policy redacted is redacted before it comes here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from agentfootprint.observe.otel import names
from agentfootprint.observe.otel.reading import Attributes, field, rows
from agentfootprint.trace import compact_json, thaw

__all__ = ["answer_of", "arguments_of", "call_part", "definitions_of", "messages_of", "put_content"]

Part = dict[str, Any]

_MOST: Final = 65_536


def put_content(into: Attributes, key: str, value: object) -> None:
    """Add a content attribute as JSON, or the length of what is too long."""
    written = compact_json(value)
    if len(written) <= _MOST:
        into[key] = written
    else:
        omitted = into.get(names.OMITTED_CHARS, 0)
        into[names.OMITTED_CHARS] = len(written) + (omitted if isinstance(omitted, int) else 0)


def messages_of(history: Sequence[object]) -> list[Part]:
    """A history as input messages."""
    return [_message(thaw(each)) for each in history]


def answer_of(text: str | None, calls: Sequence[Part], stop_reason: str | None) -> list[Part]:
    """A reply as output messages; `None` for a text that is withheld."""
    return [{"role": "assistant", "parts": _parts(text, calls), "finish_reason": stop_reason or "unknown"}]


def call_part(call_id: object, name: object, args: object) -> Part:
    """A call that a reply proposes."""
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": thaw(args)}


def definitions_of(tools: Iterable[object]) -> list[Part]:
    """The offered tools, as far as an event tells of them."""
    return [
        {
            "type": "function",
            "name": field(each, "name"),
            **({"description": about} if isinstance(about := field(each, "description"), str) else {}),
        }
        for each in tools
    ]


def arguments_of(args: object, withheld: Iterable[object]) -> dict[str, Any]:
    """The arguments of a call without those that a rule rewrote."""
    if not isinstance(args, Mapping):
        return {}
    hidden = set(withheld)
    return {key: thaw(value) for key, value in cast("Mapping[str, Any]", args).items() if key not in hidden}


def _message(message: object) -> Part:
    role, content = field(message, "role"), field(message, "content")
    if role == "tool":
        part = {"type": "tool_call_response", "id": field(message, "toolCallId"), "response": content}
        return {"role": "tool", "parts": [part]}
    calls = [
        call_part(field(each, "id"), field(each, "name"), field(each, "args"))
        for each in rows(message, "toolCalls") or ()
    ]
    return {"role": role if isinstance(role, str) else "user", "parts": _parts(content, calls)}


def _parts(content: object, calls: Sequence[Part]) -> list[Part]:
    said = [{"type": "text", "content": content}] if isinstance(content, str) and content else []
    return [*said, *calls]
