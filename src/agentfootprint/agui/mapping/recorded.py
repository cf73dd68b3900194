"""What would a client have seen of a recorded run?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from agentfootprint.agui.mapping.mapper import Mapper
from agentfootprint.agui.options import AgUiOptions
from agentfootprint.events import Event

__all__ = ["map_events"]


def map_events(
    events: Iterable[Event[Any]], *, thread_id: str, run_id: str, options: AgUiOptions | None = None
) -> Iterator[Any]:
    """Map the events of one run to AG-UI events, for replay or test.

    The record alone is read, and how the run ended is what its events say. The same recording gives the same events
    and ids each time (AGU-7).

    Args:
        events: The run's events in order, such as `result.recording.events`.
        thread_id: The AG-UI `threadId`.
        run_id: The AG-UI `runId`.
        options: How the run is shown.

    Returns:
        `ag_ui.core` events, from RUN_STARTED to the terminal one, made as the events are read.

    Raises:
        AgUiIdError: The run id is not text, or is empty.
        MissingExtraError: The package `ag-ui-protocol` is not installed.
    """
    mapper = Mapper(thread_id, run_id, options)
    return _mapped(mapper, events)


def _mapped(mapper: Mapper, events: Iterable[Event[Any]]) -> Iterator[Any]:
    yield from mapper.begin()
    for event in events:
        yield from mapper.map(event)
    yield from mapper.end()
