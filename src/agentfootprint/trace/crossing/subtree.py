"""What did one mount of a run do? The part of a snapshot that is about it, and the mounts there are (FLOW-SNP-6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

from agentfootprint.trace.bundle import as_list, as_object
from agentfootprint.trace.values import JsonObject

__all__ = ["list_subflow_paths", "subtree_snapshot"]


class _Told(Protocol):
    """An entry of a narrative."""

    @property
    def subflow_id(self) -> str | None:
        """The mount it tells of."""
        ...


Entry = TypeVar("Entry", bound="_Told | Mapping[str, Any]")


def list_subflow_paths(snapshot: JsonObject) -> list[str]:
    """The paths of the mounts that ran, in order of first end; ids of the mounts on the way, joined by `/`.

    Args:
        snapshot: A snapshot in wire form, of this implementation or the reference.
    """
    return [path for path in as_object(snapshot.get("subflowResults")) or {} if "#" not in path]


def subtree_snapshot(
    snapshot: JsonObject, path: str, narrative: Iterable[Entry] | None = None
) -> dict[str, Any] | None:
    """The part of a snapshot that is about one mount.

    Args:
        snapshot: A snapshot in wire form.
        path: The mount's path, or its runtime stage id for one of several executions; empty segments are dropped.
        narrative: Entries of the run's narrative; those of the mount and of the mounts in it are picked out.

    Returns:
        `subflowId`, `executionTree`, and where they are on record `sharedState`, `history` and `narrativeEntries`;
        None when there is no such mount. Without results of mounts the tree is searched for it, and holds no state.
    """
    segments = [segment for segment in path.split("/") if segment]
    if not segments:
        return None
    full = "/".join(segments)
    found: dict[str, Any] = {"subflowId": segments[-1].rpartition("#")[0] or segments[-1]}
    results = as_object(snapshot.get("subflowResults")) or {}
    result = as_object(results.get(full))
    left = None if result is None else as_object(result.get("treeContext"))
    if left is not None:
        found["executionTree"] = left.get("stageContexts")
        for name, source in (("sharedState", "globalContext"), ("history", "history")):
            if source in left:
                found[name] = left[source]
    else:
        node = _searched(snapshot.get("executionTree"), full, segments[-1])
        if node is None:
            return None
        found["executionTree"] = node
    if narrative is not None:
        mount = full.rpartition("#")[0] or full
        found["narrativeEntries"] = [entry for entry in narrative if _is_of(entry, mount)]
    return found


def _searched(tree: Any, full: str, last: str) -> Mapping[str, Any] | None:  # noqa: ANN401  JSON
    """The node of a mount in a tree: by its full id, else by the last segment alone."""
    stack, near = [tree], None
    seen: dict[int, Any] = {}
    while stack:
        node = as_object(stack.pop())
        if node is None or id(node) in seen:
            continue
        seen[id(node)] = node
        name = node.get("subflowId")
        if full in (name, node.get("runtimeStageId")):
            return node
        if near is None and name is not None and name == last:
            near = node
        stack.append(node.get("next"))
        stack.extend(reversed(as_list(node.get("children")) or ()))
    return near


def _is_of(entry: _Told | Mapping[str, Any], mount: str) -> bool:
    told = entry.get("subflowId") if isinstance(entry, Mapping) else entry.subflow_id
    return told is not None and (told == mount or told.startswith(f"{mount}/"))
