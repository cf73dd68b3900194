"""Which earlier steps a step's writes depend on: the backward walk from reads to their writers.

Readers come after writers, so the walk ends; only control edges can lead back, and every step is visited once.
Order of nodes, depths and edges are those of the wire (14.2). A node shares its parents with others: walk it with
`flatten_causal_chain`, never by recursion.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import msgspec

from agentfootprint.errors import ConfigError
from agentfootprint.trace.bundle import AnyBundle, CommitBundle, TraceEntry
from agentfootprint.trace.ids import path_of
from agentfootprint.trace.log import index_of
from agentfootprint.trace.questions.ground import EdgeKind, Ground, Link, PlainGround
from agentfootprint.trace.questions.sources import ControlDep, ControlLookup, ReadsLookup, control_dep_of, reads_of
from agentfootprint.trace.summary import scalar_text
from agentfootprint.trace.values import Record

__all__ = [
    "CausalEdge",
    "CausalNode",
    "ChainOptions",
    "Truncated",
    "Weigher",
    "causal_chain",
    "flatten_causal_chain",
    "format_causal_chain",
    "walk_chain",
    "walk_ground",
]

Weigher: TypeAlias = Callable[["CausalNode", "CausalNode", "str | None", EdgeKind], "float | None"]
"""`weigh(child, parent, key, kind)`; `None`, an error and what is no finite number count as 1."""

_ATTRIBUTIONS: Final = {"stage": "stage", "commit": "commit", "per-write": "commit"}  # the last is the wire's word


class Truncated(Record, frozen=True, gc=False, rename="camel"):
    """Which limits cut a slice: older causes exist beyond it."""

    by_depth: bool
    by_nodes: bool


class CausalEdge(msgspec.Struct, frozen=True, eq=False):
    """One reason why a step depends on an earlier one."""

    parent: CausalNode
    kind: EdgeKind
    key: str | None
    """The key that was read (data), the label of the rule (control) or nothing."""
    weight: float
    source: str | None = None
    """Behind a boundary (map): the key on the other side."""
    through: tuple[str, ...] = ()
    """Behind a boundary (map): runtime stage ids of the mounts that were crossed."""

    def __repr__(self) -> str:
        """Without what lies behind the parent, which may be the whole run."""
        return f"CausalEdge(to {self.parent.runtime_stage_id!r}, kind={self.kind!r}, key={self.key!r})"


class CausalNode(msgspec.Struct, eq=False):
    """A step in a slice."""

    runtime_stage_id: str
    stage_id: str
    stage_name: str
    keys_written: tuple[str, ...]
    """Trace paths that the bundle in question wrote, repeats kept."""
    linked_by: str
    """The key by which the walk first came here; `""` at the root and behind a control edge."""
    depth: int
    incomplete_sources: tuple[str, ...] = ()
    """What the step also consumed and no read records: the slice may lack causes here (FLOW-SLC-6)."""
    parent_edges: list[CausalEdge] = []
    """Why it depends on what, in the order the walk found it."""
    truncated: Truncated | None = None
    """At the root of a slice that a limit has cut."""

    @property
    def parents(self) -> list[CausalNode]:
        """The steps it depends on, each once, in the order of its edges."""
        return list(dict.fromkeys(edge.parent for edge in self.parent_edges))

    def __repr__(self) -> str:
        """Without what lies behind it, which may be the whole run."""
        return (
            f"CausalNode({self.runtime_stage_id!r}, keys_written={self.keys_written!r}, "
            f"linked_by={self.linked_by!r}, depth={self.depth})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainOptions:
    """How far and how finely a slice goes back."""

    max_depth: int = 20
    max_nodes: int = 100
    control_deps: ControlLookup | None = None
    """The decision that let a step run; adds control edges."""
    weigh: Weigher | None = None
    edge_attribution: Literal["stage", "commit"] = "commit"
    """`stage`: a write depends on all reads of its stage. `commit`: on the reads recorded with it, where they are."""
    root_link_keys: Sequence[str] | None = None
    """Under `commit`, the keys of the root that are asked about; all of its reads when not given."""
    entry: Literal["first", "last"] = "first"
    """Which of several writes of one key in one bundle counts (FLOW-SLC-8)."""
    anchor: Literal["last", "writer"] = "last"
    """Where a step with several bundles goes on: at its last one (FLOW-SLC-5), or at the one that wrote the key."""

    def __post_init__(self) -> None:
        if self.edge_attribution not in _ATTRIBUTIONS:
            raise ConfigError(
                "edge_attribution",
                f"The edge attribution {self.edge_attribution!r} is not known.",
                fix="Use 'stage' or 'commit'.",
            )

    @property
    def per_write(self) -> bool:
        """Whether edges follow the reads of one write."""
        return _ATTRIBUTIONS[self.edge_attribution] == "commit"


def causal_chain(
    log: Sequence[AnyBundle],
    start_id: str,
    keys_read: ReadsLookup,
    *,
    max_depth: int = 20,
    max_nodes: int = 100,
    control_deps: ControlLookup | None = None,
    weigh: Weigher | None = None,
    edge_attribution: Literal["stage", "commit"] = "stage",
) -> CausalNode | None:
    """The steps that a step depends on, directly and through others (14.2).

    Args:
        log: The commit log of one runtime, in either form, or a `LogIndex` of it.
        start_id: Runtime stage id of the step to explain.
        keys_read: What each step read.
        max_depth: Levels to go back; 0 is the step alone.
        max_nodes: Steps to visit, the first included.
        control_deps: The decision that let a step run, for control edges.
        weigh: A weight for each edge, from 0 to 1; 1 when it gives none.
        edge_attribution: Whether a write depends on all reads of its stage, or (`commit`, the wire's `per-write`)
            on those recorded with it.

    Returns:
        The step's node with its parents, or `None` when the log doesn't know the step. Costs O(nodes x keys x log n)
        after one pass over the log.

    Raises:
        MalformedBundleError: An element of the log is no commit bundle.
    """
    options = ChainOptions(
        max_depth=max_depth,
        max_nodes=max_nodes,
        control_deps=control_deps,
        weigh=weigh,
        edge_attribution=edge_attribution,
    )
    return walk_chain(log, start_id, keys_read, options)


def walk_chain(
    log: Sequence[AnyBundle],
    start_id: str,
    keys_read: ReadsLookup,
    options: ChainOptions,
    *,
    start_at: int | None = None,
) -> CausalNode | None:
    """`causal_chain` with every option; `start_at` is the position of the root's bundle under `anchor="writer"`."""
    index = index_of(log)
    position = index.last_position(start_id)
    if position is None:
        return None
    if start_at is not None and options.anchor == "writer":
        position = start_at
    return walk_ground(PlainGround(index), position, keys_read, options)


def walk_ground(
    ground: Ground, position: int, keys_read: ReadsLookup, options: ChainOptions, also: Sequence[Link] = ()
) -> CausalNode:
    """The steps that the bundle at a position depends on, wherever they are found; `also`: other writes it is about."""
    return _Walk(ground, keys_read, options).run(position, also)


class _Visit(msgspec.Struct, gc=False):
    """A step to expand: from where in the log, and by which keys."""

    node: CausalNode
    position: int
    keys: Sequence[str]
    links: Sequence[Link] = ()
    """Where what a mount wrote back came from, when that is what led here."""


class _Walk:
    """One breadth-first walk."""

    def __init__(self, ground: Ground, keys_read: ReadsLookup, options: ChainOptions) -> None:
        self._ground = ground
        self._keys_read = keys_read
        self._options = options
        self._per_write = options.per_write
        self._nodes: dict[str, CausalNode] = {}
        self._whole: dict[int, CausalNode] = {}
        """By position: the step of a bundle from where nothing is left to follow; coming again adds an edge only."""
        self._expanded: dict[str, set[str] | None] = {}
        """Keys a step was expanded by; `None` once it was expanded by all it read."""
        self._allowed: set[str] = set()
        """Steps whose decision was looked up."""
        self._followed: set[tuple[int, str]] = set()
        """Writes of mounts that were followed inside, by position and path."""
        self._edges: set[tuple[int, int, EdgeKind, str | None, str | None]] | None = set() if ground.repeats else None
        self._queue: deque[_Visit] = deque()
        self._by_depth = self._by_nodes = False

    def run(self, position: int, also: Sequence[Link] = ()) -> CausalNode:
        bundle = self._ground.bundle(position)
        root = self._node(bundle, "", 0)
        roots = self._options.root_link_keys
        paths = None if roots is None else [path_of(key) for key in roots]
        inside = self._inside(position, paths if paths is not None else [entry.path for entry in bundle.trace])
        if inside is None:
            self._begin(root, position, self._reads_behind(bundle, paths) if paths is not None else None)
        else:
            self._expanded[root.runtime_stage_id] = set()
            self._queue.append(_Visit(root, position, (), inside))
        if also:
            self._queue.append(_Visit(root, position, (), also))
        while self._queue:
            self._expand(self._queue.popleft())
        if self._by_depth or self._by_nodes:
            root.truncated = Truncated(self._by_depth, self._by_nodes)
        return root

    def _expand(self, visit: _Visit) -> None:
        node, position = visit.node, visit.position
        control = None if self._options.control_deps is None else self._control(node.runtime_stage_id)
        if node.depth >= self._options.max_depth:
            self._by_depth = self._by_depth or bool(visit.keys) or bool(visit.links) or control is not None
            return
        behind = self._ground.behind
        for key in visit.keys:
            for link in behind(key, position):
                self._link(node, link)
        for link in visit.links:
            self._link(node, link)
        if control is not None:
            decided = self._ground.last_position(control.decider_id)
            if decided is not None:
                self._link(node, Link(decided, "", control.label or "", "control"))

    def _control(self, step: str) -> ControlDep | None:
        """The decision that let a step run; told once for each step."""
        if step in self._allowed:
            return None
        self._allowed.add(step)
        return control_dep_of(self._options.control_deps, step)

    def _link(self, child: CausalNode, link: Link) -> None:
        parent = self._whole.get(link.position)
        if parent is None:
            parent = self._reached(child, link)
            if parent is None:
                return
        kind = link.kind
        key = link.key or None if kind == "control" else link.key
        if self._edges is not None:
            identity = (id(child), id(parent), kind, key, link.source)
            if identity in self._edges:
                return
            self._edges.add(identity)
        weigh = self._options.weigh
        weight = 1 if weigh is None else _weight(weigh, child, parent, kind, key)
        child.parent_edges.append(CausalEdge(parent, kind, key, weight, link.source, link.through))

    def _reached(self, child: CausalNode, link: Link) -> CausalNode | None:
        """The step of a write, which is expanded by what led to that write; nothing when there are too many steps."""
        position, is_data = link.position, link.kind != "control"
        bundle = self._ground.bundle(position)
        step = bundle.runtime_stage_id
        inside = self._inside(position, (link.path,)) if is_data else None
        node = self._nodes.get(step)
        is_new = node is None
        if node is None:
            if len(self._nodes) >= self._options.max_nodes:
                self._by_nodes = True
                return None
            node = self._node(bundle, link.key if is_data else "", child.depth + 1)
        if inside is not None:
            if is_new:
                self._expanded[step] = set()
            if inside or is_new:
                self._queue.append(_Visit(node, position, (), inside))
            return node
        if is_new:
            self._begin(node, position, self._reads_behind(bundle, (link.path,)) if is_data else None)
        elif self._per_write:
            self._go_on(node, position, self._reads_behind(bundle, (link.path,)) if is_data else None)
        if is_data and (not self._per_write or self._expanded[step] is None):
            self._whole[position] = node
        return node

    def _inside(self, position: int, paths: Sequence[str]) -> list[Link] | None:
        """Where a mount's write came from, told once for each path; `None` when it is the write of a step."""
        links: list[Link] = []
        if not paths:
            return None
        for path in paths:
            if (position, path) in self._followed:
                continue
            found = self._ground.inside(position, path)
            if found is None:
                return None
            self._followed.add((position, path))
            links.extend(found)
        return links

    def _node(self, bundle: CommitBundle, linked_by: str, depth: int) -> CausalNode:
        node = self._nodes[bundle.runtime_stage_id] = CausalNode(
            bundle.runtime_stage_id,
            bundle.stage_id,
            bundle.stage,
            tuple([entry.path for entry in bundle.trace]),
            linked_by,
            depth,
            bundle.untracked_sources,
        )
        return node

    def _begin(self, node: CausalNode, position: int, wanted: Sequence[str] | None) -> None:
        """Expand a step for the first time: by the keys behind one write of it, or by all it read."""
        step = node.runtime_stage_id
        keys = reads_of(self._keys_read, step) if wanted is None else wanted
        if len(keys) > 1:
            keys = tuple(dict.fromkeys(keys))
        self._expanded[step] = None if wanted is None else set(keys)
        self._queue.append(_Visit(node, self._anchor(step, position), keys, self._ground.handed(position)))

    def _go_on(self, node: CausalNode, position: int, wanted: Sequence[str] | None) -> None:
        """Expand a step by what is behind another write of it; never twice by one key."""
        step = node.runtime_stage_id
        done = self._expanded[step]
        if done is None:
            return
        behind = reads_of(self._keys_read, step) if wanted is None else wanted
        keys = [key for key in dict.fromkeys(behind) if key not in done]
        done.update(keys)
        links: Sequence[Link] = ()
        if wanted is None:
            self._expanded[step] = None
            links = self._ground.handed(position)
        if keys or links:
            self._queue.append(_Visit(node, self._anchor(step, position), keys, links))

    def _anchor(self, step: str, position: int) -> int:
        """The position that a step is expanded from."""
        last = self._ground.last_position(step) if self._options.anchor == "last" else None
        return position if last is None else last

    def _reads_behind(self, bundle: CommitBundle, keys: Sequence[str]) -> list[str] | None:
        """What was read before the writes of these keys, or `None` where that isn't recorded."""
        if not self._per_write:
            return None
        behind: dict[str, None] = {}
        for key in keys:
            entry = self._entry_of(bundle, key)
            if entry is None or entry.read_keys is None:
                return None
            behind.update(dict.fromkeys(entry.read_keys))
        return list(behind)

    def _entry_of(self, bundle: CommitBundle, key: str) -> TraceEntry | None:
        for entry in bundle.trace if self._options.entry == "first" else reversed(bundle.trace):
            if entry.path == key:
                return entry
        return None


def _weight(weigh: Weigher, child: CausalNode, parent: CausalNode, kind: EdgeKind, key: str | None) -> float:
    try:
        weight = weigh(child, parent, key, kind)
        return 1 if weight is None or not math.isfinite(weight) else weight
    except Exception:  # noqa: BLE001  the caller's weigher, not ours
        return 1


def flatten_causal_chain(root: CausalNode) -> list[CausalNode]:
    """The steps of a slice breadth-first over parents, each once (FLOW-SLC-7)."""
    nodes = {root: None}
    waiting = [root]
    for node in waiting:
        for edge in node.parent_edges:
            if edge.parent not in nodes:
                nodes[edge.parent] = None
                waiting.append(edge.parent)
    return waiting


def format_causal_chain(root: CausalNode) -> str:
    """A slice as indented text, causes below what they caused (14.3)."""
    lines = list(_lines(root))
    if root.truncated is not None:
        cut = root.truncated
        limits = [name for name, met in (("maxDepth", cut.by_depth), ("maxNodes", cut.by_nodes)) if met]
        told = ", ".join(f"{name} reached" for name in limits)
        lines.append(f"⚠ slice truncated ({told}) — older causes exist beyond this horizon")
    return "\n".join(lines)


def _lines(root: CausalNode) -> Iterator[str]:
    printed: set[int] = set()
    stack: list[tuple[CausalNode, int, Sequence[CausalEdge]]] = [(root, 0, ())]
    while stack:
        node, level, edges = stack.pop()
        indent = "  " * level
        if id(node) in printed:
            yield f"{indent}↳ {node.runtime_stage_id} (see above)"
            continue
        printed.add(id(node))
        wrote = f" [wrote: {', '.join(node.keys_written)}]" if node.keys_written else ""
        yield f"{indent}{node.stage_name} ({node.runtime_stage_id}){_link_text(node, edges)}{wrote}"
        if node.incomplete_sources:
            sources = "/".join(node.incomplete_sources)
            yield f"{indent}  ⚠ also consumed {sources} — slice may be incomplete here"
        by_parent: dict[CausalNode, list[CausalEdge]] = {}
        for edge in node.parent_edges:
            by_parent.setdefault(edge.parent, []).append(edge)
        stack.extend((parent, level + 1, by_parent[parent]) for parent in reversed(by_parent))


def _link_text(node: CausalNode, edges: Sequence[CausalEdge]) -> str:
    text = ""
    if node.linked_by:
        data = [edge for edge in edges if edge.kind != "control"]
        edge = next((edge for edge in data if edge.key == node.linked_by), data[0] if data else None)
        weight = f" ({scalar_text(edge.weight)})" if edge is not None and edge.weight != 1 else ""
        text = f" ← via {node.linked_by}{weight}"
        crossed = dict.fromkeys(_boundary(edge) for edge in data if edge.kind == "map")
        text += "".join(f" ← [map: {boundary}]" for boundary in crossed)
    control = next((edge for edge in edges if edge.kind == "control"), None)
    if control is None:
        return text
    return f"{text} ← [control: {control.key}]" if control.key else f"{text} ← [control]"


def _boundary(edge: CausalEdge) -> str:
    """Which boundary an edge crosses: the mounts on the way, and the key behind them where it has another name."""
    through = " / ".join(edge.through)
    source = edge.source if edge.source != edge.key or not through else ""
    return " ".join(part for part in (through, source) if part)
