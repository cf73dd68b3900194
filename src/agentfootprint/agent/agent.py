"""The agent: an immutable description, run any number of times at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Generic, Literal

from typing_extensions import TypeVar

from agentfootprint import events, explain, llm, providers
from agentfootprint._blocking import blocking
from agentfootprint.agent.options import Gates, Limits, ModelSettings, Output, RecordOptions
from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from agentfootprint.agent.handle import RunHandle
    from agentfootprint.agent.loop import AgentRun
    from agentfootprint.agent.options import RunOptions
    from agentfootprint.agent.result import RunResult
    from agentfootprint.context import ContextItem, SystemPrompt
    from agentfootprint.events import Event, Subscription
    from agentfootprint.explain import Ablation
    from agentfootprint.identity import Identity
    from agentfootprint.llm import LLMProvider
    from agentfootprint.tools import Tool
    from agentfootprint.trace import JsonObject, Value

__all__ = ["Agent"]

Deps = TypeVar("Deps", default=object)
Out = TypeVar("Out", default=str)


class Agent(Generic[Deps, Out]):
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
    ) -> None:
        from agentfootprint.agent.plan import AgentPlan  # with the first agent, so that importing the class stays quick

        found, model_id = _provider_and_model(model, provider)
        if id is not None and not (isinstance(id, str) and id.strip()):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ConfigError("id", f"The agent's id is {id!r}.", fix="Give a short name, or leave it out.")
        if not isinstance(record, (bool, RecordOptions)):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ConfigError("record", f"record is {record!r}.", fix="Use True, False or RecordOptions(...).")
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
        }
        self.plan = AgentPlan(provider=found, model=model_id, tools=tools, context=context, **self._given)
        self.bus = events.EventBus()
        self.wire_bus = events.EventBus()
        self._inflight: set[RunHandle[Any]] = set()

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
        settings: ModelSettings | None = None,
        limits: Limits | None = None,
        gates: Gates | None = None,
        options: RunOptions | None = None,
    ) -> RunResult[Out]:
        """Answer one message: one turn, remembered by nobody.

        Args:
            message: The text, or `{"message": text}`.
            deps: Your own object, given to tools and rules; never recorded.
            identity: Whose run this is.
            session_id: The hosting session's id.
            settings: Over the agent's own, for this run.
            limits: Over the agent's own, for this run.
            gates: Over the agent's own, for this run.
            options: Ids and recording of this run.

        Returns:
            The answer with everything that explains it.

        Raises:
            InvalidRunInputError: The message is no text, or empty.
            DeadlineExceededError: It took longer than `limits.deadline`.
            ProviderError: The model could not be asked.
        """
        return await self._accept(
            message,
            deps=deps,
            identity=identity,
            session_id=session_id,
            settings=settings,
            limits=limits,
            gates=gates,
            options=options,
        ).execute()

    run_sync = blocking(run)

    def stream(
        self,
        message: str | JsonObject,
        *,
        deps: Deps | None = None,
        identity: Identity | None = None,
        session_id: str | None = None,
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
        run = self._accept(
            message,
            deps=deps,
            identity=identity,
            session_id=session_id,
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
        run = self._accept(
            message,
            deps=deps,
            identity=identity,
            session_id=session_id,
            settings=None,
            limits=None,
            gates=None,
            options=options,
        )
        return self._begin(run, "native")

    def on(
        self,
        pattern: str,
        listener: Callable[[Event[Any]], object],
        *,
        once: bool = False,
        form: Literal["native", "wire"] = "native",
    ) -> Subscription:
        """Listen to the events of all runs of this agent.

        Args:
            pattern: An event type, `agentfootprint.<domain>.*`, or `*`.
            listener: Called at once with each event; one that raises is counted and logged, and changes nothing.
            once: Only for the first event.
            form: `"native"`: what is new. `"wire"`: also what every iteration carries over (LIN-19).

        Returns:
            Close it, or use it as a context manager, to stop listening.

        Raises:
            ConfigError: The type is written as one of the library's, which has none of this name.
            EventPatternError: Nothing can match the pattern.
        """
        _check_event_type(pattern)
        bus = self.bus if form == "native" else self.wire_bus
        return bus.on(pattern, listener, once=once)

    def without(self, specs: Sequence[Ablation | str]) -> Agent[Deps, Out]:
        """The same agent without some of its context or tools: a new description, the original is unchanged.

        Args:
            specs: Ablations, or ids of pieces and names of tools; none for a copy that nobody listens to.

        Raises:
            UnknownSourceError: An id names nothing of this agent.
        """
        pieces = list(self._pieces())
        known = explain.sources_of(tools=self.plan.tools, context=[piece.to_injection().id for piece in pieces])
        removals = explain.resolve_ablations(specs, known) if specs else ()
        left = explain.apply_ablations(removals, tools=list(self.plan.tools.values()), context=pieces)
        return self._like(left.tools, left.context, {})

    def having(self, *, settings: ModelSettings, limits: Limits, gates: Gates) -> Agent[Deps, Out]:
        """The same agent with other groups of options: a new description, which nobody listens to.

        Args:
            settings: Instead of the agent's own.
            limits: Instead of the agent's own.
            gates: Instead of the agent's own.
        """
        groups = {"settings": settings, "limits": limits, "gates": gates}
        return self._like(list(self.plan.tools.values()), list(self._pieces()), groups)

    def _like(self, tools: Sequence[Any], context: Sequence[Any], groups: Mapping[str, Any]) -> Agent[Deps, Out]:
        given: dict[str, Any] = {**self._given, "record": self.record, **groups}
        return Agent[Deps, Out](self.plan.model, provider=self.plan.provider, tools=tools, context=context, **given)

    def _pieces(self) -> Iterable[ContextItem]:
        items = self.plan.context.items
        return items if self.plan.output is None else items[:-1]

    def _accept(self, message: str | Mapping[str, Any], **given: Value) -> AgentRun:
        from agentfootprint.agent.loop import AgentRun  # with the first run

        return AgentRun(self, message, **given)

    def _begin(self, run: AgentRun, form: Literal["native", "wire"]) -> RunHandle[Out]:
        from agentfootprint.agent.handle import RunHandle

        handle: RunHandle[Out] = RunHandle(run, form, self._inflight.discard)
        self._inflight.add(handle)
        return handle

    def __repr__(self) -> str:
        return f"Agent(id={self.id!r}, model={self.plan.model!r})"


def _check_event_type(pattern: str) -> None:
    if "*" in pattern or not pattern.startswith("agentfootprint.") or pattern in events.EVENT_TYPES:
        return
    import difflib  # for the refusal only

    prefix = "agentfootprint."
    known = [each.removeprefix(prefix) for each in events.EVENT_TYPES]
    near = difflib.get_close_matches(pattern.removeprefix(prefix), known, n=1)
    raise ConfigError(
        "on",
        f"There is no event type {pattern!r}.",
        fix=f"Did you mean {prefix + near[0]!r}?"
        if near
        else "Listen to '*' once to see the types, or read EVENT_TYPES.",
    )


def _provider_and_model(model: str | LLMProvider, provider: LLMProvider | None) -> tuple[LLMProvider, str]:
    if not isinstance(model, str):
        if provider is not None:
            raise ConfigError(
                "provider", "Both model and provider are providers.", fix="Give one provider, as the first argument."
            )
        if not isinstance(model, llm.LLMProvider):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
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
