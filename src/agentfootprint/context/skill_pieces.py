"""What is a skill made of, and is its declaration sound?

Declarations only: a body and tools that the model may ask for, steps over those tools, and what it makes and needs. An
agent does not mount skills yet and refuses them (`ContextPlan`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Literal

from agentfootprint.context.errors import ContextDefinitionError
from agentfootprint.context.injections import CachePolicy, Content, ContextItem, Injection
from agentfootprint.context.triggers import OnReadSkill
from agentfootprint.tools import Tool, collect_tools

__all__ = ["Skill", "SkillInjection", "SkillOptions", "SkillStep"]

_NO_STEPS: Final[tuple[SkillStep, ...]] = ()


@dataclass(frozen=True, slots=True)
class SkillStep:
    """One step of a skill: a tool of it, and what to do with it.

    Args:
        tool: The tool, or its name.
        note: What to do in this step.
        produces: What it makes.
        consumes: What it needs.
    """

    tool: Tool[..., Any] | Callable[..., Any] | str
    note: str
    _: KW_ONLY
    produces: Sequence[str] = ()
    consumes: Sequence[str] = ()

    @property
    def tool_name(self) -> str:
        """The name of its tool."""
        if isinstance(self.tool, str):
            return self.tool
        return str(getattr(self.tool, "name" if isinstance(self.tool, Tool) else "__name__", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillOptions:
    """The rarer choices about a skill.

    Args:
        on_skip: Where a step that was skipped leaves the pointer; only with steps.
        produces: What the skill makes.
        consumes: What it needs.
    """

    on_skip: Literal["advance", "hold"] | None = None
    produces: Sequence[str] | None = None
    consumes: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class SkillInjection(Injection):
    """A skill as an injection, with what only skills have."""

    surface_mode: str | None = "auto"  # pyright: ignore[reportIncompatibleVariableOverride]  a constant of other pieces
    auto_activate: str | None = None  # pyright: ignore[reportIncompatibleVariableOverride]  a constant of other pieces
    steps: tuple[SkillStep, ...] = ()
    on_skip: str | None = None
    produces: tuple[str, ...] = ()
    consumes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skill(ContextItem):
    """A body and tools that the model may ask for.

    Args:
        id: Unique in the agent's context.
        description: What the model reads in the menu.
        body: What it reads once it has asked.
        tools: What it may do then.
        steps: The order of those tools, with a note for each.
        surface: Where the body is shown.
        scope_tools: Whether the tools are offered while the skill is in only.
        cache: Default `"while-active"`.
        options: Everything rarer.

    Raises:
        ContextDefinitionError: Empty id, description or body; a list that is given and empty; a step over a tool that
            is none of the skill's; a choice about steps without steps.
        ToolDefinitionError: One of the tools is none, or two have one name.
    """

    id: str
    description: str
    _: KW_ONLY
    body: str
    tools: Sequence[Tool[..., Any] | Callable[..., Any]] = ()
    steps: Sequence[SkillStep] = _NO_STEPS
    surface: Literal["auto", "both", "tool-only", "system-prompt"] = "auto"
    scope_tools: bool | None = None
    cache: CachePolicy | None = None
    options: SkillOptions | None = None

    def __post_init__(self) -> None:
        """Fail where the mistake is written (CTX-2)."""
        for field, text in (("description", self.description), ("body", self.body)):
            if not text.strip():
                raise self._refusal(field, f"has no {field}", f"Give it a {field}.")
        if self.surface not in ("auto", "both", "tool-only", "system-prompt"):
            raise self._refusal(
                "surface",
                f"has the surface {self.surface!r}",
                'Use "auto", "both", "tool-only" or "system-prompt".',
            )
        self._check_steps()
        options = self.options or SkillOptions()
        for field in ("produces", "consumes"):
            named: Sequence[str] | None = getattr(options, field)
            if named is not None and not named:
                raise self._refusal(field, f"has an empty list {field}", f"Name something, or leave {field} out.")
        self.to_injection()

    def _refusal(self, field: str, problem: str, fix: str) -> ContextDefinitionError:
        return ContextDefinitionError(self.id, field, f"The skill {self.id!r} {problem}.", fix=fix)

    def _check_steps(self) -> None:
        if not self.steps:
            if self.steps is not _NO_STEPS:
                raise self._refusal("steps", "has an empty list of steps", "Declare a step, or leave steps out.")
            if self.options is not None and self.options.on_skip is not None:
                raise self._refusal("on_skip", "says what a skipped step does and has no steps", "Leave on_skip out.")
            return
        names = {tool.name for tool in collect_tools(self.tools)[0]}
        for step in self.steps:
            if step.tool_name not in names:
                raise self._refusal(
                    "steps",
                    f"has a step over {step.tool_name!r}, which is none of its tools",
                    f"Use one of: {', '.join(sorted(names))}." if names else "Give the skill that tool.",
                )
            if not step.note.strip():
                raise self._refusal("steps", f"has a step over {step.tool_name!r} without a note", "Say what to do.")

    def to_injection(self) -> Injection:
        """The skill as an injection of flavor `skill`."""
        options = self.options or SkillOptions()
        return SkillInjection(
            self.id,
            trigger=OnReadSkill(),
            inject=Content(system_prompt=self.body, tools=self.tools),
            flavor="skill",
            description=self.description,
            cache=self.cache or "while-active",
            surface_mode=self.surface,
            auto_activate="currentSkill" if self.scope_tools else None,
            steps=tuple(self.steps),
            on_skip=(options.on_skip or "advance") if self.steps else None,
            produces=tuple(options.produces or ()),
            consumes=tuple(options.consumes or ()),
        )
