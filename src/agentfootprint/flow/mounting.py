"""How a run goes into a mount and comes out of it: the chart inside has a state of its own (5.4)."""

from __future__ import annotations

from time import perf_counter_ns
from typing import cast

from agentfootprint.flow.mapping import map_in, map_out
from agentfootprint.flow.pause import PauseCheckpoint, PauseSignal
from agentfootprint.flow.plan.node import Node, Plan
from agentfootprint.flow.stage.handle import EMPTY, NOTHING
from agentfootprint.flow.stage.home import Home, Run
from agentfootprint.flow.telling import Teller
from agentfootprint.flow.watch.recorder import Watch
from agentfootprint.trace import (
    NATIVE,
    BrokeRow,
    Execution,
    FailedRow,
    FrozenDict,
    Journal,
    SeededRow,
    Value,
)

__all__ = ["Entering", "Mounting", "words_of"]


class Entering:
    """A resume on its way in: the mounts still to be entered, the paused stage, and the answer for it."""

    __slots__ = ("answer", "checkpoint", "continuation", "path")

    def __init__(self, path: list[Node], answer: Value, checkpoint: PauseCheckpoint, after: Node | None) -> None:
        self.path = path
        """Mounts and paused stage, outermost first; what was entered is taken off."""
        self.answer = answer
        self.checkpoint = checkpoint
        self.continuation = after
        """What follows the paused stage, as the checkpoint says."""


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
        self.max_iterations = max_iterations
        self.max_depth = max_depth
        self.count = journal.first_index
        """Index of the next execution (FLOW-ID-3)."""
        self.teller = None if watch is None else Teller(watch, journal.dials, journal.run_id)
        self.native = watch is None and journal.dials == NATIVE
        """Whether raw stages may use the fast handle."""
        self._selections: dict[int, tuple[Value, tuple[tuple[Node, ...], tuple[int, ...], Value]]] = {}
        self.yielded = perf_counter_ns()
        """When the event loop last had its turn."""

    def _entered(self, home: Home, node: Node, step: Execution, entering: Entering | None) -> tuple[Home, Node]:
        """The runtime of a mount, and the node to begin with (5.4)."""
        if self.teller is not None:
            self.teller.begun(step, self.visits[node.info.number])
        if entering is None:
            first = node.entry
            try:
                seed = map_in(home, node, step)
            except BaseException as error:
                self._note(step, "inputMapper", error)
                raise
            if node.in_fn is not None and seed:
                self.journal.append(SeededRow(step, dict(seed)))
            # the same dict is state and `args`: marked as shared, it is copied before the first change
            inner = Home(self, step.index, seed, FrozenDict(seed), EMPTY if node.mutable else seed, shared=True)
        else:
            entering.path.pop(0)
            first = entering.path[0]
            inner = self._entered_again(node, step, entering.checkpoint)
        if self.teller is not None:
            self.teller.entered(step, node, inner.state)
        return inner, cast("Node", first)

    def _entered_again(self, node: Node, step: Execution, checkpoint: PauseCheckpoint) -> Home:
        """The runtime of a mount that a resume comes back to: as it was, without its input map (FLOW-PAU-6)."""
        info = node.info
        saved = checkpoint.subflow_states.get(info.subflow_id)
        if saved is None:
            saved = checkpoint.subflow_states.get(info.local_id, NOTHING)
        state = dict(saved.items())
        self.journal.base_states[step.index] = dict(state)
        args = {target: state[target] for target, _ in info.in_map or () if target in state}
        return Home(self, step.index, state, FrozenDict(args), EMPTY if node.mutable else args)

    def _unwound(self, node: Node, step: Execution, inner: Home, error: BaseException) -> None:
        """A mount's chart raised, or paused: nothing is mapped out (FLOW-EXE-28)."""
        if isinstance(error, PauseSignal):
            error.states.append((node.info.subflow_id, FrozenDict(inner.share())))
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
        if node.info.has_output:
            self._mapped_out(home, inner, node, target, step, value)
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
        try:
            row = map_out(home, inner, node, target, step, value)
        except BaseException as error:
            self._note(step, "outputMapper", error)
            if node.on_output_error == "record" and isinstance(error, Exception):
                return
            self._exited(step, inner)
            raise
        self.journal.append(row)
        if self.teller is not None and target.info.kind != "mount":
            self.teller.committed(target)

    def _exited(self, step: Execution, inner: Home) -> None:
        """A mount ends: its exit is on record, its state is let go."""
        if self.teller is not None:
            self.teller.left(step, inner.state)
        self.journal.append(step)

    def _note(self, step: Execution, where: str, error: BaseException) -> None:
        journal = self.journal
        journal.append(FailedRow(step, journal.now(), where, type(error).__name__, words_of(error)))


def words_of(error: BaseException) -> str:
    """The message of an error; one that can't be shown has none."""
    try:
        return str(error.args[0]) if error.args else str(error)
    except Exception:  # noqa: BLE001  a user's exception may do anything when it is looked at
        return "[unserializable error]"
