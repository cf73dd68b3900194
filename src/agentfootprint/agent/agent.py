"""The agent: an immutable description, run any number of times at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Generic, Literal

from msgspec import UNSET
from typing_extensions import TypeVar

from agentfootprint import explain, providers
from agentfootprint._blocking import blocking
from agentfootprint.agent.options import Gates, Limits, ModelSettings, Output, RecordOptions, in_memory
from agentfootprint.agent.replaying.method import Replaying
from agentfootprint.agent.running.closing import Closing, Hooked
from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from agentfootprint.agent.handle import RunHandle
    from agentfootprint.agent.keeping.checkpoint import Checkpoint
    from agentfootprint.agent.keeping.conversing import Conversation
    from agentfootprint.agent.loop import AgentRun
    from agentfootprint.agent.options import Mode, RunOptions
    from agentfootprint.agent.pausing.checkpoint import PauseCheckpoint
    from agentfootprint.agent.pausing.decisions import Decision
    from agentfootprint.agent.pausing.paused import Paused
    from agentfootprint.agent.result import RunResult
    from agentfootprint.agent.shaping.configuring import ConfigureContext, Configured
    from agentfootprint.context import ContextItem, SystemPrompt
    from agentfootprint.explain import Ablation
    from agentfootprint.identity import Identity
    from agentfootprint.llm import LLMProvider
    from agentfootprint.observe import Exporter
    from agentfootprint.tools import Tool
    from agentfootprint.trace import JsonObject, Value

__all__ = ["Agent", "provider_and_model"]

Deps = TypeVar("Deps", default=object)
Out = TypeVar("Out", default=str)


class Agent(Closing, Replaying, Generic[Deps, Out]):
    """A model with instructions, tools and context, whose every run explains itself.

    An agent is a description and never changes; any number of its runs may be in flight, each with a state of its own
    (AGT-20, AGT-21).

    Args:
        model: A provider, or a model string such as `"mock"`.
        provider: The provider, when `model` is the model's id.
        name: For people.
        id: For the trace; without one it is `agent`.
        system: The base prompt.
        tools: `@tool` functions; a plain typed function will do.
        context: Facts, steering, instructions: all of what the model is given beside the conversation.
        output: The type of the answer; without one it is text.
        settings: How the model is asked.
        limits: What a run may spend.
        gates: What a tool call must pass.
        record: What the record keeps; `False` keeps none.
        caching: Whether cache markers are decided.
        mode: `"dynamic"` composes the whole context before every model call, `"classic"` the system prompt and the
            tools in the first iteration only (AGT-36), `"dynamic-grouped"` does as the first with all that leads to a
            reply in one mount of the chart (AGT-37).
        configure: Asked once a run, before its first step, for another model or base prompt (AGT-19).
        observers: Exporters, views and recorders that are attached at once; see `attach`.

    Raises:
        ConfigError: An option can't work; names it and the fix (AGT-2, AGT-3).

    Example:
        >>> from agentfootprint.llm import Mock
        >>> Agent(Mock("Paris."), system="You are terse.").run_sync("What is the capital of France?").output
        'Paris.'
    """

    def __init__(  # noqa: PLR0913  the front door (DEC-19)
        self,
        model: str | LLMProvider,
        *,
        provider: LLMProvider | None = None,
        name: str = "Agent",
        id: str | None = None,
        system: str | SystemPrompt = "",
        tools: Sequence[Tool[..., Any] | Callable[..., Any]] = (),
        context: Sequence[ContextItem | Iterable[ContextItem]] = (),
        output: type[Out] | Output[Out] | None = None,
        settings: ModelSettings | None = None,
        limits: Limits | None = None,
        gates: Gates | None = None,
        record: RecordOptions | bool = True,
        caching: bool = True,
        mode: Mode = "dynamic",
        configure: Callable[[ConfigureContext[Deps]], Configured | None] | None = None,
        observers: Sequence[Exporter | Hooked] = (),
    ) -> None:
        from agentfootprint.agent.plan import AgentPlan  # with the first agent, so that importing the class stays quick

        found, model_id = provider_and_model(model, provider)
        if id is not None and not (isinstance(id, str) and id.strip()):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ConfigError("id", f"The agent's id is {id!r}.", fix="Give a short name, or leave it out.")
        if not isinstance(record, (bool, RecordOptions)):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ConfigError("record", f"record is {record!r}.", fix="Use True, False or RecordOptions(...).")
        if not isinstance(caching, bool):  # pyright: ignore[reportUnnecessaryIsInstance]  as above
            raise ConfigError("caching", f"caching is of the type {type(caching).__name__}.", fix="Use True or False.")
        if output is not None and not isinstance(output, Output):
            output = Output(output)
        self.record = record
        self._given: dict[str, Any] = {
            "name": name,
            "id": id,
            "system": system,
            "output": output,
            "settings": ModelSettings() if settings is None else settings,
            "limits": Limits() if limits is None else limits,
            "gates": Gates() if gates is None else gates,
            "record": record if isinstance(record, RecordOptions) else RecordOptions(),
            "caching": caching,
            "mode": mode,
            "configure": configure,
        }
        self.plan = AgentPlan(provider=found, model=model_id, tools=tools, context=context, **self._given)
        super().__init__()
        self._inflight: set[RunHandle[Any]] = set()
        self.attach_each(observers)
        self.removed: frozenset[str] = frozenset()
        """Pieces that an agent like this one has and this one lost; what they said in a conversation is left out."""

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
        """Whether equal runs give equal answers, by the provider's own word; a proof is then short (STAT-9)."""
        return getattr(self.plan.provider, "deterministic", False) is True

    @property
    def is_free(self) -> bool:
        """Whether asking the model is known to cost nothing (DEC-69)."""
        return getattr(self.plan.provider, "is_free", False) is True

    @property
    def spec(self) -> JsonObject:
        """What the agent is made of, by names and ids: the part of a recording that tells agents apart."""
        return self.plan.header

    @property
    def inflight(self) -> tuple[RunHandle[Out], ...]:
        """The runs that were started and have not ended."""
        return tuple(self._inflight)

    async def run(
        self,
        message: str | JsonObject,
        *,
        deps: Deps | None = None,
        identity: Identity | None = None,
        session_id: str | None = None,
        continue_from: Checkpoint | RunResult[Any] | JsonObject | None = None,
        settings: ModelSettings | None = None,
        limits: Limits | None = None,
        gates: Gates | None = None,
        options: RunOptions | None = None,
    ) -> RunResult[Out]:
        """Answer one message: one turn, remembered by nobody; `conversation()` keeps several together.

        Args:
            message: The text, or `{"message": text}`.
            deps: Your own object, given to tools and rules; never recorded.
            identity: Whose run this is.
            session_id: The hosting session's id.
            continue_from: The conversation that the message goes on with: a result, its checkpoint, or that as it was
                stored. It keeps whom it was with, unless this call names somebody.
            settings: Over the agent's own, for this run.
            limits: Over the agent's own, for this run.
            gates: Over the agent's own, for this run.
            options: Ids and recording of this run.

        Returns:
            The answer with everything that explains it.

        Raises:
            InvalidRunInputError: The message is no text, or empty.
            CheckpointFormatError: `continue_from` is no conversation; names what is at fault.
            ConversationMismatchError: It is a conversation with another agent.
            DeadlineExceededError: It took longer than `limits.deadline`.
            RunCheckpointError: The run failed, such as where the model could not be asked; its `cause` is what went
                wrong, its `checkpoint` what `resume_on_error` goes on from.
        """
        return await self.accept(
            message,
            deps=deps,
            identity=identity,
            session_id=session_id,
            continue_from=continue_from,
            settings=settings,
            limits=limits,
            gates=gates,
            options=options,
        ).execute()

    run_sync = blocking(run)

    async def resume(
        self,
        paused: Paused | PauseCheckpoint | JsonObject,
        answer: Decision | Value = UNSET,
        *,
        deps: Deps | None = None,
        identity: Identity | None = None,
        allow_chart_change: bool = False,
        options: RunOptions | None = None,
    ) -> RunResult[Out]:
        """Answer the question a run waits for, and go on with it: in this process, or in any other.

        The call that asked gets the answer, nothing that ran before runs again, and the turn goes on under a run id
        and with a recording of its own. A refusal leaves the checkpoint as good as it was (AGT-76).

        Args:
            paused: `result.paused`, its checkpoint, or that as it was stored.
            answer: For a check-in or a rule's question `approve(by=...)` or `decline(by=...)`; for `ask_human` any JSON
                value, which becomes the tool's result. `None` is the answer null. Decisions about several questions
                (`Gates(ask_together=True)`) are a list in the order of `paused.questions`, or stand by `question.id`;
                one decision may be given so too.
            deps: Your own object, given to tools and rules again; it was not stored.
            identity: Whose run this is; a run that was paused for somebody stays theirs.
            allow_chart_change: Go on although the agent was built otherwise than the one that paused.
            options: Ids and recording of this run.

        Returns:
            The rest of the turn; it may wait again.

        Raises:
            CheckpointFormatError: It is no checkpoint, or one of another agent.
            DecisionRequiredError: The question needs a decision.
            PauseAnswerRequiredError: No answer was given.
            StaleDecisionError: The answer was chosen on other data than the question showed.
            OpenQuestionsError: Several questions are open, and the answers are not one for each.
            InputRequestError: The reply does not fit the request for values.
        """
        from agentfootprint.agent.loop import AgentRun
        from agentfootprint.agent.pausing.entering import accept_answer

        accepted = accept_answer(self.plan, paused, answer, identity=identity, allow_chart_change=allow_chart_change)
        settings, limits, gates = accepted.live.groups
        run = AgentRun(
            self,
            accepted.message,
            deps=deps,
            identity=accepted.identity,
            session_id=accepted.facts.session_id,
            settings=settings,
            limits=limits,
            gates=gates,
            options=options,
            resumed=accepted,
        )
        return run.still_waits() if accepted.is_partial else await run.execute()

    resume_sync = blocking(resume)

    async def resume_on_error(
        self, checkpoint: Checkpoint | JsonObject, *, deps: Deps | None = None, options: RunOptions | None = None
    ) -> RunResult[Out]:
        """Try the turn of a run that failed once more, from its last whole iteration, here or in another process.

        Nothing is said anew: the model sees the conversation as it stood. Counters and limits begin again. A call that
        ran after the last whole iteration may run again, with the same `ctx.idempotency_key` (AGT-109, AGT-110).

        Args:
            checkpoint: The error's `checkpoint`, or that as it was stored.
            deps: Your own object, given to tools and rules again; it was not stored.
            options: Ids and recording of this run.

        Raises:
            CheckpointFormatError: It is no conversation; names what is at fault.
            ConversationMismatchError: It is a conversation with another agent.
            RunCheckpointError: It failed again.
        """
        from agentfootprint.agent.keeping.continuing import continuation_of

        continued = continuation_of(self.plan, checkpoint, appends=False, removed=self.removed)
        return await self.accept(continued.message, continued=continued, deps=deps, options=options).execute()

    resume_on_error_sync = blocking(resume_on_error)

    def conversation(
        self,
        start: Checkpoint | JsonObject | None = None,
        *,
        identity: Identity | None = None,
        session_id: str | None = None,
        queue: bool = False,
    ) -> Conversation[Deps, Out]:
        """A conversation with this agent: turns that remember each other, one at a time.

        Args:
            start: What it goes on from; without it, from nothing.
            identity: Whom it is with; without it, whom `start` says.
            session_id: The hosting session's id.
            queue: Whether a turn that comes while another goes on waits for it, instead of being refused.

        Raises:
            CheckpointFormatError: `start` is no conversation; names what is at fault.
            ConversationMismatchError: It is a conversation with another agent.
        """
        from agentfootprint.agent.keeping.conversing import Conversation

        return Conversation(self, start, identity=identity, session_id=session_id, queue=queue)

    def stream(
        self,
        message: str | JsonObject,
        *,
        deps: Deps | None = None,
        identity: Identity | None = None,
        session_id: str | None = None,
        continue_from: Checkpoint | RunResult[Any] | JsonObject | None = None,
        settings: ModelSettings | None = None,
        limits: Limits | None = None,
        gates: Gates | None = None,
        options: RunOptions | None = None,
        form: Literal["native", "wire"] = "native",
    ) -> AbstractAsyncContextManager[RunHandle[Out]]:
        """Answer one message, and read what happens while it does.

        Use it as `async with agent.stream(...) as run: async for event in run: ...`; leaving the block stops what
        still runs (DEC-14). The arguments are those of `run`; `form` chooses the events (LIN-19).
        """
        run = self.accept(
            message,
            deps=deps,
            identity=identity,
            session_id=session_id,
            continue_from=continue_from,
            settings=settings,
            limits=limits,
            gates=gates,
            options=options,
        )
        from agentfootprint.agent.handle import RunStream

        return RunStream(lambda: self._begin(run, form))

    def start(
        self,
        message: str | JsonObject,
        *,
        deps: Deps | None = None,
        identity: Identity | None = None,
        session_id: str | None = None,
        options: RunOptions | None = None,
    ) -> RunHandle[Out]:
        """Start a run in the running event loop and go on; the handle waits, reads and cancels."""
        run = self.accept(message, deps=deps, identity=identity, session_id=session_id, options=options)
        return self._begin(run, "native")

    def without(self, specs: Sequence[Ablation | str]) -> Agent[Deps, Out]:
        """The same agent without some of its context or tools: a new description, the original is unchanged.

        Args:
            specs: Ablations, or ids of pieces and names of tools; none for a copy that nobody listens to (nor spills).

        Raises:
            UnknownSourceError: An id names nothing of this agent.
        """
        pieces = list(self._pieces())
        known = explain.sources_of(tools=self.plan.tools, context=[piece.to_injection().id for piece in pieces])
        removals = explain.resolve_ablations(specs, known) if specs else ()
        left = explain.apply_ablations(removals, tools=list(self.plan.tools.values()), context=pieces)
        copy = self._like(left.tools, left.context, {"record": in_memory(self.record)})
        copy.removed = self.removed.union(*(each.ids for each in removals if each.kind == "injection"))
        return copy

    def having(
        self, groups: tuple[ModelSettings, Limits, Gates] | None, configured: Configured | None = None
    ) -> Agent[Deps, Out]:
        """The same agent as one run of it was: a new description, which nobody listens to.

        Args:
            groups: Instead of the agent's own groups of options.
            configured: The model and base prompt, instead of what `configure` says.
        """
        changes: dict[str, Any] = {}
        if groups is not None:
            changes |= zip(("settings", "limits", "gates"), groups, strict=True)
        if configured is not None:
            changes["configure"] = functools.partial(_always, configured)
        copy = self._like(list(self.plan.tools.values()), list(self._pieces()), changes)
        copy.removed = self.removed
        return copy

    def _like(self, tools: Sequence[Any], context: Sequence[Any], groups: Mapping[str, Any]) -> Agent[Deps, Out]:
        given: dict[str, Any] = {**self._given, "record": self.record, **groups}
        gates: Gates = given["gates"]
        if gates.check_in is not None or gates.ask_together:
            from agentfootprint.agent.gating.askers import without_unasked  # only where one is given

            kept = {getattr(piece, "id", None) for piece in context}
            brought = (each for id_, some in self.plan.context.tools.items() if id_ in kept for each in some)
            given["gates"] = without_unasked(gates, [*tools, *brought])
        return Agent[Deps, Out](self.plan.model, provider=self.plan.provider, tools=tools, context=context, **given)

    def _pieces(self) -> Iterable[ContextItem]:
        items = self.plan.context.items
        return items if self.plan.output is None else items[:-1]

    def accept(self, message: str | Mapping[str, Any], *, continue_from: object = None, **given: Value) -> AgentRun:
        """A run that may begin, with the arguments of `run`; all refusals come here, and nothing has happened yet."""
        from agentfootprint.agent.loop import AgentRun  # with the first run

        if continue_from is not None:
            from agentfootprint.agent.keeping.continuing import continuation_of

            given["continued"] = continuation_of(self.plan, continue_from, appends=True, removed=self.removed)
        return AgentRun(self, message, **given)

    def _begin(self, run: AgentRun, form: Literal["native", "wire"]) -> RunHandle[Out]:
        from agentfootprint.agent.handle import RunHandle

        handle: RunHandle[Out] = RunHandle(run, form, self._inflight.discard)
        self._inflight.add(handle)
        return handle

    def __repr__(self) -> str:
        return f"Agent(id={self.id!r}, model={self.plan.model!r})"


def _always(configured: Configured, _: object) -> Configured:
    return configured


def provider_and_model(model: str | LLMProvider, provider: LLMProvider | None) -> tuple[LLMProvider, str]:
    """Who is asked, and for which model.

    Raises:
        ConfigError: Neither is a provider, both are, or the model's id is empty.
    """
    if not isinstance(model, str):
        if provider is not None:
            raise ConfigError(
                "provider", "Both model and provider are providers.", fix="Give one provider, as the first argument."
            )
        if getattr(model, "complete", None) is None or not hasattr(model, "name"):  # as `isinstance`, which is slow
            raise ConfigError(
                "model",
                f"The model is a {type(model).__name__}, which is neither a model string nor a provider.",
                fix='Give a string such as "mock", or an object with a name and an async complete.',
            )
        return model, getattr(model, "default_model", None) or model.name
    if provider is not None:
        if not model.strip():
            raise ConfigError("model", "The model's id is empty.", fix="Give the vendor's id of the model.")
        return provider, model
    found = providers.resolve_provider(model)
    return found, model.partition(":")[2].strip() or getattr(found, "default_model", None) or found.name
