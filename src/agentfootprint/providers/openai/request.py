"""What does a request look like as the body of a chat completion?

Invariants: pure; a message that was translated before in the same run is not translated again, so a request costs what
is new in it; optional fields are left out, never sent empty (ADP-6).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

from agentfootprint.errors import ConfigError
from agentfootprint.llm import LLMMessage, LLMRequest, ToolSchema, WireToolManifest
from agentfootprint.trace import JsonObject, compact_json, thaw

__all__ = ["Dialect", "EmptyContent", "Memory", "build_body", "check_strict", "manifest_of", "model_of"]

EmptyContent: TypeAlias = Literal["omit", "null", "text"]
"""How an assistant turn that has calls and no text is said (DEC-5)."""

ItemT = TypeVar("ItemT")

Memory: TypeAlias = dict[int, tuple[object, Any]]
"""What was translated in a run, by the identity of what was translated, which the entry keeps alive."""

_REASONING: Final = re.compile(r"o\d|gpt-5", re.IGNORECASE | re.ASCII)
"""Models that take instructions as `developer` and no temperature (OAI-1)."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one endpoint wants its bodies."""

    default_model: str | None = "gpt-4o-mini"
    default_max_tokens: int | None = None
    is_legacy: bool = False
    """Whether it is a compatible server, which knows `max_tokens` only (OAI-2)."""
    is_reasoning: bool = False
    """Whether every model of it is a reasoning model, whatever its name."""
    empty_content: EmptyContent = "null"
    asks_usage: bool = True
    """Whether a stream is asked for its usage."""
    output_schema: JsonObject | None = None
    """A schema that every answer must fit, enforced by the vendor (STR-6)."""
    output_name: str = "answer"
    shorthands: frozenset[str] = frozenset(("openai", "ollama"))
    """Names that mean the default model (ADP-5)."""


def model_of(request: LLMRequest, dialect: Dialect) -> str:
    """The model to ask: a shorthand means the default, any other name goes as it is (ADP-5).

    Raises:
        ConfigError: A shorthand was given and there is no default.
    """
    if request.model not in dialect.shorthands:
        return request.model
    if dialect.default_model is None:
        raise ConfigError(
            "model",
            "A compatible endpoint has no model of its own accord.",
            fix='Name one: OpenAICompatibleProvider(url, model="...").',
        )
    return dialect.default_model


def build_body(request: LLMRequest, dialect: Dialect, *, stream: bool, memory: Memory | None = None) -> dict[str, Any]:
    """The body of `POST /chat/completions`.

    Args:
        request: What is asked.
        dialect: How the endpoint wants it.
        stream: Whether a stream is asked for.
        memory: What was translated before in this run.
    """
    model = model_of(request, dialect)
    reasoning = dialect.is_reasoning or _REASONING.match(model) is not None
    role = "developer" if reasoning else "system"
    known: Memory = {} if memory is None else memory
    messages: list[dict[str, Any]] = []
    if request.system_prompt is not None:
        messages.append({"role": role, "content": request.system_prompt})
    for message in request.messages:
        if message.role == "system":
            messages.append({"role": role, "content": message.content})  # its role is the model's, so it is not kept
        else:
            entry = known.get(id(message)) or _keep(known, message, _message, dialect)
            messages.append(entry[1])
    body: dict[str, Any] = {"model": model, "messages": messages}
    if stream:
        body["stream"] = True
        if dialect.asks_usage:
            body["stream_options"] = {"include_usage": True}
    _add_settings(body, request, dialect, reasoning=reasoning)
    if request.tools is not None:
        body["tools"] = [(known.get(id(tool)) or _keep(known, tool, _tool, dialect))[1] for tool in request.tools]
        if request.tool_choice is not None:
            body["tool_choice"] = {"type": "function", "function": {"name": request.tool_choice}}
    return body


def manifest_of(body: Mapping[str, Any]) -> WireToolManifest:
    """The tools that a body offers, read back from it (PRT-10)."""
    return WireToolManifest(tuple(tool["function"]["name"] for tool in body.get("tools", ())))


def _add_settings(body: dict[str, Any], request: LLMRequest, dialect: Dialect, *, reasoning: bool) -> None:
    most = request.max_tokens if request.max_tokens is not None else dialect.default_max_tokens
    if most is not None:
        body["max_tokens" if dialect.is_legacy else "max_completion_tokens"] = most
    if request.temperature is not None and not reasoning:
        body["temperature"] = request.temperature
    if request.stop is not None:
        body["stop"] = list(request.stop)
    if dialect.output_schema is not None:
        schema = {"name": dialect.output_name, "schema": thaw(dialect.output_schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}


def _keep(
    known: Memory, item: ItemT, translate: Callable[[ItemT, Dialect], dict[str, Any]], dialect: Dialect
) -> tuple[object, Any]:
    entry = known[id(item)] = (item, translate(item, dialect))
    return entry


def _message(message: LLMMessage, dialect: Dialect) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "content": message.content, "tool_call_id": message.tool_call_id or ""}
    if not message.tool_calls:
        return {"role": message.role, "content": message.content}
    wire: dict[str, Any] = {"role": "assistant"}
    if message.content or dialect.empty_content == "text":
        wire["content"] = message.content
    elif dialect.empty_content == "null":
        wire["content"] = None
    wire["tool_calls"] = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": compact_json(call.args)}}
        for call in message.tool_calls
    ]
    return wire


def _tool(tool: ToolSchema, _dialect: Dialect) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": thaw(tool.input_schema)}
    return {"type": "function", "function": function}


def check_strict(schema: object, path: str = "$") -> None:
    """Refuse a schema that OpenAI's strict output does not take (STR-6).

    Raises:
        ConfigError: An object leaves other properties open, or does not require all of its own; names the path.
    """
    if not isinstance(schema, Mapping):
        return
    source = cast("Mapping[str, Any]", schema)
    properties: Mapping[str, Any] = source.get("properties") or {}
    if source.get("type") == "object" or properties:
        if source.get("additionalProperties") is not False:
            raise _not_strict(path, "leaves other properties open")
        optional = sorted(set(properties) - set(source.get("required") or ()))
        if optional:
            raise _not_strict(path, f"does not require {', '.join(map(repr, optional))}")
    for key in ("properties", "$defs", "definitions"):
        inside: Mapping[str, Any] = source.get(key) or {}
        for name in inside:
            check_strict(inside[name], f"{path}.{key}.{name}")
    check_strict(source.get("items"), f"{path}.items")
    branches: Sequence[Any] = source.get("anyOf") or ()
    for index, branch in enumerate(branches):
        check_strict(branch, f"{path}.anyOf[{index}]")


def _not_strict(path: str, what: str) -> ConfigError:
    return ConfigError(
        "output.schema",
        f"The schema at {path} {what}, which OpenAI's strict output does not take.",
        fix="Close the object and require all its properties, or have the answer given as a tool call or as text.",
    )
