"""Running a built chart: `Flow` for one run, `Executor` for recorders, dials, pause and resume.

An executor runs one thing at a time; a `Flow` is immutable and serves any number of runs at once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agentfootprint._blocking import blocking
from agentfootprint.flow.errors import ExecutorBusyError, ResumeError
from agentfootprint.flow.pause import PauseCheckpoint
from agentfootprint.flow.plan.node import Plan
from agentfootprint.flow.run import FlowOutcome, FlowRun, object_given
from agentfootprint.flow.snapshot import FlowSnapshot
from agentfootprint.flow.stage.home import StreamHandlers
from agentfootprint.flow.watch.recorder import Watch, attach
from agentfootprint.trace import (
    ChainOptions,
    Dials,
    Fold,
    FrozenDict,
    Journal,
    Value,
    VariableSlice,
    as_object,
    deep_equal,
    keys_read_from_map,
    project_commit_log,
    project_control_deps,
    project_reads,
    slice_key,
)

__all__ = ["Executor", "Flow", "FlowResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowResult:
    """How a run ended, and what it left behind."""

    status: Literal["done", "paused", "broken"]
    value: Any
    """What the last stage returned; None when it paused."""
    state: FrozenDict
    """The committed state, which nobody can change."""
    run_id: str
    checkpoint: PauseCheckpoint | None = None
    """Give it to `resume`, or store `checkpoint.to_wire()`."""
    reason: str | None = None
    """Why a stage broke the run off."""
    journal: Journal = field(repr=False)
    """The rows of the run."""
    _recorders: tuple[object, ...] = field(default=(), repr=False)

    def snapshot(self) -> FlowSnapshot:
        """State, log, tree and mounts; nothing of it is made before it is read."""
        return FlowSnapshot(self.journal, self._recorders)

    def why(self, key: str | Sequence[str], *, before: int | None = None) -> VariableSlice:
        """Explain the value of a key of the top-level state by the steps it depends on, and what let them run.

        Args:
            key: A top-level key, or the segments of a nested place.
            before: Explain it as it was before this position of the commit log.
        """
        log = project_commit_log(self.journal)
        reads = keys_read_from_map(project_reads(self.journal))
        options = ChainOptions(control_deps=project_control_deps(self.journal).lookup)
        return slice_key(log, key, reads, before=before, options=options)


class Flow(Plan):
    """A built chart. Immutable: share it between runs, executors and threads."""

    __slots__ = ()

    async def run(
        self,
        input: Mapping[str, Any] | None = None,
        *,
        env: Mapping[str, Any] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  the caller's option, kept by asyncio.timeout
        max_depth: int = 500,
        max_iterations: int = 1000,
        recorders: Sequence[object] = (),
    ) -> FlowResult:
        """Run the chart once, in an executor of its own.

        Args:
            input: Read-only for every stage, as `ctx.args`.
            env: Read-only for every stage, as `ctx.env`.
            timeout: Seconds after which the run is cancelled.
            max_depth: How deep branches may nest.
            max_iterations: How often one stage may be looped back to.
            recorders: Who is told what happens.

        Returns:
            The result. What a stage raises is raised here, unwrapped, with the step in its notes.

        Raises:
            InputValidationError: `input` or `env` is no object of JSON values.
            FlowLimitError: A limit was reached.
            TimeoutError: The time was up.
        """
        limits = {"max_depth": max_depth, "max_iterations": max_iterations}
        return await Executor(self, recorders=recorders).run(input, env=env, timeout=timeout, **limits)

    run_sync = blocking(run)

    def executor(self, **options: Any) -> Executor:  # noqa: ANN401  the options of Executor
        """An executor for this chart; the options are those of `Executor`."""
        return Executor(self, **options)

    def __repr__(self) -> str:
        return f"Flow({self.name!r}, {len(self.nodes)} stages)"


class Executor:
    """Runs one chart, with recorders and dials; after a pause it goes on where it stopped.

    Args:
        flow: The built chart.
        recorders: Observers, told in this order.
        read_tracking: What the execution tree shows of reads: `full`, `summary` or `off`.
        write_tracking: What the tree and `on_commit` show of writes.
        commit_values: `full` logs every operation, `delta` the net change with appends as such.
        write_provenance: `reads-prefix` notes with each write which keys had been read before it.
        initial_state: State before the first stage; wins over `default_state`.
        default_state: Fills in what `initial_state` leaves out, object by object.
        stream: Who gets the tokens of streaming stages.

    Raises:
        AsyncHookError: A recorder has a hook that is a coroutine function.
    """

    def __init__(
        self,
        flow: Flow,
        *,
        recorders: Sequence[object] = (),
        read_tracking: Literal["full", "summary", "off"] = "full",
        write_tracking: Literal["full", "summary", "off"] = "full",
        commit_values: Literal["full", "delta"] = "full",
        write_provenance: Literal["off", "reads-prefix"] = "off",
        initial_state: Mapping[str, Any] | None = None,
        default_state: Mapping[str, Any] | None = None,
        stream: StreamHandlers | None = None,
    ) -> None:
        self.flow = flow
        self.dials = Dials(read_tracking, write_tracking, commit_values, write_provenance)
        self._recorders: tuple[object, ...] = ()
        for recorder in recorders:
            self.attach(recorder)
        self._initial = filled(
            object_given("initial state", initial_state), object_given("default state", default_state)
        )
        self._stream = stream
        self._watch = Watch(())
        self._running = False
        self._counted: tuple[Fold | None, int] = None, 0
        self._last: FlowRun | None = None
        self._checkpoint: PauseCheckpoint | None = None

    @property
    def recorders(self) -> tuple[object, ...]:
        """The observers, in order."""
        return self._recorders

    @property
    def recorder_failures(self) -> Mapping[tuple[str, str], int]:
        """How often a hook raised, by recorder id and hook, since the last `run` began."""
        return self._watch.failures

    @property
    def checkpoint(self) -> PauseCheckpoint | None:
        """Where the last run paused, if it did."""
        return self._checkpoint

    @property
    def is_paused(self) -> bool:
        """Whether the last run paused."""
        return self._checkpoint is not None

    def attach(self, recorder: object) -> None:
        """Add an observer, or replace the one with the same id; from the next run on (FLOW-REC-8).

        Raises:
            AsyncHookError: A hook is a coroutine function.
        """
        self._recorders = attach(self._recorders, recorder)

    def snapshot(self) -> FlowSnapshot:
        """The last or current run as it stands now; empty before the first."""
        journal = Journal(self.flow.stages, dials=self.dials) if self._last is None else self._last.journal
        return FlowSnapshot(journal, self._recorders)

    def commit_count(self) -> int:
        """Length of the top-level commit log so far; costs what was added since it was last asked for."""
        if self._last is None:
            return 0
        counted, count = self._counted
        if counted is None or counted.journal is not self._last.journal:
            counted, count = Fold(self._last.journal), 0
        count += sum(1 for commit in counted.commits() if commit.mount == -1)
        self._counted = counted, count
        return count

    async def run(
        self,
        input: Mapping[str, Any] | None = None,
        *,
        env: Mapping[str, Any] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  the caller's option, kept by asyncio.timeout
        max_depth: int = 500,
        max_iterations: int = 1000,
    ) -> FlowResult:
        """Run the chart from its first stage; see `Flow.run`.

        Raises:
            ExecutorBusyError: It is running already; nothing was touched.
        """
        self._refuse_while_running()
        given = object_given("input", input)
        watch = Watch(self._recorders)
        run = self._made(env, max_depth, max_iterations, watch, None)
        watch.clear()
        self._checkpoint = None
        return await self._driven(run, run.start(given), timeout)

    run_sync = blocking(run)

    async def resume(
        self,
        checkpoint: PauseCheckpoint | Mapping[str, Any],
        answer: Value = None,
        *,
        env: Mapping[str, Any] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  the caller's option, kept by asyncio.timeout
        max_depth: int = 500,
        max_iterations: int = 1000,
    ) -> FlowResult:
        """Go on from a pause of this executor or of another one, here or in another process (FLOW-PAU-4 to 7).

        Args:
            checkpoint: As the paused result held it, or its wire form.
            answer: What the paused stage asked for.
            env: The environment; that of the paused run is not kept.
            timeout: Seconds after which the run is cancelled.
            max_depth: How deep branches may nest.
            max_iterations: How often one stage may be looped back to.

        Raises:
            CheckpointError: It is no checkpoint.
            ResumeError: This chart can't go on from it.
            ExecutorBusyError: It is running already.
        """
        self._refuse_while_running()
        if not isinstance(checkpoint, PauseCheckpoint):
            checkpoint = PauseCheckpoint.from_wire(checkpoint)
        own = self._last is not None and self._checkpoint is not None and _is_same(checkpoint, self._checkpoint)
        journal = self._last.journal if own and self._last is not None else None
        watch = self._watch if journal is not None else Watch(self._recorders)
        run = self._made(env, max_depth, max_iterations, watch, journal)
        return await self._driven(run, run.resume(checkpoint, answer), timeout)

    resume_sync = blocking(resume)

    def _made(
        self,
        env: Mapping[str, Any] | None,
        max_depth: int,
        max_iterations: int,
        watch: Watch,
        journal: Journal | None,
    ) -> FlowRun:
        run = FlowRun(
            self.flow,
            dials=self.dials,
            env=env,
            initial_state=self._initial,
            max_iterations=max_iterations,
            max_depth=max_depth,
            watch=watch,
            journal=journal,
        )
        run.stream = self._stream
        return run

    async def _driven(self, run: FlowRun, going: Any, timeout: float | None) -> FlowResult:  # noqa: ANN401, ASYNC109  a coroutine, and the caller's option
        previous = self._last, self._watch
        self._last, self._watch, self._running = run, run.watch or self._watch, True
        try:
            async with asyncio.timeout(timeout):
                outcome: FlowOutcome = await going
        except ResumeError:
            self._last, self._watch = previous
            raise
        except Exception as error:
            self._checkpoint = None
            _explain(error, FlowSnapshot(run.journal, self._recorders))
            raise
        finally:
            self._running = False
        self._checkpoint = outcome.checkpoint
        return FlowResult(
            status=outcome.status,
            value=outcome.value,
            state=run.state,
            run_id=run.run_id,
            checkpoint=outcome.checkpoint,
            reason=outcome.reason,
            journal=run.journal,
            _recorders=self._recorders,
        )

    def _refuse_while_running(self) -> None:
        if self._running:
            raise ExecutorBusyError(
                f"The executor of {self.flow.name!r} is running.",
                fix="Wait for it, or make another executor: the flow can be shared.",
            )


def _is_same(given: PauseCheckpoint, own: PauseCheckpoint) -> bool:
    if given is own:
        return True
    same_place = (given.paused_stage_id, given.execution_count) == (own.paused_stage_id, own.execution_count)
    return same_place and deep_equal(given.state, own.state)


def _explain(error: Exception, snapshot: FlowSnapshot) -> None:
    with contextlib.suppress(AttributeError):  # an exception may take no attributes
        error.footprint = snapshot  # type: ignore[attr-defined]  an extra for whoever catches it (21.5)


def filled(values: FrozenDict, defaults: FrozenDict) -> FrozenDict:
    """Values, with what they leave out taken from the defaults, object by object (FLOW-SNP-4)."""
    merged = dict(defaults.items())
    for key, value in values.items():
        below, default = as_object(value), as_object(merged.get(key))
        if below is not None and default is not None:
            value = filled(FrozenDict(dict(below)), FrozenDict(dict(default)))  # noqa: PLW2901  the merged value
        merged[key] = value
    return FrozenDict(merged)
