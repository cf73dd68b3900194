"""What a user can put into `context=[...]`: data, rules and raw injections.

Pieces are frozen and checked where they are written. Every piece is one `Injection`: when, what, and how it may be
cached.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, TypeAlias, cast

from agentfootprint.context.errors import ContextDefinitionError
from agentfootprint.context.triggers import Always, OnToolReturn, Predicate, Trigger, When, check_predicate

__all__ = [
    "CachePolicy",
    "Content",
    "ContextItem",
    "Fact",
    "Injection",
    "Instruction",
    "Steering",
    "SystemPrompt",
    "Until",
]


@dataclass(frozen=True, slots=True)
class Until:
    """Cacheable while the predicate is false (CACHE-1)."""

    predicate: Predicate


CachePolicy: TypeAlias = Literal["always", "never", "while-active"] | Until
"""Whether a piece may stand in the cached prefix of a request."""

_FACTS = ("action", "actionBudget", "actionsRemaining")
_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z0-9_]+)\s*\}\}")


class ContextItem(ABC):
    """Anything that can stand in `context=[...]`."""

    @abstractmethod
    def to_injection(self) -> Injection:
        """The one shape that every piece has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a piece puts into the model's context."""

    system_prompt: str | None = None


@dataclass(frozen=True, slots=True)
class Injection(ContextItem):
    """A piece of context of any kind: when (`trigger`), what (`inject`), and how it may be cached."""

    id: str
    _: KW_ONLY
    trigger: Trigger
    inject: Content
    flavor: str = "custom"
    description: str | None = None
    cache: CachePolicy = "never"
    templated: ClassVar[bool] = False
    """Whether the text holds `{{action}}`-like placeholders, filled anew in each pass."""

    def __post_init__(self) -> None:
        """Check what every piece must have (INJ-1, CTX-4)."""
        if not self.id.strip():
            raise ContextDefinitionError(
                self.id, "id", "A piece of context has an empty id.", fix="Give it a short unique name."
            )
        if self.inject.system_prompt is not None and not self.inject.system_prompt.strip():
            raise ContextDefinitionError(
                self.id, "text", f"The piece {self.id!r} has no text.", fix="Give it text, or leave the piece out."
            )
        if isinstance(self.trigger, When):
            check_predicate(self.id, self.trigger.predicate)
        if isinstance(self.cache, Until):
            check_predicate(self.id, self.cache.predicate)

    def to_injection(self) -> Injection:
        """The piece itself."""
        return self


class _Template(Injection):
    """An injection whose text is a template (04 s.3)."""

    __slots__ = ()
    templated: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Fact(ContextItem):
    """Data the model should know, in the system prompt.

    Args:
        id: Unique in the agent's context; how the trace, ablation and custody name it.
        text: The fact, word for word as the model reads it.
        when: A rule that lets it in; without one it is always in.
        cache: Default `"always"`.

    Raises:
        ContextDefinitionError: Empty id or text, or an async rule.
    """

    id: str
    text: str
    _: KW_ONLY
    when: Predicate | None = None
    cache: CachePolicy | None = None

    def __post_init__(self) -> None:
        """Fail where the mistake is written (CTX-2)."""
        self.to_injection()

    def to_injection(self) -> Injection:
        """The fact as an injection of flavor `fact`."""
        return Injection(
            self.id,
            trigger=Always() if self.when is None else When(self.when),
            inject=Content(system_prompt=self.text),
            flavor="fact",
            cache=self.cache or "always",
        )


@dataclass(frozen=True, slots=True)
class Steering(ContextItem):
    """A rule that always holds, in the system prompt.

    Args:
        id: Unique in the agent's context.
        text: The rule, word for word as the model reads it.
        cache: Default `"always"`.

    Raises:
        ContextDefinitionError: Empty id or text.
    """

    id: str
    text: str
    _: KW_ONLY
    cache: CachePolicy | None = None

    def __post_init__(self) -> None:
        """Fail where the mistake is written (CTX-2)."""
        self.to_injection()

    def to_injection(self) -> Injection:
        """The rule as an injection of flavor `steering`."""
        return Injection(
            self.id,
            trigger=Always(),
            inject=Content(system_prompt=self.text),
            flavor="steering",
            cache=self.cache or "always",
        )


@dataclass(frozen=True, slots=True)
class Instruction(ContextItem):
    """A rule that holds while a condition does, in the system prompt.

    Args:
        id: Unique in the agent's context.
        text: The instruction; or `template`, exactly one of the two (INJ-3).
        template: Text with `{{action}}`, `{{actionBudget}}` or `{{actionsRemaining}}`, filled in each pass (04 s.3).
        when: A rule on the turn.
        on_tool_return: In after a batch in which this tool returned (a pattern is searched in the name).
        cache: Default `"never"`; a template must not be cached (TPL-4).

    Raises:
        ContextDefinitionError: Neither or both of text and template, two conditions, an unknown placeholder, an async
            rule, or a cached template.
    """

    id: str
    text: str | None = None
    _: KW_ONLY
    template: str | None = None
    when: Predicate | None = None
    on_tool_return: str | re.Pattern[str] | None = None
    cache: CachePolicy | None = None

    def __post_init__(self) -> None:
        """Fail where the mistake is written (CTX-2)."""
        if (self.text is None) == (self.template is None):
            raise ContextDefinitionError(
                self.id,
                "text",
                f"The instruction {self.id!r} needs exactly one of text and template.",
                fix="Give the text, or template= with {{action}}-like placeholders.",
            )
        if self.when is not None and self.on_tool_return is not None:
            raise ContextDefinitionError(
                self.id,
                "when",
                f"The instruction {self.id!r} has two conditions, when and on_tool_return.",
                fix="Keep one; a rule can look at turn.tool_results.",
            )
        if self.template is not None:
            self._check_template(self.template)
        self.to_injection()

    def _check_template(self, template: str) -> None:
        unknown = sorted({name for name in _PLACEHOLDER.findall(template) if name not in _FACTS})
        if unknown:
            raise ContextDefinitionError(
                self.id,
                "template",
                f"The template of {self.id!r} names {', '.join(map(repr, unknown))}, which no turn has.",
                fix=f"Use one of: {', '.join(_FACTS)}.",
            )
        if self.cache not in (None, "never") and _PLACEHOLDER.search(template):
            raise ContextDefinitionError(
                self.id,
                "cache",
                f"The template of {self.id!r} changes with every pass and can't be cached.",
                fix='Leave cache= out, or set it to "never".',
            )

    def to_injection(self) -> Injection:
        """The instruction as an injection of flavor `instructions`."""
        trigger: Trigger = Always()
        if self.when is not None:
            trigger = When(self.when)
        elif self.on_tool_return is not None:
            trigger = OnToolReturn(self.on_tool_return)
        text = self.template if self.text is None else self.text
        kind = Injection if self.template is None or not _PLACEHOLDER.search(self.template) else _Template
        return kind(
            self.id,
            trigger=trigger,
            inject=Content(system_prompt=text),
            flavor="instructions",
            cache=self.cache or "never",
        )


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """The base prompt, and whether it may be cached."""

    text: str
    _: KW_ONLY
    cache: CachePolicy = "always"


def render(template: str, *, iteration: int, max_iterations: int) -> str:
    """Fill a template with the facts of one pass (TPL-1)."""
    facts = {
        "action": iteration,
        "actionBudget": max_iterations,
        "actionsRemaining": max(0, max_iterations - iteration),
    }
    return _PLACEHOLDER.sub(lambda found: str(facts[found[1]]), template)


def flatten(context: Sequence[object]) -> list[ContextItem]:
    """The pieces of a `context=[...]` list; nested iterables are opened one level (CTX-1).

    Raises:
        ContextDefinitionError: Something in it is no piece of context.
    """
    items: list[ContextItem] = []
    for entry in context:
        for item in _opened(entry):
            if not isinstance(item, ContextItem):
                raise ContextDefinitionError(
                    "",
                    "context",
                    f"A {type(item).__name__} stands in context=[...]; it is no piece of context.",
                    fix="Use Fact, Steering, Instruction or Injection.",
                )
            items.append(item)
    return items


def _opened(entry: object) -> tuple[object, ...]:
    if isinstance(entry, (ContextItem, str, bytes)) or not isinstance(entry, Iterable):
        return (entry,)
    return tuple(cast("Iterable[object]", entry))
