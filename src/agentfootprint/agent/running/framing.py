"""What does every run have round its steps, an agent's and a composition's?

Who is told that it begins, what ends it, and what is still handed on when it has. Invariants: whatever ends a run, its
last events are on record before control returns; a question that is on record stands, whoever stops the run behind it.
"""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from agentfootprint.agent.errors import DeadlineExceededError
from agentfootprint.agent.running.supervising import Overdue, supervised

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentfootprint.agent.pausing.paused import Paused
    from agentfootprint.agent.result import RunResult
    from agentfootprint.agent.running.observing import RunObservers
    from agentfootprint.events import EventBus, RunFacts
    from agentfootprint.flow import FlowOutcome, PauseCheckpoint
    from agentfootprint.recording import Recording, Spill

__all__ = ["RecordedRun"]


class Watched(Protocol):
    """What an agent, a model call and a composition have."""

    bus: EventBus
    wire_bus: EventBus
    run_watchers: list[Callable[[Recording], object]]


class _Scope(Protocol):
    """What an agent's run and a composition's have for all that belongs to one run."""

    def wake(self) -> None:
        """Let those who read the run as a stream look again."""
        ...

    def seal(self) -> None:
        """Let nothing more be recorded or heard."""
        ...


ScopeT = TypeVar("ScopeT", bound=_Scope)


class RecordedRun(Generic[ScopeT]):
    """A run that was accepted: nothing has happened yet.

    Args:
        runner: Whose listeners are told.
    """

    facts: RunFacts
    recording: Recording
    scope: ScopeT
    _observers: RunObservers | None
    _spill: Spill | None

    def __init__(self, runner: Watched) -> None:
        self._runner = runner
        self.has_begun = False
        self._was_left = False
        self._question: PauseCheckpoint | None = None
        """What the walk stopped at to ask."""
        self.paused: Paused | None = None
        """What the run waits for, from when that is on record: whoever is cancelled behind it loses the result, and
        nothing more."""

    @abstractmethod
    async def _walk(self) -> FlowOutcome:
        """Take the steps."""

    @abstractmethod
    def _tell_failure(self, error: BaseException) -> None:
        """Put on record what ended the run."""

    @abstractmethod
    async def _fail(self, error: BaseException) -> None:
        """Close the record of a run that has failed."""

    @abstractmethod
    async def _pause(self, checkpoint: PauseCheckpoint, duration_ms: float) -> RunResult[Any]:
        """End this leg of the run with its question."""

    def _begin(self, *, goes_on: bool) -> None:
        """Tell who watches runs of this one, before its first event."""
        self.has_begun = True
        if self._observers is not None:
            self._observers.begin(goes_on=goes_on)
        for watcher in tuple(self._runner.run_watchers):
            watcher(self.recording)

    async def _supervise(
        self, started: int, *, deadline: float | None, grace: float, on_stop: Callable[[], object]
    ) -> RunResult[Any] | None:
        """Take the steps within the time there is.

        Args:
            started: When the run began, nanoseconds of the performance counter.
            deadline: Seconds.
            grace: Seconds that a step which was stopped has left.
            on_stop: Called when steps are stopped.

        Returns:
            The result of a run that waits for a person; `None` for one that has come to its end.

        Raises:
            DeadlineExceededError: The time was up. The record is closed.
            BaseException: What a step raised. The record is closed, or the question of the run is on it.
        """
        try:
            outcome = await supervised(
                self._walk(),
                name=self.facts.run_id,
                seconds=deadline,
                grace=grace,
                on_stop=on_stop,
                on_left=self._leave,
            )
        except Overdue:
            if self._question is not None:  # it was stopped by that, and nothing of it goes on
                return await self._pause(self._question, _since(started))
            late = DeadlineExceededError(self.facts.run_id, deadline or 0.0)
            await self._fail(late)
            raise late from None
        except BaseException as error:
            if self._question is None or isinstance(error, Exception):
                await self._fail(error)
            else:  # stopped behind its question, which stands open
                await self._pause(self._question, _since(started))
            raise
        return None if outcome.checkpoint is None else await self._pause(outcome.checkpoint, _since(started))

    def abandon(self) -> None:
        """Close the record of a run that was cancelled before its first step (AGT-149)."""
        if self._observers is not None:
            self._observers.begin(goes_on=False)
        self._tell_failure(asyncio.CancelledError())
        self._end("failed")
        if self._spill is not None:
            self._spill.settle()

    def _leave(self) -> None:
        """Something of the run can't be stopped: what it still says is not heard once the run has ended (AGT-113)."""
        self._was_left = True

    def _end(self, outcome: str) -> None:
        self.recording.finish(outcome)
        self.scope.wake()
        if self._was_left:
            self.scope.seal()

    async def _drain(self) -> None:
        """Let those who are told later hear all of it, and the file have all of it."""
        if self._observers is not None:
            stats = await self._observers.finish()
            if stats is not None:
                self.recording.note_observers(stats)
        for bus in (self._runner.bus, self._runner.wire_bus):
            await bus.drain()
        if self._spill is not None:
            await asyncio.to_thread(self._spill.settle)


def _since(started: int) -> float:
    return (time.perf_counter_ns() - started) / 1e6
