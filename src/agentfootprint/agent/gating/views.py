"""What is a rule shown of what it judges?

Everything in a view is frozen: a rule changes something by saying so, never by writing into what it was shown (ACT-6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agentfootprint.trace import JsonObject, Value

if TYPE_CHECKING:
    from agentfootprint.identity import Identity
    from agentfootprint.llm import LLMMessage

__all__ = ["MessageView", "ToolCallView", "ToolResultView"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallView:
    """A call that has not run."""

    tool_name: str
    tool_call_id: str
    """As the provider gave it; not unique."""
    iteration: int
    """From 1."""
    args: JsonObject
    """The arguments, as the rules before this one left them; frozen."""
    history: Sequence[LLMMessage]
    """The conversation, with the turn that proposes the call and the results its batch has so far."""
    identity: Identity | None = None
    """Whose run it is; `None` when nobody said."""
    deps: Any = None
    """The caller's own object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultView(ToolCallView):
    """A call that has run; `args` are those that it ran with."""

    result: Value
    """What it gave, as the rules before this one left it; frozen. `None` also when it gave nothing."""
    error: bool = False
    """Whether the tool raised; the result is then the text of the error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """What a user said, or what they are about to be answered."""

    phase: Literal["input", "output"]
    content: str
    """The text, as the rules before this one left it."""
    history: Sequence[LLMMessage] = ()
    """The conversation; empty at input."""
    identity: Identity | None = None
    deps: Any = None
