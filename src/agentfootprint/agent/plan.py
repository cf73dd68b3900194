"""An agent made ready to run: everything that follows from its description alone, worked out once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from agentfootprint.agent.chart import agent_chart
from agentfootprint.agent.options import Gates, Limits, ModelSettings, check_group
from agentfootprint.agent.output import OutputContract
from agentfootprint.context import ContextPlan, SystemPrompt, slot_totals, tool_rows
from agentfootprint.errors import ConfigError
from agentfootprint.events import OfferedTool
from agentfootprint.llm import find_thinking_handler
from agentfootprint.tools import collect_tools, tool_schema
from agentfootprint.trace import FrozenList, compact_json, freeze, thaw

if TYPE_CHECKING:
    from agentfootprint.agent.options import Output, RecordOptions
    from agentfootprint.flow import Flow
    from agentfootprint.llm import LLMProvider
    from agentfootprint.tools import Tool

__all__ = ["AgentPlan"]


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


class AgentPlan:
    """The compiled form of one agent; immutable, shared by all its runs."""

    def __init__(  # noqa: PLR0913  built by Agent only
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
    ) -> None:
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
        self.provider = provider
        self.model = model
        self.settings = settings
        self.limits = limits
        self.gates = gates
        self.record = record
        self.caching = caching
        own, sources = collect_tools(tools)
        if sources:
            raise ConfigError(
                "tools",
                "A source of tools stands in tools=[...]; this version takes tools and functions only.",
                fix="Pass the tools themselves.",
            )
        self.tools: dict[str, Tool[..., Any]] = {each.name: each for each in own}
        self.output = None if output is None or output.type is str else OutputContract(output.type, output.retries)
        pieces = [*context] if self.output is None else [*context, self.output.injection()]
        self.context = ContextPlan(system, pieces, caching=caching)
        _refuse_shared_ids(self.tools, self.context)
        schemas = [tool_schema(each) for each in self.tools.values()]
        self.tool_schemas: FrozenList = freeze(schemas)
        self.tool_rows: FrozenList = tool_rows(schemas)
        self.tool_totals = slot_totals(tuple(self.tool_rows))
        self.offered = tuple(OfferedTool(name=s.name, description=s.description or None) for s in schemas)
        handler = getattr(provider, "thinking_handler", None) or find_thinking_handler(provider.name)
        self.thinking = handler
        self.wraps_up = bool(self.tools) and limits.wrap_up
        self.flow: Flow = agent_chart(
            thinking=None if handler is None else handler.id,
            retries_output=self.output is not None and self.output.retries > 0,
            wraps_up=self.wraps_up,
        )
        self.composition_path = (f"Agent:{self.id}",)
        self.header = self._describe()

    def _describe(self) -> dict[str, Any]:
        """What a recording says about the agent that made it: names and ids, and a digest of the rest."""
        parts = {
            "system": self.context.base.text,
            "tools": [thaw(schema) for schema in self.tool_schemas],
            "context": [
                {"id": piece.id, "flavor": piece.flavor, "text": piece.inject.system_prompt}
                for piece in self.context.pieces
            ],
            "model": self.model,
        }
        return {
            "id": self.id,
            "name": self.name,
            "provider": self.provider.name,
            "model": self.model,
            "tools": list(self.tools),
            "context": [
                {"id": piece.id, "flavor": piece.flavor, "trigger": piece.trigger.kind} for piece in self.context.pieces
            ],
            "fingerprint": hashlib.sha256(compact_json(freeze(parts)).encode()).hexdigest()[:16],
        }
