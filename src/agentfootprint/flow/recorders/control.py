"""Which decision allowed which step, told by the events of a run (FLOW-SLC-40)."""

from __future__ import annotations

from typing import Any, cast

from agentfootprint.flow.watch.recorder import Recorder, channel_of
from agentfootprint.flow.watch.sightings import (
    DecisionSeen,
    ErrorSeen,
    PauseSeen,
    ResumeSeen,
    RunStarted,
    SelectionSeen,
    StageExecuted,
    Step,
    SubflowEntered,
)
from agentfootprint.trace import ControlDeps, ControlLookup, JsonObject, as_list, as_object, rule_label, thaw

__all__ = ["ControlDepRecorder"]


class ControlDepRecorder(Recorder):
    """Feeds `causal_chain` with control dependencies: `control_deps=recorder.as_lookup()`.

    It begins anew with each run, and goes on with a resume.

    Args:
        id: Unique by default.
    """

    label = "control-deps"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id)
        self._deps = ControlDeps()
        self._run_id = ""

    def clear(self) -> None:
        """Forget everything: another run begins."""
        self._deps.clear()

    def on_resume(self, event: ResumeSeen) -> None:
        """The run goes on under another id."""
        if isinstance(event.traversal_context, Step):
            self._run_id = event.traversal_context.run_id

    def on_run_start(self, event: RunStarted) -> None:
        """Begin anew, unless a resume was told before."""
        self._in_run(event.traversal_context)

    def on_decision(self, event: DecisionSeen) -> None:
        """Open a slot for the branch."""
        step = self._in_run(event.traversal_context)
        evidence = as_object(event.evidence)
        branch = event.chosen if evidence is None else str(evidence.get("chosen", event.chosen))
        self._deps.decided(step.runtime_stage_id, [(branch, rule_label(evidence, branch))], _plain(evidence))

    def on_selected(self, event: SelectionSeen) -> None:
        """Open a slot for each branch."""
        step = self._in_run(event.traversal_context)
        evidence = as_object(event.evidence)
        named = [] if evidence is None else [str(branch) for branch in as_list(evidence.get("selected")) or ()]
        branches = list(dict.fromkeys(named)) if named else list(event.selected)
        opened = [(branch, rule_label(evidence, branch)) for branch in branches]
        self._deps.decided(step.runtime_stage_id, opened, _plain(evidence))

    def on_subflow_entry(self, event: SubflowEntered) -> None:
        """A mount began under its parent."""
        self._under(event.traversal_context)

    def on_stage_executed(self, event: StageExecuted) -> None:
        """A step has run under its parent."""
        self._under(event.traversal_context)

    def on_error(self, event: ErrorSeen) -> None:
        """A step has failed under its parent."""
        if isinstance(event.traversal_context, Step):
            self._under(event.traversal_context)

    def on_pause(self, event: PauseSeen) -> None:
        """A step has paused under its parent."""
        if channel_of(event) == "flow" and isinstance(event.traversal_context, Step):
            self._under(event.traversal_context)

    def as_lookup(self) -> ControlLookup:
        """The decision that let a step run, by its runtime stage id."""
        return self._deps.lookup

    def decisions(self) -> list[dict[str, Any]]:
        """Every choice, in order: `{deciderRuntimeStageId, chosen, evidence?, ruleLabel?}`."""
        return self._deps.decisions()

    def to_snapshot(self) -> dict[str, Any]:
        """The choices in wire form."""
        return {
            "name": "ControlDependencies",
            "description": "Which decision let which step run.",
            "preferredOperation": "translate",
            "data": {"decisions": [thaw(told) for told in self.decisions()]},
        }

    def _in_run(self, step: Step) -> Step:
        if step.run_id != self._run_id:
            self._deps.clear()
            self._run_id = step.run_id
        return step

    def _under(self, step: Step) -> None:
        parent = self._in_run(step).parent_runtime_stage_id
        self._deps.executed(step.runtime_stage_id, parent if isinstance(parent, str) else None)


def _plain(evidence: JsonObject | None) -> JsonObject | None:
    return None if evidence is None else cast("JsonObject", thaw(evidence))
