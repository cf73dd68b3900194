"""One model call that is recorded and explained as an agent's run is, without tools and without a loop (02 s.23)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Generic, Literal, cast

from typing_extensions import TypeVar

from agentfootprint import explain
from agentfootprint._blocking import blocking
from agentfootprint.agent.agent import provider_and_model
from agentfootprint.agent.errors import CheckpointFormatError
from agentfootprint.agent.listening import Listened
from agentfootprint.agent.options import Gates, Limits, ModelSettings, Output, RecordOptions, in_memory
from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from agentfootprint.agent.handle import RunHandle
    from agentfootprint.agent.loop import AgentRun
    from agentfootprint.agent.options import RunOptions
    from agentfootprint.agent.pausing.checkpoint import PauseCheckpoint
    from agentfootprint.agent.pausing.paused import Paused
    from agentfootprint.agent.result import RunResult
    from agentfootprint.agent.shaping.configuring import Configured
    from agentfootprint.context import SystemPrompt
    from agentfootprint.explain import Ablation
    from agentfootprint.identity import Identity
    from agentfootprint.llm import LLMProvider
    from agentfootprint.trace import JsonObject

__all__ = ["LLMCall"]

Out = TypeVar("Out", default=str)


class LLMCall(Listened, Generic[Out]):
    """One request to a model: a system prompt, a message, an answer.

    It is a description and never changes; any number of its runs may be in flight. Its events are those of a model
    call (`context.*`, `stream.*`, `cost.*`, `error.fatal`): there is no turn, no iteration and no tool.

    Args:
        model: A provider, or a model string such as `"mock"`.
        provider: The provider, when `model` is the model's id.
        id: For the trace.
        system: The base prompt.
        output: The type of the answer; without one it is text. There is nobody to ask again, so no `retries`.
        settings: How the model is asked.
        limits: `deadline`, `cost`, `pricing` and `context_budget`; the others are an agent's.
        record: What the record keeps; `False` keeps none.

    Raises:
        ConfigError: An option can't work; names it and the fix.

    Example:
        >>> from agentfootprint.llm import Mock
        >>> LLMCall(Mock("Paris."), system="You are terse.").run_sync("The capital of France?").output
        'Paris.'
    """

    def __init__(
        self,
        model: str | LLMProvider,
        *,
        provider: LLMProvider | None = None,
        id: str = "llm-call",
        system: str | SystemPrompt = "",
        output: type[Out] | Output[Out] | None = None,
        settings: ModelSettings | None = None,
        limits: Limits | None = None,
        record: RecordOptions | bool = True,
    ) -> None:
        from agentfootprint.agent.plan import AgentPlan  # with the first call, as for an agent

        found, model_id = provider_and_model(model, provider)
        if not isinstance(id, str) or not id.strip():  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ConfigError("id", f"The id of the call is {id!r}.", fix="Give a short name, or leave it out.")
        if not isinstance(record, (bool, RecordOptions)):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ConfigError("record", f"record is {record!r}.", fix="Use True, False or RecordOptions(...).")
        if output is not None and not isinstance(output, Output):
            output = Output(output)
        if output is not None and output.retries:
            raise ConfigError(
                "output.retries",
                "A single call has no loop, so nobody could ask again.",
                fix="Leave retries out, or use an Agent.",
            )
        limits = Limits() if limits is None else limits
        _refuse_limits_of_a_loop(limits)
        self.record = record
        self._given: dict[str, Any] = {
            "id": id,
            "system": system,
            "output": output,
            "settings": ModelSettings() if settings is None else settings,
            "limits": limits,
        }
        self.plan = AgentPlan(
            name="LLMCall",
            provider=found,
            model=model_id,
            tools=(),
            context=(),
            gates=Gates(),
            record=record if isinstance(record, RecordOptions) else RecordOptions(),
            caching=False,
            is_single_call=True,
            **self._given,
        )
        super().__init__()

    @property
    def name(self) -> str:
        """For people."""
        return self.plan.name

    @property
    def id(self) -> str:
        """For the trace."""
        return self.plan.id

    @property
    def is_deterministic(self) -> bool:
        """Whether equal runs give equal answers, by the provider's own word (STAT-9)."""
        return getattr(self.plan.provider, "deterministic", False) is True

    @property
    def is_free(self) -> bool:
        """Whether asking the model is known to cost nothing (DEC-69)."""
        return getattr(self.plan.provider, "is_free", False) is True

    @property
    def spec(self) -> JsonObject:
        """What the call is made of, by names and ids."""
        return self.plan.header

    async def run(
        self,
        message: str | JsonObject,
        *,
        deps: object = None,
        identity: Identity | None = None,
        session_id: str | None = None,
        limits: Limits | None = None,
        options: RunOptions | None = None,
    ) -> RunResult[Out]:
        """Ask the model once.

        Args:
            message: The text, or `{"message": text}`.
            deps: Taken as every runner takes it; a call without tools has no use for it.
            identity: Whose run this is.
            session_id: The hosting session's id.
            limits: Over the call's own, for this run.
            options: Ids, model, instructions and recording of this run.

        Returns:
            The answer with everything that explains it; an empty one is an answer.

        Raises:
            InvalidRunInputError: The message is no text, or empty.
            DeadlineExceededError: It took longer than `limits.deadline`.
            ProviderError: The model could not be asked.
            OutputSchemaError: The answer does not fit a strict output type.
        """
        return await self._accept(message, deps, identity, session_id, limits, options).execute()

    run_sync = blocking(run)

    def stream(
        self,
        message: str | JsonObject,
        *,
        deps: object = None,
        identity: Identity | None = None,
        session_id: str | None = None,
        limits: Limits | None = None,
        options: RunOptions | None = None,
        form: Literal["native", "wire"] = "native",
    ) -> AbstractAsyncContextManager[RunHandle[Out]]:
        """Ask the model once, and read what happens while it answers; the arguments are those of `run`.

        Use it as `async with call.stream(...) as run: async for event in run: ...` (DEC-27).
        """
        from agentfootprint.agent.handle import RunHandle, RunStream

        run = self._accept(message, deps, identity, session_id, limits, options)
        return RunStream(lambda: RunHandle[Out](run, form, lambda _: None))

    async def resume(
        self,
        paused: Paused | PauseCheckpoint | JsonObject,  # noqa: ARG002  what every runner takes
        answer: object = None,  # noqa: ARG002  what every runner takes
        *,
        deps: object = None,  # noqa: ARG002  what every runner takes
        identity: Identity | None = None,  # noqa: ARG002  what every runner takes
        options: RunOptions | None = None,  # noqa: ARG002  what every runner takes
    ) -> RunResult[Out]:
        """Refuse: a call has no tools, so none of its runs ever waits for a person.

        Raises:
            CheckpointFormatError: Always.
        """
        raise CheckpointFormatError(
            "checkpoint",
            f"The model call {self.id!r} never waits for a person, so the checkpoint is none of its own.",
            fix="Resume the agent or the composition that paused.",
        )

    resume_sync = blocking(resume)

    def without(self, specs: Sequence[Ablation | str]) -> LLMCall[Out]:
        """A copy that nobody listens to, and that spills nothing; a call has no pieces that could be left out.

        Raises:
            UnknownSourceError: `specs` names any.
        """
        if specs:
            explain.resolve_ablations(specs, explain.sources_of(tools={}, context=[]))
        return self._like({"record": in_memory(self.record)})

    def having(
        self, groups: tuple[ModelSettings, Limits, Gates] | None, configured: Configured | None = None
    ) -> LLMCall[Out]:
        """The same call as one run of it was: a new description, which nobody listens to.

        Args:
            groups: Instead of the call's own groups of options.
            configured: The model and base prompt of the run.
        """
        changes: dict[str, Any] = {}
        if groups is not None:
            changes |= {"settings": groups[0], "limits": groups[1]}
        if configured is not None:
            if configured.instructions is not None:
                changes["system"] = configured.instructions
            if configured.model is not None:
                changes["model"] = configured.model
        return self._like(changes)

    def _like(self, changes: dict[str, Any]) -> LLMCall[Out]:
        given: dict[str, Any] = {"model": self.plan.model, **self._given, "record": self.record, **changes}
        return LLMCall[Out](given.pop("model"), provider=self.plan.provider, **given)

    def _accept(
        self,
        message: str | JsonObject,
        deps: object,
        identity: Identity | None,
        session_id: str | None,
        limits: Limits | None,
        options: RunOptions | None,
    ) -> AgentRun:
        from agentfootprint.agent.loop import AgentRun  # with the first run

        if limits is not None:
            _refuse_limits_of_a_loop(limits)
        return AgentRun(
            cast("Any", self),  # it has what a run needs of an agent: plan, record and listeners
            message,
            deps=deps,
            identity=identity,
            session_id=session_id,
            settings=None,
            limits=limits,
            gates=None,
            options=options,
        )

    def __repr__(self) -> str:
        return f"LLMCall(id={self.id!r}, model={self.plan.model!r})"


_OF_A_CALL = frozenset({"deadline", "cost", "pricing", "context_budget"})


def _refuse_limits_of_a_loop(limits: Limits) -> None:
    """A limit that decides nothing is refused, not ignored (AGT-2)."""
    written = limits.written if isinstance(limits, Limits) else ()  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
    useless = sorted(set(written) - _OF_A_CALL)
    if useless:
        raise ConfigError(
            f"limits.{useless[0]}",
            f"A single call has no loop and no tools, so limits.{useless[0]} decides nothing.",
            fix="Leave it out, or use an Agent.",
        )
