"""Why a key has the value it has: its last writer, and all that this write depends on.

A key that nobody wrote is an answer (`missing`), not an error; so is a source of reads that knows nothing, and the
text says so rather than showing a value without causes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from agentfootprint.trace.bundle import AnyBundle, CommitBundle
from agentfootprint.trace.ids import path_of
from agentfootprint.trace.log import index_of
from agentfootprint.trace.questions.chain import (
    CausalEdge,
    CausalNode,
    ChainOptions,
    flatten_causal_chain,
    format_causal_chain,
    walk_chain,
)
from agentfootprint.trace.questions.notes import Note
from agentfootprint.trace.questions.sources import KeysReadSource, ReadsCoverage, ReadsLookup
from agentfootprint.trace.values import thaw

__all__ = [
    "BLIND_READS",
    "VariableSlice",
    "format_slice",
    "slice_for_key",
    "slice_key",
    "slice_to_json",
    "source_of",
]

MissingSlice: TypeAlias = Literal["empty-log", "never-written"]
BLIND_READS: Final = "⚠ reads were not recorded (readTracking may be 'off')"


@dataclass(frozen=True, slots=True, eq=False)
class VariableSlice:
    """The causes of one value. Print it; `slice_to_json` makes what files hold."""

    key: str
    """The key as a trace path."""
    before: int | None = None
    """The log position before which the value was asked for, exclusive; the end when `None`."""
    writer: CommitBundle | None = None
    """The bundle that wrote the value."""
    root: CausalNode | None = field(default=None, repr=False)
    """The step of that bundle, with what it depends on."""
    missing: MissingSlice | None = None
    keys_read_kind: str = "custom-fn"
    reads_coverage: ReadsCoverage | None = None
    notes: tuple[Note, ...] = ()
    """Boundaries of mounts that the slice could not cross, or only by comparing values."""

    def __str__(self) -> str:
        return format_slice(self)


def slice_for_key(
    log: Sequence[AnyBundle], key: str | Sequence[str], reads: ReadsLookup, *, before: int | None = None
) -> VariableSlice:
    """Explain the value of a key by the steps it depends on (14.4).

    Edges follow the reads recorded with a write where there are such, else all reads of its stage.

    Args:
        log: The commit log of one runtime, in either form, or a `LogIndex` of it.
        key: A top-level key, or the segments of a nested place.
        reads: What each step read: `keys_read_from_execution_tree(tree)`, `keys_read_from_map(...)` or any function.
        before: Explain the value as it was before this log position; the last value when not given.

    Returns:
        The slice; with `missing` when the log is empty or nobody wrote the key before that position.

    Raises:
        MalformedBundleError: An element of the log is no commit bundle.

    Example:
        >>> def wrote(idx, step, key, value):
        ...     return {"idx": idx, "stage": step, "stageId": step, "runtimeStageId": f"{step}#{idx}", "updates": {},
        ...             "overwrite": {key: value}, "trace": [{"path": key, "verb": "set"}], "redactedPaths": []}
        >>> log = [wrote(0, "look-up", "delivered", "1 May"), wrote(1, "decide", "refund", False)]
        >>> print(slice_for_key(log, "refund", {"decide#1": ["delivered"]}.get))
        SLICE for 'refund' — reads via: custom-fn
        decide (decide#1) [wrote: refund]
          look-up (look-up#0) ← via delivered [wrote: delivered]
    """
    return slice_key(log, key, reads, before=before, options=ChainOptions())


def slice_key(
    log: Sequence[AnyBundle],
    key: str | Sequence[str],
    reads: ReadsLookup,
    *,
    before: int | None = None,
    options: ChainOptions,
) -> VariableSlice:
    """`slice_for_key` with limits, weights, control edges and the other options of the walk."""
    index, path, source = index_of(log), path_of(key), source_of(reads)
    asked = VariableSlice(path, before, None, None, None, source.kind, source.coverage)
    if not len(index):
        return replace(asked, missing="empty-log")
    position = index.last_write_before(path, len(index) if before is None else before)
    if position is None:
        return replace(asked, missing="never-written")
    writer = index[position]
    roots = [path] if options.root_link_keys is None else options.root_link_keys
    walk = replace(options, root_link_keys=roots)
    root = walk_chain(index, writer.runtime_stage_id, source.lookup, walk, start_at=position)
    return replace(asked, writer=writer, root=root)


def source_of(reads: ReadsLookup) -> KeysReadSource:
    """The source of reads, with the name of its kind."""
    return reads if isinstance(reads, KeysReadSource) else KeysReadSource("custom-fn", reads)


def slice_to_json(slice_: VariableSlice) -> dict[str, Any]:
    """A slice as files hold it (2.7): each node once, linear in nodes and edges (FLOW-SLC-33)."""
    wire: dict[str, Any] = {"key": slice_.key}
    if slice_.before is not None:
        wire["before"] = slice_.before
    wire["keysReadKind"] = slice_.keys_read_kind
    if slice_.reads_coverage is not None:
        wire["readsCoverage"] = thaw(slice_.reads_coverage)
    if slice_.root is None or slice_.writer is None:
        wire["missing"] = slice_.missing
        return wire
    nodes = flatten_causal_chain(slice_.root)
    wire["writerId"] = slice_.writer.runtime_stage_id
    wire["nodes"] = {node.runtime_stage_id: _node_json(node) for node in nodes}
    wire["edges"] = [_edge_json(node, edge) for node in nodes for edge in node.parent_edges]
    if slice_.root.truncated is not None:
        wire["truncated"] = thaw(slice_.root.truncated)
    if slice_.notes:
        wire["notes"] = [thaw(note) for note in slice_.notes]
    return wire


def _node_json(node: CausalNode) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "stageId": node.stage_id,
        "stageName": node.stage_name,
        "keysWritten": list(node.keys_written),
        "depth": node.depth,
    }
    if node.incomplete_sources:
        wire["incompleteSources"] = list(node.incomplete_sources)
    return wire


def _edge_json(node: CausalNode, edge: CausalEdge) -> dict[str, Any]:
    wire: dict[str, Any] = {"from": node.runtime_stage_id, "to": edge.parent.runtime_stage_id, "kind": edge.kind}
    if edge.key is not None:
        wire["key"] = edge.key
    wire["weight"] = int(edge.weight) if float(edge.weight).is_integer() else edge.weight
    if edge.source is not None:
        wire["source"] = edge.source
    if edge.through:
        wire["through"] = list(edge.through)
    return wire


def format_slice(slice_: VariableSlice) -> str:
    """A slice as text (FLOW-SLC-34)."""
    asked = "" if slice_.before is None else f" (before commit {slice_.before})"
    lines = [f"SLICE for '{slice_.key}'{asked} — reads via: {slice_.keys_read_kind}"]
    if slice_.root is None:
        lines.append(_missing_text(slice_))
        lines.extend(f"⚠ {note.detail}" for note in slice_.notes)
        return "\n".join(lines)
    if slice_.reads_coverage is not None and slice_.reads_coverage.is_blind:
        lines.append(f"{BLIND_READS} — dependencies below are unknowable, NOT absent.")
    lines.append(format_causal_chain(slice_.root))
    lines.extend(f"⚠ {note.detail}" for note in slice_.notes)
    return "\n".join(lines)


def _missing_text(slice_: VariableSlice) -> str:
    if slice_.missing == "empty-log":
        return "no slice: the commit log is empty (nothing has executed)."
    return (
        f"no slice: '{slice_.key}' was never written in range — the value came from initial state, "
        "frozen run input (args), or a closure; the commit log cannot see those."
    )
