"""How a run is composed, while it runs: mounts, branches, and which led to which.

Nodes are mounts and branches, not stages. A branch is a node from the moment it was chosen; a mount that runs as a
branch stands inside that node.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from agentfootprint.flow.watch.recorder import Recorder
from agentfootprint.flow.watch.sightings import (
    DecisionSeen,
    ForkSeen,
    LoopSeen,
    RunEnded,
    RunFailed,
    Step,
    SubflowEntered,
    SubflowExited,
)
from agentfootprint.trace import split_stage_id

__all__ = ["Topology", "TopologyEdge", "TopologyNode", "TopologyRecorder"]

NodeKind: TypeAlias = Literal["subflow", "fork-branch", "decision-branch"]
EdgeKind: TypeAlias = Literal["next", "fork-branch", "decision-branch", "loop-iteration"]


@dataclass(slots=True, kw_only=True)
class TopologyNode:
    """A mount or a branch."""

    id: str
    """Of a mount its subflow id, with `#1`, `#2` when it was entered again."""
    kind: NodeKind
    name: str
    parent_id: str | None = None
    """What it stands in."""
    depth: int = 0
    incoming_kind: EdgeKind | Literal["root"]
    """How control came; `root` for the first node."""
    entered_at: int
    """Milliseconds since 1970."""
    exited_at: int | None = None
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])

    def to_wire(self) -> dict[str, Any]:
        """The node as plain JSON."""
        wire: dict[str, Any] = {"id": self.id, "kind": self.kind, "name": self.name}
        if self.parent_id is not None:
            wire["parentId"] = self.parent_id
        wire |= {"depth": self.depth, "incomingKind": self.incoming_kind, "enteredAt": self.entered_at}
        if self.exited_at is not None:
            wire["exitedAt"] = self.exited_at
        return wire | ({"metadata": dict(self.metadata)} if self.metadata else {})


@dataclass(frozen=True, slots=True)
class TopologyEdge:
    """How control came from one node to another."""

    source: str
    target: str
    kind: EdgeKind
    at: int
    """Milliseconds since 1970."""

    def to_wire(self) -> dict[str, Any]:
        """The edge as plain JSON."""
        return {"from": self.source, "to": self.target, "kind": self.kind, "at": self.at}


@dataclass(frozen=True, slots=True)
class Topology:
    """The graph at one moment."""

    nodes: tuple[TopologyNode, ...]
    edges: tuple[TopologyEdge, ...]
    active_node_id: str | None
    """The mount entered last of those that are open."""
    root_id: str | None
    """The first node."""

    def to_wire(self) -> dict[str, Any]:
        """The graph as plain JSON."""
        return {
            "nodes": [node.to_wire() for node in self.nodes],
            "edges": [edge.to_wire() for edge in self.edges],
            "activeNodeId": self.active_node_id,
            "rootId": self.root_id,
        }


class TopologyRecorder(Recorder):
    """Draws the composition graph of a run as it grows.

    Args:
        id: Unique by default.
    """

    label = "topology"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id)
        self.clear()

    def clear(self) -> None:
        """Forget everything: another run begins."""
        self._nodes: dict[str, TopologyNode] = {}
        self._edges: list[TopologyEdge] = []
        self._entries: dict[str, int] = {}
        """How often each mount was entered, by subflow id."""
        self._open: dict[str, str] = {}
        """Open mounts: subflow id to node id, in order of entry."""
        self._by_step: dict[str, str] = {}
        """Mounts by the runtime stage id of their execution."""
        self._branches: dict[tuple[str, str], str] = {}
        """Branches by the step that started them and their name."""
        self._last: dict[str | None, str] = {}
        """The node that came last inside each node."""

    def on_fork(self, event: ForkSeen) -> None:
        """A node for each branch."""
        for name in event.children:
            self._branch(event.traversal_context, name, "fork-branch", event.timestamp)

    def on_decision(self, event: DecisionSeen) -> None:
        """A node for the branch that was chosen."""
        self._branch(event.traversal_context, event.chosen, "decision-branch", event.timestamp)

    def on_subflow_entry(self, event: SubflowEntered) -> None:
        """A node for the mount."""
        step, path = event.traversal_context, event.subflow_id
        times = self._entries.get(path, 0)
        self._entries[path] = times + 1
        branch = self._branches.get((str(step.parent_runtime_stage_id), step.stage_name))
        parent = branch or self._around(path)
        before = None if branch else self._last.get(parent)
        kind: EdgeKind = self._nodes[branch].kind if branch else "next"  # type: ignore[assignment]  a branch's kind is an edge's
        node = self._add(
            path if times == 0 else f"{path}#{times}", "subflow", event.name, parent, kind, event.timestamp
        )
        node.metadata["runtimeStageId"] = step.runtime_stage_id
        if isinstance(event.description, str):
            node.metadata["description"] = event.description
        source = before or parent
        if source is not None:
            self._edges.append(TopologyEdge(source, node.id, "next" if branch else kind, event.timestamp))
        self._last[parent] = node.id
        self._open[path] = self._by_step[step.runtime_stage_id] = node.id

    def on_subflow_exit(self, event: SubflowExited) -> None:
        """The mount is done."""
        node_id = self._by_step.get(event.traversal_context.runtime_stage_id)
        if node_id is not None:
            self._nodes[node_id].exited_at = event.timestamp
            if self._open.get(event.subflow_id) == node_id:
                del self._open[event.subflow_id]

    def on_loop(self, event: LoopSeen) -> None:
        """An edge from what control goes back in to itself."""
        step = event.traversal_context
        inside = self._around(step.stage_id) or next(reversed(self._open.values()), None) or self._last.get(None)
        if inside is not None:
            self._edges.append(TopologyEdge(inside, inside, "loop-iteration", event.timestamp))
            self._nodes[inside].metadata["iterations"] = event.iteration

    def on_run_end(self, event: RunEnded) -> None:
        """Branches are done when the run is."""
        self._close(event.timestamp)

    def on_run_failed(self, event: RunFailed) -> None:
        """Branches are done when the run is."""
        self._close(event.timestamp)

    def topology(self) -> Topology:
        """The graph as it is now."""
        active = next(reversed(self._open.values()), None)
        root = next(iter(self._nodes), None)
        return Topology(tuple(self._nodes.values()), tuple(self._edges), active, root)

    def children(self, node_id: str) -> list[TopologyNode]:
        """What stands in a node."""
        return [node for node in self._nodes.values() if node.parent_id == node_id]

    def to_snapshot(self) -> dict[str, Any]:
        """The graph in wire form."""
        return {
            "name": "Topology",
            "description": "How the run is composed.",
            "preferredOperation": "translate",
            "data": self.topology().to_wire(),
        }

    def _branch(self, step: Step, name: str, kind: Literal["fork-branch", "decision-branch"], at: int) -> None:
        parent = self._around(step.stage_id)
        node = self._add(f"{step.runtime_stage_id}/{name}", kind, name, parent, kind, at)
        node.metadata["runtimeStageId"] = step.runtime_stage_id
        source = self._last.get(parent) or parent
        if source is not None:
            self._edges.append(TopologyEdge(source, node.id, kind, at))
        self._branches[step.runtime_stage_id, name] = node.id

    def _add(self, id: str, kind: NodeKind, name: str, parent: str | None, incoming: EdgeKind, at: int) -> TopologyNode:
        node = self._nodes[id] = TopologyNode(
            id=id,
            kind=kind,
            name=name,
            parent_id=parent,
            depth=0 if parent is None else self._nodes[parent].depth + 1,
            incoming_kind=incoming if self._nodes else "root",
            entered_at=at,
        )
        return node

    def _around(self, id: str) -> str | None:
        """The node of the open mount that a stage, or another mount, stands in."""
        path = split_stage_id(id).subflow_path
        return None if path is None else self._open.get(path)

    def _close(self, at: int) -> None:
        for node in self._nodes.values():
            if node.exited_at is None:
                node.exited_at = at
        self._open.clear()
