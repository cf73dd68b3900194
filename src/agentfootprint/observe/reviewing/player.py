"""What was there at each stop of a run, one after the other, without asking any model again (REC-35)?

A reader of a recording, of this process or of a file of either form. Going forward costs what happened in between;
going back begins anew. Invariant: what a stop shows is what was committed and heard up to its end, and nothing later.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentfootprint.observe.boundaries.milestones import Milestone, milestone_for
from agentfootprint.observe.live import LiveState, LiveTool
from agentfootprint.observe.views.reading import address_of
from agentfootprint.observe.wording.status import StatusLine
from agentfootprint.recording import Recording
from agentfootprint.trace import ABSENT, Value, as_list

__all__ = ["Moment", "Player", "Stop", "play"]


@dataclass(frozen=True, slots=True)
class Stop:
    """A place worth stopping at."""

    index: int
    """Its place among the stops, from 0."""
    milestone: Milestone
    """What it is."""
    runtime_stage_id: str
    """The step."""
    commits: int
    """How many commits the run had made at its end."""
    events: int
    """How many events it had sent."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The run at the end of a stop."""

    stop: Stop
    status: str | None
    """The line that a person who waited saw last in this stop; `None` when there was none."""
    open_tools: tuple[LiveTool, ...]
    """Tool calls that had begun and not ended; of one that asked a person its status is `waiting`."""
    messages: Sequence[Value]
    """The conversation as it was committed."""
    _recording: Recording

    def value(self, key: str) -> Value:
        """What a top-level key of the state held; `None` when it held nothing."""
        found = self._recording.value_at(key, self.stop.commits)
        return None if found is ABSENT else found


class Player:
    """A run that has ended, stop by stop. `play` makes one."""

    def __init__(self, recording: Recording, *, locale: str, app_name: str) -> None:
        self._recording = recording
        self._events = recording.events
        self._locale = locale
        self._app_name = app_name
        self._stops = tuple(_stops(recording))
        self._begin()

    @property
    def stops(self) -> tuple[Stop, ...]:
        """Where one can stop, in order."""
        return self._stops

    def __len__(self) -> int:
        return len(self._stops)

    def __iter__(self) -> Iterator[Moment]:
        return (self.at(index) for index in range(len(self._stops)))

    def at(self, index: int) -> Moment:
        """The run at the end of a stop.

        Args:
            index: The stop, from 0; negative ones count from the end.

        Raises:
            IndexError: There is no such stop.
        """
        stop = self._stops[index]
        before = self._stops[stop.index - 1].events if stop.index else 0
        if before < self._heard:
            self._begin()
        self._hear(before)
        self._lines.clear()
        self._hear(stop.events)
        history = as_list(self._recording.value_at("history", stop.commits))
        return Moment(
            stop=stop,
            status=self._lines[-1] if self._lines else None,
            open_tools=tuple(tool for run in self._live.runs for tool in run.tools.values()),
            messages=tuple(history or ()),
            _recording=self._recording,
        )

    def _hear(self, count: int) -> None:
        for event in self._events[self._heard : count]:
            self._live.hear(event)
            self._line.hear(event)
        self._heard = count

    def _begin(self) -> None:
        self._live = LiveState()
        self._lines: list[str] = []
        self._line = StatusLine(self._lines.append, app_name=self._app_name, locale=self._locale)
        self._heard = 0


def play(recording: Recording, *, locale: str = "en", app_name: str = "Agent") -> Player:
    """Go through a run again, stop by stop: iterations, slots, model calls, tool calls, decisions.

    Args:
        recording: The run.
        locale: The language of the status line: `"en"` or `"fr"`.
        app_name: What the status line calls the application.
    """
    return Player(recording, locale=locale, app_name=app_name)


def _stops(recording: Recording) -> Iterator[Stop]:
    addresses = [bundle.runtime_stage_id for bundle in recording.bundles]
    numbers = [_number(address_of(event)) for event in recording.events]
    heard = count = 0
    for position, address in enumerate(addresses):
        following = addresses[position + 1] if position + 1 < len(addresses) else None
        milestone = milestone_for(address)
        if milestone is None or following == address:
            continue
        next_number = math.inf if following is None else _number(following)
        while heard < len(numbers) and numbers[heard] < next_number:
            heard += 1
        yield Stop(count, milestone, address, position + 1, heard)
        count += 1


def _number(address: str) -> int:
    """The number of an execution: later ones have greater ones; 0 of what stands outside any stage."""
    found = address.rpartition("#")[2]
    return int(found) if found.isascii() and found.isdigit() else 0
