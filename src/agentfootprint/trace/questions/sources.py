"""What a step read, and which decision let it run: the two things a slice needs that the log doesn't hold.

Log and tree must come from the same scope: inside a mount, the mount's own history and tree (FLOW-SLC-1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from agentfootprint.trace.bundle import as_list, as_object
from agentfootprint.trace.ids import parse_runtime_stage_id, split_stage_id
from agentfootprint.trace.values import JsonObject, Record, Value

__all__ = [
    "ControlDep",
    "ControlDeps",
    "ControlLookup",
    "KeysReadSource",
    "ReadsCoverage",
    "ReadsLookup",
    "control_dep_of",
    "keys_read_from_execution_tree",
    "keys_read_from_map",
    "reads_of",
]

ReadsLookup: TypeAlias = Callable[[str], Sequence[str]]
"""Runtime stage id to the keys the step read, in the order of first read."""


class ReadsCoverage(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """How much a source of reads knows: with steps and no reads at all, reads were not recorded (FLOW-MEM-43)."""

    steps: int
    steps_with_reads: int

    @property
    def is_blind(self) -> bool:
        """Whether "read nothing" and "not recorded" can't be told apart."""
        return self.steps > 1 and self.steps_with_reads == 0


@dataclass(frozen=True, slots=True)
class KeysReadSource:
    """A source of reads that says what it is; call it as a plain lookup."""

    kind: str
    lookup: ReadsLookup
    coverage: ReadsCoverage | None = None

    def __call__(self, runtime_stage_id: str) -> Sequence[str]:
        """The keys a step read; none for a step it doesn't know."""
        return self.lookup(runtime_stage_id)


def keys_read_from_map(reads: Mapping[str, Sequence[str]]) -> KeysReadSource:
    """Reads from a mapping of runtime stage id to keys."""
    return KeysReadSource("map", lambda step: reads.get(step, ()))


def keys_read_from_execution_tree(tree: JsonObject | Sequence[JsonObject]) -> KeysReadSource:
    """Reads from the `stageReads` of an execution tree, or of several (14.1).

    Args:
        tree: A node in wire form, with all that hangs below it by `next` and `children`.

    Returns:
        A source whose coverage counts the nodes with a runtime stage id and those of them with reads.
    """
    reads: dict[str, dict[str, None]] = {}
    steps = with_reads = 0
    roots = as_list(tree)
    stack: list[Value] = [tree] if roots is None else list(reversed(roots))
    visited: dict[int, Value] = {}  # holds the nodes, so that no identity is used again
    while stack:
        raw = stack.pop()
        node = as_object(raw)
        if node is None or id(raw) in visited:
            continue
        visited[id(raw)] = raw
        step = node.get("runtimeStageId")
        if isinstance(step, str):
            keys = as_object(node.get("stageReads")) or {}
            steps += 1
            with_reads += len(keys) > 0
            reads.setdefault(step, {}).update(dict.fromkeys(keys))
        stack.append(node.get("next"))
        stack.extend(reversed(as_list(node.get("children")) or ()))
    table = {step: tuple(keys) for step, keys in reads.items()}
    return KeysReadSource("execution-tree", lambda step: table.get(step, ()), ReadsCoverage(steps, with_reads))


def reads_of(reads: ReadsLookup, runtime_stage_id: str) -> Sequence[str]:
    """The keys a step read; a source that raises read nothing, because asking never breaks an answer."""
    try:
        return tuple(reads(runtime_stage_id) or ())
    except Exception:  # noqa: BLE001  the caller's source, not ours
        return ()


class ControlDep(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """The decision that let a step run."""

    decider_id: str
    """Runtime stage id of the decider or selector."""
    label: str | None = None
    """Label of the rule that chose the branch."""


ControlLookup: TypeAlias = Callable[[str], "ControlDep | JsonObject | None"]


def control_dep_of(lookup: ControlLookup | None, runtime_stage_id: str) -> ControlDep | None:
    """What a lookup knows about a step, in either form; one that raises knows nothing."""
    try:
        found = None if lookup is None else lookup(runtime_stage_id)
        if found is None or isinstance(found, ControlDep):
            return found
        return ControlDep(found["deciderId"], found.get("label"))
    except Exception:  # noqa: BLE001  the caller's lookup, not ours
        return None


class ControlDeps:
    """Which decision allowed which step, folded from the control events of one run (FLOW-SLC-40).

    A decision opens a slot for each branch it chose. The first steps that run under the decider fill them; later
    steps under it come after the join and fill none. Every other step inherits from the nearest step above it.
    """

    def __init__(self) -> None:
        self._open: dict[str, list[tuple[str, str | None]]] = {}
        """By decider, the branches it chose and that no step has entered yet."""
        self._entered: dict[str, ControlDep] = {}
        self._parents: dict[str, str] = {}
        self._decisions: list[dict[str, Any]] = []
        self._above: dict[str, ControlDep | None] = {}
        """What was found for a step, so that a long chain is walked once; forgotten when more is known."""

    def decided(
        self, decider_id: str, branches: Sequence[tuple[str, str | None]], evidence: JsonObject | None = None
    ) -> None:
        """A decider or selector has chosen.

        Args:
            decider_id: Its runtime stage id.
            branches: Id of each chosen branch, with the label of the rule that chose it.
            evidence: As the decision recorded it.
        """
        self._open[decider_id] = list(branches)
        self._above.clear()
        for branch, label in branches:
            told: dict[str, Any] = {"deciderRuntimeStageId": decider_id, "chosen": branch}
            self._decisions.append(told)
            if evidence is not None:
                told["evidence"] = evidence
            if label is not None:
                told["ruleLabel"] = label

    def executed(self, runtime_stage_id: str, parent_runtime_stage_id: str | None) -> None:
        """A step has run, or failed, under its parent."""
        if parent_runtime_stage_id is None or parent_runtime_stage_id == runtime_stage_id:
            return
        self._parents.setdefault(runtime_stage_id, parent_runtime_stage_id)
        if self._above:
            self._above.clear()
        slots = self._open.get(parent_runtime_stage_id)
        if not slots or runtime_stage_id in self._entered:
            return
        _, label = slots.pop(_slot_of(runtime_stage_id, slots))
        self._entered[runtime_stage_id] = ControlDep(parent_runtime_stage_id, label)

    def lookup(self, runtime_stage_id: str) -> ControlDep | None:
        """The decision that let a step run: its own, or that of the nearest step above it."""
        walked: dict[str, None] = {}
        step: str | None = runtime_stage_id
        found: ControlDep | None = None
        while step is not None and step not in walked:
            if step in self._above:
                found = self._above[step]
                break
            found = self._entered.get(step)
            walked[step] = None
            if found is not None:
                break
            step = self._parents.get(step)
        self._above.update(dict.fromkeys(walked, found))
        return found if found is None or found.decider_id != runtime_stage_id else None

    def decisions(self) -> list[dict[str, Any]]:
        """Every choice, in order: `{deciderRuntimeStageId, chosen, evidence?, ruleLabel?}`."""
        return [dict(told) for told in self._decisions]

    def clear(self) -> None:
        """Forget everything: another run begins."""
        for kept in (self._open, self._entered, self._parents, self._decisions, self._above):
            kept.clear()


def _slot_of(runtime_stage_id: str, branches: Sequence[tuple[str, str | None]]) -> int:
    """The slot of the branch that the step's id names, else the first: siblings start in any order."""
    step = parse_runtime_stage_id(runtime_stage_id)
    names = {step.stage_id}
    if step.subflow_path is not None:
        names |= {step.subflow_path, split_stage_id(step.subflow_path).local}
    return next((i for i, (branch, _) in enumerate(branches) if split_stage_id(branch).local in names), 0)
