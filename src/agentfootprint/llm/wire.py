"""How is a message read from JSON that somebody else wrote?

Invariants: what is written is `trace.thaw(message)`; what can't be read is refused naming the field and the index,
never the content (AGT-107). Unknown keys are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec import UNSET

from agentfootprint.llm.errors import InvalidMessageError
from agentfootprint.llm.messages import (
    ArgsError,
    CallRef,
    InjectedBy,
    LLMMessage,
    NotDispatched,
    ThinkingBlock,
    ToolCall,
)
from agentfootprint.trace import JsonObject, freeze

__all__ = ["message_from_wire", "messages_from_wire"]


def messages_from_wire(raw: Sequence[object]) -> tuple[LLMMessage, ...]:
    """Read a stored or imported history.

    Raises:
        InvalidMessageError: A message can't be read; the error names its index and the field.
    """
    return tuple(message_from_wire(item, index=index) for index, item in enumerate(raw))


def message_from_wire(raw: object, *, index: int | None = None) -> LLMMessage:
    """Read one message.

    Args:
        raw: An object with the keys of 02 s.7.1, or a message, which is returned as it is.
        index: Its place in the list, for the error.

    Raises:
        InvalidMessageError: It is no message, or a field is not what it must be.
        ValueRefusedError: It holds what can't be recorded.
    """
    if isinstance(raw, LLMMessage):
        return raw
    if not isinstance(raw, Mapping):
        raise InvalidMessageError("message", "an object", index=index)
    source = cast("Mapping[str, Any]", raw)
    try:
        return LLMMessage(
            source.get("role"),  # pyright: ignore[reportArgumentType]  the constructor judges it
            source.get("content"),  # pyright: ignore[reportArgumentType]  the constructor judges it
            tool_call_id=source.get("toolCallId"),
            tool_name=source.get("toolName"),
            tool_calls=[_call(item) for item in _items(source, "toolCalls")],
            thinking_blocks=[_block(item) for item in _items(source, "thinkingBlocks")],
            ephemeral=source.get("ephemeral") is True,
            injected_by=_injected_by(_object(source, "injectedBy")),
            not_dispatched=_not_dispatched(_object(source, "notDispatched")),
        )
    except InvalidMessageError as error:
        if index is None or error.index is not None:
            raise
        raise InvalidMessageError(error.field, error.wanted, index=index) from None


def _items(source: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    found = source.get(key)
    if found is None:
        return ()
    if isinstance(found, (str, bytes)) or not isinstance(found, Sequence):
        raise InvalidMessageError(key, "a list")
    items = cast("Sequence[Any]", found)
    if not all(isinstance(item, Mapping) for item in items):
        raise InvalidMessageError(f"{key}[]", "an object")
    return items


def _object(source: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    found = source.get(key)
    if found is None:
        return None
    if not isinstance(found, Mapping):  # `true` is no mark: AGT-90
        raise InvalidMessageError(key, "an object")
    return cast("Mapping[str, Any]", found)


def _call(raw: Mapping[str, Any]) -> ToolCall:
    error = _object(raw, "argsError")
    args = raw.get("args")
    if not isinstance(args, Mapping):  # a stored history is no model's reply: it is refused, not made good
        raise InvalidMessageError("toolCalls[].args", "an object")
    return ToolCall(
        raw.get("id"),  # pyright: ignore[reportArgumentType]  the constructor judges it
        raw.get("name"),  # pyright: ignore[reportArgumentType]  the constructor judges it
        freeze(cast("JsonObject", args)),
        provider_meta=raw.get("providerMeta", UNSET),
        args_error=None
        if error is None
        else ArgsError(str(error.get("problem", "")), error.get("rawLength", 0), error.get("blockIndex")),
    )


def _block(raw: Mapping[str, Any]) -> ThinkingBlock:
    kind = raw.get("type")
    if kind not in ("thinking", "redacted_thinking"):
        raise InvalidMessageError("thinkingBlocks[].type", "thinking or redacted_thinking")
    return ThinkingBlock(
        kind,
        raw.get("content"),  # pyright: ignore[reportArgumentType]  the constructor judges it
        signature=raw.get("signature"),
        summary=raw.get("summary") is True,
        provider=raw.get("provider"),
        provider_meta=raw.get("providerMeta", UNSET),
    )


def _injected_by(raw: Mapping[str, Any] | None) -> InjectedBy | None:
    if raw is None:
        return None
    return InjectedBy(
        str(raw.get("injectionId", "")), str(raw.get("flavor", "")), raw.get("iteration", 0), raw.get("reason")
    )


def _not_dispatched(raw: Mapping[str, Any] | None) -> NotDispatched | None:
    if raw is None:
        return None
    return NotDispatched(
        paused_call=_ref(_object(raw, "pausedCall")),
        halted_call=_ref(_object(raw, "haltedCall")),
        cause=raw.get("cause"),
    )


def _ref(raw: Mapping[str, Any] | None) -> CallRef | None:
    return None if raw is None else CallRef(str(raw.get("toolCallId", "")), str(raw.get("toolName", "")))
