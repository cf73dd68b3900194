"""Where does a slider stop that is drawn along a run (REC-26)?

A run of one agent or one model call stops at what passes between user, model and tools; any other at what its parts
hand on to each other. Derived from the boundaries and never stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from agentfootprint.observe.boundaries.graph import boundary_events
from agentfootprint.observe.boundaries.happenings import (
    ROOT,
    DecisionTaken,
    DomainEvent,
    ForkOpened,
    LLMEnded,
    LLMStarted,
    LoopTurned,
    RunLeft,
    SubflowEntry,
    SubflowExit,
)
from agentfootprint.recording import Recording
from agentfootprint.trace import FrozenDict, JsonObject, Record, as_object, freeze, thaw

__all__ = ["RunStep", "StepTransition", "build_run_steps"]

StepKind = Literal["react", "sequential", "fork", "merge", "decide", "iteration"]

_USER: Final = "actor:user"
_TOOL: Final = "actor:tool"
_LEAVES: Final = frozenset(("Agent", "LLMCall"))
_COMPOSED: Final = frozenset(("Sequence", "Parallel", "Conditional", "Loop"))
_SKIPPED: Final = frozenset(("route", "tool-calls", "final", "merge"))


class StepTransition(Record, frozen=True, kw_only=True, gc=False):
    """What passes at a stop."""

    from_: str
    to: str
    via: str
    label: str

    def to_wire(self) -> dict[str, Any]:
        """Under the keys of the wire."""
        return {"from": self.from_, "to": self.to, "via": self.via, "label": self.label}


class RunStep(Record, frozen=True, kw_only=True, gc=False):
    """One stop."""

    seq: int
    kind: StepKind
    transitions: tuple[StepTransition, ...]
    runtime_stage_id: str
    subflow_path: tuple[str, ...]
    label: str
    ts_ms: int
    meta: JsonObject | None = None

    def to_wire(self) -> dict[str, Any]:
        """Under the keys of the wire."""
        wire: dict[str, Any] = {
            "seq": self.seq,
            "kind": self.kind,
            "transitions": [each.to_wire() for each in self.transitions],
            "anchor": {"runtimeStageId": self.runtime_stage_id, "subflowPath": list(self.subflow_path)},
            "label": self.label,
            "tsMs": self.ts_ms,
        }
        if self.meta is not None:
            wire["meta"] = thaw(self.meta)
        return {**wire, "runtimeStageId": self.runtime_stage_id}


def build_run_steps(
    source: Recording | Iterable[DomainEvent | Mapping[str, Any] | FrozenDict], drill_path: Sequence[str] = ()
) -> tuple[RunStep, ...]:
    """The stops of a run, numbered from 0.

    Args:
        source: A recording; or its boundaries, as records or as the wire has them.
        drill_path: Only what is inside this boundary, by the ids of the mounts that lead to it.
    """
    prefix = tuple(drill_path)
    prefix = prefix if prefix[:1] == (ROOT,) else (ROOT, *prefix)
    inside = [event for event in boundary_events(source, "native") if event.subflow_path[: len(prefix)] == prefix]
    if len(prefix) > 1:  # the boundary itself is what is looked into
        inside = [event for event in inside if not (_is_mount(event) and event.subflow_path == prefix)]
    walk = _Walk(len(prefix) - 1)
    for event in inside:
        walk.add(event)
    return walk.steps()


def _is_mount(event: DomainEvent) -> bool:
    return isinstance(event, (SubflowEntry, SubflowExit))


@dataclass(slots=True)
class _Fork:
    """Branches that run side by side."""

    depth: int
    names: tuple[str, ...]
    entered: dict[str, str] = field(default_factory=dict[str, str])
    """Id by name."""
    left: set[str] = field(default_factory=set[str])


@dataclass(slots=True)
class _Draft:
    """A stop before it has a number."""

    kind: StepKind
    transitions: tuple[StepTransition, ...]
    event: DomainEvent
    path: tuple[str, ...]
    label: str
    meta: Any = None


class _Walk:
    """One pass over the boundaries of a run, or of a part of it that begins at a depth."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._drafts: list[_Draft] = []
        self._root = _RootKind(depth)
        self._forking: list[ForkOpened] = []
        self._forks: list[_Fork] = []
        self._here: dict[int, tuple[str, tuple[str, ...]]] = {}
        """The part that is open at each depth, with its path; the first of several side by side."""
        self._before: dict[int, str] = {}
        """The part that was left last at each depth."""
        self._kinds: dict[str, str] = {}
        """What the open parts are, by address: an exit doesn't say."""
        self._has_asked = False
        self._answer: tuple[int, _Draft] | None = None

    def add(self, event: DomainEvent) -> None:
        if self._forking and not (isinstance(event, ForkOpened) and _same_fork(event, self._forking[0])):
            self._forked()
        self._root.see(event)
        if isinstance(event, ForkOpened):
            self._forking.append(event)
        elif isinstance(event, SubflowEntry):
            self._entered(event)
        elif isinstance(event, SubflowExit):
            self._left(event)
        elif isinstance(event, DecisionTaken):
            if event.decider.rpartition("/")[2] not in _SKIPPED:
                moved = _moved(event.runtime_stage_id, event.chosen, "decision-branch", event.chosen)
                meta = {"kind": "decide", "chosen": event.chosen}
                self._step("decide", (moved,), event, f"routes to {event.chosen}", meta)
        elif isinstance(event, LoopTurned):
            label = f"iter {event.iteration}"
            moved = _moved(event.target, event.target, "loop-iteration", label)
            meta = {"kind": "iteration", "index": event.iteration, "target": event.target}
            self._step("iteration", (moved,), event, label, meta)
        elif isinstance(event, (LLMStarted, LLMEnded)):
            self._spoke(event)
        elif isinstance(event, RunLeft) and "error" not in (as_object(event.payload) or {}):
            self._answered()

    def steps(self) -> tuple[RunStep, ...]:
        if self._forking:
            self._forked()
        is_leaf = self._root.is_leaf()
        shown = [draft for draft in self._drafts if (draft.kind == "react") == is_leaf]
        return tuple(
            RunStep(
                seq=seq,
                kind=draft.kind,
                transitions=draft.transitions,
                runtime_stage_id=draft.event.runtime_stage_id,
                subflow_path=draft.path,
                label=draft.label,
                ts_ms=draft.event.ts,
                meta=None if draft.meta is None else freeze(draft.meta),
            )
            for seq, draft in enumerate(shown)
        )

    def _step(
        self, kind: StepKind, moves: tuple[StepTransition, ...], event: DomainEvent, label: str, meta: object = None
    ) -> None:
        self._drafts.append(_Draft(kind, moves, event, event.subflow_path, label, meta))

    def _forked(self) -> None:
        first, names = self._forking[0], tuple(each.child_name for each in self._forking)
        came = self._before.get(first.depth + 1, _USER)
        moves = tuple(_moved(came, name, "fork-branch", name) for name in names)
        meta = {"kind": "fork", "parentSubflowId": first.parent_subflow_id}
        self._step("fork", moves, first, f"fork ({len(names)})", meta)
        self._forks.append(_Fork(first.depth + 1, names))
        self._forking = []

    def _entered(self, event: SubflowEntry) -> None:
        if event.primitive_kind not in _LEAVES | _COMPOSED:
            return
        depth, name = event.depth, event.subflow_id
        self._kinds[event.runtime_stage_id] = event.primitive_kind or ""
        fork = self._fork_of(event)
        if fork is not None:
            fork.entered[event.subflow_name] = name
            self._here.setdefault(depth, (name, event.subflow_path))
            return
        if depth in self._here:
            return  # beside another one that is open still
        self._here[depth] = name, event.subflow_path
        before = self._before.get(depth)
        if before is not None:
            self._step("sequential", (_moved(before, name, "next", "forwards"),), event, "forwards")
        elif not self._has_asked:
            self._has_asked = True
            self._step("sequential", (_moved(_USER, name, "next", "asks"),), event, "asks")

    def _left(self, event: SubflowExit) -> None:
        if self._kinds.pop(event.runtime_stage_id, None) is None:
            return
        depth, name = event.depth, event.subflow_id
        here, path = self._here.get(depth, (name, event.subflow_path))
        self._before[depth] = name
        fork = self._fork_of(event)
        if fork is not None:
            fork.left.add(event.subflow_name)
            if len(fork.left) == len(set(fork.names)):
                moves = tuple(_moved(fork.entered.get(each, each), _USER, "next", each) for each in fork.names)
                meta = {"kind": "merge", "mergedCount": len(moves)}
                self._drafts.append(_Draft("merge", moves, event, path, f"merge ({len(moves)})", meta))
                self._forks.remove(fork)
                self._here.pop(depth, None)
            return
        if self._answer is None or depth <= self._answer[0]:
            moved = _moved(here, _USER, "next", "answers")
            self._answer = depth, _Draft("sequential", (moved,), event, path, "answers")
        if not any(address for address in self._kinds if address.count("/") == depth - 1):
            self._here.pop(depth, None)

    def _fork_of(self, event: SubflowEntry | SubflowExit) -> _Fork | None:
        found = (fork for fork in self._forks if fork.depth == event.depth and event.subflow_name in fork.names)
        return next(found, None)

    def _spoke(self, event: LLMStarted | LLMEnded) -> None:
        stage, arrow = f"stage:llm:{event.runtime_stage_id}", event.actor_arrow
        other = _USER if "user" in arrow else _TOOL
        came, went = (other, stage) if isinstance(event, LLMStarted) else (stage, other)
        meta = {"kind": "react", "actorArrow": arrow}
        self._step("react", (_moved(came, went, "actor-arrow", arrow),), event, arrow, meta)

    def _answered(self) -> None:
        if self._answer is not None:
            self._drafts.append(self._answer[1])
            self._answer = None


class _RootKind:
    """What a run is as a whole, inferred from what was seen of it (13.3)."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._fixed = False
        self._shallowest: int | None = None
        self._parts: set[str] = set()
        self._is_composed = False

    def see(self, event: DomainEvent) -> None:
        if isinstance(event, (ForkOpened, DecisionTaken, LoopTurned)):
            self._fixed = self._fixed or event.depth == self._depth
        elif isinstance(event, SubflowEntry) and event.primitive_kind in _LEAVES | _COMPOSED:
            if self._shallowest is None or event.depth < self._shallowest:
                self._shallowest, self._parts, self._is_composed = event.depth, set(), False
            if event.depth == self._shallowest:
                self._parts.add(event.runtime_stage_id)
                self._is_composed = self._is_composed or event.primitive_kind in _COMPOSED

    def is_leaf(self) -> bool:
        return not self._fixed and not self._is_composed and len(self._parts) <= 1


def _moved(came: str, went: str, via: str, label: str) -> StepTransition:
    return StepTransition(from_=came, to=went, via=via, label=label)


def _same_fork(a: ForkOpened, b: ForkOpened) -> bool:
    return a.runtime_stage_id == b.runtime_stage_id and a.ts == b.ts
