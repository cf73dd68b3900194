"""One run of one composition, from its message to its result: one chart, one log, one id, whatever is nested in it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NoReturn

from agentfootprint._blocking import blocking
from agentfootprint.agent import (
    Checkpoint,
    OuterRun,
    RecordedRun,
    RecordOptions,
    RunOptions,
    RunResult,
    check_group,
    check_id,
    fresh_run_id,
    merged,
    observers_of,
)
from agentfootprint.compose.errors import CompositionError, LoopBudgetError, bare_reason
from agentfootprint.compose.scope import Scope, now_ms
from agentfootprint.errors import ConfigError
from agentfootprint.events import ErrorFatal, RunFacts
from agentfootprint.flow import FlowRun, union_of
from agentfootprint.identity import Identity
from agentfootprint.llm import LLMMessage, Usage, humanize_llm_error
from agentfootprint.recording import Recording, serve_covered
from agentfootprint.trace import NATIVE, FrozenList

if TYPE_CHECKING:
    from agentfootprint.agent import Limits, Paused, StoppedEarly
    from agentfootprint.compose.composed import Composed
    from agentfootprint.compose.resuming import Resumed
    from agentfootprint.flow import FlowOutcome, PauseCheckpoint
    from agentfootprint.recording import Spill

__all__ = ["ComposedRun"]

_NO_OPTIONS: Final = RunOptions()


class ComposedRun(RecordedRun[OuterRun]):
    """A run that was accepted: nothing has happened yet. It is to its handle what an agent's run is."""

    def __init__(
        self,
        composed: Composed[Any],
        message: object,
        *,
        deps: object = None,
        identity: Identity | None = None,
        session_id: str | None = None,
        limits: Limits | None = None,
        options: RunOptions | None = None,
        resumed: Resumed | None = None,
    ) -> None:
        super().__init__(composed)
        plan = composed.plan
        given = composed.checked(message) if resumed is None else message
        options = _checked(options)
        check_id("session_id", session_id)
        if identity is not None:
            check_group("identity", identity, Identity)
        self._composed = composed
        self._deps = deps
        self._identity = identity
        self._message = given
        self._resumed = resumed
        self._limits = merged(plan.limits, limits)
        self._left: Checkpoint | None = None
        self._value: Any = None
        self.is_recorded = plan.is_recorded if options.record is None else options.record is not False
        self.facts = RunFacts(
            run_id=options.run_id or fresh_run_id(),
            started_at_ms=now_ms(),
            composition_path=plan.composition_path,
            session_id=session_id,
            principal=None if identity is None else identity.principal,
            tenant=None if identity is None else identity.tenant,
            correlation_id=options.correlation_id,
            trace_id=options.trace_id,
        )
        record = options.record if isinstance(options.record, RecordOptions) else plan.record
        self._observers = observers = observers_of(composed, record, options, self.facts)
        self.scope = OuterRun(
            self.facts,
            deps=deps,
            identity=identity,
            bus=(observers or composed).bus,
            wire_bus=(observers or composed).wire_bus,
            record=record if isinstance(options.record, RecordOptions) else None,
            origin_run_id=None if resumed is None else resumed.origin_run_id,
        )
        self._top = Scope(composed, self.scope)
        self._top.given = given
        self._top.bound(self._limits.deadline, None)
        self.flow_run = FlowRun(
            plan.flow,
            scope=self._top,
            dials=NATIVE,
            max_iterations=plan.max_loops,
            watch=None if observers is None else observers.watch,
        )
        self._spill: Spill | None = None
        if record.spill is not None and self.is_recorded:
            from agentfootprint.recording import Spill  # with the first path

            self._spill = Spill(self.flow_run.journal, record.spill)
        shown = self.facts
        policy = union_of(plan.redaction, record.redaction)
        if policy is not None:
            cover = self.scope.cover = serve_covered(self.flow_run.journal, policy)
            shown = cover.facts(self.facts)
        self.scope.bind(self.flow_run.journal)
        more: dict[str, Any] = {}
        if resumed is not None:
            self._top.go_on(resumed.checkpoint.state.get("startMs"))
            self.scope.taken_up = dict(resumed.parts)
            more = {"flags": ["resumed"], "resumed": {"runId": resumed.run_id}}
        self.recording = (Recording.of_run if self._spill is None else self._spill.record)(
            self.flow_run.journal,
            facts=shown,
            header=lambda: {"composition": plan.header, **more},
            structure=plan.flow.to_spec,
        )

    async def execute(self) -> RunResult[Any]:
        """Run to the end; whatever ends it, the events that close a run are sent before control returns."""
        self._composed.note_deaf_listeners()
        self._begin(goes_on=self._resumed is not None)
        if self._resumed is not None:
            self.scope.emit(*self._resumed.event(self.facts.started_at_ms))
        started = time.perf_counter_ns()
        waits = await self._supervise(
            started, deadline=self._limits.deadline, grace=self._limits.teardown, on_stop=self.scope.stop
        )
        if waits is not None:
            return waits
        elapsed = (time.perf_counter_ns() - started) / 1e6
        self._end("done")
        await self._drain()
        return self._result(elapsed, self._top.value if self._composed.kind is None else self._value)

    def still_waits(self) -> RunResult[Any]:
        """A request for values that was answered in part waits for the rest: no step was taken (NEW-6)."""
        resumed = self._resumed
        assert resumed is not None  # noqa: S101  only a resumed run waits on
        self.recording.finish("paused")
        if self._spill is not None:
            self._spill.settle()
        return self._result(0.0, None, resumed.waiting())

    async def _walk(self) -> FlowOutcome:
        outcome: list[FlowOutcome] = []

        async def go() -> Any:  # noqa: ANN401  the last value
            resumed = self._resumed
            if resumed is None:
                given = self._message
                outcome.append(await self.flow_run.start({"message": given}))
            else:
                outcome.append(await self.flow_run.resume(resumed.checkpoint, resumed.answer))

        await self._composed.bracketed(self._top, go)
        self._question = outcome[0].checkpoint
        self._value = outcome[0].value
        return outcome[0]

    async def _pause(self, checkpoint: PauseCheckpoint, duration_ms: float) -> RunResult[Any]:
        from agentfootprint.compose.resuming import leave  # with the first question

        self.paused = paused = leave(self._composed, self.scope, checkpoint, identity=self._identity)
        self._end("paused")
        await self._drain()
        return self._result(duration_ms, None, paused)

    @property
    def checkpoint(self) -> Checkpoint | None:
        """What was said, when the run has ended; a composition keeps no conversation."""
        return self._left

    async def _fail(self, error: BaseException) -> None:
        try:
            for part in self.scope.paused.values():  # its question is nobody's now
                await part.give_up()
        finally:
            self._tell_failure(error)
            self._end("failed")
        await self._drain()

    def _tell_failure(self, error: BaseException) -> None:
        self.scope.stop()
        is_own = isinstance(error, (CompositionError, LoopBudgetError))
        words, veil = bare_reason(error) if is_own else humanize_llm_error(error), self.scope.journal.veil
        if veil is not None:  # as the engine: what may quote a secret is withheld
            words = veil.words(error, words)
        self.scope.emit("__root__#0", ErrorFatal(error=words, stage="__root__", scope="run"))

    def _result(self, elapsed: float, value: Any, paused: Paused | None = None) -> RunResult[Any]:  # noqa: ANN401  a value
        parts = self.scope.parts
        text = value if isinstance(value, str) else "" if value is None else str(value)
        said = [LLMMessage("user", self._message)] if isinstance(self._message, str) else []
        if paused is None and text:
            said.append(LLMMessage("assistant", text))
        self._left = Checkpoint(
            run_id=self.facts.run_id,
            window=FrozenList([*said], len(said)),
            last_completed_iteration=0,
            message=self._message if isinstance(self._message, str) else "",
            checkpointed_at=now_ms(),
            identity=self._identity,
        )
        cost_usd, unpriced = _cost(self.scope)
        usages = [part.scope.usage for part in parts if part.scope.usage is not None]
        usages += [response.usage or Usage(known=False) for _, response in self.scope.asked]
        responses = [part.scope.response for part in parts if part.scope.response is not None]
        responses += [response for _, response in self.scope.asked]
        stopped: StoppedEarly | None = self._top.stopped_early
        return ComposedResult(
            self._composed,  # pyright: ignore[reportArgumentType]  what a result asks of its runner is refused below
            text=text,
            value=value,
            has_value=paused is None,
            run_id=self.facts.run_id,
            ended_because="answer" if paused is None else "paused",
            stop_reason=responses[-1].stop_reason if responses else "",
            usage=sum(usages[1:], usages[0]) if usages else Usage(known=False),
            cost_usd=cost_usd,
            unpriced_calls=unpriced,
            iterations=sum(part.scope.model_calls for part in parts) + len(self.scope.asked),
            duration_ms=elapsed,
            messages=tuple(said),
            tool_calls=[call for part in parts for call in part.scope.tool_calls],
            stopped_early=stopped,
            contract_unmet=None,
            recording=self.recording if self.is_recorded else None,
            deps=self._deps,
            paused=paused,
            checkpoint=self._left,
        )


class ComposedResult(RunResult[Any]):
    """What a run of a composition returns: an agent's result, without what re-runs one agent."""

    async def prove(self, *_: object, **__: object) -> NoReturn:
        """Refuse: sources of several agents can't be taken out and re-run as one.

        Raises:
            ConfigError: Always.
        """
        raise _not_one_agent("proved")

    prove_sync: Callable[..., Any] = blocking(prove)

    async def rerun(self, *_: object, **__: object) -> NoReturn:
        """Refuse, as `prove` does.

        Raises:
            ConfigError: Always.
        """
        raise _not_one_agent("run again")

    rerun_sync: Callable[..., Any] = blocking(rerun)


def _not_one_agent(what: str) -> ConfigError:
    return ConfigError(
        "result",
        f"The run of a composition can't be {what} without some of its sources: they belong to several agents.",
        fix="Read result.why(), which walks across them, then prove a run of the agent it points to.",
    )


def _checked(options: RunOptions | None) -> RunOptions:
    """The options of a run, of which those that only one agent could follow are refused."""
    if options is None:
        return _NO_OPTIONS
    check_group("options", options, RunOptions)
    for name in ("model", "instructions"):
        if getattr(options, name) is not None:
            raise ConfigError(
                f"options.{name}",
                f"A composition asks no model itself, so options.{name} decides nothing.",
                fix="Give it to the agents inside.",
            )
    return options


def _cost(outer: OuterRun) -> tuple[float | None, int]:
    """What all calls cost together, when that is known of each, and how many it is not known of (DEC-42)."""
    spent = [part.scope.spending for part in outer.parts if part.scope.spending is not None]
    paid = sum((each.cost_usd or 0.0 for each in spent), 0.0)
    unpriced = sum(each.unpriced_calls for each in spent)
    unknown = any(each.cost_usd is None for each in spent)
    others = [(p.scope.plan.provider, p.scope.model_calls) for p in outer.parts if p.scope.spending is None]
    others += [(provider, 1) for provider, _ in outer.asked]
    not_free = sum(calls for provider, calls in others if getattr(provider, "is_free", False) is not True)
    return None if unknown or not_free else paid, unpriced + not_free
