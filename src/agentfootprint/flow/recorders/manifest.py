"""Which mounts a run went through: a light index for whoever decides what to look at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentfootprint.flow.watch.recorder import Recorder
from agentfootprint.flow.watch.sightings import SubflowEntered, SubflowRegistered
from agentfootprint.trace import Execution, Journal, Value, split_stage_id, thaw

__all__ = ["ManifestEntry", "ManifestRecorder", "manifest_of", "spec_at"]


@dataclass(slots=True)
class ManifestEntry:
    """A mount that was entered, once however often that was, with those entered inside it."""

    subflow_id: str
    name: str
    description: str | None = None
    children: list[ManifestEntry] = field(default_factory=list["ManifestEntry"])

    def to_wire(self) -> dict[str, Any]:
        """The entry as plain JSON."""
        described = {} if self.description is None else {"description": self.description}
        below = [child.to_wire() for child in self.children]
        return {"subflowId": self.subflow_id, "name": self.name, **described, "children": below}


class ManifestRecorder(Recorder):
    """Keeps which mounts were entered, and the structures that became known on the way.

    Args:
        id: Unique by default.
    """

    label = "manifest"

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id)
        self._tree = _Tree()
        self._specs: dict[str, Value] = {}

    def clear(self) -> None:
        """Forget everything: another run begins."""
        self._tree = _Tree()
        self._specs.clear()

    def on_subflow_entry(self, event: SubflowEntered) -> None:
        """Note the mount."""
        self._tree.entered(event.subflow_id, event.name, _text(event.description))

    def on_subflow_registered(self, event: SubflowRegistered) -> None:
        """Keep the structure; the first of an id stays (FLOW-EXE-50)."""
        if event.spec_structure:
            self._specs.setdefault(event.subflow_id, event.spec_structure)

    def manifest(self) -> list[ManifestEntry]:
        """The mounts that were entered, each with those inside it."""
        return self._tree.roots

    def spec(self, subflow_id: str) -> Value:
        """The structure that became known under an id; None when there is none."""
        return thaw(self._specs.get(subflow_id))

    def to_snapshot(self) -> dict[str, Any]:
        """Mounts and structures in wire form."""
        return {
            "name": "Manifest",
            "description": "Which mounts were entered.",
            "preferredOperation": "translate",
            "data": {
                "manifest": [entry.to_wire() for entry in self.manifest()],
                "specs": {name: thaw(spec) for name, spec in self._specs.items()},
            },
        }


def manifest_of(journal: Journal) -> list[ManifestEntry]:
    """The mounts that a run went through, read off its journal."""
    tree = _Tree()
    for mount in _mounts(journal.rows):
        first = journal.stages[mount.info.number].entry
        description = journal.stages[first].description if first >= 0 else None
        tree.entered(mount.info.subflow_id, mount.info.subflow_name, description)
    return tree.roots


def spec_at(structure: Mapping[str, Any], subflow_id: str) -> dict[str, Any] | None:
    """The structure of the chart that a mount runs, out of that of the whole; None when it has none.

    Args:
        structure: Of the whole chart, in wire form (2.8); ids inside a mount are its own.
        subflow_id: Ids of the mounts from the outermost to the one asked for, joined by `/`.
    """
    found: Mapping[str, Any] | None = structure
    for segment in subflow_id.split("/"):
        found = None if found is None else _mounted(found, segment)
    return None if found is None else dict(found)


def _mounted(structure: Mapping[str, Any], id: str) -> Mapping[str, Any] | None:
    """The chart inside one mount of a chart, found without going into other mounts."""
    waiting: list[Mapping[str, Any]] = [structure]
    while waiting:
        node = waiting.pop()
        if node.get("isSubflowRoot") and node.get("subflowId") == id:
            return node.get("subflowStructure")
        waiting.extend(node.get("children", ()))
        if "next" in node:
            waiting.append(node["next"])
    return None


def _mounts(rows: Iterable[object]) -> Iterable[Execution]:
    known: set[int] = set()
    for row in rows:
        if isinstance(row, Execution) and row.info.kind == "mount" and row.index not in known:
            known.add(row.index)
            yield row


class _Tree:
    """Mounts by their ids, which say what is inside what, whatever runs side by side."""

    def __init__(self) -> None:
        self.roots: list[ManifestEntry] = []
        self._known: dict[str, ManifestEntry] = {}

    def entered(self, subflow_id: str, name: str, description: str | None) -> None:
        if subflow_id in self._known:
            return
        entry = self._known[subflow_id] = ManifestEntry(subflow_id, name, description)
        above = split_stage_id(subflow_id).subflow_path
        outer = None if above is None else self._known.get(above)
        (self.roots if outer is None else outer.children).append(entry)


def _text(text: Any) -> str | None:  # noqa: ANN401  a text or the mark of an absent member
    return text if isinstance(text, str) else None
