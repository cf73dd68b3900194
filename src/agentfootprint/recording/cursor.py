"""A reader of a run's events at its own pace: it loses nothing and never holds the run back (DEC-27)."""

from __future__ import annotations

from typing import Any, Final

from agentfootprint.events import Event
from agentfootprint.recording.feed import Form, join_tokens
from agentfootprint.recording.recorded import Recording

__all__ = ["EventCursor"]

_BEHIND: Final = 1024
"""How many events a reader may be behind before neighbouring tokens of one call are joined for it."""


class EventCursor:
    """The events of a run from the beginning, in batches.

    Args:
        recording: The run's.
        form: `"native"`: rows of a slot when they are new. `"wire"`: all rows in every pass.
    """

    def __init__(self, recording: Recording, form: Form = "native") -> None:
        self._feed = recording.feed(form)

    def take(self) -> list[Event[Any]]:
        """Every event since the last call; joins tokens when there are more than 1,024."""
        events = self._feed.take()
        return join_tokens(events) if len(events) > _BEHIND else events

    def is_behind(self) -> bool:
        """Whether more has happened since the last `take`."""
        return self._feed.is_behind()
