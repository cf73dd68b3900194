"""What of an active piece enters state, slots and recordings: plain data, never a function (INJ-9).

Whatever the caching policy needs crosses too; without it every policy would read as "never".
"""

from __future__ import annotations

from typing import Any

from agentfootprint.context.errors import ContextDefinitionError
from agentfootprint.context.injections import Injection, Until
from agentfootprint.context.templates import render
from agentfootprint.llm import LLMMessage, ToolSchema
from agentfootprint.tools import Tool, collect_tools, tool_schema
from agentfootprint.trace import Record

__all__ = ["ActiveInjection", "InjectedContent", "InjectedTool", "piece_text", "piece_tools", "project", "reason_of"]


class InjectedTool(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """A tool that a piece brings, as the model sees it; its function is found by name."""

    schema: ToolSchema
    injection_id: str


class InjectedContent(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """What an active piece puts into the slots."""

    system_prompt: str | None = None
    messages: tuple[LLMMessage, ...] = ()
    tools: tuple[InjectedTool, ...] = ()


class ActiveInjection(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """The projection of a piece that is in: all of it that enters state and recording (INJ-9)."""

    id: str
    flavor: str
    inject: InjectedContent
    description: str | None = None
    surface_mode: str | None = None
    auto_activate: str | None = None
    cache: str | None = None


def piece_text(piece: Injection, *, iteration: int, max_iterations: int | None) -> str | None:
    """The text of a piece in the system prompt in this pass; `None` without one, or when a fact is missing."""
    text = piece.inject.system_prompt
    if not text:
        return None
    return render(text, iteration=iteration, max_iterations=max_iterations) if piece.templated else text


def piece_tools(piece: Injection) -> tuple[Tool[..., Any], ...]:
    """The tools a piece brings, plain functions made tools.

    Raises:
        ToolDefinitionError: One of them is no tool.
        ContextDefinitionError: One of them is a source of tools.
    """
    tools, sources = collect_tools(piece.inject.tools)
    if sources:
        raise ContextDefinitionError(
            piece.id,
            "tools",
            f"A source of tools stands among the tools of {piece.id!r}.",
            fix="Give the tools themselves.",
        )
    return tools


def project(piece: Injection, text: str | None, tools: tuple[Tool[..., Any], ...] = ()) -> ActiveInjection:
    """A piece as the state keeps it.

    Args:
        piece: The piece.
        text: Its text in the system prompt, filled in.
        tools: Its tools.
    """
    return ActiveInjection(
        piece.id,
        piece.flavor,
        InjectedContent(
            text,
            tuple(LLMMessage(message.role, message.content) for message in piece.inject.messages),
            tuple(InjectedTool(tool_schema(each), piece.id) for each in tools),
        ),
        description=piece.description,
        surface_mode=piece.surface_mode,
        auto_activate=piece.auto_activate,
        cache="until" if isinstance(piece.cache, Until) else piece.cache,
    )


def reason_of(piece: Injection) -> str:
    """Why a piece stands where it stands, for its rows (SLOT-11b)."""
    return piece.description or f"{piece.flavor} '{piece.id}' active"
