"""How does a state that was stored as JSON become the run's own values again?

What stages read by attribute is read back into its class; the rest stays the JSON it is. What can't be is refused at
the door, by key and place, never by content (AGT-76).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import msgspec

from agentfootprint.agent.errors import CheckpointFormatError
from agentfootprint.context import rows_text
from agentfootprint.events import ContextInjected
from agentfootprint.llm import CacheMarker, InvalidMessageError, ToolSchema, message_from_wire
from agentfootprint.trace import FrozenDict, FrozenList, Record, Value, ValueRefusedError, freeze, thaw

__all__ = ["COMPOSED", "rebuilt", "system_text"]

_FIX: Final = "Give the checkpoint as `result.paused.checkpoint` was, or as its `to_json()` was stored."

Read: TypeAlias = Callable[[Any], Any]


def _record(kind: type[Record]) -> Read:
    def read(found: Value) -> Record:
        record = msgspec.convert(thaw(found), kind)
        for name in record.__struct_fields__:
            value = getattr(record, name)
            if isinstance(value, (dict, list)):
                msgspec.structs.force_setattr(record, name, freeze(value))
        return record

    return read


def _call(found: Value) -> Value:
    return message_from_wire({"role": "assistant", "content": "", "toolCalls": [found]}).tool_calls[0]


def _block(found: Value) -> Value:
    return message_from_wire({"role": "assistant", "content": "", "thinkingBlocks": [found]}).thinking_blocks[0]


_READERS: Final[Mapping[str, Read]] = {
    "history": message_from_wire,
    "newMessages": message_from_wire,
    "llmLatestToolCalls": _call,
    "thinkingBlocks": _block,
    "cacheMarkers": _record(CacheMarker),
    "systemPromptInjections": _record(ContextInjected),
    "toolsInjections": _record(ContextInjected),
    "dynamicToolSchemas": _record(ToolSchema),
}
"""What the items of these lists are."""
_NEEDED: Final[Mapping[str, tuple[type, str]]] = {
    "userMessage": (str, "a text"),
    "history": (FrozenList, "a list of messages"),
    "iteration": (int, "a whole number"),
    "maxIterations": (int, "a whole number"),
    "pausedToolCallId": (str, "a text"),
    "pausedToolName": (str, "a text"),
    "totalInputTokens": (int, "a whole number"),
    "totalOutputTokens": (int, "a whole number"),
}
"""What the resume half and the loop after it read first."""


COMPOSED: Final = ("systemPromptInjections", "messagesInjections", "toolsInjections", "dynamicToolSchemas")
"""What every pass composes anew before it is read. A resumed run starts without it, so that its own record says which
step put each piece there (06:CUS-2)."""


def system_text(state: FrozenDict) -> str | None:
    """The system prompt of the paused run's last pass.

    Raises:
        CheckpointFormatError: It holds something else than rows.
    """
    rows = state.get("systemPromptInjections")
    if not isinstance(rows, FrozenList):
        return None
    read = _record(ContextInjected)
    return rows_text(cast("Sequence[ContextInjected]", _items("systemPromptInjections", rows, read)))


def rebuilt(state: FrozenDict, *, composes: bool) -> FrozenDict:
    """The state of a checkpoint with the classes of this process.

    Args:
        state: As it was stored, or as the run in this process left it.
        composes: Whether every pass composes all slots anew; else what was composed is read again.

    Raises:
        CheckpointFormatError: A member is missing or has another shape; `field` is its key, `index` the item's place.
    """
    for key, (kind, wanted) in _NEEDED.items():
        if type(state.get(key)) is not kind:
            raise _malformed(key, wanted)
    left_out = COMPOSED if composes else ()
    found: dict[str, Any] = {key: value for key, value in state.items() if key not in left_out}
    for key, read in _READERS.items():
        value = found.get(key)
        if isinstance(value, FrozenList):
            found[key] = _items(key, value, read)
    return FrozenDict(found)


def _items(key: str, values: FrozenList, read: Read) -> FrozenList:
    if not any(isinstance(item, FrozenDict) for item in values):
        return values  # it never left this process
    items: list[Any] = []
    for index, item in enumerate(values):
        try:
            items.append(read(item) if isinstance(item, FrozenDict) else item)
        except (InvalidMessageError, ValueRefusedError, msgspec.ValidationError, KeyError, TypeError) as misfit:
            raise _malformed(f"{key}[{index}]", "what it should be", index) from misfit
    return FrozenList(items, len(items))


def _malformed(key: str, wanted: str, index: int | None = None) -> CheckpointFormatError:
    field = f"sharedState.{key}"
    return CheckpointFormatError(field, f"The checkpoint's {field!r} is not {wanted}.", fix=_FIX, index=index)
