"""One run of one agent, from its message to its result: the chart run in the run's own scope (02 s.4, s.18, s.19)."""

from __future__ import annotations

import asyncio
import itertools
import time
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint.agent.errors import DeadlineExceededError, InvalidRunInputError
from agentfootprint.agent.options import RecordOptions, RunOptions, check_group, check_id, merged
from agentfootprint.agent.result import ContractUnmet, RunResult, StoppedEarly
from agentfootprint.agent.scope import RunScope
from agentfootprint.errors import ConfigError
from agentfootprint.events import (
    CheckRow,
    ConfiguredLLM,
    ErrorFatal,
    IntegrityDisposition,
    RunConfigured,
    RunFacts,
)
from agentfootprint.flow import FlowRun
from agentfootprint.identity import Identity
from agentfootprint.llm import LLMMessage, Usage, humanize_llm_error
from agentfootprint.recording import Recording
from agentfootprint.trace import NATIVE, FailedRow

if TYPE_CHECKING:
    from agentfootprint.agent.agent import Agent
    from agentfootprint.agent.options import Gates, Limits, ModelSettings

__all__ = ["AgentRun"]

_counter = itertools.count(1)
_SHOWN_KEYS: Final = 6
_UNSEEN: Final = ("Cc", "Cf")
"""Categories of characters without a form of their own: controls, and zero-width spaces and joiners."""


def _fresh_run_id() -> str:
    return f"run-{int(time.time() * 1000)}-{next(_counter)}"


def _read_message(runner: str, given: object) -> str:
    """The message of a run's input (AGT-10).

    Raises:
        InvalidRunInputError: It is no message; names the shape of what was given (AGT-11).
    """
    message = given
    if isinstance(given, Mapping) and "message" in given:
        message = cast("Mapping[str, object]", given)["message"]
    if isinstance(message, str) and any(map(_is_visible, message)):
        return message
    raise InvalidRunInputError(runner, _shape(message))


def _is_visible(char: str) -> bool:
    return char > " " and (char.isalnum() or (not char.isspace() and unicodedata.category(char) not in _UNSEEN))


def _shape(value: object) -> str:  # noqa: PLR0911  one answer a kind
    if value is None:
        return "null"
    if isinstance(value, str):
        return "an empty text" if not value else "a text of blanks only"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, Mapping):
        keys = [str(key) for key in cast("Mapping[object, object]", value)]
        shown = ", ".join(keys[:_SHOWN_KEYS])
        return f"an object with keys: {shown}" if keys else "an empty object"
    if isinstance(value, (list, tuple)):
        return f"an array of {len(cast('list[object]', value))}"
    return f"a {type(value).__name__}"


class AgentRun:
    """A run that was accepted: its facts and scope exist, nothing has happened yet."""

    def __init__(
        self,
        agent: Agent[Any, Any],
        message: str | Mapping[str, Any],
        *,
        deps: object,
        identity: Identity | None,
        session_id: str | None,
        settings: ModelSettings | None,
        limits: Limits | None,
        gates: Gates | None,
        options: RunOptions | None,
    ) -> None:
        plan = agent.plan
        text = _read_message("Agent.run", message)
        if options is None:
            options = RunOptions()
        check_group("options", options, RunOptions)
        check_id("session_id", session_id)
        if identity is not None:
            check_group("identity", identity, Identity)
        self._agent = agent
        self._deps = deps
        self._groups_given = settings is not None or limits is not None or gates is not None
        self.facts = RunFacts(
            run_id=options.run_id or _fresh_run_id(),
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
        self.has_begun = False
        self.scope = RunScope(
            plan,
            message=text,
            facts=self.facts,
            deps=deps,
            identity=identity,
            settings=merged(plan.settings, settings),
            limits=merged(plan.limits, limits),
            gates=merged(plan.gates, gates),
            record=record if isinstance(record, RecordOptions) else plan.record,
            bus=agent.bus,
            wire_bus=agent.wire_bus,
        )
        if limits is not None and "wrap_up" in limits.written and limits.wrap_up and plan.tools and not plan.wraps_up:
            raise ConfigError(
                "limits.wrap_up",
                "The agent was made without a wrap-up call, so no run of it can have one.",
                fix="Give the agent Limits(wrap_up=True); a run may switch it off.",
            )
        limit = self.scope.limits.iterations * 2 + 10
        self.flow_run = FlowRun(plan.flow, scope=self.scope, dials=NATIVE, max_iterations=limit)
        self.scope.bind(self.flow_run.journal)
        self.recording = Recording.of_run(self.flow_run.journal, facts=self.facts, header={"agent": plan.header})

    async def execute(self) -> RunResult[Any]:
        """Run to the end; whatever ends it, the events that close a run are sent before control returns."""
        scope = self.scope
        self.has_begun = True
        scope.emit("run-configured#0", self._configured())
        started = time.perf_counter_ns()
        deadline = scope.limits.deadline
        timer: asyncio.Timeout | None = None
        try:
            if deadline is None:
                await self.flow_run.start({"message": scope.message})
            else:
                async with asyncio.timeout(deadline) as timer:
                    await self.flow_run.start({"message": scope.message})
        except TimeoutError as error:
            if timer is None or not timer.expired() or deadline is None:
                await self._fail(error)
                raise
            late = DeadlineExceededError(self.facts.run_id, deadline)
            await self._fail(late)
            raise late from error
        except BaseException as error:
            await self._fail(error)
            raise
        await self._close("done")
        return self._result((time.perf_counter_ns() - started) / 1e6)

    def abandon(self) -> None:
        """Close the record of a run that was cancelled before its first step (AGT-149)."""
        self._tell_failure(asyncio.CancelledError())
        self._end("failed")

    async def _fail(self, error: BaseException) -> None:
        self._tell_failure(error)
        await self._close("failed")

    def _tell_failure(self, error: BaseException) -> None:
        scope = self.scope
        scope.tool_run.cancelled = True
        if not isinstance(error, Exception):
            scope.ended_because = "cancelled"
        scope.emit("__root__#0", ErrorFatal(error=humanize_llm_error(error), stage=self._failed_stage(), scope="run"))

    def _failed_stage(self) -> str:
        """The innermost stage that raised; its row stands before those of what it runs in."""
        failed = (row for row in reversed(self.flow_run.journal.rows) if isinstance(row, FailedRow))
        steps = [row.execution.stage_id for row in failed if row.execution is not None]
        return steps[-1] if steps else "__root__"

    async def _close(self, outcome: str) -> None:
        await asyncio.shield(self.scope.teardown.close())
        self._end(outcome)
        for bus in (self._agent.bus, self._agent.wire_bus):
            await bus.drain()

    def _end(self, outcome: str) -> None:
        self.scope.emit("integrity-disposition#0", self._disposition())
        self.recording.finish(outcome)
        self.scope.wake()

    def _configured(self) -> RunConfigured:
        plan = self.scope.plan
        return RunConfigured(
            agent_id=plan.id,
            llm=ConfiguredLLM(provider=plan.provider.name, model=plan.model),
            react_mode="dynamic",
            memories=(),
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
        return IntegrityDisposition(posture="observe", work_existed=scope.model_calls > 0, rows=(wire, *_UNARMED))

    def _result(self, duration_ms: float) -> RunResult[Any]:
        scope = self.scope
        plan = scope.plan
        text = scope.answer
        response = scope.response
        stop_reason = response.stop_reason if response is not None else ""
        ended = scope.ended_because
        if ended == "answer" and stop_reason == "max_tokens":
            ended = "cut"
        typed = plan.output is not None
        state = self.flow_run.state
        history = state["history"]
        messages = [*history]
        if text and ended != "refused":  # there it is the text beside calls that stand in the history already
            messages.append(LLMMessage("assistant", text))
        early, unmet = scope.stopped_early, scope.unmet
        return RunResult(
            self._agent,
            text=text,
            value=scope.output_value if typed else text,
            has_value=scope.has_output if typed else True,
            run_id=self.facts.run_id,
            ended_because=ended,
            stop_reason=stop_reason,
            usage=scope.usage or Usage(known=False),
            cost_usd=0.0 if _is_free(plan.provider) else None,
            unpriced_calls=0 if _is_free(plan.provider) else scope.model_calls,
            iterations=state["iteration"],
            duration_ms=duration_ms,
            messages=tuple(messages),
            tool_calls=tuple(scope.tool_calls),
            stopped_early=None
            if early is None
            else StoppedEarly(early["reason"], early["iteration"], early["pendingToolCalls"]),
            contract_unmet=None
            if unmet is None
            else ContractUnmet(
                unmet["stage"], unmet["error"], unmet.get("path"), unmet["attempts"], unmet["retriesSpent"]
            ),
            recording=self.recording if self.is_recorded else None,
            deps=self._deps,
            groups=(scope.settings, scope.limits, scope.gates) if self._groups_given else None,
        )


def _is_free(provider: object) -> bool:
    """A scripted model costs nothing, known (DEC-69); every other one is not priced here."""
    return getattr(provider, "is_free", False) is True


def _unarmed(check: str, seam: str) -> CheckRow:
    return CheckRow(check=check, seam=seam, checked=0, findings=0, not_applicable=1, unreachable=0, synthetic=0)


_UNARMED: Final = (
    _unarmed("invariant-violation", "compose"),
    _unarmed("dangling-reference", "compose"),
    _unarmed("unsupported-claim", "claim"),
)
