"""Which short phrase tells a person that a run moves on (05 s.9, STA-4)?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from agentfootprint.events import (
    Event,
    IterationStart,
    RouteDecided,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from agentfootprint.observe.views.openings import OpenCalls, never_ran
from agentfootprint.observe.views.per_run import RUN_EDGES, PerRun
from agentfootprint.observe.views.reading import text_of, told
from agentfootprint.trace import as_object

__all__ = ["StatusPhrases"]

_ROUTES: Final = {
    "tool-calls": "Going to use tools",
    "final": "Writing the answer",
    "output-retry": "Asking for another form of the answer",
    "step-nudge": "Going through the remaining steps",
    "evidence-recheck": "Checking the answer against the evidence",
    "wrap-up": "Coming to an end",
}


class StatusPhrases(PerRun[OpenCalls[str]]):
    """Calls a function with a short phrase whenever a run moves on.

    Args:
        callback: Called with each phrase.
    """

    name = "status-phrases"
    relevant_types = (
        *RUN_EDGES,
        *(kind.type for kind in (TurnStart, IterationStart, ToolStart, ToolProgress, ToolEnd, RouteDecided, TurnEnd)),
    )

    def __init__(self, callback: Callable[[str], object]) -> None:
        super().__init__()
        self.callback = callback

    def new_state(self) -> OpenCalls[str]:
        """No tool is open."""
        return OpenCalls[str]()

    def hear(self, event: Event[Any]) -> None:
        """Tell one event."""
        phrase = self._phrase(event)
        if phrase is not None:
            self.callback(phrase)

    def _phrase(self, event: Event[Any]) -> str | None:  # noqa: PLR0911  one answer a type
        tools, kind, payload = self.state_of(event), event.type, event.payload
        if kind == TurnStart.type:
            return "Reading the question"
        if kind == IterationStart.type:
            return f"Thinking (step {told(payload, 'iter_index')})"
        if kind == RouteDecided.type:
            return _ROUTES.get(text_of(payload, "chosen"))
        if kind == TurnEnd.type:
            return "Done"
        if kind not in (ToolStart.type, ToolProgress.type, ToolEnd.type) or never_ran(event):
            return None
        if kind == ToolStart.type:
            name = text_of(payload, "tool_name")
            tools.open(event, name)
            return f"Calling {name}"
        if kind == ToolProgress.type:
            said = (as_object(told(payload, "payload")) or {}).get("message")
            return f"{text_of(payload, 'tool_name')}: {said.strip() if isinstance(said, str) else 'working'}"
        name = tools.close(event) or "The tool"
        return f"{name} {'failed' if told(payload, 'error') is True else 'is done'}"
