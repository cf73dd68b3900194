"""What goes to a model and what comes back?

Invariants: a request and a response are never changed; `messages` may be any sequence, also a view that computes its
items (01b LIN-6); a list that would be sent empty is absent (ADP-6); only the terminal chunk of a stream holds a
response, and that response is authoritative (PRT-2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec.structs import force_setattr

from agentfootprint.llm.messages import LLMMessage, ToolCall, ToolSchema, whole_text
from agentfootprint.llm.usage import Usage
from agentfootprint.trace import Record, thaw

__all__ = ["CacheMarker", "LLMChunk", "LLMRequest", "LLMResponse", "WireToolManifest"]


class CacheMarker(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Up to where a part of the request may be cached by the vendor: everything from 0 to the boundary."""

    field: Literal["system", "tools", "messages"]
    boundary_index: int
    ttl: Literal["short", "long"]
    reason: str | None = None


class WireToolManifest(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Which tools the body that was really sent offered, in order (PRT-10); empty is a statement, absent is none."""

    tool_names: tuple[str, ...]


class LLMRequest(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One question to a model.

    Args:
        model: The vendor's id of the model, or a shorthand that the adapter knows.
        messages: The conversation, oldest first; any sequence.
        system_prompt: Instructions beside the conversation; empty counts as absent.
        tools: What the model may call; empty counts as absent.
        temperature: As the vendor understands it; 0 is a value.
        max_tokens: Most tokens of the reply.
        stop: Texts at which the model stops; empty counts as absent.
        cache_markers: What the vendor may cache; empty counts as absent.
        thinking: Tokens the model may spend on thinking; 0 is a value.
        tool_choice: The one tool the model must call.
    """

    model: str
    messages: Sequence[LLMMessage]
    system_prompt: str | None = None
    tools: Sequence[ToolSchema] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    stop: Sequence[str] | None = None
    cache_markers: Sequence[CacheMarker] | None = None
    thinking: int | None = None
    tool_choice: str | None = None

    def __post_init__(self) -> None:
        if self.system_prompt is not None and not self.system_prompt:
            force_setattr(self, "system_prompt", None)
        if self.tools is not None and not self.tools:
            force_setattr(self, "tools", None)
        if self.stop is not None and not self.stop:
            force_setattr(self, "stop", None)
        if self.cache_markers is not None and not self.cache_markers:
            force_setattr(self, "cache_markers", None)

    def to_wire(self) -> dict[str, Any]:
        """The request as plain JSON; costs O(messages)."""
        wire: dict[str, Any] = {"model": self.model, "messages": [thaw(message) for message in self.messages]}
        plain = {
            "systemPrompt": self.system_prompt,
            "tools": thaw(self.tools),
            "temperature": self.temperature,
            "maxTokens": self.max_tokens,
            "stop": thaw(self.stop),
            "cacheMarkers": thaw(self.cache_markers),
        }
        wire |= {key: value for key, value in plain.items() if value is not None}
        if self.thinking is not None:
            wire["thinking"] = {"budget": self.thinking}
        if self.tool_choice is not None:
            wire["toolChoice"] = {"type": "tool", "name": self.tool_choice}
        return wire


class _Response(msgspec.Struct, frozen=True, gc=False):
    content: str = ""


class LLMResponse(_Response, frozen=True, gc=False, kw_only=True):
    """One answer of a model.

    Args:
        content: The text; half of a surrogate pair in it becomes U+FFFD.
        tool_calls: The calls the model proposes, in its order; kept as a tuple.
        usage: The vendor's numbers; `None` when it gave none, which is unknown and not free.
        stop_reason: `stop`, `tool_use`, `max_tokens`, `content_filter`, `stop_sequence`, or the vendor's word (PRT-7).
        provider_ref: The vendor's id of the reply.
        raw_thinking: The thinking as the vendor sent it, for the thinking handler.
        wire_manifest: The tools of the body that was sent.
    """

    tool_calls: Sequence[ToolCall] = ()
    usage: Usage | None = None
    stop_reason: str = "stop"
    provider_ref: str | None = None
    raw_thinking: Any = None
    wire_manifest: WireToolManifest | None = None

    def __post_init__(self) -> None:
        if type(self.content) is str and not self.content.isascii():
            force_setattr(self, "content", whole_text(self.content))
        if type(self.tool_calls) is not tuple:
            force_setattr(self, "tool_calls", tuple(self.tool_calls))

    def to_wire(self) -> dict[str, Any]:
        """The answer as plain JSON."""
        wire: dict[str, Any] = {
            "content": self.content,
            "toolCalls": [thaw(call) for call in self.tool_calls],
            "usage": (self.usage or Usage(known=False)).to_wire(),
            "stopReason": self.stop_reason,
        }
        rest = {
            "providerRef": self.provider_ref,
            "rawThinking": thaw(self.raw_thinking),
            "wireManifest": thaw(self.wire_manifest),
        }
        return wire | {key: value for key, value in rest.items() if value is not None}


class LLMChunk(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One piece of a streamed answer.

    Args:
        token_index: Its place in the stream, from 0.
        content: The text; empty in the terminal chunk and in a thinking chunk.
        done: Whether it is the terminal chunk.
        response: The whole answer, in the terminal chunk only.
        thinking_delta: A piece of thinking, never mixed into the text (ADP-16).
    """

    token_index: int
    content: str
    done: bool = False
    response: LLMResponse | None = None
    thinking_delta: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """The chunk as plain JSON."""
        wire: dict[str, Any] = {"tokenIndex": self.token_index, "content": self.content, "done": self.done}
        if self.response is not None:
            wire["response"] = self.response.to_wire()
        if self.thinking_delta is not None:
            wire["thinkingDelta"] = self.thinking_delta
        return wire
