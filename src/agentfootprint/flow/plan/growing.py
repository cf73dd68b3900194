"""What of a run's chart is made while it runs: lazy mounts, and one mount for each item of a for-each.

The chart itself is never changed (FLOW-BLD-23): new nodes belong to one run, their stages to its journal. Charts that
are made again and come out alike share the stages of the first ones, so a for-each in a loop adds nothing on its
second pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from agentfootprint.flow.errors import ChartBuildError
from agentfootprint.flow.parts import Continue, LoopTo, PartList
from agentfootprint.flow.plan.build import assembled_in
from agentfootprint.flow.plan.node import MOUNT, Node, Plan
from agentfootprint.trace import Execution, Journal, StageInfo, build_branch_segment

__all__ = ["Growth"]


class Growth:
    """The nodes that one run has beside those of its chart.

    Args:
        plan: The chart.
        journal: Gets the stages.
        visits: The run's count of executions by stage number; grows with the stages.
    """

    def __init__(self, plan: Plan, journal: Journal, visits: list[int]) -> None:
        self._plan = plan
        self._journal = journal
        self._visits = visits
        self._grown: dict[int, Node] = {}
        self._opened: dict[Node, Node] = {}
        self._spans: dict[str, tuple[StageInfo, ...]] = {}
        """The stages made last below a mount, by the mount's full id."""
        self._numbers: dict[str, int] = {}
        self._passing: set[str] = set()
        """Ids of what stages went on with: they may come again, in the place of what had them."""
        self.jumps: set[int] = set()
        """Executions that go on with a stage that was there before."""
        self.continued = 0
        """How often a stage went on with parts of its own."""
        self.slots: dict[Node, Any] = {}
        """What branches of a for-each came to that have just ended."""
        self.earlier: Mapping[str, Any] = {}
        """Executions of each stage in earlier parts of a resumed run, by full id."""

    def node(self, number: int) -> Node:
        """The node of a stage, the chart's or grown."""
        return self._plan.nodes[number] if number < len(self._plan.nodes) else self._grown[number]

    def named(self, id: str) -> Node | None:
        """The node with a full id; lazy mounts on the way to it are opened. None when there is none."""
        found = self._known(id)
        segments = id.split("/")
        for end in range(1, len(segments)):
            if found is not None:
                break
            mount = self._known("/".join(segments[:end]))
            if mount is not None and mount.lazy is not None:
                self.opened(mount)
                found = self._known(id)
        return found if found is None else self.opened(found)

    def _known(self, id: str) -> Node | None:
        node = self._plan.by_id.get(id)
        if node is None:
            node = self._grown.get(self._numbers.get(id, -1))
        return node if node is None else self._opened.get(node, node)

    def opened(self, node: Node) -> Node:
        """A lazy mount with its chart in it, which is made when it is first asked for (FLOW-EXE-31).

        Raises:
            ChartBuildError: No chart was made, or one that can't be built here.
        """
        known = self._opened.get(node)
        if known is not None:
            return known
        if node.lazy is None:
            return node
        chart = node.lazy()
        if not isinstance(chart, PartList):
            raise ChartBuildError(
                f"The lazy mount {node.info.id!r} was given a {type(chart).__name__}, not a chart.",
                fix="Return a Chart from its function, and before it is built.",
                ids=(node.info.id,),
            )
        copy = Node(MOUNT)
        for name in Node.__slots__:
            setattr(copy, name, getattr(node, name))
        copy.lazy = None
        self._add(None, [(copy, *self._furnished(copy, chart, len(self._journal.stages)))])
        self._opened[node] = copy
        return copy

    def branches(self, node: Node, step: Execution, charts: list[PartList]) -> list[Node]:
        """A mount for each chart of a for-each, in order; anew on every visit (FLOW-EXE-45)."""
        first = len(self._journal.stages)
        made: list[tuple[Node, tuple[Node, ...], bool]] = []
        for index, chart in enumerate(charts):
            mount = _branch_of(node, index)
            inner, is_known = self._furnished(mount, chart, first)
            if not is_known:
                first += len(inner) + 1
            made.append((mount, inner, is_known))
        self._add(step, made)
        return [mount for mount, *_ in made]

    def ahead(self, node: Node, step: Execution, wanted: Continue) -> Node:
        """What a stage goes on with for this visit: the first of its new parts, or a stage of its runtime.

        Raises:
            ChartBuildError: The parts can't be built here, or lead to a stage that is not there.
        """
        parts, target = list(wanted.parts), None
        prefix = node.info.id.removesuffix(node.info.local_id)
        if parts and isinstance(parts[-1], LoopTo):
            target = self._known(prefix + parts[-1].id)
            if target is not None or len(parts) == 1:
                parts.pop()
        if not parts:
            if target is None:
                raise ChartBuildError(
                    f"The stage {node.info.id!r} goes on with nothing, or with a stage that is not there.",
                    fix="Return Continue with parts, or with LoopTo and the id of a stage of the same chart.",
                    ids=(node.info.id,),
                )
            self.jumps.add(step.index)
            return target
        chart = PartList(node.info.name, parts, wanted.state)
        key = f"{node.info.id}>"
        known = self._spans.get(key)
        nodes = _after(node, chart, len(self._journal.stages) if known is None else known[0].number, target)
        infos = tuple(node.info for node in nodes)
        if known is not None and infos != known:
            nodes = _after(node, chart, len(self._journal.stages), target)
            infos = tuple(node.info for node in nodes)
        ids = [info.id for info in infos]
        taken = next((own for own in ids if own not in self._passing and self._known(own) is not None), None)
        if taken is not None:
            raise ChartBuildError(
                f"The stage {node.info.id!r} goes on with a part that has the id {taken!r}, which is taken.",
                fix="Give it an id of its own, or go there with LoopTo.",
                ids=(node.info.id, taken),
            )
        self._passing.update(ids)
        self._keep(step, [(key, nodes, infos == known)])
        return nodes[0]

    def let_go(self) -> None:
        """The run is over: its own nodes, and the items in their maps, are freed with it."""
        for node in self._grown.values():
            node.let_go()

    def _furnished(self, mount: Node, chart: PartList, first: int) -> tuple[tuple[Node, ...], bool]:
        """Build what a mount runs; gives the nodes inside, and whether their stages are those of the last time."""
        own = mount.info.number
        known = self._spans.get(mount.info.id)
        if known is not None:
            nodes = _built(mount, chart, known[0].number, known[1].number)
            if (mount.info, *(node.info for node in nodes)) == known:
                return nodes, True
        number = first if own < 0 else own
        return _built(mount, chart, number, first + 1 if own < 0 else first), False

    def _add(self, step: Execution | None, grown: list[tuple[Node, tuple[Node, ...], bool]]) -> None:
        self._keep(step, [(mount.info.id, (mount, *inner), is_known) for mount, inner, is_known in grown])

    def _keep(self, step: Execution | None, grown: list[tuple[str, tuple[Node, ...], bool]]) -> None:
        added: list[StageInfo] = []
        counted = self._visits
        before: dict[str, int] = {}
        for key, nodes, is_known in grown:
            infos = tuple(node.info for node in nodes)
            for node in nodes:
                info = node.info
                if info.id in self._numbers and not is_known:
                    before[info.id] = counted[self._numbers[info.id]]
                self._grown[info.number] = node
                self._numbers[info.id] = info.number
            if not is_known:
                self._spans[key] = infos
                added += infos
        if not added:
            return
        self._journal.grow(step, added)
        for info in self._journal.stages[len(counted) :]:
            counted.append(before[info.id] if info.id in before else self.earlier.get(info.id, 0))


def _built(mount: Node, chart: PartList, number: int, first: int) -> tuple[Node, ...]:
    """Put a chart into a mount with this number; what stands inside is numbered from `first` on."""
    mount.info = msgspec.structs.replace(mount.info, number=number, entry=-1)
    entry, nodes = assembled_in(mount, chart, first)
    mount.entry = entry
    mount.info = msgspec.structs.replace(mount.info, entry=entry.info.number)
    mount.inline = all(node.inline and node.loop is None for node in nodes)
    return nodes


def _after(node: Node, chart: PartList, first: int, target: Node | None) -> tuple[Node, ...]:
    """The nodes of parts that a stage goes on with, numbered from `first` on; `target` is where the last one leads."""
    nodes = assembled_in(node.mount, chart, first)[1]
    for made in nodes:
        if made.mount is node.mount and not made.info.namespace:
            made.info = msgspec.structs.replace(made.info, namespace=node.info.namespace)
    last = nodes[0]
    while last.next is not None:
        last = last.next
    if target is not None:
        if last.loop is not None:
            raise ChartBuildError(
                f"Nothing can follow stage {last.info.id!r}, which loops back.", fix="Leave one of the two loops out."
            )
        last.loop = target
        last.info = msgspec.structs.replace(last.info, loop_to=target.info.number)
    return nodes


def _branch_of(node: Node, index: int) -> Node:
    """The mount of one branch of a for-each (FLOW-ID-5), not numbered yet."""
    info = node.info
    local = build_branch_segment(info.local_id, index)
    prefix = "".join(f"{segment}/" for segment in info.path)
    mount = Node(MOUNT)
    mount.owner, mount.mount = node, node.mount
    mount.info = StageInfo(
        number=-1,
        id=prefix + local,
        local_id=local,
        name=f"{info.name} [{index}]",
        path=info.path,
        kind="mount",
        mount=info.mount,
        branch_of=info.number,
        branch_id=local,
        namespace=local,
        subflow_id=prefix + local,
        subflow_name=f"{info.name.removeprefix(prefix)} [{index}]",
        has_output=True,
        array_merge="replace-all",
    )
    return mount
