"""What a run hands back: the answer, how it ended, what it spent, and the record that explains it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal

from msgspec import UNSET, Struct
from typing_extensions import TypeVar

from agentfootprint._blocking import blocking
from agentfootprint.agent.errors import OutputSchemaError, RunPausedError
from agentfootprint.errors import ConfigError
from agentfootprint.llm import LLMMessage, Usage
from agentfootprint.trace import FrozenDict, Value, thaw

if TYPE_CHECKING:
    from agentfootprint.agent.agent import Agent
    from agentfootprint.agent.ending import EndedBecause
    from agentfootprint.agent.keeping.checkpoint import Checkpoint
    from agentfootprint.agent.options import Gates, Limits, ModelSettings
    from agentfootprint.agent.pausing.paused import Paused
    from agentfootprint.agent.shaping.configuring import Configured
    from agentfootprint.explain import Ablation, Comparator, ProveOptions, Rerun, ToolPolicy, Why
    from agentfootprint.recording import Recording

__all__ = ["ContractUnmet", "LandedCall", "RunResult", "StoppedEarly", "ToolCallRecord"]

Out = TypeVar("Out", default=str)


@dataclass(frozen=True, slots=True)
class ToolCallRecord:
    """One tool call of the run, in order."""

    name: str
    args: FrozenDict
    result: Any
    """The value itself; `None` also when there was none."""
    ok: bool
    """Whether it ran, or was answered, without an error."""
    dispatched: bool
    """Whether the tool was called; in a re-run, also when the recording answered for it."""
    denied: bool = False
    duration_ms: float = 0


class LandedCall(Struct, frozen=True, gc=False):
    """The same as the run keeps it, which makes one a call: a tenth of the time, and nothing for the collector."""

    name: str
    args: FrozenDict
    result: Any
    ok: bool
    dispatched: bool
    denied: bool
    duration_ms: float

    def record(self) -> ToolCallRecord:
        """As the result shows it."""
        return ToolCallRecord(
            self.name,
            self.args,
            self.result,
            ok=self.ok,
            dispatched=self.dispatched,
            denied=self.denied,
            duration_ms=self.duration_ms,
        )


@dataclass(frozen=True, slots=True)
class StoppedEarly:
    """The loop was cut with calls pending (AGT-133)."""

    reason: Literal["max-iterations", "cost-budget"]
    iteration: int
    pending: int
    """How many proposed calls were not run."""


@dataclass(frozen=True, slots=True)
class ContractUnmet:
    """The answer does not fit the declared output (AGT-127)."""

    stage: Literal["json-parse", "schema-validate"]
    error: str
    path: str | None
    attempts: int
    retries_spent: int
    broken_by: str | None = None
    """The output rule that broke an answer which had passed (AGT-128)."""


class RunResult(Generic[Out]):
    """What every run returns.

    `str(result)` is the text. Reading it costs nothing that the run did not do; `recording` and what follows from it
    is made when it is asked for.
    """

    def __init__(  # noqa: PLR0913  built by the loop only
        self,
        agent: Agent[Any, Out],
        *,
        text: str,
        value: Value,
        has_value: bool,
        run_id: str,
        ended_because: EndedBecause,
        stop_reason: str,
        usage: Usage,
        cost_usd: float | None,
        unpriced_calls: int,
        iterations: int,
        duration_ms: float,
        messages: tuple[LLMMessage, ...],
        tool_calls: Sequence[ToolCallRecord | LandedCall],
        stopped_early: StoppedEarly | None,
        contract_unmet: ContractUnmet | None,
        recording: Recording | None,
        deps: object,
        groups: tuple[ModelSettings, Limits, Gates] | None = None,
        paused: Paused | None = None,
        output_source: Literal["model", "fallback", "canned"] | None = None,
        output_error: Exception | None = None,
        configured: Configured | None = None,
        checkpoint: Checkpoint,
    ) -> None:
        self._agent = agent
        self._groups = groups
        self._configured = configured
        self._output_error = output_error
        self._value = value
        self._has_value = has_value
        self._recording = recording
        self._deps = deps
        self.text = text
        """The answer's text."""
        self.run_id = run_id
        self.ended_because: EndedBecause = ended_because
        self.stop_reason = stop_reason
        """The last model call's, as normalised."""
        self.usage = usage
        """Over all model calls of the run."""
        self.cost_usd = cost_usd
        """`None` when it is not known."""
        self.unpriced_calls = unpriced_calls
        """Model calls whose cost is not known."""
        self.iterations = iterations
        self.duration_ms = duration_ms
        self.messages = messages
        """This turn's, the answer included."""
        self._tool_calls: Sequence[ToolCallRecord | LandedCall] = tool_calls
        self._shown_calls: tuple[ToolCallRecord, ...] | None = None
        self.checkpoint = checkpoint
        """The conversation after this turn: a next message goes on with it by `run(..., continue_from=)`."""
        self.stopped_early = stopped_early
        self.contract_unmet = contract_unmet
        self.output_source: Literal["model", "fallback", "canned"] | None = output_source
        """Who the output is from: the model, or what stood in for its answer (AGT-131); `None` without one."""
        self.paused = paused
        """What a person is asked, when the run waits for one; answer it with `agent.resume(result.paused, answer)`."""

    @property
    def tool_calls(self) -> tuple[ToolCallRecord, ...]:
        """The tool calls of the run, in order."""
        if self._shown_calls is None:
            calls = self._tool_calls
            self._shown_calls = tuple(each.record() if isinstance(each, LandedCall) else each for each in calls)
        return self._shown_calls

    @property
    def output(self) -> Out:
        """The answer as the declared type; without one its text.

        Raises:
            OutputSchemaError: The answer does not fit the type.
            RunPausedError: There is none yet: the run waits for a person.
        """
        if self._has_value:
            return self._value
        if self.paused is not None:
            raise RunPausedError(self.paused)
        unmet = self.contract_unmet
        raise OutputSchemaError(
            self.text,
            unmet.stage if unmet else "json-parse",
            unmet.path if unmet else None,
            unmet.attempts if unmet else 1,
        ) from self._output_error

    @property
    def output_or_none(self) -> Out | None:
        """The answer as the declared type, or `None` where it does not fit."""
        return self._value if self._has_value else None

    @property
    def recording(self) -> Recording:
        """Everything that happened in the run.

        Raises:
            ConfigError: The run was not recorded.
        """
        if self._recording is None:
            raise ConfigError(
                "record",
                f"The run {self.run_id} was not recorded.",
                fix="Leave record=False out, of the agent and of the run's options.",
            )
        return self._recording

    def _agent_of_run(self) -> Agent[Any, Out]:
        """The agent as it was in this run: with what was said for the run over its own."""
        if self._groups is not None or self._configured is not None:
            self._agent = self._agent.having(self._groups, self._configured)
            self._groups = self._configured = None
        return self._agent

    def why(self, *, at: str | None = None, of: str | None = None, reference: Recording | None = None) -> Why:
        """Which context reached the answer, and where each piece came from. Free: reads the record.

        Args:
            at: The step to ask about; without it the last model call.
            of: The source whose custody is printed; without it the first of the ranking.
            reference: A good run to score against.
        """
        from agentfootprint.explain import why

        return why(self.recording, at=at, of=of, reference=reference)

    async def prove(
        self,
        *,
        of: Sequence[str] | None = None,
        changed: Comparator | str | None = None,
        expected: object = UNSET,
        tools: ToolPolicy = "replay",
        runs: int | None = None,
        usd: float | None = 0.50,
        deps: object = None,
        options: ProveOptions | None = None,
    ) -> Why:
        """Re-run without each source, and say which one changes the answer.

        Args:
            of: The sources to test; without it all that can be removed.
            changed: What counts as changed; without it the declared output type, else the text's decision.
            expected: The right answer, if it is known.
            tools: Where tool results come from: `"replay"` the recorded ones, `"stub"`, `"live"`.
            runs: The most re-runs to spend.
            usd: The most money to spend.
            deps: The object tools get in the re-runs; without it the run's own.
            options: Everything rarer.
        """
        from agentfootprint.explain import prove

        return await prove(
            self.recording,
            agent=self._agent_of_run(),
            of=of,
            changed=changed,
            expected=expected,
            tools=tools,
            runs=runs,
            usd=usd,
            deps=self._deps if deps is None else deps,
            options=options,
        )

    prove_sync = blocking(prove)

    async def rerun(
        self,
        *,
        without: Sequence[Ablation | str] = (),
        samples: int = 1,
        seed: int = 0,
        tools: ToolPolicy = "replay",
        deps: object = None,
    ) -> Rerun:
        """Run the same message again, without some sources: an observation, no verdict."""
        from agentfootprint.explain import rerun

        return await rerun(
            self.recording,
            agent=self._agent_of_run(),
            without=without,
            samples=samples,
            seed=seed,
            tools=tools,
            deps=self._deps if deps is None else deps,
        )

    rerun_sync = blocking(rerun)

    def to_wire(self) -> dict[str, Any]:
        """The result as plain JSON, without the recording."""
        wire: dict[str, Any] = {
            "text": self.text,
            "runId": self.run_id,
            "endedBecause": self.ended_because,
            "stopReason": self.stop_reason,
            "usage": self.usage.to_wire(),
            "iterations": self.iterations,
            "durationMs": self.duration_ms,
            "messages": [thaw(message) for message in self.messages],
        }
        if self.cost_usd is not None:
            wire["costUsd"] = self.cost_usd
        if self.paused is not None:
            wire["paused"] = thaw(self.paused.to_wire())
        return wire

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"RunResult(run_id={self.run_id!r}, ended_because={self.ended_because!r})"
