"""What runs when: the loop that takes a run from stage to stage, and puts on record what happens.

One loop serves a runtime from its first stage to its end (FLOW-EXE-1): linear hops, loops and tail branches are turns
of it, so neither the stack nor a chain of tasks grows with them. Mounts, forks and deciders that have a `next` of
their own await a loop of theirs; tasks are made only for branches that may really suspend side by side.
"""

from __future__ import annotations

import asyncio
from time import perf_counter_ns
from types import CoroutineType
from typing import Any, Final

from agentfootprint.flow.errors import CheckpointError, FlowLimitError, FlowTimeoutError
from agentfootprint.flow.parts import Continue
from agentfootprint.flow.pause import PauseSignal
from agentfootprint.flow.plan.node import DECIDER, FOREACH, MOUNT, PAUSABLE, SELECTOR, STREAMING, Node
from agentfootprint.flow.stage.asking import may_ask, question_of
from agentfootprint.flow.stage.handle import CLOSED, EMPTY, Handle
from agentfootprint.flow.stage.home import Home
from agentfootprint.flow.stage.traced import TracedHandle
from agentfootprint.flow.walking.mounting import Entering, Mounted, shown_question, words_of
from agentfootprint.flow.walking.recovering import Recovering
from agentfootprint.flow.watch.failure import is_a, issues_of, name_of, noted
from agentfootprint.trace import (
    CHILD,
    ENTRY,
    NEXT,
    BrokeRow,
    Execution,
    FailedRow,
    PausedRow,
    Value,
)

__all__ = ["Walker"]

_SLICE_NS: Final = 1_000_000
"""How long a run may keep the event loop to itself (DEC-23)."""


class Walker(Recovering):
    """The moving part of a run."""

    async def walk(  # noqa: C901, PLR0912, PLR0915  the hot path: one loop, read as a whole
        self, home: Home, node: Node, above: Execution | None, link: int, entering: Entering | None = None
    ) -> tuple[Any, BrokeRow | None]:
        """Run one runtime from `node` on.

        Args:
            home: Its state.
            node: Where to begin.
            above: The step that control comes from.
            link: How it comes.
            entering: A resume that is on its way to the paused stage; only the first turn has to do with it.

        Returns:
            What the last stage returned, and the break that ended it, if one did.
        """
        journal, teller, native, visits = self.journal, self.teller, self.native, self.visits
        append, interned, t0, mount = journal.append, self.interned, journal.t0, home.mount
        until = self.until_ns
        now = perf_counter_ns()
        while True:
            info, code = node.info, node.code
            index = self.count
            self.count = index + 1
            visits[info.number] += 1
            parent = -1 if above is None else above.index
            tail: Node | None = None
            step: Any
            if code == MOUNT:
                if node.lazy is not None:
                    node = self._opened(node, index, parent, link, mount)
                    info = node.info
                step = Execution(info, index, parent, link, mount, now - t0, (), EMPTY)
                append(step)
                inner, first = self._entered(home, node, step, entering)
                try:
                    if node.within is not None:
                        value, broke = await self._within(inner, node, first, step, entering)
                    elif entering is None:
                        value, broke = await self.walk(inner, first, step, ENTRY)
                    else:
                        value, broke = await self.went_on(inner, step, ENTRY, entering)
                except BaseException as error:
                    self._unwound(node, step, inner, error)
                    raise
                target = above if link == CHILD and above is not None else step
                broke = self._left(home, inner, node, step, target, value, broke)
            else:
                if native and node.raw and not info.namespace:
                    step = Handle(
                        info, index, parent, link, mount, now - t0, (), EMPTY, None, (), None, home.state, {}, {}, home
                    )
                else:
                    said: list[Any] | None = [] if self.narrated else None
                    step = TracedHandle(
                        info, index, parent, link, mount, now - t0, (), EMPTY, None, (), None, None, {}, {}, home, said
                    )
                append(step)
                try:
                    if teller is not None or code == STREAMING:
                        self._begun(step)
                    value = node.call(step) if entering is None else entering.begin(node, step)
                    if value is not None:
                        kind: type[object] = type(value)  # pyright: ignore[reportUnknownVariableType]  a cast is a call
                        if kind is CoroutineType or hasattr(kind, "__await__"):
                            value = await value
                        if type(value) is Continue and code < DECIDER:
                            tail, value = self.continued(node, step, value), None
                except BaseException as error:
                    if node.retry is None and not may_ask(error):
                        self._failed(step, node, error)
                        raise
                    step, value = await self._recovered(step, node, error, entering)
                asks = code == PAUSABLE and value is not None and (entering is None or entering.first_half)
                if asks or teller is not None or code == STREAMING:
                    value = self._ended(step, node, value, asks=asks)
                step.close(interned)
                append(step)
                if teller is not None:
                    teller.committed(step)
                if asks:
                    self._pause(step, value)
                broke = self._stopped(home, step) if home.stops else None
                if broke is not None:
                    if teller is not None:
                        if code < DECIDER:
                            teller.executed(step, "linear")
                        teller.broke(broke)
                elif code == DECIDER:
                    tail = self._decided(node, step, value)
                    if node.next is not None or node.loop is not None:
                        value, broke = await self._nested(home, tail, step)
                        tail = None
                elif code == SELECTOR:
                    value = await self._selected(home, node, step, value)
                else:
                    if teller is not None and code != FOREACH:
                        teller.executed(step, "linear")
                    if node.fork:
                        value = await self._fanned(home, node, node.fork, step, info.name)
            if broke is not None:
                return value, broke
            above = step
            if tail is not None:
                node, link = tail, CHILD if code == DECIDER else self._onward(home, step, tail)
            else:
                if entering is not None and node.next is None and node.loop is None:
                    node = _dispatching(node, entering)
                follow = node.next
                if follow is not None:
                    if teller is not None and code < SELECTOR:
                        teller.moved(step, follow)
                    node, link = follow, NEXT
                elif node.loop is not None:
                    node = node.loop
                    link = self._looped(home, step, node)
                else:
                    return value, None
            entering = None
            now = perf_counter_ns()
            if now > until:
                raise FlowTimeoutError(self.plan.name, self.timeout or 0)  # a stage let no cancellation through
            if now - self.yielded > _SLICE_NS:
                await asyncio.sleep(0)
                self.yielded = now = perf_counter_ns()

    async def _within(
        self, inner: Home, node: Node, first: Node, step: Execution, entering: Entering | None
    ) -> tuple[Any, BrokeRow | None]:
        """Run a mount that has something around it."""
        broke: BrokeRow | None = None

        async def go() -> Any:  # noqa: ANN401  what the last stage returned
            nonlocal broke
            if entering is None:
                value, broke = await self.walk(inner, first, step, ENTRY)
            else:
                value, broke = await self.went_on(inner, step, ENTRY, entering)
            return value

        around: Any = node.within
        return await around(Mounted(inner, step, self._note, is_resumed=entering is not None), go), broke

    # around a stage

    def _begun(self, step: Handle) -> None:
        if self.teller is not None:
            self.teller.begun(step, self.visits[step.info.number])
            self.teller.stage_started(step)
        if self.stream is not None and step.info.kind == "streaming":
            self.stream.start(step.info.stream_id)

    def _ended(self, step: Handle, node: Node, value: Value, *, asks: bool) -> Value:
        """What comes between a stage function's return and its commit, when anybody wants it."""
        if self.teller is not None:
            self.teller.stage_ended(step, self.journal.now())
        if node.code == STREAMING:
            text = "".join(self.tokens.pop(step.index, ()))
            if self.stream is not None:
                self.stream.end(step.info.stream_id, text)
        if not asks:
            return value
        try:
            value = question_of(step, value)
        except CheckpointError as error:
            self._failed(step, node, error)
            raise
        if self.teller is not None:
            self.teller.asked(step, value)
        return value

    def _pause(self, step: Handle, data: Value) -> None:
        self.journal.append(PausedRow(step, self.journal.now(), shown_question(self.journal, step, data)))
        if self.teller is not None:
            self.teller.paused(step, data)
        raise PauseSignal(step, data)

    def _failed(self, step: Handle, node: Node, error: BaseException) -> None:
        """A stage function raised: commit what it staged, and say so (FLOW-EXE-12)."""
        if step.home is CLOSED:
            return  # a for-each, which closes itself when a branch fails
        journal = self.journal
        self.tokens.pop(step.index, None)
        step.home.stops.pop(step.index, None)
        step.close(self.interned)
        journal.append(step)
        where = "decider" if node.code == DECIDER else "selector" if node.code == SELECTOR else "stage"
        issues = issues_of(error) if journal.veil is None or not journal.veil.keeps_secrets else ()
        journal.append(FailedRow(step, journal.now(), where, name_of(error), words_of(error, journal), issues))
        if self.teller is not None:
            self.teller.committed(step)
        if is_a(error, Exception):  # a cancelled stage commits, but has not failed
            if self.teller is not None:
                self.teller.failed(step, error)
            noted(error, f"Raised in stage {step.runtime_stage_id}; the run's journal holds what it had read.")

    def _stopped(self, home: Home, step: Handle) -> BrokeRow | None:
        if step.index not in home.stops:
            return None
        row = BrokeRow(step, home.stops.pop(step.index))
        self.journal.append(row)
        return row

    def _onward(self, home: Home, step: Execution, target: Node) -> int:
        """How control comes to what a stage goes on with of its own accord."""
        if step.index in self.growth.jumps:
            self.growth.jumps.discard(step.index)
            return self._looped(home, step, target)
        if self.teller is not None:
            self.teller.moved(step, target)
        return NEXT

    def _looped(self, home: Home, step: Execution, target: Node) -> int:
        """Count a loop edge; gives its number."""
        number = target.info.number
        count = home.loops.get(number, 0) + 1
        if count > self.max_iterations:
            raise FlowLimitError(
                f"Maximum loop iterations ({self.max_iterations}) exceeded for node {target.info.id!r}.",
                limit=self.max_iterations,
                node=target.info.id,
                option="max_iterations",
            )
        home.loops[number] = count
        if self.teller is not None:
            self.teller.looped(step, target, count)
        return count


def _dispatching(node: Node, entering: Entering) -> Node:
    """The node whose ways on count after one that a resume came to: the decider whose branch it is (FLOW-PAU-5)."""
    return node if node.owner is None or node.info.id in entering.forked else node.owner
