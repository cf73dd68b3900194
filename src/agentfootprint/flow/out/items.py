"""Which nodes and edges does a structure have, one after the other (3.4, FLOW-BLD-26).

Join edges go from each branch to where the branches meet, not from what they started at. A structure that leads back
to a node that was told already ends there; nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from agentfootprint.flow.out.spec import NodeType

__all__ = [
    "Addition",
    "DeciderCompleted",
    "EdgeAdded",
    "LoopEdgeAdded",
    "SpecItem",
    "StageAdded",
    "SubflowMounted",
    "SubflowStarted",
    "additions",
    "walk_subflow_spec",
]

Spec: TypeAlias = "Mapping[str, Any]"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageAdded:
    """A node is in the chart."""

    stage_id: str
    name: str
    type: NodeType
    spec: Spec
    """The whole node of the structure."""
    is_pausable: bool = False

    def to_wire(self) -> dict[str, Any]:
        """The event as JSON."""
        pausable = {"isPausable": True} if self.is_pausable else {}
        return {"stageId": self.stage_id, "name": self.name, "type": self.type, **pausable, "spec": self.spec}


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeAdded:
    """Control may go from one node to another."""

    source: str
    target: str
    kind: Literal["next", "fork-branch", "decision-branch"]
    label: str | None = None
    """The branch id."""

    def to_wire(self) -> dict[str, Any]:
        """The event as JSON."""
        label = {} if self.label is None else {"label": self.label}
        return {"from": self.source, "to": self.target, "kind": self.kind, **label}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopEdgeAdded:
    """Control goes back."""

    source: str
    target: str

    def to_wire(self) -> dict[str, Any]:
        """The event as JSON."""
        return {"from": self.source, "to": self.target}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeciderCompleted:
    """A decider or selector has all its branches."""

    decider: str
    """Its id."""
    type: Literal["decider", "selector"]
    branch_ids: tuple[str, ...]
    default_branch: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """The event as JSON."""
        default = {} if self.default_branch is None else {"defaultBranch": self.default_branch}
        return {"decider": self.decider, "type": self.type, "branchIds": list(self.branch_ids), **default}


@dataclass(frozen=True, slots=True, kw_only=True)
class SubflowMounted:
    """A chart stands in the chart; what is inside is told by `walk_subflow_spec(subflow_spec, subflow_path)`."""

    subflow_id: str
    subflow_name: str
    root_stage_id: str
    """Id of the node it is mounted at."""
    subflow_path: str
    """Ids of the mounts around it and its own, joined by `/`."""
    subflow_spec: Spec | None = None
    """Its structure; None for a lazy one."""
    is_lazy: bool = False

    def to_wire(self) -> dict[str, Any]:
        """The event as JSON."""
        lazy = {"isLazy": True} if self.is_lazy else {}
        spec = {} if self.subflow_spec is None else {"subflowSpec": self.subflow_spec}
        return {
            "subflowId": self.subflow_id,
            "subflowName": self.subflow_name,
            "rootStageId": self.root_stage_id,
            **lazy,
            **spec,
            "subflowPath": self.subflow_path,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SubflowStarted:
    """The walk enters a mounted chart."""

    root_stage_id: str
    """Id of its first stage."""

    def to_wire(self) -> dict[str, Any]:
        """The event as JSON."""
        return {"rootStageId": self.root_stage_id}


Addition: TypeAlias = "StageAdded | EdgeAdded | LoopEdgeAdded | DeciderCompleted | SubflowMounted"
_ITEM_TYPES: dict[type[Any], Literal["stage", "edge", "loop", "subflow"]] = {
    StageAdded: "stage",
    EdgeAdded: "edge",
    LoopEdgeAdded: "loop",
    SubflowMounted: "subflow",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecItem:
    """One thing that `walk_subflow_spec` found."""

    type: Literal["subflow-start", "subflow", "stage", "edge", "loop"]
    subflow_path: str
    """The mounted chart it belongs to."""
    event: SubflowStarted | StageAdded | EdgeAdded | LoopEdgeAdded | SubflowMounted
    source: Literal["walker"] = "walker"

    def to_wire(self) -> dict[str, Any]:
        """The item as JSON; the kind of a node stands in its `spec`."""
        own = {"type": self.type, "subflowPath": self.subflow_path, "source": self.source}
        return self.event.to_wire() | own


def walk_subflow_spec(spec: Spec, path: str, *, recurse: bool = True) -> Iterator[SpecItem]:
    """Tell what is inside a mounted chart.

    Args:
        spec: Its structure: the `subflowStructure` of its mount.
        path: Ids of the mounts around it and its own, joined by `/`.
        recurse: Whether charts mounted in it are entered too, right after their mount.
    """
    yield _started(spec, path)
    entered = [(path, additions(spec, path))]
    inside = {id(spec)}
    while entered:
        here, events = entered[-1]
        event = next(events, None)
        if event is None:
            entered.pop()
            continue
        if isinstance(event, DeciderCompleted):
            continue
        yield SpecItem(type=_ITEM_TYPES[type(event)], subflow_path=here, event=event)
        if isinstance(event, SubflowMounted) and recurse and event.subflow_spec is not None:
            if id(event.subflow_spec) in inside:
                continue
            inside.add(id(event.subflow_spec))
            yield _started(event.subflow_spec, event.subflow_path)
            entered.append((event.subflow_path, additions(event.subflow_spec, event.subflow_path)))


def _started(spec: Spec, path: str) -> SpecItem:
    return SpecItem(type="subflow-start", subflow_path=path, event=SubflowStarted(root_stage_id=spec["id"]))


def additions(spec: Spec, path: str = "") -> Iterator[Addition]:
    """Every node of one chart with its edges, in the order they were written; mounted charts are not entered.

    Args:
        spec: The chart's structure.
        path: Ids of the mounts it stands in, joined by `/`.
    """
    line = _Line(path)
    node: Spec | None = spec
    while node is not None and not node.get("isLoopReference") and node["id"] not in line.told:
        yield from line.main(node)
        node = node.get("next")


class _Line:
    """The main line of a chart, as far as it was told."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.told: set[str] = set()
        self.ends: list[str] = []
        """What goes on at the next node of the main line."""
        self.joins: dict[str, list[str]] = {}
        """Branches that go on at a later node, by its id."""

    def main(self, node: Spec) -> Iterator[Addition]:
        yield self._stage(node)
        for source in (*self.ends, *self.joins.pop(node["id"], ())):
            yield EdgeAdded(source=source, target=node["id"], kind="next")
        yield from self._mount(node)
        children = cast("Sequence[Spec]", node.get("children", ()))
        self.ends = [] if children else [node["id"]]
        for child in children:
            yield from self._branch(node, child)
        if node.get("hasDecider") or node.get("hasSelector"):
            yield DeciderCompleted(
                decider=node["id"],
                type="decider" if node.get("hasDecider") else "selector",
                branch_ids=tuple(node.get("branchIds", ())),
            )
        if node.get("loopTarget") is not None:
            yield LoopEdgeAdded(source=node["id"], target=node["loopTarget"])

    def _branch(self, owner: Spec, first: Spec) -> Iterator[Addition]:
        """A branch and what follows it inside, up to where it joins or goes back."""
        is_choice = owner.get("hasDecider") or owner.get("hasSelector")
        yield self._stage(first)
        yield EdgeAdded(
            source=owner["id"],
            target=first["id"],
            kind="decision-branch" if is_choice else "fork-branch",
            label=first["id"] if is_choice else None,
        )
        yield from self._mount(first)
        last, after = first, cast("Spec | None", first.get("next"))
        while after is not None and not after.get("isLoopReference") and after["id"] not in self.told:
            yield self._stage(after)
            yield EdgeAdded(source=last["id"], target=after["id"], kind="next")
            yield from self._mount(after)
            last, after = after, after.get("next")
        if last.get("loopTarget") is not None:
            yield LoopEdgeAdded(source=last["id"], target=last["loopTarget"])
        elif first.get("convergeAt") is not None:
            self.joins.setdefault(first["convergeAt"], []).append(last["id"])
        else:
            self.ends.append(last["id"])

    def _stage(self, node: Spec) -> StageAdded:
        self.told.add(node["id"])
        return StageAdded(
            stage_id=node["id"],
            name=node["name"],
            type=node["type"],
            spec=node,
            is_pausable=bool(node.get("isPausable")),
        )

    def _mount(self, node: Spec) -> Iterator[SubflowMounted]:
        if not node.get("isSubflowRoot"):
            return
        own = node["subflowId"]
        yield SubflowMounted(
            subflow_id=own,
            subflow_name=node.get("subflowName", node["name"]),
            root_stage_id=node["id"],
            subflow_path=f"{self.path}/{own}" if self.path else own,
            subflow_spec=node.get("subflowStructure"),
            is_lazy=bool(node.get("isLazy")),
        )
