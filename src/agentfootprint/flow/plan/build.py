"""From parts to a plan: numbers, prefixes, connections, and what is refused on the way.

A chart that builds can run: every id is unique, every loop goes back, every branch exists. The parts given are not
changed; a mounted chart is built anew under the mount's prefix (FLOW-BLD-22).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from agentfootprint.flow.errors import ChartBuildError
from agentfootprint.flow.parts import (
    Branch,
    Decider,
    ForEach,
    Fork,
    LoopTo,
    MapSpec,
    Part,
    PartList,
    Pausable,
    Selector,
    Stage,
    Subflow,
)
from agentfootprint.flow.plan.calls import (
    derived_id,
    first_line,
    is_generator,
    is_plain,
    resume_call,
    stage_call,
    titled,
)
from agentfootprint.flow.plan.checks import check_branch, check_child, check_id, check_line, check_map
from agentfootprint.flow.plan.fanning import bounded, for_each_node
from agentfootprint.flow.plan.node import DECIDER, FOREACH, MOUNT, PAUSABLE, SELECTOR, STAGE, STREAMING, Node
from agentfootprint.flow.retry import checked_policy
from agentfootprint.flow.stage.state import State
from agentfootprint.trace import BRANCH_SEGMENT_MARKER, StageInfo

__all__ = ["MAX_NESTING", "assembled"]

_KINDS: Final = {
    STAGE: "stage",
    STREAMING: "streaming",
    PAUSABLE: "pausable",
    DECIDER: "decider",
    SELECTOR: "selector",
    FOREACH: "foreach",
    MOUNT: "mount",
}
_DEFAULT_ID: Final = "default"
MAX_NESTING: Final = 100
"""How many charts may stand in one another. A run awaits a few frames a level, and the interpreter has about 1,000."""


def assembled(chart: PartList) -> tuple[Node, tuple[Node, ...]]:
    """The first node of a chart, and all of its nodes by number, connected and checked.

    Raises:
        ChartBuildError: Something in it can't be (3.2); the message names the ids.
    """
    builder = _Builder()
    root = builder.line(chart, None)
    return root, builder.finished()


def assembled_in(mount: Node | None, chart: PartList, first: int) -> tuple[Node, tuple[Node, ...]]:
    """As `assembled`, for what is known at run time only and runs in a mount, or at the top; numbered from `first` on.

    Raises:
        ChartBuildError: Something in it can't be, or it stands too deep.
    """
    builder = _Builder(first)
    root = builder.line(chart, None if mount is None else builder.known(mount))
    return root, builder.finished()


class _Draft:
    """What is known of a node before its connections are."""

    def __init__(self, node: Node, number: int, local_id: str, name: str, description: str | None) -> None:
        self.node = node
        self.number = number
        self.local_id = local_id
        self.local_name = name
        self.description = description
        self.branch_id = ""
        self.namespace = ""
        self.stream_id = ""
        self.subflow: Subflow | None = None


class _Scope:
    """One chart while it is built: the ids it has used, and the main line so far."""

    def __init__(self, chart: PartList, mount: _Draft | None) -> None:
        self.chart = chart
        self.mount = mount
        self.state: type[State] = chart.state or State
        self.ids: dict[str, Node] = {}
        self.line: dict[str, Node] = {}
        """Stages that a loop may go back to."""
        self.cursor: Node | None = None
        self.loops: list[tuple[Node, str]] = []


class _Builder:
    def __init__(self, first: int = 0) -> None:
        self.first = first
        self.drafts: list[_Draft] = []
        self.open: list[PartList] = []
        """The charts being built, outermost first."""
        self.of: dict[Node, _Draft] = {}

    def known(self, node: Node) -> _Draft:
        """The draft of a mount that is built already; those around it are known then too."""
        if node.mount is not None:
            self.known(node.mount)
        info = node.info
        draft = self.of[node] = _Draft(node, info.number, info.local_id, info.name, info.description)
        return draft

    def line(self, chart: PartList, mount: _Draft | None) -> Node:
        """Build the main line of a chart and what hangs on it; gives its first node."""
        if any(outer is chart for outer in self.open):
            raise ChartBuildError(
                f"The chart {chart.name!r} is mounted inside itself, so it would have no end.",
                fix="Loop back with `loop` to repeat stages, or mount another chart.",
                ids=() if mount is None else (mount.local_id,),
            )
        depth = len(self.of) if self.first and not self.open else len(self.open)
        if depth > MAX_NESTING:
            raise ChartBuildError(
                f"The chart {chart.name!r} is mounted {depth} levels deep; {MAX_NESTING} is the most.",
                fix="Loop instead of mounting again, or start a run of its own from a stage.",
                ids=() if mount is None else (mount.local_id,),
            )
        self.open.append(chart)
        scope = _Scope(chart, mount)
        root: Node | None = None
        if not issubclass(scope.state, State):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ChartBuildError(
                f"The state type of chart {chart.name!r} is no State.", fix="Derive it from agentfootprint.flow.State."
            )
        for part in chart.parts:
            node = self._added(scope, part)
            root = root or node
        if root is None:
            raise ChartBuildError(f"The chart {chart.name!r} has no stage.", fix="Give it at least a start stage.")
        check_line(scope.ids, scope.line)
        self.open.pop()
        return root

    def _added(self, scope: _Scope, part: Part) -> Node | None:
        cursor = scope.cursor
        if cursor is not None and cursor.loop is not None:
            raise ChartBuildError(
                f"Nothing can follow stage {self._id(cursor)!r}, which loops back; a second loop neither.",
                fix="Put the loop last, or on a branch of a decider with `loop_to`.",
                ids=(self._id(cursor),),
            )
        if isinstance(part, LoopTo):
            self._loop(scope, cursor, part.id)
            return None
        if isinstance(part, Fork):
            self._fork(scope, cursor, part)
            return None
        if not isinstance(part, (Stage, Pausable, Decider, Selector, ForEach, Subflow)):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ChartBuildError(
                f"The chart {scope.chart.name!r} has a {type(part).__name__} where a part belongs.",
                fix="Use Stage, Pausable, Decider, Selector, Fork, ForEach, Subflow or LoopTo.",
            )
        node = self._node(scope, part)
        if isinstance(part, (Decider, Selector)):
            self._branches(scope, node, part)
        if cursor is not None:
            cursor.next = node
        scope.cursor = node
        scope.line[self._id(node)] = node
        if not isinstance(part, (Decider, Selector, ForEach)) and part.loop_to is not None:
            self._loop(scope, node, part.loop_to)
        return node

    # nodes

    def _node(self, scope: _Scope, part: Branch | Decider | Selector | ForEach) -> Node:
        if isinstance(part, Subflow):
            return self._mount(scope, part)
        if isinstance(part, ForEach):
            own, node = for_each_node(part, scope.state)
            self._draft(scope, node, own, part.name, part.description or first_line(part.branch))
            return node
        own = derived_id(part.function) if part.id is None else part.id
        check_id(own)
        thread = isinstance(part, Stage) and part.thread
        call = stage_call(part.function, scope.state, raw=part.raw, stage=own, thread=thread)
        if isinstance(part, Pausable):
            second = resume_call(part.resume, scope.state, raw=part.raw, stage=own)
            node = Node(PAUSABLE, call, raw=part.raw, resume=second)
        else:
            code = DECIDER if isinstance(part, Decider) else SELECTOR if isinstance(part, Selector) else STAGE
            if isinstance(part, Stage) and (part.stream is not None or is_generator(part.function)):
                code = STREAMING
            node = Node(code, call, raw=part.raw)
        node.retry = checked_policy(part.retry, own)
        node.inline = is_plain(part.function) and not thread and node.retry is None
        description = part.description if part.raw else part.description or first_line(part.function)
        draft = self._draft(scope, node, own, part.name, description)
        node.part = part
        if node.code == STREAMING and isinstance(part, Stage):
            draft.stream_id = part.stream or draft.local_name
        return node

    def _mount(self, scope: _Scope, part: Subflow) -> Node:
        chart = part.chart
        if not (isinstance(chart, PartList) or (part.lazy and callable(chart))):
            raise ChartBuildError(
                f"The mount {part.id!r} was given a {type(chart).__name__} as its chart.",
                fix="Give it a Chart; or with `lazy=True` a function that makes one.",
            )
        own = part.id if part.id is not None else _own_id(part)
        check_id(own)
        if BRANCH_SEGMENT_MARKER in own:
            raise ChartBuildError(
                f"The subflow id {own!r} contains {BRANCH_SEGMENT_MARKER!r}, which is reserved for generated branches.",
                fix="Use a dash instead.",
                ids=(own,),
            )
        check_map(part.input, "input", own)
        check_map(part.output, "output", own)
        node = Node(MOUNT)
        draft = self._draft(scope, node, own, part.name, part.description)
        draft.subflow = part
        node.part = part
        node.propagate_break = part.propagate_break
        node.mutable = part.inputs == "mutable"
        node.on_output_error = part.on_output_error
        node.within = part.within
        node.in_fn = part.input if callable(part.input) else None
        node.out_fn = part.output if callable(part.output) else None
        if part.lazy or not isinstance(chart, PartList):
            node.lazy = (lambda: chart) if isinstance(chart, PartList) else chart
            node.inline = False
            return node
        before = len(self.drafts)
        node.entry = self.line(chart, draft)
        inner = self.drafts[before:]
        node.inline = all(other.node.inline for other in inner) and all(other.node.loop is None for other in inner)
        return node

    def _draft(self, scope: _Scope, node: Node, id: str, name: str | None, description: str | None) -> _Draft:
        if id in scope.ids:
            raise ChartBuildError(
                f"The id {id!r} stands for two stages of chart {scope.chart.name!r}.",
                fix="Give each stage, branch and mount of a chart an id of its own.",
                ids=(id,),
            )
        scope.ids[id] = node
        draft = _Draft(node, self.first + len(self.drafts), id, titled(id) if name is None else name, description)
        node.mount = None if scope.mount is None else scope.mount.node
        self.drafts.append(draft)
        self.of[node] = draft
        return draft

    # connections

    def _branches(self, scope: _Scope, node: Node, part: Decider | Selector) -> None:
        kind = "decider" if isinstance(part, Decider) else "selector"
        name = self.of[node].local_name
        if not part.branches:
            raise ChartBuildError(
                f"The {kind} {name!r} has no branch.", fix="Give it at least one.", ids=(self._id(node),)
            )
        loops: list[tuple[Node, str]] = []
        for branch in part.branches:
            child = self._child(scope, node, branch, kind)
            if isinstance(part, Selector):
                self.of[child].namespace = self.of[child].branch_id
            if branch.loop_to is not None:
                if isinstance(part, Selector):
                    raise ChartBuildError(
                        f"The branch {self._id(child)!r} of selector {name!r} loops back; others run beside it.",
                        fix="Loop from a decider after the selector.",
                        ids=(self._id(child),),
                    )
                loops.append((child, branch.loop_to))
        for child, target in loops:
            self._loop(scope, child, target)
        if isinstance(part, Selector):
            bounded(node, part, name)
            return
        if part.default is not None:
            node.default = self._known_branch(node, part.default)
        if part.default_node is not None:
            self._clone_default(scope, node, part)

    def _child(self, scope: _Scope, node: Node, branch: Branch, kind: str) -> Node:
        check_branch(branch, kind, self.of[node].local_name)
        own = branch.id or _own_id(branch)
        if own in node.children:
            raise ChartBuildError(
                f"The {kind} {self.of[node].local_name!r} has two branches with the id {own!r}.",
                fix="Give each branch an id of its own.",
                ids=(own, self._id(node)),
            )
        child = self._node(scope, branch)
        child.owner = node
        draft = self.of[child]
        draft.branch_id = draft.local_id
        node.children[draft.local_id] = child
        return child

    def _known_branch(self, node: Node, id: str) -> Node:
        if id not in node.children:
            raise ChartBuildError(
                f"The default {id!r} of decider {self.of[node].local_name!r} is none of its branches.",
                fix=f"Use one of: {', '.join(node.children)}.",
                ids=(id, self._id(node)),
            )
        return node.children[id]

    def _clone_default(self, scope: _Scope, node: Node, part: Decider) -> None:
        chosen = self._known_branch(node, cast("str", part.default_node))
        branch = next(branch for branch in part.branches if self.of[chosen].local_id == (branch.id or _own_id(branch)))
        first = self.of[chosen]
        copy = replace(branch, id=_DEFAULT_ID, name=first.local_name, description=first.description)
        node.default = self._child(scope, node, copy, "decider")
        if branch.loop_to is not None:
            self._loop(scope, node.default, branch.loop_to)

    def _fork(self, scope: _Scope, cursor: Node | None, part: Fork) -> None:
        if cursor is None or cursor.code not in (STAGE, STREAMING, PAUSABLE):
            raise ChartBuildError(
                "A fork has no plain stage before it to run after.",
                fix="Put it after a stage; a decider or selector has its branches, a mount its own chart.",
            )
        name = self.of[cursor].local_name
        for child in part.children:
            own = child.id or (_own_id(child) if isinstance(child, (Stage, Subflow)) else "")
            check_child(child, own, name)
            if any(self.of[other].local_id == own for other in cursor.fork):
                raise ChartBuildError(
                    f"The fork after {name!r} has two children with the id {own!r}.",
                    fix="Give each child an id of its own.",
                    ids=(own, self._id(cursor)),
                )
            if child.loop_to is not None:
                raise ChartBuildError(
                    f"The fork child {own!r} after {name!r} loops back; others run beside it.",
                    fix="Loop from the stage that follows the fork.",
                    ids=(own,),
                )
            node = self._node(scope, child)
            node.owner = cursor
            draft = self.of[node]
            draft.branch_id = draft.namespace = draft.local_id
            cursor.fork = (*cursor.fork, node)
        bounded(cursor, part, name)

    def _loop(self, scope: _Scope, node: Node | None, target: str) -> None:
        if node is None:
            raise ChartBuildError(
                f"The loop to {target!r} stands before any stage.",
                fix="Put it after the stage it closes.",
                ids=(target,),
            )
        if target not in scope.line:
            hint = next((known for known, other in scope.line.items() if self.of[other].local_name == target), None)
            raise ChartBuildError(
                f"The loop from {self._id(node)!r} goes to {target!r}, which is no earlier stage of the main line.",
                fix=(
                    f"{target!r} is a name: use its id {hint!r}."
                    if hint is not None
                    else f"Loop to one of: {', '.join(scope.line)}."
                ),
                ids=(self._id(node), target),
            )
        node.loop = scope.line[target]

    # the end

    def finished(self) -> tuple[Node, ...]:
        """Freeze what is known of each node; gives them by number."""
        for draft in self.drafts:
            node = draft.node
            info = node.info = self._info(draft)
            if info.array_merge == "replace-all":
                node.in_pairs = info.in_map
                node.out_pairs = info.out_map
        return tuple(draft.node for draft in self.drafts)

    def _info(self, draft: _Draft) -> StageInfo:
        node, part = draft.node, draft.subflow
        path: list[str] = []
        outer = node.mount
        while outer is not None:
            path.insert(0, self.of[outer].local_id)
            outer = outer.mount
        prefix = "".join(f"{segment}/" for segment in path)
        children = (*node.children.values(), *node.fork)
        return StageInfo(
            number=draft.number,
            id=prefix + draft.local_id,
            local_id=draft.local_id,
            name=prefix + draft.local_name,
            path=tuple(path),
            kind=cast("Any", _KINDS[node.code]),
            description=draft.description,
            mount=self._number(node.mount),
            branch_of=self._number(node.owner),
            branch_id=draft.branch_id,
            children=tuple(self.of[child].number for child in children),
            next=self._number(node.next),
            loop_to=self._number(node.loop),
            entry=self._number(node.entry),
            namespace=draft.namespace,
            subflow_id=prefix + draft.local_id if part is not None else "",
            subflow_name=draft.local_name if part is not None else "",
            stream_id=draft.stream_id,
            in_map=None if part is None or callable(part.input) else _pairs(part.input),
            out_map=None if part is None or callable(part.output) or part.output is None else _pairs(part.output),
            has_output=part is not None and part.output is not None,
            array_merge="concat" if part is None else part.array_merge,
        )

    def _number(self, node: Node | None) -> int:
        return -1 if node is None else self.of[node].number

    def _id(self, node: Node) -> str:
        return self.of[node].local_id


def _pairs(spec: MapSpec) -> tuple[tuple[str, str], ...]:
    if spec is None:
        return ()
    if isinstance(spec, Mapping):
        return tuple(cast("Mapping[str, str]", spec).items())
    return tuple((name, name) for name in cast("Sequence[str]", spec))


def _id_from_name(name: str) -> str:
    """The id of a mount that has none: its chart's name in lower case with dashes."""
    return "-".join(name.lower().split())


def _own_id(branch: Branch) -> str:
    if isinstance(branch, Subflow):
        chart = branch.chart
        return _id_from_name(chart.name) if isinstance(chart, PartList) else derived_id(chart)
    return derived_id(branch.function)
