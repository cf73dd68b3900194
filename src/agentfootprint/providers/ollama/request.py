"""What does a request look like as the body of Ollama's `/api/chat`?

Invariants: pure; a message that was translated before in the same run is not translated again; optional fields are left
out, never sent empty (ADP-6); a tool choice and the size of a thinking budget are never sent (OLL-2).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from agentfootprint.llm import LLMMessage, LLMRequest, ToolSchema, WireToolManifest
from agentfootprint.trace import JsonObject, thaw

__all__ = ["Memory", "Settings", "Think", "base_of", "build_body", "manifest_of"]

Memory: TypeAlias = dict[int, tuple[object, dict[str, Any]]]
"""What was translated in a run, by the identity of what was translated, which the entry keeps alive."""

Think: TypeAlias = "bool | Literal['low', 'medium', 'high', 'max']"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an adapter adds to every request."""

    model: str
    default_max_tokens: int | None = None
    think: Think | None = None
    keep_alive: str | int | None = None
    output_schema: JsonObject | None = None


def base_of(address: str) -> str:
    """The address of the daemon: with a scheme, without slashes at its end and the `/v1` of its other API."""
    base = address.strip()
    if "://" not in base:
        base = f"http://{base}"
    return base.rstrip("/").removesuffix("/v1").rstrip("/")


def build_body(
    request: LLMRequest, settings: Settings, *, stream: bool, memory: Memory | None = None
) -> dict[str, Any]:
    """The body of `POST /api/chat` (OLL-1).

    Args:
        request: What is asked.
        settings: What the adapter adds.
        stream: Whether a stream is asked for.
        memory: What was translated before in this run.
    """
    known: Memory = {} if memory is None else memory
    messages: list[dict[str, Any]] = []
    if request.system_prompt is not None:
        messages.append({"role": "system", "content": request.system_prompt})
    names: dict[str, str] | None = None
    for message in request.messages:
        if message.role == "tool" and message.tool_name is None:  # its name stands in the history, not on it
            names = _names(request) if names is None else names
            messages.append(_tool_message(message, names.get(message.tool_call_id or "")))
            continue
        entry = known.get(id(message))
        if entry is None:
            entry = known[id(message)] = (message, _message(message))
        messages.append(entry[1])
    model = settings.model if request.model == "ollama" else request.model
    body: dict[str, Any] = {"model": model, "messages": messages, "stream": stream}
    if request.tools is not None:
        body["tools"] = [_tool(tool, known) for tool in request.tools]
    think = settings.think
    if think is None and request.thinking is not None:
        think = request.thinking > 0
    rest = {
        "think": think,
        "keep_alive": settings.keep_alive,
        "format": thaw(settings.output_schema),
        "options": _options(request, settings) or None,
    }
    return body | {key: value for key, value in rest.items() if value is not None}


def manifest_of(body: Mapping[str, Any]) -> WireToolManifest:
    """The tools that a body offers, read back from it (PRT-10)."""
    return WireToolManifest(tuple(tool["function"]["name"] for tool in body.get("tools", ())))


def _options(request: LLMRequest, settings: Settings) -> dict[str, Any]:
    most = settings.default_max_tokens if request.max_tokens is None else request.max_tokens
    given = {
        "num_predict": most,
        "temperature": request.temperature,
        "stop": None if request.stop is None else list(request.stop),
    }
    return {key: value for key, value in given.items() if value is not None}


def _names(request: LLMRequest) -> dict[str, str]:
    """Tools by the id of the latest call that has it."""
    return {call.id: call.name for message in request.messages for call in message.tool_calls}


def _message(message: LLMMessage) -> dict[str, Any]:
    if message.role == "tool":
        return _tool_message(message, message.tool_name)
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        wire["tool_calls"] = [
            {**({"id": call.id} if call.id else {}), "function": {"name": call.name, "arguments": thaw(call.args)}}
            for call in message.tool_calls
        ]
    return wire


def _tool_message(message: LLMMessage, name: str | None) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": "tool", "content": message.content}
    if name is not None:
        wire["tool_name"] = name
    if message.tool_call_id:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def _tool(tool: ToolSchema, known: Memory) -> dict[str, Any]:
    entry = known.get(id(tool))
    if entry is None:
        function = {"name": tool.name, "description": tool.description, "parameters": thaw(tool.input_schema)}
        entry = known[id(tool)] = (tool, {"type": "function", "function": function})
    return entry[1]
