"""What a user writes into `context=[...]`: data, rules that always hold, and rules that hold while a condition does.

Pieces are frozen and checked where they are written; each is one `Injection`.
"""

from __future__ import annotations

import re
from dataclasses import KW_ONLY, dataclass

from agentfootprint.context.errors import ContextDefinitionError
from agentfootprint.context.injections import (
    CachePolicy,
    Content,
    ContextItem,
    InjectedRole,
    Injection,
    PieceSlot,
    TemplateInjection,
    placed_content,
)
from agentfootprint.context.templates import TEMPLATE_FACTS, placeholders, unknown_facts
from agentfootprint.context.triggers import Always, OnToolReturn, Predicate, Trigger, When

__all__ = ["Fact", "Instruction", "Steering"]


@dataclass(frozen=True, slots=True)
class Fact(ContextItem):
    """Data the model should know.

    Args:
        id: Unique in the agent's context; how the trace, ablation and custody name it.
        text: The fact, word for word as the model reads it.
        when: A rule that lets it in; without one it is always in.
        slot: `"system-prompt"`, or `"messages"`: appended to the conversation once a run, as soon as it may stand
            there (04 s.5). In a tool loop the conversation ends on the user or on a result, so a message of the role
            `"user"` mostly waits for ever: use `"assistant"`.
        role: Who says it, when it is a message; there is no default.
        cache: Default `"always"`.

    Raises:
        ContextDefinitionError: Empty id or text, an async rule, a message without a role, or a role without a message.
    """

    id: str
    text: str
    _: KW_ONLY
    when: Predicate | None = None
    slot: PieceSlot = "system-prompt"
    role: InjectedRole | None = None
    cache: CachePolicy | None = None

    def __post_init__(self) -> None:
        """Fail where the mistake is written (CTX-2)."""
        self.to_injection()

    def to_injection(self) -> Injection:
        """The fact as an injection of flavor `fact`."""
        return Injection(
            self.id,
            trigger=Always() if self.when is None else When(self.when),
            inject=placed_content(self.id, self.text, self.slot, self.role),
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
    """A rule that holds while a condition does.

    Args:
        id: Unique in the agent's context.
        text: The instruction; or `template`, exactly one of the two (INJ-3).
        template: Text with `{{action}}`, `{{actionBudget}}` or `{{actionsRemaining}}`, filled in each pass (04 s.3).
            It can't be cached, and ends the cached prefix: declare it last (TPL-7).
        when: A rule on the turn.
        on_tool_return: In after a batch in which this tool returned (a pattern is searched in the name).
        slot: `"system-prompt"`, or `"messages"`: appended to the conversation once a run (see `Fact`).
        role: Who says it, when it is a message; there is no default.
        cache: Default `"never"`; a template must not be cached (TPL-4).

    Raises:
        ContextDefinitionError: Neither or both of text and template, two conditions, an unknown placeholder, an async
            rule, a template that is cached or a message, a message without a role, or a role without a message.
    """

    id: str
    text: str | None = None
    _: KW_ONLY
    template: str | None = None
    when: Predicate | None = None
    on_tool_return: str | re.Pattern[str] | None = None
    slot: PieceSlot = "system-prompt"
    role: InjectedRole | None = None
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
        if self.template is not None and placeholders(self.template):
            self._check_template(self.template)
        self.to_injection()

    def _check_template(self, template: str) -> None:
        unknown = sorted(unknown_facts(template))
        if unknown:
            raise ContextDefinitionError(
                self.id,
                "template",
                f"The template of {self.id!r} names {', '.join(map(repr, unknown))}, which no turn has.",
                fix=f"Use one of: {', '.join(TEMPLATE_FACTS)}.",
            )
        if self.cache not in (None, "never"):
            raise ContextDefinitionError(
                self.id,
                "cache",
                f"The template of {self.id!r} changes with every pass and can't be cached.",
                fix='Leave cache= out, or set it to "never".',
            )
        if self.slot == "messages":
            raise ContextDefinitionError(
                self.id,
                "slot",
                f"The template of {self.id!r} changes with every pass, and each would be one more message.",
                fix="Leave slot= out, or give a text without placeholders.",
            )

    def to_injection(self) -> Injection:
        """The instruction as an injection of flavor `instructions`."""
        trigger: Trigger = Always()
        if self.when is not None:
            trigger = When(self.when)
        elif self.on_tool_return is not None:
            trigger = OnToolReturn(self.on_tool_return)
        text = (self.template if self.text is None else self.text) or ""
        kind = TemplateInjection if self.template is not None and placeholders(self.template) else Injection
        return kind(
            self.id,
            trigger=trigger,
            inject=placed_content(self.id, text, self.slot, self.role),
            flavor="instructions",
            cache=self.cache or "never",
        )
