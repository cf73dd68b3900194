"""The runtimes of a run, read off a stored snapshot of either implementation (2.3).

A snapshot says less than a journal: maps of mounts stand in the structure when they were declared and in `mapReads`
when they were noticed; where neither is, the source of a key is inferred from equal values, and said to be. When a
step began isn't on record, so a step is taken to have seen what was committed before its own commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agentfootprint.trace.bundle import CommitBundle, as_list, as_object, dig
from agentfootprint.trace.crossing.runtimes import UNKNOWN, MappedOut, Runtime, Runtimes, Sources, returned
from agentfootprint.trace.ids import PATH_DELIMITER, split_stage_id
from agentfootprint.trace.log import LogIndex, value_at
from agentfootprint.trace.questions.sources import ControlDep, keys_read_from_execution_tree
from agentfootprint.trace.values import ABSENT, JsonObject, Value, deep_equal

__all__ = ["snapshot_runtimes"]

_TELLING: Final = 8
"""A text this long, or a container, is taken for the same value under another name; shorter ones repeat by chance."""


@dataclass(frozen=True, slots=True)
class _Maps:
    """The declared maps of a mount: target key -> source key."""

    input: Mapping[str, str] | None
    output: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a node of a tree stands."""

    node: Mapping[str, Any]
    number: int
    namespace: str
    control: ControlDep | None
    parent: str | None
    """Runtime stage id of the step that dispatched it as a branch."""


def snapshot_runtimes(snapshot: JsonObject, structure: JsonObject | None = None) -> Runtimes:
    """Read the runtimes of a stored snapshot.

    Args:
        snapshot: `executionTree`, `commitLog` and, where mounts ran, `subflowResults`, as JSON.
        structure: The chart's spec, where declared maps stand; the snapshot's own `structure` when not given.
    """
    spec = structure if structure is not None else as_object(snapshot.get("structure"))
    return _Reader(snapshot, dict(_maps_of(spec, ""))).read()


def _maps_of(spec: Mapping[str, Any] | None, prefix: str) -> Iterator[tuple[str, _Maps]]:
    """The declared maps in a spec, by the mount's full id."""
    stack: list[tuple[Any, str]] = [(spec, prefix)]
    while stack:
        raw, above = stack.pop()
        node = as_object(raw)
        if node is None:
            continue
        name = str(node.get("id", ""))
        full = name if not above or name.startswith(f"{above}/") else f"{above}/{name}"
        given, back = as_object(node.get("inputMap")), as_object(node.get("outputMap"))
        if given is not None or back is not None:
            yield full, _Maps(given, back)
        stack.append((node.get("next"), above))
        stack.extend((child, above) for child in as_list(node.get("children")) or ())
        stack.append((node.get("subflowStructure"), full))


class _Reader:
    """One pass over the trees of a snapshot."""

    def __init__(self, snapshot: JsonObject, maps: Mapping[str, _Maps]) -> None:
        self._snapshot = snapshot
        self._maps = maps
        self._results = as_object(snapshot.get("subflowResults")) or {}
        self._is_by_step = any("#" in key for key in self._results)
        """Whether each execution of a mount has results of its own; an older file has those of the last one only."""
        self._finals: list[Mapping[str, Any]] = [as_object(snapshot.get("sharedState")) or {}]
        self._control: dict[str, ControlDep] = {}
        self._namespaces: dict[str, str] = {}
        self._branches: dict[str, list[int]] = {}
        """Dispatching step -> numbers of the mounts that it started as branches, in order."""
        self._gathering: dict[str, tuple[str, ...]] = {}
        """For-each steps, with the keys that they read for their items."""
        self._known: set[int] = set()
        self._nodes: dict[str, Mapping[str, Any]] = {}
        """The node of each mount in its tree, by runtime stage id."""

    def read(self) -> Runtimes:
        tree = self._snapshot.get("executionTree")
        trees: list[Any] = [tree]
        top = Runtime(LogIndex(as_list(self._snapshot.get("commitLog")) or ()))
        reads = keys_read_from_execution_tree(())
        runtimes = Runtimes([top], reads, self._control.get, {}, namespaces=self._namespaces)
        runtimes.last_step = lambda number: _last_step(runtimes.every[number].log)
        stack = [_Place(root, 0, "", None, None) for root in [as_object(tree)] if root is not None]
        while stack:
            place = stack.pop()
            if id(place.node) in self._known:
                continue
            self._known.add(id(place.node))
            stack.extend(self._visit(place, runtimes, trees))
        runtimes.reads = keys_read_from_execution_tree(trees)
        self._find_own(runtimes)
        self._find_mapped(runtimes)
        return runtimes

    def _visit(self, place: _Place, runtimes: Runtimes, trees: list[Any]) -> Iterator[_Place]:
        node, step = place.node, place.node.get("runtimeStageId")
        control = place.control
        if isinstance(step, str):
            runtimes.number_of[step] = place.number
            if place.namespace:
                self._namespaces[step] = place.namespace
            if control is not None:
                self._control[step] = control
            if "subflowId" in node:
                yield from self._mounted(place, step, runtimes, trees)
        if isinstance(step, str) and "parallelForEach" in (as_object(node.get("logs")) or {}):
            self._gathering[step] = tuple(as_object(node.get("stageReads")) or ())
        kinds = {(as_object(message) or {}).get("type") for message in as_list(node.get("flowMessages")) or ()}
        chooses = bool(kinds & {"branch", "selected"})
        follow = as_object(node.get("next"))
        if follow is not None:
            yield _Place(follow, place.number, place.namespace, control, None)
        for raw in as_list(node.get("children")) or ():
            child = as_object(raw)
            if child is None:
                continue
            branch = split_stage_id(str(child.get("id", ""))).local
            namespace = place.namespace or ("" if "branch" in kinds else branch)
            chosen = ControlDep(step) if chooses and isinstance(step, str) else control
            yield _Place(child, place.number, namespace, chosen, step if isinstance(step, str) else None)

    def _mounted(self, place: _Place, step: str, runtimes: Runtimes, trees: list[Any]) -> Iterator[_Place]:
        name = step if self._is_by_step else step.rpartition("#")[0]
        found = as_object(self._results.get(name)) or {}
        left = as_object(found.get("treeContext")) or {}  # without one the mount is an end, and the slice says so
        number = len(runtimes.every)
        log = LogIndex(as_list(left.get("history")) or ())
        runtime = Runtime(log, step, place.number, 0, place.namespace)
        runtime.seeded = self._seeded(runtime, place, runtimes)
        runtimes.every.append(runtime)
        self._finals.append(as_object(left.get("globalContext")) or {})
        if place.parent is not None:
            self._branches.setdefault(place.parent, []).append(number)
        inner = left.get("stageContexts")
        trees.append(inner)
        root = as_object(inner)
        if root is not None:
            yield _Place(root, number, "", place.control, None)

    def _find_own(self, runtimes: Runtimes) -> None:
        """Where each step committed, and how much of its parent each mount had before it."""
        mounts = {runtime.step for runtime in runtimes.every[1:]}
        first: dict[str, int] = {}
        for runtime in runtimes.every:
            for position, bundle in enumerate(runtime.log):
                first.setdefault(bundle.runtime_stage_id, position)
        runtimes.own = {step: position for step, position in first.items() if step and step not in mounts}
        dispatched = {number: step for step, numbers in self._branches.items() for number in numbers}
        for number, runtime in enumerate(runtimes.every[1:], start=1):
            after = runtimes.own.get(dispatched.get(number, ""))
            last = len(runtimes.every[runtime.above].log)
            runtime.began = first.get(runtime.step, last) if after is None else after + 1

    def _find_mapped(self, runtimes: Runtimes) -> None:
        """Which bundles hold what a mount gave back: its own, or later ones of the step that dispatched it."""
        for number, runtime in enumerate(runtimes.every[1:], start=1):
            log = runtimes.every[runtime.above].log
            for position in range(runtime.began, len(log)):
                if log[position].runtime_stage_id == runtime.step and log[position].trace:
                    runtimes.mapped[runtime.above, position] = (self._out(number, runtimes, log[position]),)
        for step, numbers in self._branches.items():
            above = runtimes.every[numbers[0]].above
            log, own = runtimes.every[above].log, runtimes.own.get(step, -1)
            if step in self._gathering and own >= 0:
                reads = self._gathering[step]
                runtimes.mapped[above, own] = tuple(MappedOut(inner, returned, reads, adds=False) for inner in numbers)
            for position in range(own + 1, len(log)):
                bundle = log[position]
                if bundle.runtime_stage_id == step and bundle.trace:
                    number = self._giver(numbers, runtimes, bundle)
                    runtimes.mapped[above, position] = (self._out(number, runtimes, bundle),)

    def _giver(self, numbers: Sequence[int], runtimes: Runtimes, bundle: CommitBundle) -> int:
        """Which of several branches gave back what a bundle holds."""
        roots = [entry.path.partition(PATH_DELIMITER)[0] for entry in bundle.trace]
        for number in numbers:
            maps = self._maps.get(runtimes.every[number].step.rpartition("#")[0])
            if maps is not None and maps.output is not None and set(roots) <= set(maps.output):
                return number
        for number in numbers:
            if any(self._same_inside(number, root, bundle) for root in roots):
                return number
        return numbers[0]

    def _out(self, number: int, runtimes: Runtimes, bundle: CommitBundle) -> MappedOut:
        step = runtimes.every[number].step
        maps, node = self._maps.get(step.rpartition("#")[0]), self._nodes[step]
        noticed = as_list(node.get("mapOutReads"))

        def sources(key: str) -> Sources:
            if maps is not None and maps.output is not None:
                source = maps.output.get(key)
                return Sources(() if source is None else (source,), "declared")
            if noticed is not None:
                return Sources(tuple(noticed), "noticed")
            name = self._same_inside(number, key, bundle)
            return UNKNOWN if name is None else Sources((name,), "inferred")

        return MappedOut(number, sources, tuple(as_list(node.get("mapParentReads")) or ()))

    def _same_inside(self, number: int, key: str, bundle: CommitBundle) -> str | None:
        """The key inside a mount that ended with what the bundle wrote."""
        written, final = dig(bundle.overwrite, [key]), self._finals[number]
        return _same_as(written, key, lambda name: final.get(name, ABSENT), final)

    def _seeded(self, runtime: Runtime, place: _Place, runtimes: Runtimes) -> Callable[[str], Sources]:
        maps = self._maps.get(runtime.step.rpartition("#")[0])
        noticed = as_list(place.node.get("mapReads")) or self._gathering.get(place.parent or "")
        self._nodes[runtime.step] = place.node

        def sources(key: str) -> Sources:
            if maps is not None and maps.input is not None:
                source = maps.input.get(key)
                return Sources(() if source is None else (source,), "declared")
            if noticed is not None:
                return Sources(tuple(noticed), "noticed")
            above = runtimes.every[runtime.above].log
            given = dig(runtime.log[0].overwrite, [key]) if len(runtime.log) else ABSENT
            names = [path for path in above.paths if PATH_DELIMITER not in path]
            name = _same_as(given, key, lambda name: value_at(above, runtime.began - 1, name), names)
            return UNKNOWN if name is None else Sources((name,), "inferred")

        return sources


def _last_step(log: LogIndex) -> str | None:
    """The step that committed last in a runtime."""
    steps = (log[position].runtime_stage_id for position in range(len(log) - 1, -1, -1))
    return next((step for step in steps if step), None)


def _same_as(
    value: Value, key: str, there: Callable[[str], Value], names: Sequence[str] | Mapping[str, Any]
) -> str | None:
    """The key on the other side that holds the same value: the same name, else the only one that does."""
    if value is ABSENT:
        return None
    if _matches(value, there(key)):
        return key
    if not _is_telling(value):
        return None
    found = [name for name in names if _matches(value, there(name))]
    return found[0] if len(found) == 1 else None


def _is_telling(value: Value) -> bool:
    return len(value) >= _TELLING if isinstance(value, str) else bool(as_list(value) or as_object(value))


def _matches(value: Value, source: Value) -> bool:
    """Whether a value came from another: the same, the end of a list, or some of the fields of an object."""
    if source is ABSENT:
        return False
    fields, whole = as_object(value), as_object(source)
    if fields is not None and whole is not None:
        return all(name in whole and _matches(item, whole[name]) for name, item in fields.items())
    items, added = as_list(value), as_list(source)
    if items is not None and added is not None:
        return len(added) <= len(items) and deep_equal([*items][len(items) - len(added) :], [*added])
    return deep_equal(value, source)
