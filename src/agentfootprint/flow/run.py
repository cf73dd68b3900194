"""One run of one chart, from its input to how it ended; or one resume of a run that paused."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from agentfootprint.flow.errors import FlowLimitError, InputValidationError, ResumeError
from agentfootprint.flow.mounting import Entering, words_of
from agentfootprint.flow.pause import PauseCheckpoint, PauseSignal
from agentfootprint.flow.plan.node import DECIDER, SELECTOR, Node, Plan
from agentfootprint.flow.run_id import new_run_id
from agentfootprint.flow.stage.handle import EMPTY, NOTHING
from agentfootprint.flow.stage.home import Home
from agentfootprint.flow.walk import Walker
from agentfootprint.flow.watch.recorder import Watch, now_ms
from agentfootprint.trace import (
    ENTRY,
    NATIVE,
    RESUME,
    BrokeRow,
    Dials,
    Execution,
    FailedRow,
    FrozenDict,
    Journal,
    ResumedRow,
    Value,
    ValueRefusedError,
    freeze,
)

__all__ = ["FlowOutcome", "FlowRun", "object_given"]

Given: TypeAlias = "Mapping[str, Any] | FrozenDict | None"
"""What a caller may give a run: an object, frozen already or not."""
_ENDED: Final[Any] = None


@dataclass(frozen=True, slots=True)
class FlowOutcome:
    """How a run ended, when it did not raise."""

    status: Literal["done", "paused", "broken"]
    value: Any = None
    """What the last stage returned."""
    checkpoint: PauseCheckpoint | None = None
    """Where it paused."""
    reason: str | None = None
    """Why it broke off."""


class FlowRun(Walker):
    """One run of a chart, or one resume. Start it once; journal and state stay readable, also after an error.

    Set `stream` before the start to get the tokens of streaming stages.

    Args:
        plan: The built chart.
        scope: The caller's own object, reachable from every stage as `h.scope`; never recorded.
        dials: How much is kept. Under `NATIVE` raw stages use the fast handle.
        env: The environment, read through `env`.
        initial_state: State before the first stage; outside the log (FLOW-SNP-4).
        run_id: Id of the run; a new one by default.
        max_iterations: How often one stage may be looped back to, in one runtime.
        max_depth: How deep branches may nest, in one runtime.
        watch: The recorders.
        journal: A journal to go on with, after a pause in the same executor.

    Raises:
        FlowLimitError: A limit is below 1.
        InputValidationError: `env` or `initial_state` is no object of JSON values.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        scope: Value = None,
        dials: Dials = NATIVE,
        env: Given = None,
        initial_state: Given = None,
        run_id: str | None = None,
        max_iterations: int = 1000,
        max_depth: int = 500,
        watch: Watch | None = None,
        journal: Journal | None = None,
    ) -> None:
        for name, limit in (("max_iterations", max_iterations), ("max_depth", max_depth)):
            if limit < 1:
                raise FlowLimitError(f"`{name}` is {limit}, which lets nothing run.", limit=limit, node="", option=name)
        base = object_given("initial state", initial_state)
        own_id = new_run_id() if run_id is None else run_id
        if journal is None:
            journal = Journal(plan.stages, dials=dials, run_id=own_id, base_state=dict(base.data))
        else:
            journal.run_ids.append(own_id)
        super().__init__(
            plan,
            journal,
            scope=scope,
            env=object_given("environment", env),
            watch=watch if watch is not None and watch.any else None,
            max_iterations=max_iterations,
            max_depth=max_depth,
        )
        self.top = Home(self, -1, dict(base.data), NOTHING, EMPTY)
        self._args = NOTHING
        self._started = False

    @property
    def state(self) -> FrozenDict:
        """The committed top-level state as it is now; what was returned does not change any more."""
        return FrozenDict(self.top.share())

    async def start(self, args: Given = None) -> FlowOutcome:
        """Run the chart from its first stage.

        Args:
            args: The run's input, read-only for every stage.

        Returns:
            How it ended. What a stage raises is raised here, unwrapped.

        Raises:
            InputValidationError: `args` is no object of JSON values.
            ResumeError: It was started before.
        """
        given = object_given("input", args)
        self._once(given)
        if self.teller is not None:
            self.teller.run_started(given)
        return await self._driven(self.walk(self.top, self.plan.root, None, ENTRY))

    async def resume(self, checkpoint: PauseCheckpoint | Mapping[str, Any], answer: Value = None) -> FlowOutcome:
        """Go on from where a run paused.

        Args:
            checkpoint: As a paused run returned it, or its wire form.
            answer: Given to the paused stage's second half.

        Returns:
            How it ended. What a stage raises is raised here, unwrapped.

        Raises:
            CheckpointError: It is no checkpoint.
            ResumeError: This chart has no such stage, or one that can't be resumed; or this run was started before.
        """
        if not isinstance(checkpoint, PauseCheckpoint):
            checkpoint = PauseCheckpoint.from_wire(checkpoint)
        path = self._path_to(checkpoint)
        self._once(NOTHING if checkpoint.run_input is None else checkpoint.run_input)
        above = self._restored(checkpoint, path)
        leaf, has_input = path[-1], answer is not None
        if self.teller is not None:
            self.teller.resumed(leaf, self.count, has_input=has_input)
            self.teller.run_started(None)
        self.journal.append(ResumedRow(above, self.journal.now(), leaf.info.number, has_input))
        after = self.plan.by_id.get(checkpoint.continuation_stage_id or "")
        first, entering = path[0], Entering(path, answer, checkpoint, after)
        return await self._driven(self.walk(self.top, first, above, RESUME, entering))

    def _once(self, args: FrozenDict) -> None:
        if self._started:
            raise ResumeError("This run was started before.", fix="Make a new one for each run or resume.")
        self._started = True
        self._args = args
        self.top.args = args
        self.top.locked = args.data

    def _path_to(self, checkpoint: PauseCheckpoint) -> list[Node]:
        """The mounts on the way to the paused stage, and that stage."""
        node = self.plan.by_id.get(checkpoint.paused_stage_id)
        if node is None or node.resume is None:
            why = "does not exist in this chart" if node is None else "is no pausable stage"
            raise ResumeError(
                f"The paused stage {checkpoint.paused_stage_id!r} {why}.",
                fix="Resume with the chart that was paused, built the same way.",
            )
        path = [node]
        while path[0].mount is not None:
            path.insert(0, path[0].mount)
        return path

    def _restored(self, checkpoint: PauseCheckpoint, path: list[Node]) -> Execution | None:
        """Take state and counters from the checkpoint; gives the paused execution when it is on record here."""
        journal = self.journal
        above: Execution | None = None
        if journal.rows:
            known = journal.executions().values()
            last = max((step.index for step in known if step.info.id == path[0].info.id), default=-1)
            above = journal.execution(last)
        else:
            journal.first_index = checkpoint.execution_count
            journal.base_state = dict(checkpoint.state.data)
        self.top.state = dict(checkpoint.state.data)
        self.count = checkpoint.execution_count
        for number, info in enumerate(journal.stages):
            self.visits[number] = checkpoint.visit_counts.get(info.id, 0)
        return above

    async def _driven(self, walk: Coroutine[Any, Any, tuple[Any, BrokeRow | None]]) -> FlowOutcome:
        """Run a walk to its end, and close the run whatever the end is."""
        try:
            value, broke = await walk
        except PauseSignal as signal:
            return FlowOutcome("paused", checkpoint=self._checkpoint(signal))
        except BaseException as error:
            journal = self.journal
            journal.append(FailedRow(None, journal.now(), "run", type(error).__name__, words_of(error)))
            if self.teller is not None:
                self.teller.run_failed(error)
            raise
        finally:
            self.top.run = _ENDED  # so that a finished run is in no cycle
        if self.teller is not None:
            self.teller.run_ended(value)
        if broke is None:
            return FlowOutcome("done", value)
        return FlowOutcome("broken", value, reason=broke.reason)

    def _checkpoint(self, signal: PauseSignal) -> PauseCheckpoint:
        info = signal.execution.info
        invoker = _dispatcher_of(self.plan.nodes[info.number])
        follow = None if invoker is None else invoker.next or invoker.loop
        counted = zip(self.journal.stages, self.visits, strict=True)
        return PauseCheckpoint(
            state=self.state,
            paused_stage_id=info.id,
            subflow_path=tuple(name for name, _ in reversed(signal.states)),
            pause_data=signal.data,
            subflow_states=FrozenDict(dict(reversed(signal.states))),
            execution_count=self.count,
            visit_counts=FrozenDict({stage.id: count for stage, count in counted if count}),
            invoker_stage_id=None if invoker is None else invoker.info.id,
            continuation_stage_id=None if follow is None else follow.info.id,
            paused_at=now_ms(),
            run_input=self._args or None,
            journal=self.journal,
            row_count=len(self.journal.rows),
        )


def _dispatcher_of(node: Node | None) -> Node | None:
    """The innermost decider or selector whose branch a node stands in (FLOW-PAU-10)."""
    while node is not None:
        if node.owner is not None and node.owner.code in (DECIDER, SELECTOR):
            return node.owner
        node = node.mount
    return None


def object_given(what: str, value: Given) -> FrozenDict:
    """What a caller gave a run, made unchangeable; nothing is the empty object.

    Raises:
        InputValidationError: It is no object of JSON values; `what` says which of the run's inputs it is.
    """
    if value is None:
        return NOTHING
    try:
        frozen = freeze(value)
    except ValueRefusedError as refused:
        raise InputValidationError(
            f"The run's {what} can't be recorded: {refused.problem}", fix=refused.fix
        ) from refused
    if not isinstance(frozen, FrozenDict):
        raise InputValidationError(
            f"The run's {what} is a {type(value).__name__}, not an object.", fix="Give a mapping from names to values."
        )
    return frozen
