"""One run of one chart, from its input to how it ended; or one resume of a run that paused."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from agentfootprint.flow.again.points import MountFrame
from agentfootprint.flow.errors import FlowLimitError, FlowTimeoutError, InputValidationError, ResumeError
from agentfootprint.flow.given import Given, object_given
from agentfootprint.flow.pause import PauseCheckpoint, PauseSignal
from agentfootprint.flow.plan.node import DECIDER, SELECTOR, Node, Plan
from agentfootprint.flow.run_id import new_run_id
from agentfootprint.flow.stage.current import CURRENT
from agentfootprint.flow.stage.handle import EMPTY, NOTHING
from agentfootprint.flow.stage.home import Home
from agentfootprint.flow.walking.mounting import Entering, words_of
from agentfootprint.flow.walking.reentry import way_back
from agentfootprint.flow.walking.walk import Walker
from agentfootprint.flow.watch.failure import name_of
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

if TYPE_CHECKING:
    from agentfootprint.flow.redaction import RedactionPolicy

__all__ = ["FlowOutcome", "FlowRun", "ready"]

_ENDED: Final[Any] = None
_LONG: Final = 1e9
"""Seconds that nobody waits for, where a limit is endless."""


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
        base, given_env = object_given("initial state", initial_state), object_given("environment", env)
        own_id = new_run_id() if run_id is None else run_id
        if journal is None:
            journal = Journal(plan.stages, dials=dials, run_id=own_id, base_state=dict(base.data))
        else:
            journal.run_ids.append(own_id)
        super().__init__(
            plan,
            journal,
            scope=scope,
            env=given_env,
            watch=watch if watch is not None and watch.any else None,
            max_iterations=max_iterations,
            max_depth=max_depth,
        )
        self.top = Home(self, -1, dict(base.data), NOTHING, EMPTY)
        self._args = NOTHING
        self.has_begun = False
        """Whether anything of it happened: a resume may be refused before that."""

    def redact(self, policy: RedactionPolicy | None) -> None:
        """Hide what a policy names in all that is recorded and told; call it before the start.

        Args:
            policy: The policy; None to go on with what the journal's veil hides.
        """
        if self.journal.veil is None and policy is not None:
            from agentfootprint.trace import cover

            cover(self.journal, policy)
        self.native = self.native and self.journal.veil is None

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
        if self.journal.veil is not None:
            self.journal.veil.saw(self.top.state)
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
        levels = way_back(self.plan, checkpoint, self.growth.named)
        answer = answered(checkpoint, answer)
        self._once(NOTHING if checkpoint.run_input is None else checkpoint.run_input)
        above = self._restored(checkpoint, levels[0].node)
        leaf, has_input = levels[-1].node, answer is not None
        if self.teller is not None:
            self.teller.resumed(leaf, self.count, has_input=has_input)
            self.teller.run_started(None)
        self.journal.append(ResumedRow(above, self.journal.now(), leaf.info.number, has_input))
        entering = Entering(levels, checkpoint.point, answer)
        return await self._driven(self.went_on(self.top, above, RESUME, entering))

    def _once(self, args: FrozenDict) -> None:
        if self.has_begun:
            raise ResumeError("This run was started before.", fix="Make a new one for each run or resume.")
        self.has_begun = True
        self._args = args
        self.top.args = args
        self.top.locked = args.data

    def _restored(self, checkpoint: PauseCheckpoint, first: Node) -> Execution | None:
        """Take state and counters from the checkpoint; gives the paused execution when it is on record here."""
        journal = self.journal
        above: Execution | None = None
        if len(journal.run_ids) > 1:
            known = journal.executions().values()
            last = max((step.index for step in known if step.info.id == first.info.id), default=-1)
            above = journal.execution(last)
        else:
            journal.first_index = checkpoint.execution_count
            journal.base_state = dict(checkpoint.state.data)
            if checkpoint.redacted_keys:
                from agentfootprint.trace import cover

                cover(journal, None if journal.veil is None else journal.veil.policy, checkpoint.redacted_keys)
                self.native = False
        self.top.state = dict(checkpoint.state.data)
        self.count = checkpoint.execution_count
        self.growth.earlier = dict(checkpoint.visit_counts.items())
        for number, info in enumerate(journal.stages):
            self.visits[number] = checkpoint.visit_counts.get(info.id, 0)
        return above

    async def _driven(self, walk: Coroutine[Any, Any, tuple[Any, BrokeRow | None]]) -> FlowOutcome:
        """Run a walk to its end, and close the run whatever the end is."""
        around = CURRENT.get()
        try:
            value, broke = await (walk if self.timeout is None else self._timed(walk, self.timeout))
        except PauseSignal as signal:
            return FlowOutcome("paused", checkpoint=self._checkpoint(signal))
        except BaseException as error:
            journal = self.journal
            journal.append(FailedRow(None, journal.now(), "run", name_of(error), words_of(error, journal)))
            if self.teller is not None:
                self.teller.run_failed(error)
            raise
        finally:
            self.top.run = _ENDED  # so that a finished run is in no cycle
            self.growth.let_go()
            CURRENT.set(around)  # a stage may run another chart
        if self.teller is not None:
            self.teller.run_ended(value)
        if broke is None:
            return FlowOutcome("done", value)
        return FlowOutcome("broken", value, reason=broke.reason)

    async def _timed(self, walk: Coroutine[Any, Any, Any], seconds: float) -> Any:  # noqa: ANN401  what the walk gives
        limit = asyncio.timeout(seconds)
        self.deadline = time.monotonic() + seconds
        self.until_ns = time.perf_counter_ns() + int(min(max(0.0, seconds), _LONG) * 1e9)
        try:
            async with limit:
                return await walk
        except TimeoutError as error:
            if not limit.expired():
                raise  # a stage's own
            raise FlowTimeoutError(self.plan.name, seconds) from error

    def _checkpoint(self, signal: PauseSignal) -> PauseCheckpoint:
        info = signal.execution.info
        invoker = _dispatcher_of(self.growth.node(info.number))
        follow = None if invoker is None else invoker.next or invoker.loop
        counted = zip(self.journal.stages, self.visits, strict=True)
        earlier = dict(self.growth.earlier.items())  # of stages that only the part before a resume had
        frames = tuple(reversed(signal.frames))
        mounts = [frame for frame in frames if isinstance(frame, MountFrame)]
        return PauseCheckpoint(
            state=self.state,
            paused_stage_id=info.id,
            subflow_path=tuple(frame.id for frame in mounts),
            pause_data=signal.data,
            subflow_states=FrozenDict({frame.id: frame.state for frame in mounts}),
            execution_count=self.count,
            visit_counts=FrozenDict(earlier | {stage.id: count for stage, count in counted if count}),
            invoker_stage_id=None if invoker is None else invoker.info.id,
            continuation_stage_id=None if follow is None else follow.info.id,
            paused_by=signal.by,
            paused_at=now_ms(),
            run_input=self._args or None,
            interrupt_answers=signal.answers,
            resume_input=signal.half,
            frames=frames,
            stages=self.plan.stages,
            journal=self.journal,
            row_count=len(self.journal.rows),
            sensitive=self.journal.veil is not None,
            redacted_keys=() if self.journal.veil is None else self.journal.veil.in_force(),
        )


def _dispatcher_of(node: Node | None) -> Node | None:
    """The innermost decider or selector whose branch a node stands in (FLOW-PAU-10)."""
    while node is not None:
        if node.owner is not None and node.owner.code in (DECIDER, SELECTOR):
            return node.owner
        node = node.mount
    return None


def ready(plan: Plan, checkpoint: PauseCheckpoint, answer: Value) -> None:
    """Refuse what can't be resumed while nothing has begun; a lazy mount is looked into by the run itself.

    Raises:
        ResumeError: The chart is not the one that paused, or has no such stage.
        CheckpointError: What the checkpoint says does not fit the chart.
        InputValidationError: The answer can't be recorded.
    """
    answered(checkpoint, answer)
    refusal = checkpoint.refusal(plan.stages, plan.name)
    if refusal is not None:
        raise refusal
    if not any(node.lazy for node in plan.nodes):
        way_back(plan, checkpoint, plan.by_id.get)


def answered(checkpoint: PauseCheckpoint, answer: Value) -> Value:
    """The answer; to a question in the middle of a stage unchangeable, as it is kept until the stage has ended.

    Raises:
        InputValidationError: It can't be recorded.
    """
    if checkpoint.paused_by is None:
        return answer
    try:
        return freeze(answer)
    except ValueRefusedError as refused:
        raise InputValidationError(f"The answer can't be recorded: {refused.problem}", fix=refused.fix) from refused
