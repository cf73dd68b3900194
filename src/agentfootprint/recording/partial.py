"""Where is the recording of one agent of several? In the journal of the run that it was a part of."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from agentfootprint.events import RunFacts
from agentfootprint.recording.questions.parts import Layout, Part
from agentfootprint.recording.questions.trail import Trail
from agentfootprint.recording.sources import JournalSource
from agentfootprint.trace import Journal

if TYPE_CHECKING:
    from agentfootprint.trace import JsonObject

__all__ = ["PartSource"]


class PartSource(JournalSource):
    """One agent's part of a run; its questions are answered from its part, its rows are the run's."""

    def __init__(
        self, journal: Journal, facts: RunFacts, about: JsonObject, layout: Layout, part: Part, ended: str | None
    ) -> None:
        super().__init__(journal, facts, about, None)
        self._layout = layout
        self._part = part
        self.ended = "done" if layout.is_over(part) else ended

    @cached_property
    def trail(self) -> Trail:
        """From the rows of the part."""
        return self._layout.trail(self._part.step.index)
