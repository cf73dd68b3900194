"""How a for-each runs: a mount for each item, side by side, and one list of what they came to (FLOW-EXE-45).

The stage stays open while its branches run, so that items and results are one commit of one stage.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import CoroutineType
from typing import Any, TypeAlias, cast

from agentfootprint.flow.errors import FlowLimitError, ForEachError
from agentfootprint.flow.parts import Continue, PartList
from agentfootprint.flow.pause import PauseSignal
from agentfootprint.flow.plan.node import Each, Node
from agentfootprint.flow.stage.handle import Handle, frozen
from agentfootprint.flow.stage.home import Home
from agentfootprint.flow.stage.views import unwrapped
from agentfootprint.flow.walking.branching import Branching
from agentfootprint.flow.walking.fan import BranchOutcome
from agentfootprint.flow.walking.mounting import words_of
from agentfootprint.flow.watch.failure import is_a, name_of
from agentfootprint.flow.watch.sightings import structured_error
from agentfootprint.trace import Execution, FailedRow, FrozenDict, FrozenList, Journal, NotedRow, Value, as_list, freeze

__all__ = ["Again", "Repeating"]

Again: TypeAlias = "Callable[[list[Node]], Coroutine[Any, Any, dict[str, BranchOutcome]]]"
"""Takes up the branches of a for-each where a pause left them."""


class Repeating(Branching):
    """The for-each stages of a run."""

    async def for_each(self, node: Node, step: Handle, again: Again | None = None) -> Value:
        """Run the branches of a for-each whose stage is open.

        Args:
            node: The for-each.
            step: Its open stage.
            again: Takes up the branches where a pause left them; all are run by default.

        Returns:
            The results in the order of the items, as they were written; None when the stage broke the run off before.

        Raises:
            ForEachError: The items are no list, or a branch is no chart.
        """
        each, home = cast("Each", node.each), step.home
        items = await _items(node, each, step)
        if step.index in home.stops:
            return None
        running = min(len(items), each.max_branches)
        looked_at: tuple[str, ...] = tuple(step.r)
        branches = self.growth.branches(node, step, [_chart(node, each, items, n) for n in range(running)])
        for index, branch in enumerate(branches):
            branch.in_fn = _given(items[index], index, looked_at)
            branch.collect = _came_to
        told = {"items": len(items), "branches": running, "maxBranches": each.max_branches}
        told |= {"truncated": running < len(items), "into": each.into}
        if running:
            self.journal.append(NotedRow(step, "logs", "parallelForEach", freeze(told)))
        ends = await self._ran(node, step, branches, again)
        written = frozen(each.into, [None if end.is_error else end.result for end in ends], node.info.id)
        step[each.into] = written
        if each.errors_into is not None:
            failed = [(index, end.result) for index, end in enumerate(ends) if end.is_error]
            step[each.errors_into] = [_shown(index, error, self.journal) for index, error in failed]
        return written

    def continued(self, node: Node, step: Handle, wanted: Continue) -> Node:
        """What a stage goes on with for this visit (FLOW-EXE-50).

        Raises:
            FlowLimitError: Stages went on of their own accord too often in this run.
            ChartBuildError: What it wants to go on with can't be.
        """
        growth = self.growth
        growth.continued += 1
        if growth.continued > self.max_iterations:
            raise FlowLimitError(
                f"Maximum dynamic-next continuations ({self.max_iterations}) exceeded at stage {node.info.id!r}.",
                limit=self.max_iterations,
                node=node.info.id,
                option="max_iterations",
            )
        target = growth.ahead(node, step, wanted)
        for key, value in (("isDynamic", True), ("dynamicPattern", "StageNodeReturn"), ("hasDynamicNext", True)):
            self.journal.append(NotedRow(step, "logs", key, value))
        if step.index not in growth.jumps:
            self.journal.append(NotedRow(step, "logs", "dynamicNextDirect", value=True))
            self.journal.append(NotedRow(step, "logs", "dynamicNextName", target.info.name))
        return target

    async def _ran(self, node: Node, step: Handle, branches: list[Node], again: Again | None) -> list[BranchOutcome]:
        """Run the branches; gives how each ended."""
        if not branches:
            return []
        try:
            if again is None:
                ends = await self._fanned(step.home, node, tuple(branches), step, node.info.name)
            else:
                ends = await again(branches)
        except (PauseSignal, Exception) as raised:
            self._given_up(step, raised)
            raise
        return list(ends.values())

    def _child(self, home: Home, child: Node, step: Execution) -> CoroutineType[Any, Any, Value]:
        plain = super()._child(home, child, step)
        return plain if child.collect is None else self._collected(plain, child)

    async def _collected(self, branch: Coroutine[Any, Any, Value], child: Node) -> Value:
        await branch
        return self.growth.slots.pop(child)

    def _given_up(self, step: Handle, raised: BaseException) -> None:
        """Close a for-each whose branch failed or paused: what it read is on record, and whose fault it was."""
        journal = self.journal
        home: Home = step.home
        home.stops.pop(step.index, None)
        step.close(self.interned)
        journal.append(step)
        if self.teller is not None:
            self.teller.committed(step)
        if is_a(raised, Exception):
            journal.append(FailedRow(step, journal.now(), "subflow", name_of(raised), words_of(raised, journal)))


async def _items(node: Node, each: Each, step: Handle) -> FrozenList:
    returned: Value = each.items(step)
    if hasattr(cast("type[object]", type(returned)), "__await__"):
        returned = await returned
    items: Sequence[Any] | None = () if returned is None else as_list(unwrapped(returned))
    if items is None:
        raise ForEachError(
            f"The for-each {node.info.id!r} got a {type(returned).__name__} from `items`, not a list.",
            fix="Return a list, or nothing for an empty one.",
        )
    return frozen("items", [unwrapped(item) for item in items], node.info.id)


def _chart(node: Node, each: Each, items: FrozenList, index: int) -> PartList:
    chart = each.branch(items[index], index)
    if not isinstance(chart, PartList):
        raise ForEachError(
            f"The for-each {node.info.id!r} got a {type(chart).__name__} from `branch` for item {index}, not a chart.",
            fix="Return a Chart, and before it is built.",
        )
    return chart


def _given(item: Value, index: int, keys: tuple[str, ...]) -> Callable[[Mapping[str, Value]], Value]:
    """The input map of a branch: its item, which comes from the keys that the items came from."""
    seed = FrozenDict({"item": item, "index": index})

    def given(state: Mapping[str, Value]) -> Value:
        for key in keys:
            state.get(key)
        return seed

    return given


def _came_to(value: Value, inner: Home) -> Value:
    """What a branch came to: its value, else its final state."""
    return FrozenDict(inner.share()) if value is None else _plain(value)


def _plain(value: Value) -> Value:
    """The value of a branch; where it ended in a fork, how the fork's children ended."""
    if type(value) is not dict:
        return value
    ends = cast("Mapping[str, Any]", value)
    return {key: end.to_wire() if isinstance(end, BranchOutcome) else end for key, end in ends.items()}


def _shown(index: int, error: Exception, journal: Journal) -> dict[str, Value]:
    told = structured_error(error, journal.veil)
    shown = {"name": told.name, "message": told.message, "code": told.code}
    return {"index": index, **{key: value for key, value in shown.items() if isinstance(value, str)}}
