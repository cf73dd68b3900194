"""What happens when a stage function raises and that is not the end of it: another attempt, or a question.

A stage is one execution however many attempts it takes: the log knows the last one only (FLOW-EXE-60, 62). Nothing
here is reached while no stage raises.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, cast

from agentfootprint.flow.pause import PauseSignal
from agentfootprint.flow.plan.node import DECIDER, SELECTOR, STREAMING, Node
from agentfootprint.flow.retry import is_retryable, seconds_before_next
from agentfootprint.flow.stage.asking import Answers, InterruptSignal, question_of
from agentfootprint.flow.stage.handle import CLOSED, EMPTY, Handle
from agentfootprint.flow.stage.home import Home
from agentfootprint.flow.stage.traced import TracedHandle
from agentfootprint.flow.walking.mounting import Entering, shown_question, words_of
from agentfootprint.flow.walking.reentry import Reentry
from agentfootprint.flow.watch.failure import is_a, name_of
from agentfootprint.trace import ABSENT, PausedRow, RetriedRow, Value

__all__ = ["Recovering"]


class Recovering(Reentry):
    """Attempts and questions of the stages of a run."""

    @abstractmethod
    def _begun(self, step: Handle) -> None:
        """A stage function is about to run; see `Walker`."""

    @abstractmethod
    def _failed(self, step: Handle, node: Node, error: BaseException) -> None:
        """A stage function raised, and that is final; see `Walker`."""

    async def _recovered(
        self, step: Handle, node: Node, error: BaseException, entering: Entering | None
    ) -> tuple[Handle, Value]:
        """Run a stage that raised again, as often as its policy lets it.

        Returns:
            The handle of the attempt that went well, and what that returned.

        Raises:
            PauseSignal: The stage asked.
            BaseException: What the last attempt raised.
        """
        attempt = 0
        try:
            while True:
                attempt += 1
                signal = _question_in(error, step)
                if signal is not None:
                    self._interrupted(step, node, signal, entering)
                policy = node.retry
                if (
                    policy is None
                    or attempt >= policy.attempts
                    or not is_a(error, Exception)
                    or _is_cancelled()
                    or not is_retryable(policy, error, node.info.id)
                ):
                    self._failed(step, node, error)
                    raise error
                seconds = seconds_before_next(policy, attempt)
                step = self._started_over(step)
                self._told_of(step, error, attempt, policy.attempts, seconds * 1000)
                if self.teller is not None:
                    self.teller.retried(step, error, attempt, policy.attempts, seconds * 1000)
                try:
                    await asyncio.sleep(seconds)
                    return step, await self._tried(step, node, entering)
                except BaseException as raised:  # noqa: BLE001  the loop judges it, and raises what is final
                    error = raised
        finally:
            del error  # its traceback holds this frame, and the frame would hold it

    def _told_of(self, step: Handle, error: Exception, attempt: int, attempts: int, delay_ms: float) -> None:
        """Put a failed attempt on record, and into the story of its stage when one is wanted."""
        journal = self.journal
        words = words_of(error, journal)
        journal.append(RetriedRow(step, journal.now(), attempt, attempts, delay_ms, name_of(error), words))
        story: list[Any] | None = getattr(step, "said", None)
        if story is not None:
            story.append(("retry", words, (attempt, attempts, delay_ms)))

    async def _tried(self, step: Handle, node: Node, entering: Entering | None) -> Value:
        if self.teller is not None or node.code == STREAMING:
            self._begun(step)
        value = node.call(step) if entering is None else entering.begin(node, step)
        return await value if hasattr(cast("type[object]", type(value)), "__await__") else value

    def _started_over(self, step: Handle) -> Handle:
        """A handle for another attempt of the same execution; the old one is closed, and what it staged is gone."""
        home: Home = step.home
        facts = (step.info, step.index, step.parent, step.link, step.mount, step.dt, (), EMPTY, None, (), None)
        again: Handle
        if type(step) is TracedHandle:
            again = TracedHandle(*facts, None, {}, {}, home, step.said)
            step.buffer = step.said = None
        else:
            again = Handle(*facts, home.state, {}, {}, home)
        step.base = step.w = step.r = step.home = CLOSED
        self.tokens.pop(step.index, None)
        home.stops.pop(step.index, None)
        self.journal.begun_again(step, again)
        return again

    def _interrupted(self, step: Handle, node: Node, signal: InterruptSignal, entering: Entering | None) -> None:
        """A stage asked: commit what it staged, and pause (FLOW-PAU-11, FLOW-REC-3)."""
        given: Answers | None = self.answers.pop(step.index, None)
        by, answers, half = "interrupt", () if given is None else given.given, ABSENT
        if entering is not None and entering.asks_again:
            point = entering.point
            by, answers, half = point.by, point.answers, point.half
        elif entering is not None and not entering.first_half:
            half = question_of(step, entering.given)
        if self.teller is not None:
            self.teller.asked(step, signal.data)
        self.tokens.pop(step.index, None)
        step.home.stops.pop(step.index, None)
        step.close(self.interned)
        self.journal.append(step)
        if self.teller is not None:
            self.teller.committed(step)
        shown = shown_question(self.journal, step, signal.data)
        self.journal.append(PausedRow(step, self.journal.now(), shown))
        if self.teller is not None and node.code not in (DECIDER, SELECTOR):
            self.teller.paused(step, signal.data)
        raise PauseSignal(step, signal.data, by=by, answers=answers, half=half)


def _is_cancelled() -> bool:
    """Whether somebody wants this task to end, even if the stage did not let that through."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _question_in(error: BaseException, step: Handle) -> InterruptSignal | None:
    """The question of this stage in what it raised: alone, or from a group of tasks of the stage's own."""
    found = list(_leaves(error))
    asked = [leaf for leaf in found if is_a(leaf, InterruptSignal) and leaf.step is step]
    return asked[0] if asked and len(asked) == len(found) else None


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if is_a(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[Any]", error).exceptions:
            yield from _leaves(inner)
    else:
        yield error
