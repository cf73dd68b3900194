"""What does the run keep of every decision of a rule (ACT-9)?

The row stands in the state, where redaction can drop its values; the event has none (ACT-10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentfootprint.events import MiddlewareDecision
from agentfootprint.trace import FrozenDict, FrozenList

if TYPE_CHECKING:
    from agentfootprint.agent.scope import RunScope
    from agentfootprint.flow import Handle

__all__ = ["file_decision"]

_NO_ROWS: Final = FrozenList([], 0)


def file_decision(h: Handle, scope: RunScope, row: FrozenDict) -> None:
    """Put the row of a decision into the ledger, and say it in an event without its values (ACT-9, ACT-10)."""
    ledger: FrozenList = h.get("middlewareDecisions", _NO_ROWS)
    h["middlewareDecisions"] = ledger.append(row)
    facts: dict[str, Any] = {_FIELDS[key]: value for key, value in row.items() if key in _FIELDS}
    marks = scope.marks if row["at"] == "tool" else None
    scope.emit(h, MiddlewareDecision(**facts), marks)


_FIELDS: Final = {
    "middleware": "middleware",
    "moment": "moment",
    "at": "at",
    "phase": "phase",
    "toolName": "tool_name",
    "toolCallId": "tool_call_id",
    "iteration": "iteration",
    "outcome": "outcome",
    "changed": "changed",
    "why": "why",
    "componentId": "component_id",
}
"""What of a row its event says, and as which field of the payload."""
