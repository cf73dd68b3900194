"""What comes of branches that ran side by side: their results, the first failure, or the first pause.

A pause is no failure: it cancels nobody, and it is raised when all have settled (DEC-32).
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, cast

import msgspec

from agentfootprint.flow.again.points import ForkFrame, PausePoint, kept
from agentfootprint.flow.errors import BranchTimeoutError
from agentfootprint.flow.pause import PauseSignal
from agentfootprint.flow.plan.node import Node
from agentfootprint.flow.watch.failure import message_of, name_of, noted
from agentfootprint.trace import thaw

__all__ = ["BranchOutcome", "Settled", "gathered"]


class BranchOutcome(msgspec.Struct, frozen=True, gc=False):
    """How one branch ended: what its last stage returned, or what it raised."""

    id: str
    result: Any = None
    is_error: bool = False

    def to_wire(self) -> dict[str, Any]:
        """The outcome as plain JSON; an error by its message."""
        result = {"message": message_of(self.result)} if self.is_error else thaw(self.result)
        return {"id": self.id, "isError": self.is_error} | ({} if result is None else {"result": result})


class _FailedError(Exception):
    """Says to a group of tasks that one has failed; how, is in `Settled`."""


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
        self.stray: BaseException | None = None
        """What a branch raised that is no failure: a cancellation without having been cancelled, for example."""
        self.pending: dict[str, PausePoint] = {}
        """Branches that had paused before a resume and have not asked since, by branch id."""

    async def take(self, child: Node, going: Coroutine[Any, Any, Any]) -> None:
        """Wait for a branch in a task of its own; under `fail_fast` its failure goes on."""
        try:
            self.results[child] = await going
        except PauseSignal as signal:  # caught here: a task group must not see it
            self.pauses[child] = signal
        except asyncio.CancelledError as error:
            if not cast("asyncio.Task[Any]", asyncio.current_task()).cancelling():
                self.stray = error  # nobody cancelled the branch: it raised this, and a group would pass over it
            raise
        except Exception as error:  # noqa: BLE001  kept, and raised by `outcome`
            self.errors[child] = error
            if self.fail_fast:
                raise _FailedError from None  # not the user's own: asyncio would look at it, and it may mind
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001  kept, and raised by `gathered`
            self.stray = error  # no failure, but a group would wrap it
            raise _FailedError from None

    def outcome(self) -> dict[str, BranchOutcome]:
        """What became of each branch, by branch id.

        Raises:
            PauseSignal: A branch paused; the first in declaration order.
            Exception: A branch failed and `fail_fast` holds; the first in declaration order, the others as notes.
        """
        if not self.errors and not self.pauses:
            results = self.results
            return {(name := child.info.branch_id): BranchOutcome(name, results.get(child)) for child in self.children}
        paused = next((self.pauses[child] for child in self.children if child in self.pauses), None)
        frame = None if paused is None else self._frame(paused)
        errors = self.errors
        self.errors, self.pauses = {}, {}  # what was raised holds frames that hold this, and goes on alone
        try:
            if self.fail_fast and errors:
                raise self._first_of(errors)
            if paused is not None:
                paused.frames.extend(() if frame is None else (frame,))
                raise paused
            return {
                child.info.branch_id: BranchOutcome(child.info.branch_id, errors[child], is_error=True)
                if child in errors
                else BranchOutcome(child.info.branch_id, self.results.get(child))
                for child in self.children
            }
        finally:
            del errors, paused

    def _first_of(self, errors: Mapping[Node, Exception]) -> Exception:
        """The first failure in declaration order, with the others in its notes."""
        failed = [child for child in self.children if child in errors]
        for child in failed[1:]:
            noted(errors[failed[0]], f"Branch {child.info.id!r} failed too: {name_of(errors[child])}.")
        return errors[failed[0]]

    def _frame(self, paused: PauseSignal) -> ForkFrame:
        """What a resume needs of the branches beside the paused one (24.3)."""
        owner = cast("Node", self.children[0].owner)
        branch = next(child for child, signal in self.pauses.items() if signal is paused)
        ended = {child: kept(result) for child, result in self.results.items()}
        ended |= {child: kept(error, is_error=True) for child, error in self.errors.items()}
        waiting = {child.info.branch_id: signal.point() for child, signal in self.pauses.items() if child is not branch}
        waiting |= self.pending
        order = [child.info.branch_id for child in self.children]
        return ForkFrame(
            owner.info.id,
            branch.info.branch_id,
            {child.info.branch_id: ended[child] for child in self.children if child in ended},
            {name: waiting[name] for name in order if name in waiting},
        )


async def gathered(
    settled: Settled,
    run: Callable[[Node], Coroutine[Any, Any, Any]],
    *,
    at_once: int | None = None,
    timeout: float | None = None,  # noqa: ASYNC109  of each branch, kept by asyncio.timeout
) -> None:
    """Run all branches as tasks and fill in how each ended.

    Args:
        settled: The branches, started in its order; under `fail_fast` the first failure cancels the others.
        run: Runs one of them.
        at_once: How many may be on their way at once.
        timeout: Seconds each of them may take from its start.
    """
    room = None if at_once is None else asyncio.Semaphore(at_once)

    async def one(child: Node) -> None:
        try:
            await settled.take(child, _timed(child, run(child), timeout))
        finally:
            if room is not None:
                room.release()

    try:
        async with asyncio.TaskGroup() as group:
            for child in settled.children:
                if room is not None:
                    await room.acquire()
                group.create_task(one(child))
    except* Exception as failed:  # noqa: BLE001  each one is in `settled`, which raises the first of them unwrapped
        traceback.clear_frames(failed.__traceback__)  # asyncio's frame holds the group, which holds that frame
    stray, settled.stray = settled.stray, None
    if stray is not None:
        try:
            raise stray
        finally:
            del stray  # as in `outcome`


async def _timed(child: Node, going: Coroutine[Any, Any, Any], seconds: float | None) -> Any:  # noqa: ANN401  the branch's value
    if seconds is None:
        return await going
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await going
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise BranchTimeoutError(child.info.branch_id, seconds) from error
