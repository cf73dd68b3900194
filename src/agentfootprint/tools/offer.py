"""Which tools does a model get, from where, and under which names?

A list of tools is read once, where an agent is made: what is no tool, and two tools of one name, are refused there.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast, runtime_checkable

from agentfootprint.tools.declare import Tool, tool_from_function
from agentfootprint.tools.errors import ToolDefinitionError

if TYPE_CHECKING:
    from agentfootprint.identity import Identity
    from agentfootprint.llm import ToolSchema

__all__ = [
    "ToolLike",
    "ToolListContext",
    "ToolProvider",
    "assert_valid_tool_name",
    "collect_tools",
    "static_tools",
    "tool_schema",
]

AnyTool: TypeAlias = Tool[..., Any]

_LONGEST_NAME: Final = 64
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolListContext:
    """What a source of tools may go by."""

    iteration: int
    """From 1."""
    identity: Identity | None = None
    """Only when the caller gave one."""


@runtime_checkable
class ToolProvider(Protocol):
    """A source of tools, asked once an iteration (PRV-1). An `id` is optional.

    A provider that raises ends the run: an empty list would disarm the agent without a word (PRV-2).
    """

    def list(self, ctx: ToolListContext) -> Sequence[AnyTool] | Awaitable[Sequence[AnyTool]]:
        """The tools of this iteration."""
        ...


ToolLike: TypeAlias = AnyTool | ToolProvider | Callable[..., Any]
"""What may stand in `tools=[...]`: a tool, a source of tools, or a function as `@tool` takes it."""


class _StaticTools:
    id: Final = "static"

    def __init__(self, tools: tuple[AnyTool, ...]) -> None:
        self._tools = tools

    def list(self, ctx: ToolListContext) -> tuple[AnyTool, ...]:  # noqa: ARG002  the same in every iteration
        return self._tools


def static_tools(tools: Sequence[ToolLike]) -> ToolProvider:
    """A source that always offers the same tools.

    Args:
        tools: Tools or functions; later changes to the list change nothing here.

    Raises:
        ToolDefinitionError: An element is no tool, or two have one name.
    """
    own, providers = collect_tools(tools)
    if providers:
        raise ToolDefinitionError(
            "static_tools",
            "static_tools() was given a source of tools.",
            fix="Pass the source itself where it is used.",
        )
    return _StaticTools(own)


def collect_tools(items: Iterable[ToolLike]) -> tuple[tuple[AnyTool, ...], tuple[ToolProvider, ...]]:
    """Sort what stands in `tools=[...]`.

    Returns:
        The tools, in order, and the sources of tools, in order.

    Raises:
        ToolDefinitionError: An element is no tool, a function can't be made one, or two tools have one name (TOL-17).
    """
    tools: list[AnyTool] = []
    providers: list[ToolProvider] = []
    for i, item in enumerate(cast("Iterable[object]", items)):  # whoever calls may be wrong about it
        if isinstance(item, Tool):
            tools.append(cast("AnyTool", item))
        elif isinstance(item, ToolProvider) and not isinstance(item, type):
            providers.append(item)
        elif callable(item) and not isinstance(item, type):
            tools.append(tool_from_function(item, names={}))
        else:
            kind = item.__name__ if isinstance(item, type) else type(item).__name__
            raise ToolDefinitionError(
                f"[{i}]", f"tools[{i}] is no tool ({kind}).", fix="Put @tool over a function and pass that."
            )
    _refuse_duplicates(tools)
    return tuple(tools), tuple(providers)


def _refuse_duplicates(tools: Iterable[AnyTool]) -> None:
    seen: set[str] = set()
    for tool in tools:
        if tool.name in seen:
            raise ToolDefinitionError(
                tool.name, f"duplicate tool name {tool.name!r}.", fix='Rename one of the two: @tool(name="...").'
            )
        seen.add(tool.name)


def tool_schema(tool: AnyTool) -> ToolSchema:
    """What the model sees of a tool: name, description and schema, and nothing else (TOL-1)."""
    from agentfootprint.llm import ToolSchema

    return ToolSchema(tool.name, tool.description, tool.input_schema)


def assert_valid_tool_name(name: object) -> None:
    """Refuse a name that some vendors don't take (TOL-5): 1 to 64 of A-Z, a-z, 0-9, `_` and `-`.

    A tool may have another name, for models that take it.

    Raises:
        ToolDefinitionError: The name is no text, empty, too long, or has other characters.
    """
    problem = None
    if not isinstance(name, str):
        problem = f"A tool name is a {type(name).__name__}, not a text."
    elif not name:
        problem = "A tool name is empty."
    elif len(name) > _LONGEST_NAME:
        problem = f"The tool name {name[:_LONGEST_NAME]!r}... has {len(name)} characters."
    elif _NAME.fullmatch(name) is None:
        problem = f"The tool name {name!r} has characters that some vendors refuse."
    if problem is not None:
        raise ToolDefinitionError(str(name), problem, fix="Use 1 to 64 of A-Z, a-z, 0-9, _ and -.")
