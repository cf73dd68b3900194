"""How a run tells its recorders what happens, in the order of FLOW-REC-2 to 4.

Called only when somebody watches, so an unwatched run pays one test for each place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from msgspec import UNSET, UnsetType

from agentfootprint.flow.plan.node import Node
from agentfootprint.flow.watch.failure import name_of
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
    StageRetried,
    StageStarted,
    Step,
    SubflowEntered,
    SubflowExited,
    SubflowRegistered,
    structured_error,
)
from agentfootprint.trace import ABSENT, BrokeRow, Dials, Execution, FrozenDict, Journal, NotedRow, Value, write_marker

if TYPE_CHECKING:
    from agentfootprint.trace import Veil

__all__ = ["Teller"]

_NOTHING: Final[Mapping[str, Value]] = {}


class Teller:
    """The events of one run.

    Args:
        watch: Who is told.
        dials: What the `mutations` of a commit show.
        run_id: Id of the run.
        journal: The run's rows, whose veil says what is told with a placeholder.
    """

    def __init__(self, watch: Watch, dials: Dials, run_id: str, journal: Journal | None = None) -> None:
        self.watch = watch
        self.dials = dials
        self.run_id = run_id
        self._journal = journal

    @property
    def _veil(self) -> Veil | None:
        return None if self._journal is None else self._journal.veil

    def _whole(self, value: Value, mount: int = -1) -> Value:
        """Something that is handed out whole, as it may be told."""
        veil = self._veil
        return value if veil is None else veil.whole(value, mount)

    def _state(self, values: Mapping[str, Value], mount: int) -> FrozenDict:
        """A state, as it may be told."""
        veil = self._veil
        return FrozenDict(dict(values) if veil is None else veil.state(values, mount))

    def _result(self, value: Value) -> Value:
        """What a run gave, as it may be told; how a fork's branches ended, without the words of their errors."""
        veil = self._veil
        if veil is None or not isinstance(value, dict):
            return self._whole(value)
        ends = dict(cast("dict[str, Any]", value))
        for name, end in ends.items():
            if hasattr(end, "to_wire"):
                told = end.to_wire()
                if end.is_error and isinstance(end.result, BaseException):
                    told["result"] = {"message": veil.words(end.result, told["result"]["message"])}
                ends[name] = told
        return veil.whole(ends)

    def _step(self, execution: Execution) -> Step:
        step = self.watch.steps.get(execution.index)
        if step is None:  # it began before anybody watched who asks for steps, and goes on after a resume
            step = self.watch.begun(execution, 0, self.run_id)
        return step

    def begun(self, execution: Execution, visits: int) -> None:
        """Note where an execution stands; tells nobody."""
        if self.watch.flows:
            self.watch.begun(execution, visits - 1, self.run_id)

    # the run

    def run_started(self, payload: Value) -> None:
        """A run or resume begins."""
        if self.watch.wants("on_run_start"):
            shown = self._whole(payload) or UNSET
            self.watch.tell(RunStarted(timestamp=now_ms(), traversal_context=Step.root(self.run_id), payload=shown))

    def run_ended(self, value: Value) -> None:
        """A run ended well."""
        if self.watch.wants("on_run_end"):
            shown = UNSET if value is None else self._result(value)
            self.watch.tell(RunEnded(timestamp=now_ms(), traversal_context=Step.root(self.run_id), payload=shown))

    def run_failed(self, error: BaseException) -> None:
        """A run ended with an error."""
        if self.watch.wants("on_run_failed"):
            told = structured_error(error, self._veil)
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
            info = execution.info
            self.watch.tell(
                StageStarted(
                    timestamp=now_ms(),
                    stage_name=info.name,
                    stage_id=info.id,
                    runtime_stage_id=execution.runtime_stage_id,
                    pipeline_id=info.namespace,
                )
            )

    def stage_ended(self, execution: Execution, now_ns: int) -> None:
        """A stage function returned, `now_ns` after the journal's start."""
        if self.watch.wants("on_stage_end"):
            info = execution.info
            self.watch.tell(
                StageEnded(
                    timestamp=now_ms(),
                    stage_name=info.name,
                    stage_id=info.id,
                    runtime_stage_id=execution.runtime_stage_id,
                    pipeline_id=info.namespace,
                    duration=(now_ns - execution.dt) / 1e6,
                )
            )

    def committed(self, execution: Execution) -> None:
        """An execution committed; told again for each further bundle (FLOW-MEM-30)."""
        if not self.watch.wants("on_commit"):
            return
        mutations: tuple[Mutation, ...] = ()
        if self.dials.writes != "off" and execution.detail is not None:
            shown = write_marker if self.dials.writes == "summary" else _itself
            hidden = execution.detail.shown_writes or _NOTHING
            mutations = tuple(
                Mutation(
                    key=key,
                    value=UNSET if value is ABSENT else _as_dialled(hidden.get(key, value), key in hidden, shown),
                    operation=operation,
                )
                for key, (value, operation) in execution.detail.tracked.items()
            )
        info = execution.info
        self.watch.tell(
            CommitSeen(
                timestamp=now_ms(),
                stage_name=info.name,
                stage_id=info.id,
                runtime_stage_id=execution.runtime_stage_id,
                pipeline_id=info.namespace,
                mutations=mutations,
            )
        )

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
            told = structured_error(error, self._veil)
            name = name_of(error)
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

    def retried(
        self, execution: Execution, error: BaseException, attempt: int, max_attempts: int, delay_ms: float
    ) -> None:
        """Attempt number `attempt` of a stage failed; another one follows after `delay_ms`."""
        if self.watch.wants("on_stage_retry"):
            told = structured_error(error, self._veil)
            self.watch.tell(
                StageRetried(
                    timestamp=now_ms(),
                    traversal_context=self._step(execution),
                    stage_name=execution.info.name,
                    stage_id=execution.info.id,
                    attempt=attempt,
                    max_attempts=max_attempts,
                    delay_ms=delay_ms,
                    message=told.message,
                    structured_error=told,
                    channel="flow",
                )
            )

    def asked(self, execution: Execution, data: Value) -> None:
        """A stage asks: the scope half, before its commit."""
        if self.watch.wants("on_pause"):
            shown = self._whole(data, execution.mount)
            self.watch.tell(PauseSeen(timestamp=now_ms(), **_here(execution), pause_data=shown, channel="scope"))

    def paused(self, execution: Execution, data: Value) -> None:
        """A stage asked: the flow half, after its commit."""
        if self.watch.wants("on_pause"):
            info = execution.info
            self.watch.tell(
                PauseSeen(
                    timestamp=now_ms(),
                    stage_name=info.name,
                    stage_id=info.id,
                    pause_data=self._whole(data, execution.mount),
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
                    rationale=self._rationale(execution),
                    description=UNSET if description is None else description,
                    evidence=UNSET if evidence is None else evidence,
                )
            )

    def _rationale(self, execution: Execution) -> str | UnsetType:
        """What a stage that has just committed logged as its reason (FLOW-DEC-20)."""
        met = 0
        for row in () if self._journal is None else reversed(self._journal.rows):
            met += row is execution
            if met == 2:  # noqa: PLR2004  its commit, and its beginning
                break
            is_own = isinstance(row, NotedRow) and row.execution is execution and row.bag == "logs"
            if is_own and row.key == "deciderRationale" and isinstance(row.value, str):
                return row.value
        return UNSET

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
                    mapped_input=self._state(mapped, execution.index),
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

    def registered(
        self, execution: Execution, subflow_id: str, name: str, description: str | None, spec: Value = None
    ) -> None:
        """A chart became known while the run was on its way; `spec` is its structure, when there is one."""
        if self.watch.wants("on_subflow_registered"):
            self.watch.tell(
                SubflowRegistered(
                    timestamp=now_ms(),
                    traversal_context=self._step(execution),
                    subflow_id=subflow_id,
                    name=name,
                    description=UNSET if description is None else description,
                    spec_structure=UNSET if spec is None else spec,
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
                    output_state=self._state(state, execution.index),
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


def _as_dialled(value: Value, is_hidden: bool, shown: Callable[[Value], Value]) -> Value:
    """A written value, or what stands for it; a placeholder stays as it is."""
    return value if is_hidden and isinstance(value, str) else shown(value)
