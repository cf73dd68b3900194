"""Running a built chart: `Flow` for one run, `Executor` for recorders, dials, pause and resume.

An executor runs one thing at a time; a `Flow` is immutable and serves any number of runs at once.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from agentfootprint._blocking import blocking
from agentfootprint.flow.errors import ExecutorBusyError
from agentfootprint.flow.given import object_given
from agentfootprint.flow.out.built import BuiltChart
from agentfootprint.flow.out.runtime import runtime_spec
from agentfootprint.flow.pause import PauseCheckpoint
from agentfootprint.flow.redaction import RedactionPolicy, report_of
from agentfootprint.flow.result import FlowResult
from agentfootprint.flow.run import FlowOutcome, FlowRun, ready
from agentfootprint.flow.snapshot import FlowSnapshot
from agentfootprint.flow.stage.home import StreamHandlers
from agentfootprint.flow.streaming import FlowStream
from agentfootprint.flow.watch.recorder import Watch
from agentfootprint.flow.watched import Watched, to_the_last_hook
from agentfootprint.trace import (
    Dials,
    Fold,
    FrozenDict,
    Journal,
    Value,
    as_object,
    deep_equal,
)

if TYPE_CHECKING:
    from pathlib import Path

    from agentfootprint.flow.detached.drivers import DetachDriver
    from agentfootprint.flow.detached.ending import DetachHandle
    from agentfootprint.flow.recorders.manifest import ManifestEntry
    from agentfootprint.flow.tell.entries import Narrative, NarrativeOptions
    from agentfootprint.flow.watch.logged import RunLogWriter

__all__ = ["Executor", "Flow"]


class Flow(BuiltChart):
    """A built chart. Immutable: share it between runs, executors and threads."""

    __slots__ = ()

    async def run(
        self,
        input: Mapping[str, Any] | None = None,
        *,
        env: Mapping[str, Any] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  the caller's option, kept by the run
        max_depth: int = 500,
        max_iterations: int = 1000,
        recorders: Sequence[object] = (),
        run_log: str | Path | RunLogWriter | None = None,
        redaction: RedactionPolicy | None = None,
    ) -> FlowResult:
        """Run the chart once, in an executor of its own.

        Args:
            input: Read-only for every stage, as `ctx.args`.
            env: Read-only for every stage, as `ctx.env`.
            timeout: Seconds after which the run is cancelled.
            max_depth: How deep branches may nest.
            max_iterations: How often one stage may be looped back to.
            recorders: Who is told what happens.
            run_log: A file that gets every step as it commits; `trace.open_run_log` reads it, also after a crash.
            redaction: What is hidden in all that is recorded and told (10).

        Returns:
            The result. What a stage raises is raised here, unwrapped, with the step in its notes.

        Raises:
            InputValidationError: `input` or `env` is no object of JSON values, or `input` breaks the contract.
            OutputValidationError: The output breaks the contract, and that is looked at.
            FlowLimitError: A limit was reached.
            FlowTimeoutError: The time was up; a `TimeoutError`.
        """
        limits = {"max_depth": max_depth, "max_iterations": max_iterations}
        executor = Executor(self, recorders=recorders, run_log=run_log, redaction=redaction)
        return await executor.run(input, env=env, timeout=timeout, **limits)

    run_sync = blocking(run)

    def stream(
        self,
        input: Mapping[str, Any] | None = None,
        *,
        env: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        max_depth: int = 500,
        max_iterations: int = 1000,
        recorders: Sequence[object] = (),
        run_log: str | Path | RunLogWriter | None = None,
        redaction: RedactionPolicy | None = None,
    ) -> FlowStream:
        """Run the chart and read what happens while it does: the arguments are those of `run`.

        Returns:
            `async with flow.stream(...) as run: async for event in run` gives every event of the three channels, in
            order; `await run.result()` the outcome. Leaving the block cancels the run and waits for it.
        """
        limits = {"max_depth": max_depth, "max_iterations": max_iterations}

        def run(tap: object) -> Coroutine[Any, Any, FlowResult]:
            executor = Executor(self, recorders=(*recorders, tap), run_log=run_log, redaction=redaction)
            return executor.run(input, env=env, timeout=timeout, **limits)

        return FlowStream(self.name, run)

    def executor(self, **options: Any) -> Executor:  # noqa: ANN401  the options of Executor
        """An executor for this chart; the options are those of `Executor`."""
        return Executor(self, **options)

    def __repr__(self) -> str:
        return f"Flow({self.name!r}, {len(self.nodes)} stages)"


class Executor(Watched):
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
        narrative: Whether the run can be told in words: keeps in which order each stage read, wrote and emitted.
        run_log: A file that every run adds its steps to as they commit, or a `RunLogWriter` for it.
        redaction: What is hidden in all that is recorded and told; stages and the caller see real values (10).

    Raises:
        AsyncHookError: A recorder has a hook that is a coroutine function.
    """

    def __init__(  # noqa: PLR0913  the options of a run (21.4)
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
        narrative: bool = True,
        run_log: str | Path | RunLogWriter | None = None,
        redaction: RedactionPolicy | None = None,
    ) -> None:
        self.flow = flow
        self.dials = Dials(read_tracking, write_tracking, commit_values, write_provenance)
        super().__init__(recorders)
        self._initial = filled(
            object_given("initial state", initial_state), object_given("default state", default_state)
        )
        self._stream = stream
        self._narrative = narrative
        self._redaction = redaction
        self._run_log: RunLogWriter | None = None
        if run_log is not None:
            from agentfootprint.flow.watch.logged import RunLogWriter

            self._run_log = run_log if isinstance(run_log, RunLogWriter) else RunLogWriter(run_log)
        self._turn = threading.Lock()
        self._counted: tuple[Fold | None, int] = None, 0
        self._last: FlowRun | None = None
        self._checkpoint: PauseCheckpoint | None = None

    @property
    def checkpoint(self) -> PauseCheckpoint | None:
        """Where the last run paused, if it did."""
        return self._checkpoint

    @property
    def is_paused(self) -> bool:
        """Whether the last run paused."""
        return self._checkpoint is not None

    def snapshot(self, *, redact: bool = False) -> FlowSnapshot:
        """The last or current run as it stands now; empty before the first.

        Args:
            redact: Whether its state is the redacted mirror too, as its log and tree always are (FLOW-RED-5).
        """
        journal = Journal(self.flow.stages, dials=self.dials) if self._last is None else self._last.journal
        return FlowSnapshot(journal, self.recorders, self._deferred, redact=redact)

    def redaction_report(self) -> dict[str, Any]:
        """What is redacted, by name: `{redactedKeys, fieldRedactions, patterns}` (FLOW-RED-7).

        The keys are those of the policy, then those that a pattern or a write redacted in the last run.
        """
        return report_of(self._redaction, None if self._last is None else self._last.journal.veil)

    def narrative_entries(self, options: NarrativeOptions | None = None) -> Narrative:
        """The last or current run in words, as it stands now; empty before the first, or with `narrative=False`.

        Args:
            options: How it is told.
        """
        from agentfootprint.flow.tell.reading import project_narrative  # words are loaded when they are asked for

        return project_narrative(self._last.journal if self._last is not None and self._narrative else None, options)

    def runtime_structure(self) -> dict[str, Any]:
        """The chart's structure, with what only the last or current run had and how often it went back (FLOW-SPC-3)."""
        journal = Journal(self.flow.stages) if self._last is None else self._last.journal
        return runtime_spec(journal, self.flow.parts, len(self.flow.stages))

    def subflow_manifest(self) -> list[ManifestEntry]:
        """The mounts that the last or current run went through, each once, with those inside it."""
        from agentfootprint.flow.recorders.manifest import manifest_of

        return [] if self._last is None else manifest_of(self._last.journal)

    def subflow_spec(self, subflow_id: str) -> dict[str, Any] | None:
        """The structure of the chart in a mount, also one that became known on the way; None when there is none.

        Args:
            subflow_id: As in `subflow_manifest`: the ids of the mounts on the way, joined by `/`.
        """
        from agentfootprint.flow.recorders.manifest import spec_at

        return spec_at(self.runtime_structure(), subflow_id)

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
        timeout: float | None = None,  # noqa: ASYNC109  the caller's option, kept by the run
        max_depth: int = 500,
        max_iterations: int = 1000,
    ) -> FlowResult:
        """Run the chart from its first stage; see `Flow.run`.

        Raises:
            ExecutorBusyError: It is running already; nothing was touched.
        """
        self._take_turn()
        try:
            given = object_given("input", self.flow.accepted(input))
            watch = self._watching()
            run = self._made(env, max_depth, max_iterations, watch, None)
            watch.clear()
            self._checkpoint = None
            return await self._driven(run, run.start(given), timeout)
        finally:
            self._turn.release()

    run_sync = blocking(to_the_last_hook(run))

    async def resume(
        self,
        checkpoint: PauseCheckpoint | Mapping[str, Any],
        answer: Value = None,
        *,
        env: Mapping[str, Any] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  the caller's option, kept by the run
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
        self._take_turn()
        try:
            if not isinstance(checkpoint, PauseCheckpoint):
                checkpoint = PauseCheckpoint.from_wire(checkpoint)
            ready(self.flow, checkpoint, answer)
            own = self._last is not None and self._checkpoint is not None and _is_same(checkpoint, self._checkpoint)
            journal = self._last.journal if own and self._last is not None else None
            watch = self._watching(self._watch if journal is not None else None)
            run = self._made(env, max_depth, max_iterations, watch, journal)
            return await self._driven(run, run.resume(checkpoint, answer), timeout)
        finally:
            self._turn.release()

    resume_sync = blocking(to_the_last_hook(resume))

    def detach_and_join_later(
        self, driver: DetachDriver, child: Flow, input: Mapping[str, Any] | None = None
    ) -> DetachHandle:
        """Start another chart apart from this one (see `agentfootprint.flow.detach_and_join_later`)."""
        from agentfootprint.flow.detached.starting import detach_and_join_later

        return detach_and_join_later(driver, child, input)

    def detach_and_forget(self, driver: DetachDriver, child: Flow, input: Mapping[str, Any] | None = None) -> None:
        """Start another chart apart from this one, whose end is nobody's business."""
        self.detach_and_join_later(driver, child, input)

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
        run.narrated = self._narrative
        run.redact(self._redaction)
        if self._run_log is not None:
            self._run_log.open(run.journal)
        return run

    async def _driven(self, run: FlowRun, going: Any, timeout: float | None) -> FlowResult:  # noqa: ANN401, ASYNC109  a coroutine, and the caller's option
        previous = self._last, self._watch
        self._last, self._watch = run, run.watch or self._watch
        deferred = self._deferred
        if deferred is not None:
            deferred.begin(run.run_id)
        ended: str | None = "failed"
        try:
            run.timeout = timeout
            outcome: FlowOutcome = await going
            output = self.flow.output_of(outcome.value, run.state) if outcome.status == "done" else None
            ended = outcome.status
        except Exception as error:
            if not run.has_begun:  # the checkpoint was refused, so everything stays as it was (FLOW-PAU-4)
                self._last, self._watch = previous
                if len(run.journal.run_ids) > 1:
                    run.journal.run_ids.pop()
                ended = None
                raise
            if error is not run.refused:
                self._checkpoint = None
            _explain(error, FlowSnapshot(run.journal, self.recorders, deferred))
            raise
        finally:
            if self._run_log is not None:
                self._run_log.close(ended)
            if deferred is not None:
                await deferred.finish()
        self._checkpoint = outcome.checkpoint
        return FlowResult(
            status=outcome.status,
            value=outcome.value,
            output=output,
            state=run.state,
            run_id=run.run_id,
            checkpoint=outcome.checkpoint,
            reason=outcome.reason,
            journal=run.journal,
            _recorders=self.recorders,
            _observers=deferred,
            _narrated=self._narrative,
        )

    def _take_turn(self) -> None:
        """Refuse a second thing while one runs, from whatever thread it comes; nothing is touched (FLOW-EXE-5)."""
        if not self._turn.acquire(blocking=False):
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
    with contextlib.suppress(Exception):  # an exception may take no attributes
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
