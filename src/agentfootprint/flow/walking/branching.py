"""How a run goes on in branches: the one a decider chose, those a selector chose, all children of a fork."""

from __future__ import annotations

import sys
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Final

from agentfootprint.flow.again.points import ChainFrame
from agentfootprint.flow.errors import FlowLimitError
from agentfootprint.flow.pause import PauseSignal
from agentfootprint.flow.plan.node import Node
from agentfootprint.flow.stage.home import Home
from agentfootprint.flow.walking.fan import BranchOutcome, Settled, gathered
from agentfootprint.flow.walking.mounting import Entering, Mounting
from agentfootprint.flow.walking.turn import branch_of, branches_of
from agentfootprint.trace import (
    CHILD,
    BrokeRow,
    DecidedRow,
    Execution,
    SelectedRow,
    Value,
)

if TYPE_CHECKING:
    from agentfootprint.trace import Veil

__all__ = ["Branching"]


_SHALLOW: Final = 50
"""How deep branches may nest without anybody looking how much of the stack is left."""
_RESERVE: Final = 200
"""Frames that are left for what stages do themselves."""


def _is_stack_full() -> bool:
    """Whether there is less of the stack left than a stage may need: a stage would fail, and it is not its fault."""
    try:
        sys._getframe(max(sys.getrecursionlimit() - _RESERVE, _RESERVE))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  no public one asks without walking
    except ValueError:
        return False
    return True


class Branching(Mounting):
    """The branches of a run; `walk` takes it through each."""

    @abstractmethod
    async def walk(
        self, home: Home, node: Node, above: Execution | None, link: int, entering: Entering | None = None
    ) -> tuple[Any, BrokeRow | None]:
        """Run one runtime from `node` on; see `Walker`."""

    def _decided(self, node: Node, step: Execution, returned: Value) -> Node:
        branch, text, matched, evidence = branch_of(node, returned)
        if self.journal.veil is not None:
            evidence = _shown_evidence(self.journal.veil, evidence, step)
        self.journal.append(DecidedRow(step, branch.info.number, text, matched, evidence))
        if self.teller is not None:
            self.teller.decided(step, branch, evidence)
            self.teller.executed(step, "decider")
        return branch

    async def _nested(self, home: Home, branch: Node, step: Execution) -> tuple[Any, BrokeRow | None]:
        """Run the branch of a decider that has more to do afterwards."""
        self._deeper(home, step)
        try:
            return await self.walk(home, branch, step, CHILD)
        except PauseSignal as signal:
            inner = signal.frames[-1].id if signal.frames else signal.execution.info.id
            if inner != branch.info.id or branch.loop is not None:  # else it follows from the chart what comes after
                signal.frames.append(ChainFrame(step.info.id))
            raise
        finally:
            home.depth -= 1

    async def _selected(self, home: Home, node: Node, step: Execution, returned: Value) -> Value:
        chosen, numbers, evidence = self._chosen(node, returned)
        if self.journal.veil is not None:
            evidence = _shown_evidence(self.journal.veil, evidence, step)
        self.journal.append(SelectedRow(step, numbers, evidence))
        if self.teller is not None:
            self.teller.selected(step, chosen, len(node.children), evidence)
            self.teller.executed(step, "selector")
        if not chosen:
            return None
        return await self._fanned(home, node, chosen, step, "selector-temp")

    def _chosen(self, node: Node, returned: Value) -> tuple[tuple[Node, ...], tuple[int, ...], Value]:
        """The branches a selector named, and their numbers; the ids it returned last are not looked up again."""
        known = self._selections.get(node)
        if known is not None and known[0] is returned:
            return known[1]
        chosen, evidence = branches_of(node, returned)
        found = (chosen, tuple(child.info.number for child in chosen), evidence)
        if type(returned) is tuple:  # nobody can change it, so the same one means the same branches
            self._selections[node] = (returned, found)
        return found

    async def _fanned(
        self, home: Home, node: Node, children: tuple[Node, ...], step: Execution, name: str
    ) -> dict[str, BranchOutcome]:
        """Run branches side by side, or one after the other where none can suspend (DEC-23)."""
        if self.teller is not None:
            self.teller.forked(step, children, name)
            self.teller.executed(step, "fork", name=name, described=name == step.info.name)
        self._deeper(home, step)
        settled = Settled(children, fail_fast=node.fail_fast)
        try:
            if node.timeout is None and all(child.inline for child in children):
                for child in children:  # also after a failure: side by side, the others would have run too
                    try:
                        settled.results[child] = await self._child(home, child, step)
                    except PauseSignal as signal:
                        settled.pauses[child] = signal
                    except Exception as error:  # noqa: BLE001  a stage is the user's code; `settled` raises it again
                        settled.errors[child] = error
            else:
                at_once, timeout = node.max_concurrency, node.timeout
                await gathered(settled, lambda child: self._child(home, child, step), at_once=at_once, timeout=timeout)
        finally:
            home.depth -= 1
        return settled.outcome()

    async def _child(self, home: Home, child: Node, step: Execution) -> Value:
        """One branch, and its empty commit when it settles (FLOW-EXE-43)."""
        place = len(self.journal.rows)  # the branch stands there before it can suspend
        try:
            value, _ = await self.walk(home, child, step, CHILD)
        except PauseSignal:
            raise
        except BaseException:
            self._settled(self._head(place))
            raise
        self._settled(self._head(place))
        return value

    def _head(self, place: int) -> Execution:
        """The execution that began at a place of the journal; before it stands what a lazy mount made known."""
        rows = self.journal.rows
        while not isinstance(rows[place], Execution):
            place += 1
        return rows[place]

    def _settled(self, head: Execution) -> None:
        self.journal.append(head)
        if self.teller is not None and head.info.kind != "mount":
            self.teller.committed(head)

    def _deeper(self, home: Home, step: Execution) -> None:
        if home.depth >= self.max_depth:
            raise FlowLimitError(
                f"Maximum traversal depth exceeded ({self.max_depth}) after stage {step.info.id!r}.",
                limit=self.max_depth,
                node=step.info.id,
                option="max_depth",
            )
        if home.depth > _SHALLOW and _is_stack_full():
            raise FlowLimitError(
                f"Maximum traversal depth exceeded ({home.depth}) after stage {step.info.id!r}: the stack is full.",
                limit=home.depth,
                node=step.info.id,
                option="sys.setrecursionlimit",
            )
        home.depth += 1


def _shown_evidence(veil: Veil, evidence: Value, step: Execution) -> Value:
    """Evidence as it goes on record."""
    from agentfootprint.flow.redaction import veiled_evidence

    return None if evidence is None else veiled_evidence(evidence, veil, step.mount)
