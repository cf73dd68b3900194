"""The one shape that every piece of context has: when, what, and how it may be cached.

An injection is frozen and checked where it is made. What it puts into a slot is text and schemas; functions never
enter a recording (CTX-5).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, cast

from agentfootprint.context.errors import ContextDefinitionError
from agentfootprint.context.triggers import Predicate, Trigger, When, check_predicate
from agentfootprint.llm import LLMMessage

if TYPE_CHECKING:
    from agentfootprint.tools import Tool

__all__ = [
    "CachePolicy",
    "Content",
    "ContextItem",
    "InjectedRole",
    "Injection",
    "PieceSlot",
    "SystemPrompt",
    "TemplateInjection",
    "Until",
    "flatten",
    "placed_content",
]


@dataclass(frozen=True, slots=True)
class Until:
    """Cacheable while the predicate is false (CACHE-1)."""

    predicate: Predicate


CachePolicy: TypeAlias = Literal["always", "never", "while-active"] | Until
"""Whether a piece may stand in the cached prefix of a request."""
PieceSlot: TypeAlias = Literal["system-prompt", "messages"]
"""Where a piece of text goes: into the system prompt, or into the conversation as a message."""
InjectedRole: TypeAlias = Literal["system", "user", "assistant"]
"""Who a delivered message speaks as; the tool role answers a call, and a piece of context has none (INJ-2)."""

_ROLES: Final = ("system", "user", "assistant")


class ContextItem(ABC):
    """Anything that can stand in `context=[...]`."""

    @abstractmethod
    def to_injection(self) -> Injection:
        """The one shape that every piece has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a piece puts into the model's context; one piece may put something into several slots.

    Args:
        system_prompt: Text for the system prompt.
        messages: Messages for the conversation, appended once a run, in order (04 s.5); kept as a tuple.
        tools: Tools the model may ask for while the piece is in; kept as a tuple.
    """

    system_prompt: str | None = None
    messages: Sequence[LLMMessage] = ()
    tools: Sequence[Tool[..., Any] | Callable[..., Any]] = ()

    def __post_init__(self) -> None:
        """Take the lists over, so that nobody changes them."""
        object.__setattr__(self, "messages", tuple(self.messages))
        object.__setattr__(self, "tools", tuple(self.tools))


@dataclass(frozen=True, slots=True)
class Injection(ContextItem):
    """A piece of context of any kind: when (`trigger`), what (`inject`), and how it may be cached.

    Args:
        id: Unique in the agent's context.
        trigger: When it is let in.
        inject: What it puts where.
        flavor: What kind of thing it is; `source` of its rows.
        description: Why it is there, for people: the `reason` of its rows.
        cache: `None` is never cached either, and says nothing about it in the record.

    Raises:
        ContextDefinitionError: Empty id or text, an async rule, something that is no trigger, a message that answers or
            proposes a tool call, or one without text (INJ-1, INJ-2, INJ-4).
    """

    id: str
    _: KW_ONLY
    trigger: Trigger
    inject: Content
    flavor: str = "custom"
    description: str | None = None
    cache: CachePolicy | None = "never"
    templated: ClassVar[bool] = False
    """Whether the text holds `{{action}}`-like placeholders, filled anew in each pass."""
    surface_mode: ClassVar[str | None] = None
    """How a skill shows itself."""
    auto_activate: ClassVar[str | None] = None
    """When the tools of a skill are offered."""

    def __post_init__(self) -> None:
        """Check what every piece must have (INJ-1, INJ-4, CTX-4)."""
        if not isinstance(self.id, str) or not self.id.strip():  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            what = "an empty id" if isinstance(self.id, str) else f"an id of the type {type(self.id).__name__}"  # pyright: ignore[reportUnnecessaryIsInstance]  as above
            raise ContextDefinitionError(
                str(self.id), "id", f"A piece of context has {what}.", fix="Give it a short unique name."
            )
        if self.inject.system_prompt is not None and not self.inject.system_prompt.strip():
            raise no_text(self.id)
        if not isinstance(self.trigger, Trigger):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ContextDefinitionError(
                self.id,
                "trigger",
                f"The trigger of {self.id!r} is a {type(self.trigger).__name__}.",
                fix="Use Always(), When(rule), OnToolReturn(tool) or OnReadSkill().",
            )
        if isinstance(self.trigger, When):
            check_predicate(self.id, self.trigger.predicate)
        if isinstance(self.cache, Until):
            check_predicate(self.id, self.cache.predicate)
        for message in self.inject.messages:
            _check_message(self.id, message)

    def to_injection(self) -> Injection:
        """The piece itself."""
        return self


class TemplateInjection(Injection):
    """An injection whose text is a template (04 s.3)."""

    __slots__ = ()
    templated: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """The base prompt, and whether it may be cached."""

    text: str
    _: KW_ONLY
    cache: CachePolicy = "always"


def no_text(piece: str) -> ContextDefinitionError:
    """The refusal of a piece that says nothing (INJ-1)."""
    return ContextDefinitionError(
        piece, "text", f"The piece {piece!r} has no text.", fix="Give it text, or leave the piece out."
    )


def _check_message(piece: str, message: object) -> None:
    if not isinstance(message, LLMMessage):
        raise ContextDefinitionError(
            piece,
            "messages",
            f"A message of {piece!r} is a {type(message).__name__}.",
            fix='Use LLMMessage("assistant", "...").',
        )
    _check_role(piece, message.role)
    if message.tool_calls:
        raise ContextDefinitionError(
            piece,
            "messages",
            f"A message of {piece!r} proposes tool calls, which nobody would answer.",
            fix="Leave the calls out; say what is meant as text.",
        )
    if not message.content.strip():
        raise ContextDefinitionError(
            piece,
            "messages",
            f"A message of {piece!r} with the role {message.role!r} has no text.",
            fix="Give it text, or leave the message out.",
        )


def _check_role(piece: str, role: object) -> None:
    if role == "tool":
        raise ContextDefinitionError(
            piece,
            "role",
            f"The piece {piece!r} has the role 'tool'; a tool message answers a call, and a piece of context has none.",
            fix='Use role="assistant", or return the words from the tool itself.',
        )
    if role not in _ROLES:
        raise ContextDefinitionError(
            piece,
            "role",
            f"The piece {piece!r} has the role {role!r}.",
            fix='Use "system", "user" or "assistant".',
        )


def placed_content(piece: str, text: str, slot: PieceSlot, role: InjectedRole | None) -> Content:
    """A text in the slot it was declared for (INJ-2).

    Raises:
        ContextDefinitionError: No such slot, a message without a role, or a role where nobody speaks.
    """
    if role is not None:
        _check_role(piece, role)
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
        raise ContextDefinitionError(
            piece, "text", f"The text of {piece!r} is of the type {type(text).__name__}.", fix="Give a text."
        )
    if slot == "system-prompt":
        if role is not None:
            raise ContextDefinitionError(
                piece,
                "role",
                f"The piece {piece!r} has the role {role!r} in the system prompt, where nobody speaks.",
                fix='Leave role= out, or add slot="messages".',
            )
        return Content(system_prompt=text)
    if slot != "messages":
        raise ContextDefinitionError(
            piece, "slot", f"The piece {piece!r} has the slot {slot!r}.", fix='Use "system-prompt" or "messages".'
        )
    if role is None:
        raise ContextDefinitionError(
            piece,
            "role",
            f"The piece {piece!r} is to be a message, but nobody says it.",
            fix='Add role="assistant", "user" or "system": who speaks is yours to say.',
        )
    if not text.strip():
        raise no_text(piece)
    return Content(messages=(LLMMessage(role, text),))


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
