"""How a run comes back to where it paused: through the mounts it was in, at any depth, and into the branch that asked.

Only the paused stage runs again. Around it the run is rebuilt as it stood: a fork has the results of the branches that
had ended, and asks for those that paused too when this one has ended; a decider with more to do goes on with it (24.3).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from agentfootprint.flow.again.points import ChainFrame, ForkFrame, MountFrame, PausePoint
from agentfootprint.flow.errors import CheckpointError, ResumeError
from agentfootprint.flow.pause import PauseCheckpoint, PauseSignal
from agentfootprint.flow.plan.node import DECIDER, FOREACH, MOUNT, SELECTOR, Node, Plan
from agentfootprint.flow.stage.handle import Handle
from agentfootprint.flow.stage.home import Home
from agentfootprint.flow.walking.each import Repeating
from agentfootprint.flow.walking.fan import BranchOutcome, Settled
from agentfootprint.flow.walking.mounting import Entering, Level
from agentfootprint.trace import CHILD, NEXT, RESUME, BrokeRow, Execution, Value

__all__ = ["Reentry", "levels_of", "way_back"]


Named = Callable[[str], Node | None]
"""Gives the node with a full id."""


def way_back(plan: Plan, checkpoint: PauseCheckpoint, named: Named) -> list[Level]:
    """What a resume passes on its way to the paused stage; nothing is changed.

    Args:
        plan: The chart.
        checkpoint: Where it paused.
        named: Knows the stages of the chart, and of charts that are mounted lazily.

    Raises:
        ResumeError: The chart is not the one that paused, or has no such stage.
        CheckpointError: What the checkpoint says of the way is not how the chart is.
    """
    refusal = checkpoint.refusal(plan.stages, plan.name)
    if refusal is not None:
        raise refusal
    point = checkpoint.point
    return levels_of(named, point, None)


def levels_of(named: Named, point: PausePoint, base: Node | None) -> list[Level]:
    """The way to a paused stage, from the runtime of the mount `base` (None for the top) inward.

    Raises:
        ResumeError: A stage is not in the chart, or can't be resumed.
        CheckpointError: The frames don't fit the chart, or one another.
    """
    levels: list[Level] = []
    around: list[tuple[Node, ChainFrame | ForkFrame]] = []
    for number, frame in enumerate(point.frames):
        if isinstance(frame, MountFrame):
            node = _found(named, frame.id, "mount", base)
            levels.append(Level(tuple(around), node, frame))
            around, base = [], node
        else:
            owner = _found(named, frame.id, "stage", base)
            if owner.code == FOREACH and isinstance(frame, ForkFrame):
                level = Level(tuple(around), owner, None)
                level.each = frame, msgspec.structs.replace(point, frames=point.frames[number + 1 :])
                return [*levels, level]
            _check_frame(owner, frame)
            around.append((owner, frame))
    node = _found(named, point.stage_id, "paused stage", base)
    if node.code == MOUNT or (node.resume is None and point.by != "interrupt"):
        raise ResumeError(
            f"The paused stage {point.stage_id!r} is no pausable stage.",
            fix="Resume with the chart that was paused, built the same way.",
        )
    levels.append(Level(tuple(around), node, None))
    for level in levels:
        for owner, frame in level.around:
            if isinstance(frame, ForkFrame):
                _check_branches(named, owner, frame, level.node)
    return levels


def _check_branches(named: Named, owner: Node, frame: ForkFrame, inner: Node) -> None:
    """Refuse a fork whose paused branch does not lead on, or that could not ask for the others afterwards."""
    children = _children(owner)
    if children[frame.branch].info.id != inner.info.id:
        raise _misfit(frame.id, f"has no branch {frame.branch!r} that leads to {inner.info.id!r}")
    for name, point in frame.pending.items():
        levels_of(named, point, children[name].mount)


def _found(named: Named, id: str, what: str, base: Node | None) -> Node:
    node = named(id)
    if node is None and base is not None:
        node = named(f"{base.info.id}/{id}")  # others name a mount without the path to it
    if node is None:
        raise ResumeError(
            f"The {what} {id!r} does not exist in this chart.",
            fix="Resume with the chart that was paused, built the same way.",
        )
    if node.mount is not base or (what == "mount") != (node.code == MOUNT):
        where = "at the top" if base is None else f"in {base.info.id!r}"
        raise CheckpointError(
            "subflowPath",
            f"The checkpoint's 'subflowPath' does not lead to {id!r}, which is no {what} {where}.",
            fix="Give the checkpoint as the paused run returned it, or as its `to_wire()` was stored.",
        )
    return node


def _children(node: Node) -> dict[str, Node]:
    return node.children or {child.info.branch_id: child for child in node.fork}


def _check_frame(node: Node, frame: ChainFrame | ForkFrame) -> None:
    if isinstance(frame, ChainFrame):
        if node.code != DECIDER:
            raise _misfit(frame.id, "is no decider")
        return
    known = _children(node)
    if node.code == DECIDER or not known:
        raise _misfit(frame.id, "is no fork")
    unknown = next((name for name in (frame.branch, *frame.results, *frame.pending) if name not in known), None)
    if unknown is not None:
        raise _misfit(frame.id, f"has no branch {unknown!r}")


def _misfit(id: str, why: str) -> CheckpointError:
    return CheckpointError(
        "resumeFrames",
        f"The checkpoint's 'resumeFrames' don't fit the chart: {id!r} {why}.",
        fix="Give the checkpoint as the paused run returned it, or as its `to_wire()` was stored.",
    )


class Reentry(Repeating):
    """The way of a run back to where it paused."""

    @abstractmethod
    def _looped(self, home: Home, step: Execution, target: Node) -> int:
        """Count a loop edge; see `Walker`."""

    async def went_on(
        self, home: Home, above: Execution | None, link: int, entering: Entering
    ) -> tuple[Any, BrokeRow | None]:
        """Run one runtime to its end, from the stage or mount in it that a resume comes back to."""
        level = entering.levels[0]
        return await self._around(home, list(level.around), level.node, above, link, entering)

    async def _around(
        self,
        home: Home,
        frames: list[tuple[Node, ChainFrame | ForkFrame]],
        node: Node,
        above: Execution | None,
        link: int,
        entering: Entering,
    ) -> tuple[Any, BrokeRow | None]:
        if not frames:
            return await self.walk(home, node, above, link, entering)
        owner, frame = frames.pop(0)
        place = len(self.journal.rows)
        home.depth += 1
        try:
            if isinstance(frame, ForkFrame):
                children = _children(owner)
                value = await self._branch_on(home, owner, frame, children, (above, RESUME), entering)
                broke = None
            else:
                value, broke = await self._chain_on(home, frame, frames, node, above, link, entering)
        finally:
            home.depth -= 1
        if broke is not None:
            return value, broke
        return await self._beyond(home, owner, self._last(owner, home) or self._head(place), value)

    async def _chain_on(
        self,
        home: Home,
        frame: ChainFrame,
        frames: list[tuple[Node, ChainFrame | ForkFrame]],
        node: Node,
        above: Execution | None,
        link: int,
        entering: Entering,
    ) -> tuple[Any, BrokeRow | None]:
        """What the branch of a decider led to, to its end."""
        try:
            return await self._around(home, frames, node, above, link, entering)
        except PauseSignal as signal:
            signal.frames.append(frame)
            raise

    async def each_again(
        self, node: Node, step: Handle, frame: ForkFrame, point: PausePoint, entering: Entering
    ) -> Value:
        """Run a for-each again whose branch paused: its items are asked for anew, its branches are not."""

        async def again(branches: list[Node]) -> dict[str, BranchOutcome]:
            children = {branch.info.branch_id: branch for branch in branches}
            try:
                levels = self._levels_in(node, frame, children, point)
            except (ResumeError, CheckpointError) as refused:
                self.refused = refused
                raise
            inward = Entering(levels, point, entering.answer, asks_again=entering.asks_again)
            step.home.depth += 1
            try:
                return await self._branch_on(step.home, node, frame, children, (step, CHILD), inward)
            finally:
                step.home.depth -= 1

        return await self.for_each(node, step, again)

    def _levels_in(self, node: Node, frame: ForkFrame, children: dict[str, Node], point: PausePoint) -> list[Level]:
        """The way on in the paused branch of a for-each, whose branches are made by now."""
        gone = next((name for name in (frame.branch, *frame.results, *frame.pending) if name not in children), None)
        if gone is not None:
            raise ResumeError(
                f"The for-each {node.info.id!r} has no branch {gone!r} any more.",
                fix="Let `items` give the same list as before the pause.",
            )
        for name, pending in frame.pending.items():
            levels_of(self.growth.named, pending, children[name].mount)
        return levels_of(self.growth.named, point, node.mount)

    async def _branch_on(
        self,
        home: Home,
        owner: Node,
        frame: ForkFrame,
        children: dict[str, Node],
        comes: tuple[Execution | None, int],
        entering: Entering,
    ) -> dict[str, BranchOutcome]:
        """The paused branch of a fork, to its end; then the question of the next one that had paused."""
        ran = [child for name, child in children.items() if name in (frame.branch, *frame.results, *frame.pending)]
        settled = Settled(ran, fail_fast=owner.fail_fast)
        for name, end in frame.results.items():
            ends = settled.errors if end.is_error else settled.results
            ends[children[name]] = end.result
        settled.pending = dict(frame.pending)
        place = len(self.journal.rows)
        await self._settle(home, settled, children[frame.branch], comes, entering)
        if not settled.pauses and settled.pending and not (settled.fail_fast and settled.errors):
            name = next(name for name in children if name in settled.pending)
            point = settled.pending.pop(name)
            levels = levels_of(self.growth.named, point, children[name].mount)
            again = Entering(levels, point, None, asks_again=True)
            above = comes if comes[1] == CHILD else (self._last(levels[0].node, home) or self._head(place), RESUME)
            await self._settle(home, settled, children[name], above, again)
        return settled.outcome()

    async def _settle(
        self, home: Home, settled: Settled, child: Node, comes: tuple[Execution | None, int], entering: Entering
    ) -> None:
        entering.forked.add(child.info.id)
        place = len(self.journal.rows)
        try:
            value, _ = await self.walk(home, child, *comes, entering)
            settled.results[child] = value if child.collect is None else self.growth.slots.pop(child)
        except PauseSignal as signal:
            settled.pauses[child] = signal
            return
        except Exception as error:  # noqa: BLE001  a stage is the user's code; `settled` raises it again
            settled.errors[child] = error
        self._settled(self._head(place))

    async def _beyond(self, home: Home, node: Node, step: Execution, value: Any) -> tuple[Any, BrokeRow | None]:  # noqa: ANN401  what a stage returned
        """What follows a node whose branches have ended."""
        if node.next is not None:
            if self.teller is not None and node.code < SELECTOR:
                self.teller.moved(step, node.next)
            return await self.walk(home, node.next, step, NEXT)
        if node.loop is not None:
            return await self.walk(home, node.loop, step, self._looped(home, step, node.loop))
        return value, None

    def _last(self, node: Node, home: Home) -> Execution | None:
        """The last execution of a node in this runtime that is on record here."""
        found: Sequence[Execution] = [
            step
            for step in self.journal.executions().values()
            if step.info.number == node.info.number and step.mount == home.mount
        ]
        return max(found, key=_index_of, default=None)


def _index_of(step: Execution) -> int:
    return step.index
