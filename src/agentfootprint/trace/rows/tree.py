"""What ran after what and below what: the execution tree, and what each mount left behind (2.4, 2.5).

Built from a journal in one pass and without recursion: a chain of stages is as deep as it is long (FLOW-TREE-4).
The trees are plain JSON that the caller owns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from agentfootprint.trace.bundle import CommitBundle, as_object
from agentfootprint.trace.replay import update_value
from agentfootprint.trace.rows.fold import Commit, Fold
from agentfootprint.trace.rows.journal import (
    CHILD,
    NEXT,
    DecidedRow,
    Dials,
    Execution,
    FailedRow,
    Journal,
    MappedRow,
    NotedRow,
    SeededRow,
    SelectedRow,
    StageInfo,
)
from agentfootprint.trace.rows.projection import as_bundle_of, project_state
from agentfootprint.trace.summary import read_marker, write_marker
from agentfootprint.trace.values import ABSENT, Value, thaw

__all__ = ["project_snapshot", "project_subflow_results", "project_tree"]

_NOTHING: Final[Mapping[str, Value]] = {}
_ERROR_KEYS = {
    "stage": "stageExecutionError",
    "decider": "deciderError",
    "selector": "selectorError",
    "subflow": "subflowError",
    "inputMapper": "inputMapperError",
    "outputMapper": "outputMapperError",
}


def project_tree(journal: Journal, mount: int = -1) -> dict[str, Any] | None:
    """The execution tree of one runtime on the wire, None when nothing ran in it.

    Args:
        journal: The rows.
        mount: Index of the mount execution; -1 for the top.
    """
    return _Forest(journal).roots.get(mount)


def project_subflow_results(journal: Journal) -> dict[str, dict[str, Any]]:
    """What the mounts left behind, by mount path (the last execution) and by runtime stage id (each) (2.5)."""
    return _Forest(journal).results()


def project_snapshot(journal: Journal) -> dict[str, Any]:
    """The whole snapshot on the wire (2.3), without recorders.

    Its `sharedState` has the real values; for a snapshot with the redacted mirror, give `journal.shown()`.
    """
    forest = _Forest(journal)
    state = forest.fold.states[-1] if journal.veil is None else project_state(journal)
    snapshot: dict[str, Any] = {
        "runId": journal.run_id,
        "sharedState": {key: thaw(value) for key, value in state.items()},
        "executionTree": forest.roots.get(-1),
        "commitLog": [bundle.to_wire() for bundle in forest.logs.get(-1, [])],
        "commitValues": journal.dials.values,
        "writeProvenance": journal.dials.provenance,
    }
    results = forest.results()
    if results:
        snapshot["subflowResults"] = results
    return snapshot


class _Forest:
    """The trees of all runtimes of one journal."""

    def __init__(self, journal: Journal) -> None:
        journal = journal.shown()
        self.journal = journal
        self.fold = Fold(journal)
        self.nodes: dict[int, dict[str, Any]] = {}
        self.roots: dict[int, dict[str, Any]] = {}
        self.logs: dict[int, list[CommitBundle]] = {}
        self.left: list[Execution] = []
        """Mounts that ended, in order."""
        self.ended: set[int] = set()
        for position, row in enumerate(journal.rows):
            for commit in self.fold.commits(position):
                log = self.logs.setdefault(commit.mount, [])
                log.append(as_bundle_of(journal, commit, len(log)))
                if commit.kind == "stage":
                    self._committed(commit)
            if isinstance(row, Execution):
                self._appeared(row)
            elif isinstance(row, (SeededRow, MappedRow)):
                self._mapped(row)
            elif isinstance(row, DecidedRow):
                self._decided(row)
            elif isinstance(row, SelectedRow):
                self._selected(row)
            elif isinstance(row, NotedRow):
                self._noted(row)
            elif isinstance(row, FailedRow) and row.execution is not None and row.where in _ERROR_KEYS:
                errors = self.nodes[row.execution.index]["errors"]
                errors[_ERROR_KEYS[row.where]] = f"{row.name}: {row.message}"

    def results(self) -> dict[str, dict[str, Any]]:
        by_key: dict[str, dict[str, Any]] = {}
        for mount in self.left:
            info = mount.info
            result: dict[str, Any] = {
                "subflowId": info.subflow_id,
                "subflowName": info.subflow_name,
                "treeContext": {
                    "globalContext": {key: thaw(value) for key, value in self.fold.states.get(mount.index, {}).items()},
                    "stageContexts": self.roots.get(mount.index),
                    "history": [bundle.to_wire() for bundle in self.logs.get(mount.index, [])],
                },
                "parentStageId": f"{info.namespace}.{info.name}" if info.namespace else info.name,
            }
            by_key[info.subflow_id] = result
            by_key[mount.runtime_stage_id] = result
        return by_key

    def _appeared(self, execution: Execution) -> None:
        if execution.index not in self.nodes:
            self._begun(execution)
        elif execution.info.kind == "mount" and execution.index not in self.ended:  # once more: a fork child's end
            self.ended.add(execution.index)
            self.left.append(execution)
            self._say(execution, "subflow", f"Exiting {execution.info.subflow_name} subflow", execution.info.subflow_id)

    def _begun(self, execution: Execution) -> None:
        info = execution.info
        node: dict[str, Any] = {
            "id": info.id,
            "runtimeStageId": execution.runtime_stage_id,
            "name": execution.context_name,
            "isDecider": False,
            "isFork": False,
            "logs": {},
            "errors": {},
            "metrics": {},
            "evals": {},
        }
        if info.description is not None:
            node["description"] = info.description
        self.nodes[execution.index] = node
        self._hang(execution, node)
        if info.kind == "mount":
            node["subflowId"] = info.subflow_id
            self._say(execution, "subflow", f"Entering {info.subflow_name} subflow", info.subflow_id)

    def _hang(self, execution: Execution, node: dict[str, Any]) -> None:
        """Put a node where control came from, and say there how it moved on."""
        parent = self.journal.execution(execution.parent)
        if parent is None or parent.mount != execution.mount or parent.index not in self.nodes:
            last = self.roots.setdefault(execution.mount, node)
            if last is not node:  # a resume inside a mount that goes on in more than one branch: one after the other
                while "next" in last:
                    last = last["next"]
                last["next"] = node
            return
        above, info = self.nodes[parent.index], execution.info
        if execution.link == CHILD:
            children = above.setdefault("children", [])
            if not children and parent.info.kind not in ("decider", "selector", "foreach"):
                self._forked(parent)
            children.append(node)
            return
        above["next"] = node
        if execution.link > 0:
            above["logs"]["dynamicNextTarget"] = info.id
            above["logs"]["dynamicNextIteration"] = execution.link - 1
            text = f"Looping back to {info.name} (iteration {execution.link})"
            self._say(parent, "loop", text, info.name, iteration=execution.link)
        elif execution.link == NEXT and parent.info.kind in ("stage", "streaming", "pausable"):
            dynamic = " (dynamic)" if "dynamicNextDirect" in above["logs"] else ""
            self._say(parent, "next", f"Moving to {info.name} stage{dynamic}", info.name)

    def _forked(self, parent: Execution) -> None:
        names = [child.name for child in self._stages(parent.info.children)]
        logs = self.nodes[parent.index]["logs"]
        logs["totalChildren"] = len(names)
        logs["orderOfExecution"] = "ChildrenAfterStage"
        text = f"Executing all {len(names)} children in parallel: {', '.join(names)}"
        self._say(parent, "children", text, names, count=len(names))

    def _mapped(self, row: SeededRow | MappedRow) -> None:
        """Note which keys a map written as a function looked at (24.1); of a declared one that is known."""
        if isinstance(row, SeededRow):
            if row.reads:
                self.nodes[row.execution.index]["mapReads"] = list(row.reads)
            return
        node = self.nodes[row.mount.index]
        if row.reads:
            node["mapOutReads"] = list(row.reads)
        if row.outer_reads:
            node["mapParentReads"] = list(row.outer_reads)

    def _decided(self, row: DecidedRow) -> None:
        name = self.journal.stages[row.chosen].name
        rationale = self.nodes[row.execution.index]["logs"].get("deciderRationale")
        if not row.matched:
            text = f"Returned '{row.returned}' (no match), fell back to default → {name} path."
        elif rationale is not None:
            text = f"Based on: {rationale} → chose {name} path."
        else:
            text = f"Evaluated scope and returned '{row.returned}' → chose {name} path."
        self._say(row.execution, "branch", text, name, rationale=rationale or f"returned branchId: {row.returned}")

    def _selected(self, row: SelectedRow) -> None:
        logs = self.nodes[row.execution.index]["logs"]
        every = self._stages(row.execution.info.children)
        chosen = self._stages(row.chosen)
        logs["selectedChildIds"] = [child.branch_id for child in chosen]
        logs["selectorPattern"] = "scope-based-multi-choice"
        if not chosen:
            logs["skippedAllChildren"] = True
            self._say(row.execution, "selected", "No children selected — skipping all branches.", [], count=0)
            return
        skipped = [child.branch_id for child in every if child.number not in row.chosen]
        if skipped:
            logs["skippedChildIds"] = skipped
        names = [child.name for child in chosen]
        text = f"Running {', '.join(names)} ({len(names)} of {len(every)} matched)"
        self._say(row.execution, "selected", text, names, count=len(names))

    def _noted(self, row: NotedRow) -> None:
        """Keep a diagnostic; that of a for-each may say that it did not run all items."""
        update_value(self.nodes[row.execution.index][row.bag], row.key, thaw(row.value))
        if row.execution.info.kind != "foreach" or row.key != "parallelForEach":
            return
        told = as_object(row.value) or {}
        ran, every = told.get("branches", 0), told.get("items", 0)
        if ran < every:
            text = f"maxBranches reached: running {ran} of {every} items ({every - ran} not run)"
            name = row.execution.info.name
            self._say(row.execution, "children", text, [f"{name} [{place}]" for place in range(ran)], count=ran)

    def _stages(self, numbers: tuple[int, ...]) -> list[StageInfo]:
        return [self.journal.stages[number] for number in numbers]

    def _say(self, execution: Execution, kind: str, text: str, target: str | list[str], **more: object) -> None:
        messages = cast("list[dict[str, Any]]", self.nodes[execution.index].setdefault("flowMessages", []))
        messages.append({"type": kind, "description": text, "targetStage": target, **more})

    def _committed(self, commit: Commit) -> None:
        execution, dials = commit.execution, self.journal.dials
        node = self.nodes[execution.index]
        reads, writes = _seen_reads(commit, dials), _seen_writes(commit, dials)
        if writes is not None:
            node["stageWrites"] = writes
        if reads is not None:
            node["stageReads"] = reads


def _seen_reads(commit: Commit, dials: Dials) -> dict[str, Any] | None:
    """What the stage read, as the read dial shows it; a key that was absent is left out, as JSON can't hold it."""
    execution = commit.execution
    if execution.detail is not None:
        values = execution.detail.read_values
    else:  # alone in its runtime: what it read is what was there when it committed
        values = {key: commit.before.get(key, ABSENT) for key in execution.reads}
    if not values or dials.reads == "off":
        return None
    hidden = execution.detail.shown_reads if execution.detail is not None else None
    return _as_dialled(values, read_marker if dials.reads == "summary" else thaw, hidden or _NOTHING)


def _seen_writes(commit: Commit, dials: Dials) -> dict[str, Any] | None:
    """What the stage wrote, as the write dial shows it."""
    execution = commit.execution
    if execution.detail is not None:
        values = {path: value for path, (value, _) in execution.detail.tracked.items()}
    else:
        values = dict(commit.writes)
    if not values or dials.writes == "off":
        return None
    hidden = execution.detail.shown_writes if execution.detail is not None else None
    return _as_dialled(values, write_marker if dials.writes == "summary" else thaw, hidden or _NOTHING)


def _as_dialled(
    values: Mapping[str, Value], shown: Callable[[Value], Value], hidden: Mapping[str, Value]
) -> dict[str, Any]:
    """Values, or what stands for them; a placeholder stays as it is."""
    return {
        key: value if isinstance(hidden.get(key), str) else thaw(shown(value))
        for key, value in values.items()
        if value is not ABSENT
    }
