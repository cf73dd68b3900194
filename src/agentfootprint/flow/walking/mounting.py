"""How a run goes into a mount and comes out of it: the chart inside has a state of its own (5.4)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any, cast

from agentfootprint.flow.again.points import ChainFrame, ForkFrame, MountFrame, PausePoint
from agentfootprint.flow.pause import PauseSignal
from agentfootprint.flow.plan.growing import Growth
from agentfootprint.flow.plan.node import Node, Plan
from agentfootprint.flow.stage.asking import Answers, InterruptSignal
from agentfootprint.flow.stage.handle import EMPTY, Handle
from agentfootprint.flow.stage.home import Home, Run, RunPart
from agentfootprint.flow.telling import Teller
from agentfootprint.flow.walking.mapping import map_in, map_out, replaced
from agentfootprint.flow.watch.failure import is_a, message_of, name_of
from agentfootprint.flow.watch.recorder import Watch
from agentfootprint.trace import (
    ABSENT,
    NATIVE,
    BrokeRow,
    Execution,
    FailedRow,
    FrozenDict,
    Journal,
    SeededRow,
    Value,
)

__all__ = ["Entering", "Level", "Mounted", "Mounting", "shown_question", "words_of"]


class Level:
    """What a resume passes in one runtime: what is under way there, and the mount or stage it comes to."""

    __slots__ = ("around", "each", "frame", "node")

    def __init__(
        self, around: tuple[tuple[Node, ChainFrame | ForkFrame], ...], node: Node, frame: MountFrame | None
    ) -> None:
        self.around = around
        """Nodes and what is kept of them, outermost first."""
        self.node = node
        self.frame = frame
        """State of the mount; None for the paused stage."""
        self.each: tuple[ForkFrame, PausePoint] | None = None
        """For a for-each, whose branches are made again first: how they ended, and the way on in the paused one."""


class Entering:
    """A resume on its way in: the runtimes still to be entered, the paused stage, and the answer for it.

    Args:
        levels: One for each runtime, outermost first; what was entered is taken off.
        point: Where it paused.
        answer: For the paused stage.
        asks_again: Whether the stage is not to run, but to ask what it had asked: another branch was answered.
    """

    __slots__ = ("answer", "asks_again", "first_half", "forked", "given", "levels", "point")

    def __init__(self, levels: list[Level], point: PausePoint, answer: Value, *, asks_again: bool = False) -> None:
        self.levels = levels
        self.point = point
        self.answer = answer
        self.asks_again = asks_again
        self.forked: set[str] = set()
        """Full ids of branches of forks on the way: what follows them is the fork's concern."""
        self.first_half = point.by == "interrupt" and point.half is ABSENT
        """Whether the stage runs from its top."""
        self.given = point.half if point.by == "interrupt" else answer
        """What its second half gets, where that is what runs."""

    def begin(self, node: Node, step: Handle) -> Any:  # noqa: ANN401  whatever the stage returns
        """Run the paused stage again, with its answers."""
        each = self.levels[0].each
        if each is not None:
            return cast("Any", step.run).each_again(node, step, *each, self)
        if self.asks_again:
            raise InterruptSignal(step, self.point.data)
        if self.point.by == "interrupt":
            step.run.answers[step.index] = Answers((*self.point.answers, self.answer))
        if self.first_half:
            return node.call(step)
        return cast("Any", node.resume)(step, self.given)


class Mounted:
    """One run of a mount, as what stands around it sees it (`Subflow.within`)."""

    __slots__ = ("_home", "_note", "is_resumed", "step")

    def __init__(
        self, home: Home, step: Execution, note: Callable[[Execution, str, BaseException], None], *, is_resumed: bool
    ) -> None:
        self._home = home
        self._note = note
        self.step = step
        """The mount's execution."""
        self.is_resumed = is_resumed
        """Whether a resume comes back to it, with the state it had."""

    @property
    def scope(self) -> Any:  # noqa: ANN401  the caller's own object
        """The scope around the mount; after `use`, the mount's own."""
        return self._home.run.scope

    @property
    def state(self) -> FrozenDict:
        """The mount's state as it is now."""
        return FrozenDict(self._home.share())

    def use(self, scope: Value) -> None:
        """Give the stages inside a scope of their own; do it before they run."""
        self._home.run = RunPart(self._home.run, scope)

    def note(self, error: BaseException) -> None:
        """Put on record that the mount failed, where what it raised goes no further."""
        self._note(self.step, "subflow", error)


class Mounting(Run):
    """What a run knows of its place: chart, counters, recorders; and the way into mounts and out.

    Args:
        plan: The built chart.
        journal: Where everything goes.
        scope: The caller's object.
        env: The environment.
        watch: The recorders; None when there are none.
        max_iterations: How often one stage may be looped back to, in one runtime.
        max_depth: How deep branches may nest, in one runtime.
    """

    def __init__(
        self,
        plan: Plan,
        journal: Journal,
        *,
        scope: Value,
        env: FrozenDict,
        watch: Watch | None,
        max_iterations: int,
        max_depth: int,
    ) -> None:
        super().__init__(journal, scope=scope, env=env, watch=watch)
        self.plan = plan
        self.growth = Growth(plan, journal, self.visits)
        """What of the chart only this run has."""
        self.max_iterations = max_iterations
        self.max_depth = max_depth
        self.count = journal.first_index
        """Index of the next execution (FLOW-ID-3)."""
        self.teller = None if watch is None else Teller(watch, journal.dials, journal.run_id, journal)
        self.native = watch is None and journal.dials == NATIVE
        """Whether raw stages may use the fast handle."""
        self._selections: dict[Node, tuple[Value, tuple[tuple[Node, ...], tuple[int, ...], Value]]] = {}
        self.yielded = perf_counter_ns()
        """When the event loop last had its turn."""
        self.timeout: float | None = None
        """Seconds it may take; set it before the start."""
        self.refused: Exception | None = None
        """Why it could not go on when it had begun: the checkpoint does not fit the branches of a for-each."""
        self.until_ns = sys.maxsize
        """When it must be over, on the clock of `perf_counter_ns`."""

    def _entered(self, home: Home, node: Node, step: Execution, entering: Entering | None) -> tuple[Home, Node]:
        """The runtime of a mount, and the node to begin with (5.4)."""
        if self.teller is not None:
            self.teller.begun(step, self.visits[node.info.number])
        if entering is None:
            first: Any = node.entry
            try:
                seed, looked_at = map_in(home, node, step)
            except BaseException as error:
                self._note(step, "inputMapper", error)
                raise
            if node.in_fn is not None and seed:
                self.journal.append(SeededRow(step, dict(seed), looked_at))
            # the same dict is state and `args`: marked as shared, it is copied before the first change
            inner = Home(home.run, step.index, seed, FrozenDict(seed), EMPTY if node.mutable else seed, shared=True)
        else:
            first = entering.levels[1].node
            inner = self._entered_again(home, node, step, cast("MountFrame", entering.levels.pop(0).frame))
        veil = self.journal.veil
        if veil is not None:
            veil.enter(step.index, home.mount, node.info.in_map, ever=bool(node.info.namespace))
            veil.saw(inner.state, step.index)
        if self.teller is not None:
            self.teller.entered(step, node, inner.state)
        return inner, first

    def _entered_again(self, home: Home, node: Node, step: Execution, frame: MountFrame) -> Home:
        """The runtime of a mount that a resume comes back to: as it was, without its input map (FLOW-PAU-6)."""
        state = dict(frame.state.items())
        self.journal.base_states[step.index] = dict(state)
        if frame.args is not None:
            args = dict(frame.args.items())
        else:
            args = {target: state[target] for target, _ in node.info.in_map or () if target in state}
        return Home(home.run, step.index, state, FrozenDict(args), EMPTY if node.mutable else args)

    def _opened(self, node: Node, index: int, parent: int, link: int, mount: int) -> Node:
        """A lazy mount with its chart; one that has none has begun and ended all the same."""
        try:
            return self.growth.opened(node)
        except BaseException as error:
            step = Execution(node.info, index, parent, link, mount, self.journal.now(), (), EMPTY)
            self.journal.append(step)
            if self.teller is not None:
                self.teller.begun(step, self.visits[node.info.number])
            self._note(step, "subflow", error)
            self.journal.append(step)
            raise

    def _unwound(self, node: Node, step: Execution, inner: Home, error: BaseException) -> None:
        """A mount's chart raised, or paused: nothing is mapped out (FLOW-EXE-28)."""
        if is_a(error, PauseSignal):
            told = inner.args if node.in_fn is not None or node.mutable else None  # else the state tells
            error.frames.append(MountFrame(node.info.subflow_id, FrozenDict(inner.share()), told))
            return
        self._note(step, "subflow", error)
        self._exited(step, inner)

    def _left(
        self,
        home: Home,
        inner: Home,
        node: Node,
        step: Execution,
        target: Execution,
        value: Value,
        broke: BrokeRow | None,
    ) -> BrokeRow | None:
        """A mount's chart ended: map its output out, booked on `target`; gives the break that goes on outside."""
        pairs = node.out_pairs
        if self.native and pairs is not None and node.collect is None and self.journal.veil is None:
            self.journal.append(replaced(home, pairs, inner.state, target, step))
        elif node.info.has_output:
            veil = self.journal.veil
            if veil is not None:
                veil.leave(step.index, home.mount, node.info.out_map, inner.state)
            self._mapped_out(home, inner, node, target, step, value)
        if self.teller is None:
            self.journal.append(step)
        else:
            self._exited(step, inner)
        if broke is None or not node.propagate_break:
            return None
        passed = BrokeRow(step, broke.reason, node.info.subflow_id)
        self.journal.append(passed)
        if self.teller is not None:
            self.teller.broke(passed)
        return passed

    def _mapped_out(
        self, home: Home, inner: Home, node: Node, target: Execution, step: Execution, value: Value
    ) -> None:
        if node.collect is not None:
            self.growth.slots[node] = node.collect(value, inner)
            return
        try:
            row = map_out(home, inner, node, target, step, value)
        except BaseException as error:
            self._note(step, "outputMapper", error)
            if node.on_output_error == "record" and is_a(error, Exception):
                return
            self._exited(step, inner)
            raise
        self.journal.append(row)
        if self.journal.veil is not None:
            self.journal.veil.saw(row.writes, home.mount)
        if self.teller is not None and target.info.kind != "mount":
            self.teller.committed(target)

    def _exited(self, step: Execution, inner: Home) -> None:
        """A mount ends: its exit is on record, its state is let go."""
        if self.teller is not None:
            self.teller.left(step, inner.state)
        self.journal.append(step)

    def _note(self, step: Execution, where: str, error: BaseException) -> None:
        journal = self.journal
        journal.append(FailedRow(step, journal.now(), where, name_of(error), words_of(error, journal)))


def shown_question(journal: Journal, step: Execution, data: Value) -> Value:
    """What a stage asks as it goes on record; the checkpoint has it as it is."""
    return data if journal.veil is None else journal.veil.whole(data, step.mount)


def words_of(error: BaseException, journal: Journal) -> str:
    """The message of an error as it goes on record; one that can't be shown, or may quote a secret, has none."""
    words = message_of(error)
    return words if journal.veil is None else journal.veil.words(error, words)
