"""What does a view know of each run, where several are in flight and some go on in another run?

Invariants: a run's state is found by its id, so runs side by side don't mix (REC-41). A resumed run has an id of its
own and goes on with the state of the run that paused, which its first event names (EVT-31). Events of a file may not:
then it is the one that can only be meant, and where several wait under one session and one identity, the resumed run
begins anew. The run that began first makes room when there are too many.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Final, Generic, TypeAlias, TypeVar

from agentfootprint.events import Event, PauseRequest, PauseResume, RunConfigured
from agentfootprint.observe.views.reading import View, address_of, run_of

__all__ = ["RUN_EDGES", "PerRun"]

S = TypeVar("S")
Waiting: TypeAlias = "tuple[str | None, str | None, str | None, tuple[str, ...], str]"

RUN_EDGES: Final = (RunConfigured.type, PauseRequest.type, PauseResume.type)
"""What a view of this kind must hear beside its own events."""
_MOST_RUNS: Final = 1024


class PerRun(View, Generic[S]):
    """Base of the views that keep one state a run."""

    def __init__(self) -> None:
        super().__init__()
        self._states: dict[str, S] = {}
        self._latest = self.new_state()
        self._resumed: S | None = None
        self._waiting: dict[Waiting, dict[str, S]] = {}

    @abstractmethod
    def new_state(self) -> S:
        """What is known of a run before its first event."""

    def state_of(self, event: Event[Any]) -> S:
        """The state of the run that an event belongs to; a run not heard of yet begins here."""
        run_id, kind = run_of(event), event.type
        state = self._states.get(run_id)
        if state is None and not run_id and self._states:
            state = self._latest  # the reference says of a pause only that it belongs to no run (EVT-31)
        if state is None:
            state = self._begun(event, kind)
            if len(self._states) >= _MOST_RUNS:
                self._drop(next(iter(self._states)))
            self._states[run_id] = self._latest = state
        if kind == PauseRequest.type:
            self._waiting.setdefault(_waiting(event), {})[run_id] = state
        elif kind == PauseResume.type and not run_id:
            self._resumed = state
        return state

    def known_of(self, run_id: str | None) -> S:
        """The state of a run; without an id of the one that began last; an empty one when it is not known."""
        if run_id is None:
            return self._latest
        state = self._states.get(run_id)
        return self.new_state() if state is None else state

    def _begun(self, event: Event[Any], kind: str) -> S:
        if kind == PauseResume.type:
            resumed = event.meta.resumed_run_id
            if resumed is not None:
                self._waiting.get(_waiting(event), {}).pop(resumed, None)
                return self._states.get(resumed) or self.new_state()
            waiting = self._waiting.pop(_waiting(event), {})
            if len(waiting) == 1:
                return waiting.popitem()[1]
        elif self._resumed is not None:
            state, self._resumed = self._resumed, None
            return state
        return self.new_state()

    def _drop(self, run_id: str) -> None:
        del self._states[run_id]
        for key, waiting in list(self._waiting.items()):
            if waiting.pop(run_id, None) is not None and not waiting:
                del self._waiting[key]


def _waiting(event: Event[Any]) -> Waiting:
    meta = event.meta
    return meta.session_id, meta.principal, meta.tenant, meta.composition_path, address_of(event).partition("#")[0]
