"""What does the run add to a tool's request for values: an id of its own, where it came from, and what was said before?

A model can set none of it. What was answered before is read back from the window, as rules have left it (NEW-4, NEW-9).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from agentfootprint.agent.scope import RunScope
from agentfootprint.flow import Handle
from agentfootprint.llm import ToolCall
from agentfootprint.trace import FrozenDict, JsonObject, fnv1a, freeze

__all__ = ["with_origin"]


def with_origin(h: Handle, scope: RunScope, request: FrozenDict, call: ToolCall, ordinal: int) -> FrozenDict:
    """The request as it goes on record.

    Args:
        h: The open step.
        scope: The run's.
        request: What the tool asks for.
        call: The call that asks.
        ordinal: Its place in the batch.
    """
    same = f"input-{fnv1a(request['id'])}-"
    asked: dict[str, Any] = dict(request.items())
    asked["requestId"] = f"{same}{scope.facts.run_id}-{h.index}-{ordinal}"
    asked["origin"] = {"originalRequest": h["userMessage"], "toolCallId": call.id}
    earlier = [found for message in [*h["history"], *scope.landed] if (found := _reply(message, same)) is not None]
    if earlier:
        repeat: dict[str, Any] = {"count": len(earlier)}
        previous = earlier[-1].get("values")
        if previous is not None:
            repeat["previousAnswer"] = previous
        asked["repeat"] = repeat
    return freeze(asked)


def _reply(message: Any, same: str) -> JsonObject | None:  # noqa: ANN401  a message of the window
    """An answer to an earlier request with the same id."""
    if message.role != "tool" or same not in message.content:
        return None
    try:
        found = msgspec.json.decode(message.content)
    except msgspec.DecodeError:
        return None
    if not isinstance(found, Mapping):
        return None
    reply = cast("JsonObject", found)
    return reply if str(reply.get("requestId", "")).startswith(same) else None
