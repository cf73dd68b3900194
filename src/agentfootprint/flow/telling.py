"""How a run tells its recorders what happens, in the order of FLOW-REC-2 to 4.

Called only when somebody watches, so an unwatched run pays one test for each place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import UNSET

from agentfootprint.flow.plan.node import Node
from agentfootprint.flow.watch.recorder import Watch, now_ms
from agentfootprint.flow.watch.sightings import (
    BreakSeen,
    CommitSeen,
    DecisionSeen,
    ErrorSeen,
    ForkSeen,
    LoopSeen,
    Mutation,
    NextSeen,
    PauseSeen,
    ResumeSeen,
    RunEnded,
    RunFailed,
    RunStarted,
    SelectionSeen,
    StageEnded,
    StageExecuted,
    StageStarted,
    Step,
    SubflowEntered,
    SubflowExited,
    structured_error,
)
from agentfootprint.trace import ABSENT, BrokeRow, Dials, Execution, FrozenDict, Value, write_marker

__all__ = ["Teller"]


class Teller:
    """The events of one run.

    Args:
        watch: Who is told.
        dials: What the `mutations` of a commit show.
        run_id: Id of the run.
    """

    def __init__(self, watch: Watch, dials: Dials, run_id: str) -> None:
        self.watch = watch
        self.dials = dials
        self.run_id = run_id

    def _step(self, execution: Execution) -> Step:
        return self.watch.steps[execution.index]

    def begun(self, execution: Execution, visits: int) -> None:
        """Note where an execution stands; tells nobody."""
        self.watch.begun(execution, visits - 1, self.run_id)

    # the run

    def run_started(self, payload: Value) -> None:
        """A run or resume begins."""
        if self.watch.wants("on_run_start"):
            shown = payload or UNSET
            self.watch.tell(RunStarted(timestamp=now_ms(), traversal_context=Step.root(self.run_id), payload=shown))

    def run_ended(self, value: Value) -> None:
        """A run ended well."""
        if self.watch.wants("on_run_end"):
            shown = UNSET if value is None else value
            self.watch.tell(RunEnded(timestamp=now_ms(), traversal_context=Step.root(self.run_id), payload=shown))

    def run_failed(self, error: BaseException) -> None:
        """A run ended with an error."""
        if self.watch.wants("on_run_failed"):
            told = structured_error(error)
            self.watch.tell(
                RunFailed(timestamp=now_ms(), traversal_context=Step.root(self.run_id), structured_error=told)
            )

    def resumed(self, node: Node, index: int, *, has_input: bool) -> None:
        """A paused stage is about to go on."""
        if not self.watch.wants("on_resume"):
            return
        info = node.info
        runtime_stage_id = f"{info.id}#{index}"
        step = Step(
            run_id=self.run_id,
            stage_id=info.id,
            runtime_stage_id=runtime_stage_id,
            stage_name=info.name,
            depth=0,
            subflow_id="/".join(info.path) or UNSET,
        )
        self.watch.tell(
            ResumeSeen(
                timestamp=now_ms(),
                stage_name=info.name,
                stage_id=info.id,
                has_input=has_input,
                channel="flow",
                traversal_context=step,
            )
        )
        self.watch.tell(
            ResumeSeen(
                timestamp=now_ms(),
                stage_name=info.name,
                stage_id=info.id,
                has_input=has_input,
                channel="scope",
                runtime_stage_id=runtime_stage_id,
                pipeline_id=info.namespace,
            )
        )

    # one stage

    def stage_started(self, execution: Execution) -> None:
        """A stage function is about to run."""
        if self.watch.wants("on_stage_start"):
            self.watch.tell(StageStarted(timestamp=now_ms(), **_here(execution)))

    def stage_ended(self, execution: Execution, now_ns: int) -> None:
        """A stage function returned, `now_ns` after the journal's start."""
        if self.watch.wants("on_stage_end"):
            duration = (now_ns - execution.dt) / 1e6
            self.watch.tell(StageEnded(timestamp=now_ms(), **_here(execution), duration=duration))

    def committed(self, execution: Execution) -> None:
        """An execution committed; told again for each further bundle (FLOW-MEM-30)."""
        if not self.watch.wants("on_commit"):
            return
        mutations: tuple[Mutation, ...] = ()
        if self.dials.writes != "off" and execution.detail is not None:
            shown = write_marker if self.dials.writes == "summary" else _itself
            mutations = tuple(
                Mutation(key=key, value=UNSET if value is ABSENT else shown(value), operation=operation)
                for key, (value, operation) in execution.detail.tracked.items()
            )
        self.watch.tell(CommitSeen(timestamp=now_ms(), **_here(execution), mutations=mutations))

    def executed(self, execution: Execution, kind: str, *, name: str | None = None, described: bool = True) -> None:
        """A node is done."""
        if self.watch.wants("on_stage_executed"):
            info = execution.info
            text = info.description if described else None
            self.watch.tell(
                StageExecuted(
                    timestamp=now_ms(),
                    traversal_context=self._step(execution),
                    stage_name=name or info.name,
                    description=UNSET if text is None else text,
                    stage_type=kind,
                )
            )

    def failed(self, execution: Execution, error: BaseException) -> None:
        """A stage function raised."""
        if self.watch.wants("on_error"):
            told = structured_error(error)
            name = type(error).__name__
            self.watch.tell(
                ErrorSeen(
                    timestamp=now_ms(),
                    stage_name=execution.info.name,
                    channel="flow",
                    message=f"{name}: {told.message}",
                    structured_error=told,
                    traversal_context=self._step(execution),
                )
            )

    def asked(self, execution: Execution, data: Value) -> None:
        """A stage asks: the scope half, before its commit."""
        if self.watch.wants("on_pause"):
            self.watch.tell(PauseSeen(timestamp=now_ms(), **_here(execution), pause_data=data, channel="scope"))

    def paused(self, execution: Execution, data: Value) -> None:
        """A stage asked: the flow half, after its commit."""
        if self.watch.wants("on_pause"):
            info = execution.info
            self.watch.tell(
                PauseSeen(
                    timestamp=now_ms(),
                    stage_name=info.name,
                    stage_id=info.id,
                    pause_data=data,
                    channel="flow",
                    subflow_path=info.path,
                    traversal_context=self._step(execution),
                )
            )

    # the ways on

    def moved(self, execution: Execution, target: Node) -> None:
        """Control goes on to the next stage."""
        if self.watch.wants("on_next"):
            description = target.info.description
            self.watch.tell(
                NextSeen(
                    timestamp=now_ms(),
                    traversal_context=self._step(execution),
                    from_=execution.info.name,
                    to=target.info.name,
                    description=UNSET if description is None else description,
                )
            )

    def looped(self, execution: Execution, target: Node, iteration: int) -> None:
        """Control goes back."""
        if self.watch.wants("on_loop"):
            description = target.info.description
            self.watch.tell(
                LoopSeen(
                    timestamp=now_ms(),
                    traversal_context=self._step(execution),
                    target=target.info.name,
                    iteration=iteration,
                    description=UNSET if description is None else description,
                )
            )

    def decided(self, execution: Execution, chosen: Node, evidence: Value) -> None:
        """A decider chose."""
        if self.watch.wants("on_decision"):
            description = execution.info.description
            self.watch.tell(
                DecisionSeen(
                    timestamp=now_ms(),
                    traversal_context=self._step(execution),
                    decider=execution.info.name,
                    chosen=chosen.info.name,
                    description=UNSET if description is None else description,
                    evidence=UNSET if evidence is None else evidence,
                )
            )

    def selected(self, execution: Execution, chosen: Iterable[Node], total: int, evidence: Value) -> None:
        """A selector chose."""
        if self.watch.wants("on_selected"):
            names = tuple(node.info.name for node in chosen)
            self.watch.tell(
                SelectionSeen(
                    timestamp=now_ms(),
                    traversal_context=self._step(execution),
                    parent=execution.info.name,
                    selected=names,
                    total=total,
                    evidence=evidence if evidence is not None and names else UNSET,
                )
            )

    def forked(self, execution: Execution, children: Iterable[Node], name: str) -> None:
        """Branches start."""
        if self.watch.wants("on_fork"):
            names = tuple(node.info.name for node in children)
            step = self._step(execution)
            self.watch.tell(ForkSeen(timestamp=now_ms(), traversal_context=step, parent=name, children=names))

    def broke(self, row: BrokeRow) -> None:
        """A stage ended its runtime."""
        if self.watch.wants("on_break"):
            self.watch.tell(
                BreakSeen(
                    timestamp=now_ms(),
                    traversal_context=self._step(row.execution),
                    stage_name=row.execution.info.name,
                    reason=UNSET if row.reason is None else row.reason,
                    propagated_from_subflow=UNSET if row.from_subflow is None else row.from_subflow,
                )
            )

    def entered(self, execution: Execution, node: Node, mapped: Mapping[str, Value]) -> None:
        """A mount is entered, and counts as executed."""
        info, first = node.info, node.entry
        if first is None:
            return
        text = first.info.description
        if self.watch.wants("on_subflow_entry"):
            self.watch.tell(
                SubflowEntered(
                    timestamp=now_ms(),
                    traversal_context=self._step(execution),
                    name=info.subflow_name,
                    subflow_id=info.subflow_id,
                    description=UNSET if text is None else text,
                    mapped_input=FrozenDict(dict(mapped)),
                )
            )
        if self.watch.wants("on_stage_executed"):
            self.watch.tell(
                StageExecuted(
                    timestamp=now_ms(),
                    traversal_context=self._step(execution),
                    stage_name=first.info.name,
                    description=UNSET if text is None else text,
                    stage_type="subflow-mount",
                )
            )

    def left(self, execution: Execution, state: Mapping[str, Value]) -> None:
        """A mount was left."""
        if self.watch.wants("on_subflow_exit"):
            info = execution.info
            self.watch.tell(
                SubflowExited(
                    timestamp=now_ms(),
                    traversal_context=self._step(execution),
                    name=info.subflow_name,
                    subflow_id=info.subflow_id,
                    output_state=FrozenDict(dict(state)),
                )
            )


def _here(execution: Execution) -> dict[str, Value]:
    info = execution.info
    return {
        "stage_name": info.name,
        "stage_id": info.id,
        "runtime_stage_id": execution.runtime_stage_id,
        "pipeline_id": info.namespace,
    }


def _itself(value: Value) -> Value:
    return value
