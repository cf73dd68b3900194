"""What comes of branches that ran side by side: their results, the first failure, or the first pause.

A pause is no failure: it cancels nobody, and it is raised when all have settled (DEC-32).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec

from agentfootprint.flow.pause import PauseSignal
from agentfootprint.flow.plan.node import Node
from agentfootprint.trace import thaw

__all__ = ["BranchOutcome", "Settled", "gathered"]


class BranchOutcome(msgspec.Struct, frozen=True, gc=False):
    """How one branch ended: what its last stage returned, or what it raised."""

    id: str
    result: Any = None
    is_error: bool = False

    def to_wire(self) -> dict[str, Any]:
        """The outcome as plain JSON; an error by its message."""
        result = {"message": str(self.result)} if self.is_error else thaw(self.result)
        return {"id": self.id, "isError": self.is_error} | ({} if result is None else {"result": result})


class Settled:
    """The ends of branches as they come, in any order; `outcome` judges them in the order of declaration.

    Args:
        children: The branches, in that order.
        fail_fast: Whether a failure is raised instead of collected.
    """

    def __init__(self, children: Sequence[Node], *, fail_fast: bool) -> None:
        self.children = children
        self.fail_fast = fail_fast
        self.results: dict[Node, Any] = {}
        self.errors: dict[Node, Exception] = {}
        self.pauses: dict[Node, PauseSignal] = {}

    def outcome(self) -> dict[str, BranchOutcome]:
        """What became of each branch, by branch id.

        Raises:
            PauseSignal: A branch paused; the first in declaration order.
            Exception: A branch failed and `fail_fast` holds; the first in declaration order, the others as notes.
        """
        paused = next((self.pauses[child] for child in self.children if child in self.pauses), None)
        failed = [(child, self.errors[child]) for child in self.children if child in self.errors]
        if self.fail_fast and failed:
            first = failed[0][1]
            for child, other in failed[1:]:
                first.add_note(f"Branch {child.info.id!r} failed too: {type(other).__name__}.")
            raise first
        if paused is not None:
            raise paused
        return {
            child.info.branch_id: BranchOutcome(child.info.branch_id, self.errors[child], is_error=True)
            if child in self.errors
            else BranchOutcome(child.info.branch_id, self.results.get(child))
            for child in self.children
        }


async def gathered(settled: Settled, run: Callable[[Node], Coroutine[Any, Any, Any]]) -> None:
    """Run all branches as tasks and fill in how each ended; under `fail_fast` the first failure cancels the others."""

    async def one(child: Node) -> None:
        try:
            settled.results[child] = await run(child)
        except PauseSignal as signal:  # caught here: a task group must not see it
            settled.pauses[child] = signal
        except Exception as error:
            settled.errors[child] = error
            if settled.fail_fast:
                raise

    try:
        async with asyncio.TaskGroup() as group:
            for child in settled.children:
                group.create_task(one(child))
    except* Exception:  # noqa: BLE001, S110  each one is in `settled`, which raises the first of them unwrapped
        pass
