"""How does a client show a conversation that it did not see happen?

What people and the model said, and the tools' results; not what the library put there: injected pieces, corrections,
the wrap-up (AGU-60). Ids are of the kind `history`, the same each time the same conversation is read.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from agentfootprint.agent import WRAP_UP_INSTRUCTION, is_schema_check_message
from agentfootprint.agui.errors import AgUiThreadError
from agentfootprint.agui.ids import AgUiIds, agui_id
from agentfootprint.agui.mapping.protocol import core
from agentfootprint.trace import JsonObject, freeze, thaw

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentfootprint.agent import Checkpoint
    from agentfootprint.agui.mapping.calls import OpenCall
    from agentfootprint.llm import LLMMessage

__all__ = ["message_models", "message_wires", "shown_history", "unsettled"]

_UNSETTLED: Final = "The run ended before this call did; whether it took effect is not known."


def shown_history(conversation: Checkpoint) -> tuple[JsonObject, ...]:
    """The messages of a conversation as a client shows them, on the wire's form."""
    ids = AgUiIds(conversation.run_id or "history")
    shown: list[JsonObject] = []
    waiting: list[tuple[str, str]] = []
    """Calls without a result: the model's id, and the id that the client knows."""
    for message in conversation.history:
        if message.injected_by is not None:
            continue
        if message.role == "user" and _is_said(message):
            shown.append(freeze({"id": _next(ids), "role": "user", "content": message.content}))
        elif message.role == "assistant":
            calls = [_call(ids, each.name, thaw(each.args)) for each in message.tool_calls]
            waiting = [(each.id, call["id"]) for each, call in zip(message.tool_calls, calls, strict=True)]
            said: dict[str, Any] = {"id": _next(ids), "role": "assistant", "content": message.content}
            shown.append(freeze(said | ({"toolCalls": calls} if calls else {})))
        elif message.role == "tool":
            known = next((each for each in waiting if each[0] == message.tool_call_id), None)
            if known is not None:
                waiting.remove(known)
                row = {"id": _next(ids), "role": "tool", "content": message.content, "toolCallId": known[1]}
                shown.append(freeze(row))
    return tuple(shown)


def unsettled(open_calls: Iterable[OpenCall], run_id: str) -> list[core.Message]:
    """Results of calls that a run left without one, so that no client shows them as still going on.

    Args:
        open_calls: The calls that were shown and have no result.
        run_id: The run that was stopped or failed.
    """
    return [
        core.ToolMessage(
            id=agui_id(run_id, "tool-result", place, "unsettled"),
            role="tool",
            tool_call_id=call.id,
            content=_UNSETTLED,
        )
        for place, call in enumerate(open_calls)
    ]


def message_models(shown: Iterable[JsonObject]) -> list[core.Message]:
    """Stored messages as the protocol's models.

    Raises:
        AgUiThreadError: One of them is none.
    """
    from pydantic import TypeAdapter, ValidationError  # beside the protocol's models, which are made of it

    try:
        return TypeAdapter(list[core.Message]).validate_python([thaw(each) for each in shown])
    except ValidationError:
        raise AgUiThreadError("messages", "holds what is no message") from None  # the cause quotes it


def message_wires(messages: Sequence[core.Message]) -> tuple[JsonObject, ...]:
    """The protocol's models as they are stored."""
    return tuple(freeze(each.model_dump(mode="json", by_alias=True)) for each in messages)


def _is_said(message: LLMMessage) -> bool:
    return message.content != WRAP_UP_INSTRUCTION and not is_schema_check_message(message)


def _next(ids: AgUiIds) -> str:
    return ids.next("history", "").id


def _call(ids: AgUiIds, name: str, args: object) -> dict[str, Any]:
    text = json.dumps(args, ensure_ascii=False, separators=(",", ":"))
    return {
        "id": ids.next("tool-call", "history").id,
        "type": "function",
        "function": {"name": name, "arguments": text},
    }
