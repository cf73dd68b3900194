"""An agent made ready to run: everything that follows from its description alone, worked out once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from agentfootprint.agent.chart import agent_chart
from agentfootprint.agent.composing.describing import Description
from agentfootprint.agent.composing.offering import ToolOffer, refuse_name_clashes
from agentfootprint.agent.options import Gates, Limits, ModelSettings, check_group
from agentfootprint.agent.output import OutputContract
from agentfootprint.context import ContextPlan, SystemPrompt
from agentfootprint.errors import ConfigError
from agentfootprint.llm import find_thinking_handler
from agentfootprint.tools import collect_tools

if TYPE_CHECKING:
    from agentfootprint.agent.options import Mode, Output, RecordOptions
    from agentfootprint.agent.shaping.configuring import ConfigureContext
    from agentfootprint.agent.spending.charging import Purse
    from agentfootprint.context import Injection, Pass
    from agentfootprint.flow import Flow
    from agentfootprint.llm import LLMProvider
    from agentfootprint.tools import Tool
    from agentfootprint.trace import FrozenList, JsonObject

__all__ = ["AgentPlan"]

_MOST_OFFERS: Final = 64


def _check_list(option: str, given: object) -> None:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise ConfigError(option, f"{option} is a {type(given).__name__}.", fix=f"Write {option}=[...].")


def _refuse_shared_ids(tools: Iterable[str], context: ContextPlan) -> None:
    """A tool and a piece of context are asked for by one name: to leave one out, to prove it, to follow it."""
    kinds = {piece.id: piece.flavor for piece in context.pieces}
    for name in tools:
        if name in kinds:
            raise ConfigError(
                "context",
                f"The {kinds[name]} {name!r} in the context and the tool {name!r} have one name.",
                fix='Give one of the two another: Fact("...", ...), or @tool(name="...").',
            )


def _refuse_tools_beside_forced(tools: Iterable[str]) -> None:
    """Every reply is forced onto one tool, so no other could ever be asked for (AGT-3)."""
    names = sorted(tools)
    if not names:
        return
    shown = ", ".join(map(repr, names))
    raise ConfigError(
        "output.strategy",
        f'With strategy="tool-forced" every reply is one forced call, so these tools could never run: {shown}.',
        fix='Leave the tools out, or use strategy="instruct" with retries.',
    )


class AgentPlan:
    """The compiled form of one agent; immutable, shared by all its runs."""

    def __init__(  # noqa: PLR0913, PLR0915  built by Agent only; a line for each fact
        self,
        *,
        name: str,
        id: str | None,
        provider: LLMProvider,
        model: str,
        system: str | SystemPrompt,
        tools: Sequence[Tool[..., Any] | Callable[..., Any]],
        context: Sequence[object],
        output: Output[Any] | None,
        settings: ModelSettings,
        limits: Limits,
        gates: Gates,
        record: RecordOptions,
        caching: bool,
        mode: Mode = "dynamic",
        configure: Callable[[ConfigureContext[Any]], object] | None = None,
        is_single_call: bool = False,
    ) -> None:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ConfigError("name", f"The name is of the type {type(name).__name__}.", fix="Give a text, for people.")
        system = SystemPrompt(system) if isinstance(system, str) else system
        check_group("settings", settings, ModelSettings)
        check_group("limits", limits, Limits)
        check_group("gates", gates, Gates)
        check_group("system", system, SystemPrompt)
        _check_list("tools", tools)
        _check_list("context", context)
        self.name = name
        self.chosen_id = id
        self.id = "agent" if id is None else id
        self.is_single_call = is_single_call
        """Whether it is one model call, without a loop, instead of an agent."""
        self.provider = provider
        self.model = model
        self.settings = settings
        self.limits = limits
        self.gates = gates
        self.record = record
        self.caching = caching
        if mode not in ("dynamic", "classic", "dynamic-grouped"):
            raise ConfigError("mode", f"mode is {mode!r}.", fix='Use "dynamic", "classic" or "dynamic-grouped".')
        self.mode: Mode = mode
        if configure is not None:
            from agentfootprint.agent.shaping.configuring import check_configure  # only where there is one

            check_configure(configure)
        self.configure = configure
        own, sources = collect_tools(tools)
        if sources:
            raise ConfigError(
                "tools",
                "A source of tools stands in tools=[...]; this version takes tools and functions only.",
                fix="Pass the tools themselves.",
            )
        self.tools: dict[str, Tool[..., Any]] = {each.name: each for each in own}
        self.output = None if output is None or output.type is str else OutputContract(output)
        pieces = [*context] if self.output is None else [*context, self.output.injection()]
        self.context = ContextPlan(system, pieces, caching=caching)
        refuse_name_clashes(self.tools, self.context.tools)
        self.offer = ToolOffer(self.tools)
        """What a model is offered while no piece brings tools."""
        self.every_offer = self._offer_of(self.context.pieces)
        """What it would be offered were all pieces in: how a tool is found by name before a pass was composed."""
        self._offers: dict[tuple[str, ...], ToolOffer] = {}
        _refuse_shared_ids(self.every_offer.by_name, self.context)
        self.forced = None if self.output is None else self.output.forced
        """The tool that every answer is forced into, if there is one."""
        if self.forced is not None:
            _refuse_tools_beside_forced(self.every_offer.by_name)
        self.purse = self.purse_of(limits)
        if gates.check_in is not None or gates.ask_together:
            from agentfootprint.agent.gating.askers import refuse_unasked  # only where one is given

            refuse_unasked(gates, self.every_offer.by_name.values(), gates.written)
        self.tool_schemas: FrozenList = self.offer.schemas
        self.told_pressure: set[str] = set()
        """Slots whose budget the log was told of; once an agent, not once a run."""
        handler = getattr(provider, "thinking_handler", None) or find_thinking_handler(provider.name)
        self.thinking = handler
        self.wraps_up = bool(self.every_offer.by_name) and limits.wrap_up
        self.flow = self._chart(None if handler is None else handler.id)
        self.composition_path = (f"{'LLMCall' if is_single_call else 'Agent'}:{self.id}",)
        self.described = Description(self)
        """What tells the agent apart from others."""

    def _chart(self, thinking: str | None) -> Flow:
        has_tiers = self.output is not None and self.output.has_tiers
        if self.is_single_call:
            from agentfootprint.agent.calling.once import call_chart  # with the first single call

            return call_chart(thinking=thinking, has_tiers=has_tiers)
        return agent_chart(
            thinking=thinking,
            retries_output=self.output is not None and self.output.retries > 0,
            wraps_up=self.wraps_up,
            delivers=self.context.delivers,
            has_tiers=has_tiers,
            groups=self.mode == "dynamic-grouped",
        )

    @property
    def header(self) -> JsonObject:
        """What a recording says about the agent that made it: names and ids, and a digest of the rest."""
        return self.described.header

    def purse_of(self, limits: Limits, model: str | None = None) -> Purse | None:
        """By what the calls of a run with these limits are priced; `None` when they are not.

        Args:
            limits: What the run may spend.
            model: The model of the run, when it is not the agent's.

        Raises:
            ConfigError: There is a budget without prices, or it halts where nothing can.
            UnknownPriceError: The prices do not hold the agent's model.
        """
        if limits.cost is None and limits.pricing is None:
            return None
        from agentfootprint.agent.spending.charging import purse_of  # only where prices are given

        return purse_of(limits, self.provider, model or self.model, can_halt=not self.is_single_call)

    def _offer_of(self, pieces: Iterable[Injection]) -> ToolOffer:
        tools = self.context.tools
        bringing = [(piece, tools[piece.id]) for piece in pieces if piece.id in tools]
        return ToolOffer(self.tools, bringing) if bringing else self.offer

    def offer_in(self, now: Pass) -> ToolOffer:
        """What a model is offered in a pass; the same object for the same pieces (LIN-7)."""
        if not now.tools:
            return self.offer
        key = tuple(piece.id for piece, _ in now.tools)
        known = self._offers.get(key)
        if known is None:
            known = self._offer_of(piece for piece, _ in now.tools)
            if len(self._offers) < _MOST_OFFERS:
                self._offers[key] = known
        return known
