"""Which events does a client get as they are, and under which names?

Invariants (AGU-46, AGU-54): what holds content, and reasoning that was not asked for, is left out; a call is named by
its AG-UI id, and the provider's never stands in for it (AGU-6).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from agentfootprint.agui.mapping.calls import Calls
from agentfootprint.agui.mapping.moments import Moment, label
from agentfootprint.agui.mapping.protocol import core
from agentfootprint.agui.options import AgUiOptions
from agentfootprint.events import EVENT_TYPES, Event, ThinkingDelta, ThinkingEnd, ToolProgress, event_to_wire
from agentfootprint.trace import thaw

__all__ = ["Customs", "raw_of"]

_THINKING: Final = frozenset((ThinkingDelta.type, ThinkingEnd.type))

_KNOWN: Final = frozenset(EVENT_TYPES)
_MOST: Final = 1024
"""Event types whose fate is remembered; an application may invent names without end."""


class Customs:
    """The CUSTOM events of one run.

    Args:
        options: Say which types are forwarded.
        calls: Knows the ids of tool calls.
    """

    def __init__(self, options: AgUiOptions, calls: Calls) -> None:
        self._options, self._calls = options, calls
        self._wanted: dict[str, bool] = {}

    def wants(self, event_type: str) -> bool:
        """Whether events of a type are forwarded."""
        wanted = self._wanted.get(event_type)
        if wanted is None:
            if len(self._wanted) >= _MOST:
                self._wanted.clear()
            wanted = self._wanted[event_type] = self._options.forwards(event_type)
        return wanted

    def forward(self, moment: Moment) -> core.Event:
        """An event as CUSTOM; its call is still open, or just was."""
        kind = moment.event.type
        value: Any = thaw(moment.payload)
        if isinstance(value, dict) and kind in _KNOWN:
            value = self._translated(moment, cast("dict[str, Any]", value))
            if kind == ToolProgress.type:
                value.pop("iteration", None)
        if self._options.reasoning == "off":
            value = _without_thinking(value)
        return core.CustomEvent(name=kind, value=value, **moment.stamp)

    def _translated(self, moment: Moment, value: dict[str, Any]) -> dict[str, Any]:
        if "toolCallId" not in value:
            return value
        provider_id = label(moment.payload, "tool_call_id")
        call = None if provider_id is None else self._calls.find(moment, provider_id)
        if call is None:
            return {key: each for key, each in value.items() if key != "toolCallId"}
        return {**value, "toolCallId": call.id}


def raw_of(event: Event[Any], *, reasoning: bool) -> Any:  # noqa: ANN401  any JSON value
    """A whole event for `rawEvent`; `None` or a part of it where it holds thinking that is not shown (AGU-51)."""
    if reasoning:
        return event_to_wire(event)
    return None if event.type in _THINKING else _without_thinking(event_to_wire(event))


def _without_thinking(value: Any) -> Any:  # noqa: ANN401  any JSON value
    """A JSON value without what the model thought, wherever it stands."""
    if isinstance(value, dict):
        found = cast("Mapping[str, Any]", value)
        return {key: _without_thinking(each) for key, each in found.items() if key != "thinkingBlocks"}
    if isinstance(value, list):
        return [_without_thinking(each) for each in cast("list[Any]", value)]
    return value
