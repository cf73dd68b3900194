"""One run of one agent, from its message to its result: the chart run in the run's own scope (02 s.4, s.18, s.19)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from agentfootprint.agent.errors import DeadlineExceededError
from agentfootprint.agent.keeping.failing import (
    failed_checkpoint,
    finished_checkpoint,
    is_verdict,
    standing_checkpoint,
    wrapped,
)
from agentfootprint.agent.keeping.turns import turn_start
from agentfootprint.agent.options import RecordOptions, RunOptions, check_group, check_id, merged
from agentfootprint.agent.result import ContractUnmet, RunResult, StoppedEarly
from agentfootprint.agent.ruling import rules_of
from agentfootprint.agent.running.accepting import fresh_run_id, read_message
from agentfootprint.agent.running.framing import RecordedRun
from agentfootprint.agent.running.late import late_teller
from agentfootprint.agent.running.supervising import to_the_end
from agentfootprint.agent.running.watching import observers_of
from agentfootprint.agent.scope import RunScope
from agentfootprint.agent.shaping.configuring import Configured
from agentfootprint.agent.shaping.forcing import check_carries_forced
from agentfootprint.agent.shaping.manifest import run_manifest
from agentfootprint.context import check_roles
from agentfootprint.errors import ConfigError
from agentfootprint.events import (
    CheckRow,
    ErrorFatal,
    IntegrityDisposition,
    RunConfigured,
    RunFacts,
)
from agentfootprint.flow import FlowRun
from agentfootprint.identity import Identity
from agentfootprint.llm import LLMMessage, Usage, humanize_llm_error
from agentfootprint.recording import Recording
from agentfootprint.trace import NATIVE

if TYPE_CHECKING:
    from agentfootprint.agent.agent import Agent
    from agentfootprint.agent.keeping.checkpoint import Checkpoint
    from agentfootprint.agent.keeping.continuing import Continuation
    from agentfootprint.agent.options import Gates, Limits, ModelSettings
    from agentfootprint.agent.pausing.entering import Resumption
    from agentfootprint.agent.pausing.paused import Paused
    from agentfootprint.agent.plan import AgentPlan
    from agentfootprint.flow import FlowOutcome, PauseCheckpoint
    from agentfootprint.recording import Spill
    from agentfootprint.trace import Journal

__all__ = ["AgentRun"]

_NO_OPTIONS: Final = RunOptions()


class AgentRun(RecordedRun[RunScope]):
    """A run that was accepted: its facts and scope exist, nothing has happened yet."""

    def __init__(  # noqa: C901, PLR0913, PLR0915  built by the agent and its conversations only
        self,
        agent: Agent[Any, Any],
        message: str | Mapping[str, Any],
        *,
        deps: object = None,
        identity: Identity | None = None,
        session_id: str | None = None,
        settings: ModelSettings | None = None,
        limits: Limits | None = None,
        gates: Gates | None = None,
        options: RunOptions | None = None,
        resumed: Resumption | None = None,
        continued: Continuation | None = None,
    ) -> None:
        super().__init__(agent)
        plan = agent.plan
        text = read_message("LLMCall.run" if plan.is_single_call else "Agent.run", message)
        if plan.forced is not None:
            check_carries_forced(plan.provider)
        if plan.context.delivers:
            check_roles(plan.context.pieces, plan.provider)
        if options is None:
            options = _NO_OPTIONS
        else:
            check_group("options", options, RunOptions)
        if continued is not None:
            identity = continued.identity if identity is None else identity
            session_id = continued.session_id if session_id is None else session_id
        check_id("session_id", session_id)
        if identity is not None:
            check_group("identity", identity, Identity)
        self._agent = agent
        self._deps = deps
        self._given = (settings, limits, gates)
        self._groups_given = settings is not None or limits is not None or gates is not None
        self.facts = RunFacts(
            run_id=options.run_id or fresh_run_id(),
            started_at_ms=int(time.time() * 1000),
            composition_path=plan.composition_path,
            session_id=session_id,
            principal=None if identity is None else identity.principal,
            tenant=None if identity is None else identity.tenant,
            correlation_id=options.correlation_id,
            trace_id=options.trace_id,
        )
        record = agent.record if options.record is None else options.record
        self.is_recorded = record is not False
        self._left: Checkpoint | None = None
        recorded = record if isinstance(record, RecordOptions) else plan.record
        self._observers = observers = observers_of(agent, recorded, options, self.facts)
        self.scope = RunScope(
            plan,
            message=text,
            facts=self.facts,
            deps=deps,
            identity=identity,
            settings=merged(plan.settings, settings),
            limits=merged(plan.limits, limits),
            gates=merged(plan.gates, gates),
            record=recorded,
            bus=(observers or agent).bus,
            wire_bus=(observers or agent).wire_bus,
            sessions=None if plan.is_single_call else agent.tool_sessions,
            given=None
            if options.model is None and options.instructions is None
            else Configured(model=options.model, instructions=options.instructions),
        )
        if resumed is None and (limits is not None or gates is not None):
            _refuse_unused(plan, self.scope, limits, gates)
        most = self.scope.limits.iterations
        self.scope.rules = rules_of(self.scope.gates)
        self._resumed = resumed
        if resumed is not None:
            resumed.restore(self.scope)
            most = max(most, resumed.max_iterations)
        if continued is not None:
            self.scope.continued = continued
            continued.restore(self.scope)
        limit = most * 2 + 10
        watch = None if observers is None else observers.watch
        self.flow_run = FlowRun(plan.flow, scope=self.scope, dials=NATIVE, max_iterations=limit, watch=watch)
        spills = recorded.spill is not None and self.is_recorded
        self._spill = _spill_of(self.flow_run.journal, recorded) if spills else None
        self.scope.bind(self.flow_run.journal)
        shown = self.facts
        if self.scope.record.redaction is not None or plan.record.redaction is not None:
            from agentfootprint.agent.redacting.serving import begin_covered  # with the first policy

            cover = self.scope.cover = begin_covered(self.flow_run.journal, self.scope.record, plan.record)
            shown = self.facts if cover is None else cover.facts(self.facts)
        self.scope.tool_run.on_late = late_teller(self.facts, self.scope.cover, agent.bus, agent.wire_bus)
        described, more = plan.described, dict[str, Any]()
        if resumed is not None:
            more |= resumed.header()
        if continued is not None:
            more |= continued.header()
        self.recording = (Recording.of_run if self._spill is None else self._spill.record)(
            self.flow_run.journal,
            facts=shown,
            header=lambda: {"agent": described.header, **more},
            structure=plan.flow.to_spec,
        )

    async def execute(self) -> RunResult[Any]:
        """Run to the end; whatever ends it, the events that close a run are sent before control returns."""
        scope = self.scope
        self._announce()
        started = time.perf_counter_ns()
        limits = scope.limits
        try:
            waits = await self._supervise(started, deadline=limits.deadline, grace=limits.teardown, on_stop=self._stop)
        except Exception as error:
            left = self.checkpoint
            is_late = isinstance(error, DeadlineExceededError)
            if is_late and error.run_id == self.facts.run_id:
                error.checkpoint = left
                raise
            if left is None or (is_verdict(error) and not is_late):  # another run's time is no verdict on this one
                raise
            raise wrapped(error, left) from error
        if waits is not None:
            return waits
        await self._close("done")
        if scope.refusal is not None:
            refusal, scope.refusal = scope.refusal, None  # its traceback holds this frame
            raise refusal
        result = self._result((time.perf_counter_ns() - started) / 1e6)
        if scope.plan.output is not None and scope.plan.output.strict:
            result.output  # noqa: B018  reading it raises where there is none (AGT-127)
        return result

    def still_waits(self) -> RunResult[Any]:
        """A request for values that was answered in part waits for the rest: no step was taken (NEW-6)."""
        from agentfootprint.agent.pausing.paused import paused_of

        resumed = self._resumed
        assert resumed is not None  # noqa: S101  only a resumed run waits on
        self.scope.ended_because = "paused"
        self.recording.finish("paused")
        if self._spill is not None:
            self._spill.settle()
        return self._result(0.0, paused_of(replace(resumed.checkpoint, live=resumed.live)))

    async def _walk(self) -> FlowOutcome:
        if self._resumed is None:
            outcome = await self.flow_run.start({"message": self.scope.message})
        else:
            outcome = await self.flow_run.resume(self._resumed.checkpoint, self._resumed.answer)
        self._question = outcome.checkpoint
        return outcome

    async def _pause(self, checkpoint: PauseCheckpoint, duration_ms: float) -> RunResult[Any]:
        """End this leg of the run with its question; what the run has open stays open (AGT-74)."""
        from agentfootprint.agent.pausing.leaving import leave  # with the first question

        self.scope.ended_because = "paused"
        self.paused = paused = leave(self.scope, checkpoint, groups=self._given)
        self._end("paused")
        await self._drain()
        return self._result(duration_ms, paused)

    def _announce(self) -> None:
        """Say that the run begins, and what it goes on with, before anything happens in it."""
        scope, resumed = self.scope, self._resumed
        self._begin(goes_on=resumed is not None)
        if resumed is not None:
            scope.emit("tool-calls#resumed", resumed.resumed(self.facts.started_at_ms), resumed.marks())
        if not scope.plan.is_single_call:
            scope.emit("run-configured#0", self._configured())

    def _stop(self) -> None:
        """Tools that look learn that nobody wants their result any more (AGT-115)."""
        self.scope.tool_run.cancelled = True

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The conversation as the run left it, or has left it so far; `None` before there is one."""
        if self._left is not None or self.scope.plan.is_single_call:
            return self._left
        state = self.flow_run.state if self.has_begun or self._resumed is None else self._resumed.checkpoint.state
        return standing_checkpoint(self.scope, state)

    async def _fail(self, error: BaseException) -> None:
        if not self.scope.plan.is_single_call:
            self._left = failed_checkpoint(self.scope, self.flow_run.state, error)
        try:
            await self._tear_down()  # before the event that ends the run (AGT-114)
        finally:
            self._tell_failure(error)
            self._end("failed")
        await self._drain()

    def _tell_failure(self, error: BaseException) -> None:
        scope = self.scope
        scope.tool_run.cancelled = True
        if not isinstance(error, Exception):
            scope.ended_because = "cancelled"
        words = humanize_llm_error(error)
        if scope.journal.veil is not None:  # as the engine: what may quote a secret is withheld (FLOW-DEC-6)
            words = scope.journal.veil.words(error, words)
        scope.emit("__root__#0", ErrorFatal(error=words, stage="__root__", scope="run"))

    async def _close(self, outcome: str) -> None:
        try:
            await self._tear_down()
        finally:
            self._end(outcome)
        await self._drain()

    async def _tear_down(self) -> None:
        teardown = self.scope.teardown
        if len(teardown):
            await to_the_end(teardown.close())
        teardown.closed = True

    def _end(self, outcome: str) -> None:
        if not self.scope.plan.is_single_call:
            self.scope.emit("integrity-disposition#0", self._disposition())
        super()._end(outcome)

    def _configured(self) -> RunConfigured:
        scope, plan = self.scope, self.scope.plan
        return run_manifest(
            plan.id,
            provider=plan.provider.name,
            model=plan.model,
            mode=plan.mode,
            is_configured=plan.configure is not None or scope.given is not None,
        )

    def _disposition(self) -> IntegrityDisposition:
        """Which checks ran, how often, and what they found (INT-7); a check that nothing armed says so."""
        scope = self.scope
        wire = CheckRow(
            check="invariant-violation",
            seam="wire",
            checked=scope.wire_checked,
            findings=scope.wire_findings,
            not_applicable=0,
            unreachable=scope.wire_unreachable,
            synthetic=0,
        )
        return IntegrityDisposition(posture="observe", work_existed=scope.has_asked, rows=(wire, *_UNARMED))

    def _configured_as(self) -> Configured | None:
        """What a re-run needs said again, because the caller said it for this run (AGT-19)."""
        scope = self.scope
        if scope.given is None:
            return None
        said = scope.context is not scope.plan.context
        return Configured(
            model=None if scope.model == scope.plan.model else scope.model,
            instructions=scope.context.base.text if said else None,
        )

    def _cost(self) -> tuple[float | None, int]:
        """What the run cost, when that is known, and how many calls it is not known of (DEC-42, DEC-69)."""
        scope = self.scope
        if scope.spending is not None:
            return scope.spending.cost_usd, scope.spending.unpriced_calls
        is_free = getattr(scope.plan.provider, "is_free", False) is True
        return (0.0, 0) if is_free or not scope.model_calls else (None, scope.model_calls)

    def _result(self, duration_ms: float, paused: Paused | None = None) -> RunResult[Any]:
        scope = self.scope
        plan = scope.plan
        text = scope.answer
        response = scope.response
        stop_reason = response.stop_reason if response is not None else ""
        ended = scope.ended_because
        if ended == "answer" and stop_reason == "max_tokens":
            ended = "cut"
        typed = plan.output is not None
        state = self.flow_run.state if self.has_begun or self._resumed is None else self._resumed.checkpoint.state
        history = state["history"]
        in_turn = scope.continued is not None or self._resumed is not None
        messages = [*history.tail(turn_start(history, scope.message))] if in_turn else [*history]
        if text and ended != "refused":  # there it is the text beside calls that stand in the history already
            messages.append(LLMMessage("assistant", text))
        said = text if paused is None and ended != "refused" else ""
        iteration: int = state.get("iteration", 1)
        self._left = finished_checkpoint(scope, history, iteration if paused is None else iteration - 1, said)
        early, unmet = scope.stopped_early, scope.unmet
        cost_usd, unpriced = self._cost()
        return RunResult(
            self._agent,
            text=text,
            value=scope.output_value if typed else text,
            has_value=paused is None and (scope.has_output or not typed),
            run_id=self.facts.run_id,
            ended_because=ended,
            stop_reason=stop_reason,
            usage=scope.usage or Usage(known=False),
            cost_usd=cost_usd,
            unpriced_calls=unpriced,
            iterations=iteration,
            duration_ms=duration_ms,
            messages=tuple(messages),
            tool_calls=tuple(scope.tool_calls),
            stopped_early=None
            if early is None
            else StoppedEarly(early["reason"], early["iteration"], early["pendingToolCalls"]),
            contract_unmet=None
            if unmet is None
            else ContractUnmet(
                unmet["stage"],
                unmet["error"],
                unmet.get("path"),
                unmet["attempts"],
                unmet["retriesSpent"],
                unmet.get("brokenBy"),
            ),
            output_source=scope.output_source if typed or paused is not None else "model",
            output_error=scope.output_error,
            recording=self.recording if self.is_recorded else None,
            deps=self._deps,
            groups=(scope.settings, scope.limits, scope.gates) if self._groups_given else None,
            configured=self._configured_as(),
            paused=paused,
            checkpoint=self._left,
        )


def _refuse_unused(plan: AgentPlan, scope: RunScope, limits: Limits | None, gates: Gates | None) -> None:
    """Refuse an option that was given to a run and can have no effect in it."""
    if limits is not None and "wrap_up" in limits.written and limits.wrap_up and plan.tools and not plan.wraps_up:
        raise ConfigError(
            "limits.wrap_up",
            "The agent was made without a wrap-up call, so no run of it can have one.",
            fix="Give the agent Limits(wrap_up=True); a run may switch it off.",
        )
    if gates is not None and (gates.check_in is not None or gates.ask_together):
        from agentfootprint.agent.gating.askers import refuse_unasked  # only where one is given

        refuse_unasked(scope.gates, plan.every_offer.by_name.values(), gates.written)


def _spill_of(journal: Journal, record: RecordOptions) -> Spill:
    """What writes the record to a file while it happens (LIN-9)."""
    from agentfootprint.recording import Spill  # with the first path

    assert record.spill is not None  # noqa: S101  the caller looked
    return Spill(journal, record.spill)


def _unarmed(check: str, seam: str) -> CheckRow:
    return CheckRow(check=check, seam=seam, checked=0, findings=0, not_applicable=1, unreachable=0, synthetic=0)


_UNARMED: Final = (
    _unarmed("invariant-violation", "compose"),
    _unarmed("dangling-reference", "compose"),
    _unarmed("unsupported-claim", "claim"),
)
