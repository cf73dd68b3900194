"""How does a batch stop to ask: what of it is committed, and what is the question?

Committed is everything that has landed, so nothing runs twice, and who asked, so the answer finds its call (AGT-74).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final, cast

from agentfootprint.agent.dispatching.executing import declare_coverage
from agentfootprint.agent.dispatching.settled import frozen_args
from agentfootprint.agent.pausing.requesting import with_origin
from agentfootprint.agent.scope import RunScope
from agentfootprint.events import Event, ToolStart
from agentfootprint.flow import Handle
from agentfootprint.llm import ToolCall
from agentfootprint.tools import AskComponent, InvalidAskComponentError, PersonAsked, check_component
from agentfootprint.trace import FrozenDict, FrozenList, Value

__all__ = ["component_in", "component_to_wire", "question_of", "stop_to_ask"]

_NS_PER_MS: Final = 1_000_000


def component_to_wire(component: AskComponent | Value, door: str) -> FrozenDict:
    """A component that a question nominates, as it goes on record.

    Raises:
        InvalidAskComponentError: It has not the shape, or refers to stored data, and there is no store (AGT-87).
    """
    checked = check_component(component, door)
    if checked.props_ref is not None:
        raise InvalidAskComponentError(
            "no-store",
            door,
            f"The component {checked.component_id!r} refers to stored data, and the agent has no store.",
            fix="Give what it is shown with as props.",
            ref=checked.props_ref,
        )
    return checked.to_wire()


def stop_to_ask(
    h: Handle, scope: RunScope, asked: PersonAsked, *, call: ToolCall, ordinal: int, results: Sequence[FrozenDict]
) -> FrozenDict:
    """Commit what has landed and who asked.

    Args:
        h: The open step.
        scope: The run's; its `landed` are the messages of the batch so far.
        asked: The question.
        call: The call that asks.
        ordinal: Its place in the batch.
        results: The rows of `toolResults` of the calls before it.

    Returns:
        What the person is asked: the wire's `pauseData`.

    Raises:
        InvalidAskComponentError: The question nominates a component that can't be shown.
    """
    data = question_of(asked, call)
    state = dict(asked.state)
    if "pausedInput" in state:
        request = with_origin(h, scope, state["pausedInput"], call, ordinal)
        data = FrozenDict({**dict(data.items()), "awaitingInput": request})
        state = {"pausedInput": request, "pausedToolArgs": frozen_args(call)}
    if asked.coverage is not None:
        declare_coverage(h, scope, call, h["iteration"], asked.coverage)
    scope.held = asked.teardown
    h["history"] = h["history"].extend(scope.landed)
    h["toolResults"] = FrozenList(list(results), len(results))
    if results:
        last = results[-1]
        h["lastToolResult"] = FrozenDict({key: last[key] for key in last if key != "toolCallId"})
    h["pausedToolCallId"] = call.id
    h["pausedToolName"] = call.name
    h["pausedToolStartMs"] = _started(scope, call)
    h["pausedToolIndex"] = ordinal
    if state:
        h.write(state)
    else:
        h["pausedToolArgs"] = frozen_args(call)
    component = component_in(data)
    if component is not None:
        h["pausedComponentId"] = component["componentId"]
    return FrozenDict({"pause": True, "data": data}) if data.get("pause") is True else data  # FLOW-PAU-1 unwraps it


def question_of(asked: PersonAsked, call: ToolCall) -> FrozenDict:
    """A question as it goes on record, with the call that it is about."""
    data: dict[str, Any] = {"toolCallId": call.id, "toolName": call.name}
    if not isinstance(asked.data, FrozenDict):
        data["data"] = asked.data
        return FrozenDict(data)
    data |= {key: value for key, value in asked.data.items() if key not in data}
    if not asked.state and data.get("component") is not None:
        data["component"] = component_to_wire(data["component"], "ask_human")
    return FrozenDict(data)


def component_in(data: FrozenDict) -> FrozenDict | None:
    """The component that a question nominates, if it does."""
    for part in (data, data.get("checkIn"), data.get("ask")):
        if isinstance(part, FrozenDict) and isinstance(part.get("component"), FrozenDict):
            return part["component"]
    return None


def _started(scope: RunScope, call: ToolCall) -> int:
    """When the call began; its start is the last one on record."""
    for row in reversed(scope.journal.rows):
        payload: object = cast("Event[object]", row).payload if isinstance(row, Event) else None
        if isinstance(payload, ToolStart) and payload.tool_call_id == call.id:
            return scope.facts.started_at_ms + row.dt // _NS_PER_MS
    return int(time.time() * 1000)
