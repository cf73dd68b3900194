"""A recorder that tells a run in words: it keeps what it is told and makes lines of it when it is asked.

An executor needs none: it reads its narrative off the journal. This one is for a narrative with options of its own in
the snapshot, and for whoever only gets the events.
"""

from __future__ import annotations

from typing import Any, cast

from msgspec import UNSET

from agentfootprint.flow.tell.entries import Narrative, NarrativeEntry, NarrativeOptions
from agentfootprint.flow.tell.narrator import Narrator, Place
from agentfootprint.flow.watch.recorder import Recorder
from agentfootprint.flow.watch.sightings import (
    BreakSeen,
    DecisionSeen,
    EmitSeen,
    ErrorSeen,
    ForkSeen,
    LoopSeen,
    PauseSeen,
    ReadSeen,
    ResumeSeen,
    SelectionSeen,
    Sighting,
    StageExecuted,
    StageRetried,
    Step,
    StructuredError,
    SubflowEntered,
    SubflowExited,
    WriteSeen,
)
from agentfootprint.trace import ABSENT, Value, as_object, split_stage_id

__all__ = ["NarrativeRecorder"]

_PLAIN = "linear"


class NarrativeRecorder(Recorder):
    """Tells the runs it watches in words (12).

    Args:
        options: How they are told.
        id: Unique by default.
    """

    label = "narrative"

    def __init__(self, options: NarrativeOptions | None = None, *, id: str | None = None) -> None:
        super().__init__(id)
        self._options = NarrativeOptions() if options is None else options
        self.clear()

    def clear(self) -> None:
        """Forget what was told."""
        self._seen: list[Sighting] = []
        self._read = 0
        self._narrator = Narrator(self._options)
        self._announced: dict[str, Sighting] = {}
        """Selections and forks by step, until the event after them says what their stage is about."""

    def _keep(self, event: Sighting) -> None:
        self._seen.append(event)

    on_read = on_write = on_emit = on_stage_executed = on_decision = on_selected = on_fork = on_subflow_entry = _keep
    on_subflow_exit = on_loop = on_break = on_error = on_pause = on_resume = on_stage_retry = _keep

    def narrative(self) -> Narrative:
        """What was told so far; costs what was added since it was last asked for."""
        for event in self._seen[self._read :]:
            self._told(event)
        self._read = len(self._seen)
        return Narrative(self._narrator.store, self._narrator.loops)

    def entries(self) -> list[NarrativeEntry]:
        """All lines."""
        return self.narrative().entries()

    def to_snapshot(self) -> dict[str, Any]:
        """The lines, without values."""
        return {
            "name": "Narrative",
            "description": "What happened, in words.",
            "preferredOperation": "translate",
            "data": self.narrative().to_wire(),
        }

    def _told(self, event: Sighting) -> None:
        narrator = self._narrator
        match event:
            case ReadSeen():
                narrator.did(_scoped(event), [("read", event.key, _value(event.value))])
            case WriteSeen():
                narrator.did(_scoped(event), [(event.operation, event.key, _value(event.value))])
            case EmitSeen():
                self._emitted(event)
            case StageExecuted():
                self._executed(event)
            case StageRetried():
                facts = (event.attempt, event.max_attempts, event.delay_ms)
                narrator.did(_flowing(event.traversal_context), [("retry", event.message, facts)])
            case SelectionSeen() | ForkSeen():
                self._announced[event.traversal_context.runtime_stage_id] = event
            case ErrorSeen() | PauseSeen() | ResumeSeen():
                if event.channel == "flow":
                    self._turned(event)
            case _:
                self._went(event)

    def _emitted(self, event: EmitSeen) -> None:
        stage_id = event.runtime_stage_id.rpartition("#")[0]
        at = Place(event.stage_name, stage_id, event.runtime_stage_id, "/".join(event.subflow_path))
        self._narrator.did(at, [("emit", event.name, event.payload)])

    def _executed(self, event: StageExecuted) -> None:
        step = event.traversal_context
        at, description = _flowing(step), _or_none(event.description)
        announced = self._announced.pop(step.runtime_stage_id, None)
        if isinstance(announced, SelectionSeen):
            names, evidence = announced.selected, as_object(announced.evidence)
            self._narrator.selected(at, names, announced.total, description, evidence)
        elif isinstance(announced, ForkSeen):
            self._narrator.forked(at, announced.children, description)
        elif event.stage_type == _PLAIN:
            self._narrator.executed(at, description)

    def _turned(self, event: ErrorSeen | PauseSeen | ResumeSeen) -> None:
        at = _flowing(cast("Step", event.traversal_context))
        if isinstance(event, ErrorSeen):
            error = event.structured_error
            issues = error.issues if isinstance(error, StructuredError) and error.issues is not UNSET else ()
            self._narrator.failed(at, str(event.message), [(issue.path, issue.message) for issue in issues])
        elif isinstance(event, PauseSeen):
            self._narrator.paused(at)
        else:
            self._narrator.resumed(at, has_input=event.has_input)

    def _went(self, event: Sighting) -> None:
        narrator = self._narrator
        match event:
            case DecisionSeen():
                at, evidence = _flowing(event.traversal_context), as_object(event.evidence)
                rationale = _or_none(event.rationale)
                narrator.decided(at, event.chosen, _or_none(event.description), rationale, evidence)
            case SubflowEntered():
                given = as_object(event.mapped_input) or {}
                at = _flowing(event.traversal_context)
                narrator.entered(at, event.name, _or_none(event.description), given)
            case SubflowExited():
                narrator.left(_flowing(event.traversal_context), event.name)
            case LoopSeen():
                at = _flowing(event.traversal_context)
                narrator.looped(at, event.target, event.iteration, _or_none(event.description))
            case BreakSeen():
                at = _flowing(event.traversal_context)
                narrator.broke(at, _or_none(event.reason), _or_none(event.propagated_from_subflow))
            case _:
                pass


def _scoped(event: ReadSeen | WriteSeen) -> Place:
    path = split_stage_id(event.stage_id).subflow_path
    return Place(event.stage_name, event.stage_id, event.runtime_stage_id, path or "")


def _flowing(step: Step) -> Place:
    return Place(step.stage_name, step.stage_id, step.runtime_stage_id, _or_none(step.subflow_id) or "")


def _or_none(text: Any) -> str | None:  # noqa: ANN401  a text or the mark of an absent member
    return text if isinstance(text, str) else None


def _value(value: Value) -> Value:
    return ABSENT if value is UNSET else value
