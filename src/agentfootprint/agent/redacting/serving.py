"""What of a run do its listeners, its stream and its recording get, when a policy keeps something out (NEW-101)?

Nothing the loop computes on is touched: its rows, its messages and its checkpoints keep the real values.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, cast

from agentfootprint.events import Event, Token
from agentfootprint.flow import union_of
from agentfootprint.recording import Cover, hold, serve_covered
from agentfootprint.trace import Veil

if TYPE_CHECKING:
    from agentfootprint.agent.options import RecordOptions
    from agentfootprint.agent.scope import RunScope
    from agentfootprint.flow import RedactionPolicy
    from agentfootprint.trace import Journal

__all__ = ["begin_covered", "covered_alone", "spoken"]


def begin_covered(journal: Journal, record: RecordOptions, own: RecordOptions) -> Cover | None:
    """Have a run that is about to begin shown as the policies say; a run's policy adds to its agent's (NEW-104).

    Args:
        journal: The run's.
        record: What was said for the run.
        own: What the agent says.
    """
    policy = union_of(own.redaction, record.redaction)
    return None if policy is None else serve_covered(journal, policy)


def covered_alone(event: Event[Any], policy: RedactionPolicy) -> Event[Any]:
    """An event that happens outside of any run, as it may be served."""
    return Cover(Veil(policy)).event(event, event.execution)


async def spoken(scope: RunScope, is_over: Callable[[], bool]) -> AsyncIterator[str]:
    """The real text of a run's tokens, as they come: what an agent hands back is never kept out.

    Args:
        scope: The run's.
        is_over: Says whether the run has ended.
    """
    rows = scope.journal.rows
    place = hold(rows)  # what a policy keeps out is in no file
    while True:
        finished = is_over()
        while place.position < len(rows):
            row = rows[place.position]
            place.position += 1
            payload: object = cast("Event[object]", row).payload if isinstance(row, Event) else None
            if isinstance(payload, Token):
                yield payload.content
        if finished:
            return
        await scope.changed()
