"""Who was asked for approval, and what did they say (05 s.5.6)?

It counts over all runs until it is reset. A decision that was remembered from before answers no question.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from agentfootprint.events import CheckInDecision, CheckInRequest, Event
from agentfootprint.observe.views.reading import View, address_of, run_of, text_of, told
from agentfootprint.trace import Record, Value

__all__ = ["AskedApproval", "CheckInLog", "CheckInStats", "GivenDecision"]

_MOST: Final = 10_000


class AskedApproval(Record, frozen=True, kw_only=True, gc=False):
    """One request for approval."""

    run_id: str
    runtime_stage_id: str
    tool_name: str
    tool_call_id: str
    iteration: int
    request: Value = None
    """What the approver was shown."""
    at_ms: int = 0


class GivenDecision(Record, frozen=True, kw_only=True, gc=False):
    """One decision."""

    run_id: str
    runtime_stage_id: str
    tool_name: str
    tool_call_id: str
    iteration: int
    approved: bool
    by: str
    note: str | None = None
    remembered: bool = False
    """An earlier approval was used; nobody was asked."""
    at_ms: int = 0


class CheckInStats(Record, frozen=True, kw_only=True, gc=False):
    """How many."""

    requested: int
    approved: int
    declined: int
    pending: int
    """Questions that nobody has answered."""


class CheckInLog(View):
    """Requests for approval and the decisions on them; the counts are of all, the lists of the latest 10,000."""

    name = "check-ins"
    relevant_types = (CheckInRequest.type, CheckInDecision.type)

    def __init__(self) -> None:
        super().__init__()
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._requests: deque[AskedApproval] = deque(maxlen=_MOST)
        self._decisions: deque[GivenDecision] = deque(maxlen=_MOST)
        self._requested = self._approved = self._declined = self._answered = 0

    def hear(self, event: Event[Any]) -> None:
        """Take one event into account."""
        payload = event.payload
        iteration = told(payload, "iteration")
        common: dict[str, Any] = {
            "run_id": run_of(event),
            "runtime_stage_id": address_of(event),
            "tool_name": text_of(payload, "tool_name"),
            "tool_call_id": text_of(payload, "tool_call_id"),
            "iteration": iteration if isinstance(iteration, int) else 0,
            "at_ms": event.meta.wall_clock_ms,
        }
        if event.type == CheckInRequest.type:
            self._requested += 1
            self._requests.append(AskedApproval(request=told(payload, "request"), **common))
        elif event.type == CheckInDecision.type:
            approved, remembered = told(payload, "approved") is True, told(payload, "remembered") is True
            self._approved += approved
            self._declined += not approved
            self._answered += not remembered
            note = told(payload, "note")
            self._decisions.append(
                GivenDecision(
                    approved=approved,
                    by=text_of(payload, "by"),
                    note=note if isinstance(note, str) else None,
                    remembered=remembered,
                    **common,
                )
            )

    @property
    def requests(self) -> tuple[AskedApproval, ...]:
        """The requests, in order."""
        return tuple(self._requests)

    @property
    def decisions(self) -> tuple[GivenDecision, ...]:
        """The decisions, in order."""
        return tuple(self._decisions)

    def stats(self) -> CheckInStats:
        """How many were requested, approved, declined, and wait."""
        return CheckInStats(
            requested=self._requested,
            approved=self._approved,
            declined=self._declined,
            pending=max(0, self._requested - self._answered),
        )
