"""What runs when: the loop that takes a run from stage to stage, and puts on record what happens.

One loop serves a runtime from its first stage to its end (FLOW-EXE-1): linear hops, loops and tail branches are turns
of it, so neither the stack nor a chain of tasks grows with them. Mounts, forks and deciders that have a `next` of
their own await a loop of theirs; tasks are made only for branches that may really suspend side by side.
"""

from __future__ import annotations

import asyncio
from time import perf_counter_ns
from types import CoroutineType
from typing import Any, Final, cast

from agentfootprint.flow.errors import CheckpointError, FlowLimitError
from agentfootprint.flow.fan import BranchOutcome, Settled, gathered
from agentfootprint.flow.mapping import map_in, map_out
from agentfootprint.flow.pause import PauseCheckpoint, PauseSignal
from agentfootprint.flow.plan.node import DECIDER, MOUNT, PAUSABLE, SELECTOR, STREAMING, Node, Plan
from agentfootprint.flow.stage.handle import EMPTY, NOTHING, Handle
from agentfootprint.flow.stage.home import Home, Run
from agentfootprint.flow.stage.traced import TracedHandle
from agentfootprint.flow.telling import Teller
from agentfootprint.flow.turn import branch_of, branches_of
from agentfootprint.flow.watch.recorder import Watch
from agentfootprint.trace import (
    CHILD,
    ENTRY,
    NATIVE,
    NEXT,
    BrokeRow,
    DecidedRow,
    Execution,
    FailedRow,
    FrozenDict,
    Journal,
    PausedRow,
    SeededRow,
    SelectedRow,
    Value,
    ValueRefusedError,
    freeze,
)

__all__ = ["Entering", "Walker", "words_of"]

_SLICE_NS: Final = 1_000_000
"""How long a run may keep the event loop to itself (DEC-23)."""


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


class Walker(Run):
    """The moving part of a run.

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
                step = Execution(info, index, parent, link, mount, now - t0, (), EMPTY)
                append(step)
                inner, first = self._entered(home, node, step, entering)
                try:
                    value, broke = await self.walk(inner, first, step, ENTRY, entering)
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
                    step = TracedHandle(
                        info, index, parent, link, mount, now - t0, (), EMPTY, None, (), None, None, {}, {}, home
                    )
                append(step)
                try:
                    if teller is not None or code == STREAMING:
                        self._begun(step)
                    value = node.call(step) if entering is None else node.resume(step, entering.answer)  # pyright: ignore[reportOptionalCall]  asked at the door
                    if value is not None:
                        kind = cast("type[object]", type(value))
                        if kind is CoroutineType or hasattr(kind, "__await__"):
                            value = await value
                except BaseException as error:
                    self._failed(step, node, error)
                    raise
                asks = code == PAUSABLE and value is not None and entering is None
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
                    if teller is not None:
                        teller.executed(step, "linear")
                    if node.fork:
                        value = await self._fanned(home, node, node.fork, step, info.name)
            if broke is not None:
                return value, broke
            above = step
            if tail is not None:
                node, link = tail, CHILD
            else:
                follow = node.next
                if entering is not None and follow is None and node.loop is None:
                    follow = _after_branch(node, entering)
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
            if now - self.yielded > _SLICE_NS:
                await asyncio.sleep(0)
                self.yielded = now = perf_counter_ns()

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
            value = freeze(value)
        except ValueRefusedError as refused:
            error = CheckpointError(
                "pauseData",
                f"Stage {step.info.id!r} paused with data that can't be recorded: {refused.problem}",
                fix="Pause with a JSON value.",
            )
            self._failed(step, node, error)
            raise error from refused
        if self.teller is not None:
            self.teller.asked(step, value)
        return value

    def _pause(self, step: Handle, data: Value) -> None:
        self.journal.append(PausedRow(step, self.journal.now(), data))
        if self.teller is not None:
            self.teller.paused(step, data)
        raise PauseSignal(step, data)

    def _failed(self, step: Handle, node: Node, error: BaseException) -> None:
        """A stage function raised: commit what it staged, and say so (FLOW-EXE-12)."""
        journal = self.journal
        step.home.stops.pop(step.index, None)
        step.close(self.interned)
        journal.append(step)
        where = "decider" if node.code == DECIDER else "selector" if node.code == SELECTOR else "stage"
        journal.append(FailedRow(step, journal.now(), where, type(error).__name__, words_of(error)))
        if self.teller is not None:
            self.teller.committed(step)
        if isinstance(error, Exception):  # a cancelled stage commits, but has not failed
            if self.teller is not None:
                self.teller.failed(step, error)
            error.add_note(f"Raised in stage {step.runtime_stage_id}; the run's journal holds what it had read.")

    def _stopped(self, home: Home, step: Handle) -> BrokeRow | None:
        if step.index not in home.stops:
            return None
        row = BrokeRow(step, home.stops.pop(step.index))
        self.journal.append(row)
        return row

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

    # branches

    def _decided(self, node: Node, step: Execution, returned: Value) -> Node:
        branch, text, matched, evidence = branch_of(node, returned)
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
        finally:
            home.depth -= 1

    async def _selected(self, home: Home, node: Node, step: Execution, returned: Value) -> Value:
        chosen, numbers, evidence = self._chosen(node, returned)
        self.journal.append(SelectedRow(step, numbers, evidence))
        if self.teller is not None:
            self.teller.selected(step, chosen, len(node.children), evidence)
            self.teller.executed(step, "selector")
        if not chosen:
            return None
        return await self._fanned(home, node, chosen, step, "selector-temp")

    def _chosen(self, node: Node, returned: Value) -> tuple[tuple[Node, ...], tuple[int, ...], Value]:
        """The branches a selector named, and their numbers; the ids it returned last are not looked up again."""
        known = self._selections.get(node.info.number)
        if known is not None and known[0] is returned:
            return known[1]
        chosen, evidence = branches_of(node, returned)
        found = (chosen, tuple(child.info.number for child in chosen), evidence)
        if type(returned) is tuple:  # nobody can change it, so the same one means the same branches
            self._selections[node.info.number] = (returned, found)
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
            if all(child.inline for child in children):
                for child in children:  # also after a failure: side by side, the others would have run too
                    try:
                        settled.results[child] = await self._child(home, child, step)
                    except PauseSignal as signal:
                        settled.pauses[child] = signal
                    except Exception as error:  # noqa: BLE001  a stage is the user's code; `settled` raises it again
                        settled.errors[child] = error
            else:
                await gathered(settled, lambda child: self._child(home, child, step))
        finally:
            home.depth -= 1
        return settled.outcome()

    async def _child(self, home: Home, child: Node, step: Execution) -> Value:
        """One branch, and its empty commit when it settles (FLOW-EXE-43)."""
        rows = self.journal.rows
        place = len(rows)  # the branch stands there before it can suspend
        try:
            value, _ = await self.walk(home, child, step, CHILD)
        except PauseSignal:
            raise
        except BaseException:
            self._settled(rows[place])
            raise
        self._settled(rows[place])
        return value

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
        home.depth += 1

    # mounts

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


def _after_branch(node: Node, entering: Entering) -> Node | None:
    """What follows the decider or selector whose branch was resumed (FLOW-PAU-5)."""
    if node.owner is None:
        return None
    if len(entering.path) == 1 and entering.path[0] is node and entering.continuation is not None:
        return entering.continuation
    return node.owner.next or node.owner.loop


def words_of(error: BaseException) -> str:
    """The message of an error; one that can't be shown has none."""
    try:
        return str(error.args[0]) if error.args else str(error)
    except Exception:  # noqa: BLE001  a user's exception may do anything when it is looked at
        return "[unserializable error]"
