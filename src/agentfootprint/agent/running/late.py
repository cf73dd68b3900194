"""Who hears of what is cleaned up when the run that opened it may be over (AGT-158)?

The listeners of the agent, with the meta of that run; its recording is finished and stays as it is.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from agentfootprint.events import Event, EventBus, Payload, RunFacts
from agentfootprint.tools import SessionHook

if TYPE_CHECKING:
    from agentfootprint.recording import Cover

__all__ = ["late_teller"]

_ADDRESS = "tool-teardown#0"
_NS_PER_MS = 1_000_000


def late_teller(facts: RunFacts, cover: Cover | None, *buses: EventBus) -> SessionHook:
    """A function that tells of a cleanup; it keeps neither the run nor its recording alive.

    Args:
        facts: The run's.
        cover: What is told instead of what a policy keeps out.
        buses: Who is told.
    """

    def tell(payload: Payload) -> None:
        dt = (int(time.time() * 1000) - facts.started_at_ms) * _NS_PER_MS
        event = Event(payload, payload.outside_stage or _ADDRESS, max(0, dt), facts)
        if cover is not None:
            event = cover.implied(event)
        for bus in buses:
            if bus.has_listeners(payload.type):
                bus.dispatch(event)

    return tell
