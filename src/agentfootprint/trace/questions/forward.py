"""What a value went on to influence: who read it while it lived, and what they wrote.

The unit is a life: from the write of a value to the key's next write (FLOW-FWD-1). A step that reads a key and
overwrites it saw the old value. An edge is exact where the write recorded its reads, else it holds for the stage.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias

from agentfootprint.trace.bundle import AnyBundle, CommitBundle
from agentfootprint.trace.ids import path_of
from agentfootprint.trace.log import LogIndex, index_of
from agentfootprint.trace.questions.chain import Truncated
from agentfootprint.trace.questions.notes import Note
from agentfootprint.trace.questions.slice import BLIND_READS, MissingSlice, source_of
from agentfootprint.trace.questions.sources import KeysReadSource, ReadsCoverage, ReadsLookup, reads_of
from agentfootprint.trace.values import Record, thaw

__all__ = [
    "FedEdge",
    "ForwardNode",
    "ForwardSlice",
    "ReadsIndex",
    "StepRef",
    "format_forward_slice",
    "forward_slice_for_key",
    "forward_slice_to_json",
]

Basis: TypeAlias = Literal["per-write", "stage"]
_SHOWN_KEYS: Final = 10
_SHOWN_READS: Final = 5


class StepRef(Record, frozen=True, gc=False, rename="camel"):
    """A step that read the value, at its place in the log."""

    runtime_stage_id: str
    stage_id: str
    stage_name: str
    commit_idx: int


@dataclass(frozen=True, slots=True, eq=False)
class FedEdge:
    """A value that was made from this one."""

    child: ForwardNode = field(repr=False)
    basis: Basis
    """`per-write`: the write recorded that it read this value. `stage`: its stage did, and no more is known."""


@dataclass(slots=True, eq=False)
class ForwardNode:
    """One life of a value."""

    key: str
    writer: CommitBundle | None
    """`None` for the value that was there before the run."""
    position: int
    """Of the writer in the log; -1 before the run."""
    verb: str
    next_write_idx: int | None
    """Where the key was written next; `None` when the value lived to the end."""
    depth: int
    reads: tuple[StepRef, ...] = ()
    """Steps that read this value; none are listed at the depth where the walk stops."""
    fed_edges: list[FedEdge] = field(default_factory=list[FedEdge], repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class ForwardSlice:
    """All that a value went on to influence. Print it; `forward_slice_to_json` makes what files hold."""

    key: str
    before: int | None
    keys_read_kind: str
    notes: tuple[Note, ...] = ()
    root: ForwardNode | None = None
    missing: MissingSlice | None = None
    truncated: Truncated | None = None
    reads_coverage: ReadsCoverage | None = None
    """How much of the reads is on record, where the source can tell."""

    def __str__(self) -> str:
        return format_forward_slice(self)


class ReadsIndex:
    """Which steps of a log read a key, at which position; built in one pass over log and reads."""

    def __init__(self, index: LogIndex, source: KeysReadSource) -> None:
        self.index = index
        self._readers: dict[str, list[int]] = {}
        known: dict[str, tuple[str, ...]] = {}
        for position, bundle in enumerate(index):
            step = bundle.runtime_stage_id
            if step not in known:
                known[step] = tuple(dict.fromkeys(reads_of(source, step)))
            for key in known[step]:
                self._readers.setdefault(key, []).append(position)

    @property
    def is_blind(self) -> bool:
        """Whether no read of any step is on record."""
        return not self._readers

    def readers(self, path: str) -> Sequence[int]:
        """Positions of the bundles whose step read a key, ascending; a step counts at each of its bundles."""
        return self._readers.get(path, ())

    def knows(self, path: str) -> bool:
        """Whether the log has a write or a read of the key."""
        return path in self._readers or bool(self.index.writes(path))

    def step(self, position: int) -> StepRef:
        """The step at a position."""
        bundle = self.index[position]
        return StepRef(bundle.runtime_stage_id, bundle.stage_id, bundle.stage, position)

    def unknown_key(self, path: str) -> Note:
        """Says that nobody wrote or read the key, and which keys there are."""
        known = sorted({*self.index.paths, *self._readers})
        more = f" (+{len(known) - _SHOWN_KEYS} more)" if len(known) > _SHOWN_KEYS else ""
        return Note(
            "unknown-key",
            f"unknown key '{path}' — this commit log has no write and no recorded read of it. "
            f"Known keys: {', '.join(known[:_SHOWN_KEYS])}{more}. If the key is real, check that the commit log and "
            "the reads provider come from the SAME scope (a subflow has its own).",
        )


READS_NOT_RECORDED: Final = Note(
    "reads-not-recorded", f"{BLIND_READS[2:]} — 'nothing read this value' is UNKNOWABLE here, not true."
)


def pre_run_origin(path: str) -> Note:
    """Says that the value was there before the run."""
    return Note(
        "pre-run-origin",
        f"'{path}' has no write before this point — the value came from initial state, frozen run input (args), or a "
        "closure. The reads listed did see it; who put it there is outside the commit log.",
    )


def forward_slice_for_key(
    log: Sequence[AnyBundle],
    key: str | Sequence[str],
    reads: ReadsLookup,
    *,
    before: int | None = None,
    max_depth: int = 20,
    max_nodes: int = 100,
) -> ForwardSlice:
    """All that the value of a key went on to influence (FLOW-FWD-2).

    Args:
        log: The commit log of one runtime, in either form, or a `LogIndex` of it.
        key: A top-level key, or the segments of a nested place.
        reads: What each step read; a step whose lookup raises read nothing.
        before: Take the value as it was before this log position; the last value when not given.
        max_depth: Levels to follow.
        max_nodes: Lives to visit, the first included.

    Returns:
        The slice; with `missing` when the log is empty or knows nothing of the key, and with notes on what it can't
        tell.
    """
    index, path, source = index_of(log), path_of(key), source_of(reads)
    covered = source.coverage
    if not len(index):
        return ForwardSlice(path, before, source.kind, missing="empty-log", reads_coverage=covered)
    known = ReadsIndex(index, source)
    notes = [] if known.knows(path) else [known.unknown_key(path)]
    if notes and not known.is_blind:
        return ForwardSlice(path, before, source.kind, tuple(notes), missing="never-written", reads_coverage=covered)
    if known.is_blind:
        notes.append(READS_NOT_RECORDED)
    position = index.last_write_before(path, len(index) if before is None else before)
    if position is None and known.knows(path):
        notes.append(pre_run_origin(path))
    walk = _Walk(known, max_depth, max_nodes)
    root = walk.run(path, -1 if position is None else position)
    notes.extend(walk.notes(path))
    return ForwardSlice(path, before, source.kind, tuple(notes), root, None, walk.truncated, covered)


class _Walk:
    """One breadth-first walk over lives."""

    def __init__(self, known: ReadsIndex, max_depth: int, max_nodes: int) -> None:
        self._known = known
        self._max_depth = max_depth
        self._max_nodes = max_nodes
        self._nodes: dict[tuple[int, str], ForwardNode] = {}
        self._by_depth = self._by_nodes = self._conservative = False

    @property
    def truncated(self) -> Truncated | None:
        return Truncated(self._by_depth, self._by_nodes) if self._by_depth or self._by_nodes else None

    def run(self, path: str, position: int) -> ForwardNode:
        root = self._life(path, position, 0)
        queue = deque([root])
        while queue:
            queue.extend(self._expand(queue.popleft()))
        return root

    def notes(self, path: str) -> Iterator[Note]:
        if self._conservative:
            yield Note(
                "conservative-fed-edges",
                "some 'fed' edges are CONSERVATIVE (stage-level): those writes carry no per-write read provenance, so "
                f"a stage that read '{path}' and wrote another key may not actually have used it. Run with "
                "writeProvenance: 'reads-prefix' to get exact edges.",
            )
        if self.truncated is not None:
            limits = [name for name, met in (("maxDepth", self._by_depth), ("maxNodes", self._by_nodes)) if met]
            told = ", ".join(f"{name} reached" for name in limits)
            yield Note(
                "truncated", f"walk truncated ({told}) — more consumers of this value exist beyond this horizon."
            )

    def _life(self, path: str, position: int, depth: int) -> ForwardNode:
        writer = self._known.index[position] if position >= 0 else None
        entries = () if writer is None else writer.trace
        verb = next((entry.verb for entry in reversed(entries) if entry.path == path), "")
        node = ForwardNode(path, writer, position, verb, self._known.index.next_write_after(path, position), depth)
        self._nodes[position, path] = node
        return node

    def _expand(self, node: ForwardNode) -> Iterator[ForwardNode]:
        """Fill in who read a life and what they made of it; gives the lives that are new."""
        until = len(self._known.index) if node.next_write_idx is None else node.next_write_idx
        readers = self._known.readers(node.key)
        readers = readers[bisect_right(readers, node.position) : bisect_right(readers, until)]
        if node.depth >= self._max_depth:
            self._by_depth = self._by_depth or bool(readers)
            return
        node.reads = tuple(map(self._known.step, readers))
        for position in readers:
            last_entries = {entry.path: entry for entry in self._known.index[position].trace}
            for path, entry in last_entries.items():
                if entry.read_keys is not None and node.key not in entry.read_keys:
                    continue
                child = self._nodes.get((position, path))
                if child is None:
                    if len(self._nodes) >= self._max_nodes:
                        self._by_nodes = True
                        continue
                    child = self._life(path, position, node.depth + 1)
                    yield child
                self._conservative = self._conservative or entry.read_keys is None
                node.fed_edges.append(FedEdge(child, "stage" if entry.read_keys is None else "per-write"))


def forward_slice_to_json(slice_: ForwardSlice) -> dict[str, Any]:
    """A forward slice as files hold it (FLOW-FWD-5): each life once, under an id that means nothing outside."""
    wire = asked_json(slice_)
    if slice_.root is None:
        return wire
    nodes = [slice_.root]
    ids = {id(slice_.root): "n0"}
    for node in nodes:
        for edge in node.fed_edges:
            if id(edge.child) not in ids:
                ids[id(edge.child)] = f"n{len(nodes)}"
                nodes.append(edge.child)
    wire["rootId"] = "n0"
    wire["nodes"] = [{"id": ids[id(node)], **_node_json(node)} for node in nodes]
    wire["edges"] = [
        {"from": ids[id(node)], "to": ids[id(edge.child)], "basis": edge.basis}
        for node in nodes
        for edge in node.fed_edges
    ]
    if slice_.truncated is not None:
        wire["truncated"] = thaw(slice_.truncated)
    return wire


class Asked(Protocol):
    """What every answer about a key says of the question."""

    @property
    def key(self) -> str: ...
    @property
    def before(self) -> int | None: ...
    @property
    def missing(self) -> MissingSlice | None: ...
    @property
    def keys_read_kind(self) -> str: ...
    @property
    def reads_coverage(self) -> ReadsCoverage | None: ...
    @property
    def notes(self) -> tuple[Note, ...]: ...


def asked_json(answer: Asked) -> dict[str, Any]:
    """The members that answers about a key have in common."""
    wire: dict[str, Any] = {"key": answer.key}
    if answer.before is not None:
        wire["before"] = answer.before
    if answer.missing is not None:
        wire["missing"] = answer.missing
    wire["keysReadKind"] = answer.keys_read_kind
    if answer.reads_coverage is not None:
        wire["readsCoverage"] = thaw(answer.reads_coverage)
    wire["notes"] = [thaw(note) for note in answer.notes]
    return wire


def _node_json(node: ForwardNode) -> dict[str, Any]:
    wire: dict[str, Any] = {"key": node.key, "origin": "pre-run" if node.writer is None else "write"}
    if node.writer is not None:
        wire |= {
            "runtimeStageId": node.writer.runtime_stage_id,
            "stageId": node.writer.stage_id,
            "stageName": node.writer.stage,
            "commitIdx": node.position,
            "verb": node.verb,
        }
    if node.next_write_idx is not None:
        wire["nextWriteIdx"] = node.next_write_idx
    wire["depth"] = node.depth
    wire["reads"] = [thaw(read) for read in node.reads]
    if node.writer is not None and node.writer.untracked_sources:
        wire["incompleteSources"] = list(node.writer.untracked_sources)
    return wire


def format_forward_slice(slice_: ForwardSlice) -> str:
    """A forward slice as indented text, what was made below what it was made from (FLOW-FWD-7)."""
    asked = "" if slice_.before is None else f" (as of before commit {slice_.before})"
    lines = [f"FORWARD SLICE for '{slice_.key}'{asked} — reads via: {slice_.keys_read_kind}"]
    if slice_.missing == "empty-log":
        lines.append("no forward slice: the commit log is empty (nothing has executed).")
    elif slice_.missing is not None:
        lines.append(f"no forward slice: '{slice_.key}' was never written and never read in this log.")
    elif slice_.root is not None:
        lines.extend(_lines(slice_.root))
    lines.extend(f"⚠ {note.detail}" for note in slice_.notes)
    return "\n".join(lines)


def _lines(root: ForwardNode) -> Iterator[str]:
    printed: set[int] = set()
    stack: list[tuple[ForwardNode, int, Basis | None]] = [(root, 0, None)]
    while stack:
        node, level, basis = stack.pop()
        indent = "  " * level
        fed = "" if basis is None else f"→ fed [{'exact' if basis == 'per-write' else 'conservative'}] "
        seen = " ↳ (see above)" if id(node) in printed else ""
        yield f"{indent}{fed}{_life_text(node)}{seen}"
        if seen:
            continue
        printed.add(id(node))
        yield from (f"{indent}  {line}" for line in _detail(node))
        stack.extend((edge.child, level + 1, edge.basis) for edge in reversed(node.fed_edges))


def _life_text(node: ForwardNode) -> str:
    lived = "to the end of the run" if node.next_write_idx is None else f"until commit {node.next_write_idx}"
    if node.writer is None:
        return f"'{node.key}' from BEFORE the run (initial state / input / closure) — live {lived}"
    writer = node.writer
    return f"'{node.key}' {node.verb} by {writer.stage} ({writer.runtime_stage_id}) @{node.position} — live {lived}"


def _detail(node: ForwardNode) -> Iterator[str]:
    if node.writer is not None and node.writer.untracked_sources:
        yield f"⚠ its writer also consumed {'/'.join(node.writer.untracked_sources)} — untracked"
    for read in node.reads[:_SHOWN_READS]:
        yield f"read by {read.stage_name} ({read.runtime_stage_id}) @{read.commit_idx}"
    if len(node.reads) > _SHOWN_READS:
        yield f"… (+{len(node.reads) - _SHOWN_READS} more reads)"
    if not node.reads:
        yield "(no recorded read of this value)"
