"""How a run ended, and the questions it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from agentfootprint.flow.pause import PauseCheckpoint
from agentfootprint.flow.snapshot import FlowSnapshot, HasObserverStats
from agentfootprint.trace import FrozenDict, Journal, Value

if TYPE_CHECKING:
    from agentfootprint.flow.tell.entries import Narrative
    from agentfootprint.trace import (
        ArrayProvenance,
        ElementBirth,
        ForwardSlice,
        KeyTimeline,
        RunQuestions,
        VariableSlice,
    )

__all__ = ["FlowResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowResult:
    """How a run ended, and what it left behind."""

    status: Literal["done", "paused", "broken"]
    value: Any
    """What the last stage returned; None when it paused."""
    output: Any = None
    """What the run came to, by the chart's contract: its mapper's answer, else the value; only when it is done."""
    state: FrozenDict
    """The committed state, which nobody can change."""
    run_id: str
    checkpoint: PauseCheckpoint | None = None
    """Give it to `resume`, or store `checkpoint.to_wire()`."""
    reason: str | None = None
    """Why a stage broke the run off."""
    journal: Journal = field(repr=False)
    """The rows of the run."""
    _recorders: tuple[object, ...] = field(default=(), repr=False)
    _observers: HasObserverStats | None = field(default=None, repr=False)
    _narrated: bool = field(default=True, repr=False)
    _questions: list[RunQuestions] = field(default_factory=list["RunQuestions"], init=False, repr=False, compare=False)

    def snapshot(self, *, redact: bool = False) -> FlowSnapshot:
        """State, log, tree and mounts; nothing of it is made before it is read.

        Args:
            redact: Whether its state is the redacted mirror too, as its log and tree always are (FLOW-RED-5).
        """
        return FlowSnapshot(self.journal, self._recorders, self._observers, redact=redact)

    def __repr__(self) -> str:
        """How it ended, and which keys its state has: values may be large, and may be nobody's business in a log."""
        return f"FlowResult(status={self.status!r}, run_id={self.run_id!r}, state keys: {', '.join(self.state)})"

    @property
    def narrative(self) -> Narrative:
        """The run in words: print it, or go through its lines; empty with `narrative=False`. Made when asked for."""
        from agentfootprint.flow.tell.reading import project_narrative  # words are loaded when they are asked for

        return project_narrative(self.journal if self._narrated else None)

    @property
    def _asked(self) -> RunQuestions:
        """What answers the questions below; made with the first one, and shared by all."""
        if not self._questions:
            from agentfootprint.trace import RunQuestions  # much of the room, for those who ask

            self._questions.append(RunQuestions.of_journal(self.journal.shown()))
        return self._questions[0]

    def why(self, key: str | Sequence[str], *, before: int | None = None, within: str = "") -> VariableSlice:
        """Explain the value of a key by the steps it depends on, and what let them run.

        The slice goes through mounts, branches and loops to where a value was made (24.1).

        Args:
            key: A top-level key, or the segments of a nested place.
            before: Explain it as it was before this position of the commit log.
            within: The mount in whose state the key stands, by path (its last execution) or runtime stage id; the top
                when not given. The same for the questions below.

        Returns:
            The slice. `notes` name the boundaries that could not be crossed.

        Raises:
            ConfigError: There is no such mount on record.
        """
        return self._asked.why(key, before=before, within=within)

    def forward(self, key: str | Sequence[str], *, before: int | None = None, within: str = "") -> ForwardSlice:
        """All that the value of a key went on to influence: who read it, and what they wrote (FLOW-FWD-2)."""
        return self._asked.forward(key, before=before, within=within)

    def timeline(self, key: str | Sequence[str], *, before: int | None = None, within: str = "") -> KeyTimeline:
        """Every write and read of a key, in order (FLOW-FWD-6)."""
        return self._asked.timeline(key, before=before, within=within)

    def value_at(self, key: str | Sequence[str], step: int | str, *, within: str = "") -> Value:
        """The value of a key after a step, `ABSENT` when there was none.

        Args:
            key: A top-level key, or the segments of a nested place.
            step: A position of the commit log, inclusive, or the runtime stage id of a step anywhere in the run.
            within: As for `why`; a step names its runtime itself.
        """
        return self._asked.value_at(key, step, within=within)

    def array_provenance(self, key: str | Sequence[str], *, at: int | None = None, within: str = "") -> ArrayProvenance:
        """Which step brought each element of a list into it (FLOW-ELM-1)."""
        return self._asked.array_provenance(key, at=at, within=within)

    def element_provenance(
        self, key: str | Sequence[str], index: int, *, at: int | None = None, within: str = ""
    ) -> ElementBirth | None:
        """Which step brought one element of a list into it; None when there is no such element (FLOW-ELM-3)."""
        return self._asked.element_provenance(key, index, at=at, within=within)
