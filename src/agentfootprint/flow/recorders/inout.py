"""What went into each mount and came out of it, and into the run as a whole."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from agentfootprint.flow.watch.recorder import Recorder
from agentfootprint.flow.watch.sightings import RunEnded, RunFailed, RunStarted, Step, SubflowEntered, SubflowExited
from agentfootprint.trace import (
    ROOT_RUNTIME_STAGE_ID,
    ROOT_STAGE_ID,
    Record,
    SequenceStore,
    Value,
    split_stage_id,
    thaw,
)

__all__ = ["BoundaryCrossing", "InOutRecorder"]

_RUN = "Run"


class BoundaryCrossing(Record, frozen=True, gc=False, rename="camel", omit_defaults=True, kw_only=True):
    """One way over the edge of a mount, or of the run."""

    runtime_stage_id: str
    """Of the mount's execution; its entry and its exit share it."""
    subflow_id: str
    local_subflow_id: str
    subflow_name: str
    description: str | UnsetType = UNSET
    subflow_path: tuple[str, ...]
    """From `__root__` to the mount itself."""
    depth: int
    phase: Literal["entry", "exit"]
    payload: Value = UNSET
    """What was mapped in, or the final state; of the run its input and its value. Absent for a run that failed."""
    is_root: bool

    def to_wire(self) -> dict[str, Any]:
        """The crossing as plain JSON."""
        payload = thaw(self.payload)
        shown = {} if payload is UNSET else {"payload": payload}
        return {**{key: value for key, value in thaw(self).items() if key != "payload"}, **shown}


class InOutRecorder(Recorder):
    """Keeps an entry and an exit for each boundary that was crossed; the run itself is the outermost.

    Args:
        id: Unique by default.
    """

    label = "in-out"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id)
        self._crossings = SequenceStore[BoundaryCrossing]()

    def clear(self) -> None:
        """Forget everything: another run begins."""
        self._crossings.clear()

    def on_run_start(self, event: RunStarted) -> None:
        """Keep what the run was given."""
        self._root("entry", event.payload)

    def on_run_end(self, event: RunEnded) -> None:
        """Keep what the run came to."""
        self._root("exit", event.payload)

    def on_run_failed(self, event: RunFailed) -> None:  # noqa: ARG002  it has nothing that came out
        """Note that the run is over."""
        self._root("exit", UNSET)

    def on_subflow_entry(self, event: SubflowEntered) -> None:
        """Keep what a mount was given."""
        self._mount(
            event.traversal_context, event.subflow_id, event.name, "entry", event.mapped_input, event.description
        )

    def on_subflow_exit(self, event: SubflowExited) -> None:
        """Keep what a mount left behind."""
        self._mount(event.traversal_context, event.subflow_id, event.name, "exit", event.output_state, UNSET)

    def crossings(self) -> list[BoundaryCrossing]:
        """All of them, in order."""
        return self._crossings.entries()

    def boundary(self, runtime_stage_id: str) -> tuple[BoundaryCrossing | None, BoundaryCrossing | None]:
        """The entry and the exit of one execution of a mount; None for what has not happened."""
        crossed = self._crossings.entries_for_step(runtime_stage_id)
        entry = next((each for each in crossed if each.phase == "entry"), None)
        return entry, next((each for each in reversed(crossed) if each.phase == "exit"), None)

    def root(self) -> tuple[BoundaryCrossing | None, BoundaryCrossing | None]:
        """The entry and the exit of the run."""
        return self.boundary(ROOT_RUNTIME_STAGE_ID)

    def to_snapshot(self) -> dict[str, Any]:
        """The crossings in wire form."""
        return {
            "name": "InOut",
            "description": "What went into each mount and came out of it.",
            "preferredOperation": "translate",
            "data": [crossing.to_wire() for crossing in self._crossings],
        }

    def _root(self, phase: Literal["entry", "exit"], payload: Value) -> None:
        crossing = BoundaryCrossing(
            runtime_stage_id=ROOT_RUNTIME_STAGE_ID,
            subflow_id=ROOT_STAGE_ID,
            local_subflow_id=ROOT_STAGE_ID,
            subflow_name=_RUN,
            subflow_path=(ROOT_STAGE_ID,),
            depth=0,
            phase=phase,
            payload=payload,
            is_root=True,
        )
        self._crossings.push(crossing, ROOT_RUNTIME_STAGE_ID)

    def _mount(
        self,
        step: Step,
        subflow_id: str,
        name: str,
        phase: Literal["entry", "exit"],
        payload: Value,
        description: str | UnsetType,
    ) -> None:
        path = (ROOT_STAGE_ID, *subflow_id.split("/"))
        crossing = BoundaryCrossing(
            runtime_stage_id=step.runtime_stage_id,
            subflow_id=subflow_id,
            local_subflow_id=split_stage_id(subflow_id).local,
            subflow_name=name,
            description=description,
            subflow_path=path,
            depth=len(path) - 1,
            phase=phase,
            payload=payload,
            is_root=False,
        )
        self._crossings.push(crossing, step.runtime_stage_id)
