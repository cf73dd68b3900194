"""What may a rule around the loop answer?

Let it pass, replace it, refuse it, or have a person decide. There is no outcome that answers in a tool's place (ACT-1).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET

from agentfootprint.errors import ConfigError
from agentfootprint.trace import Value, freeze

if TYPE_CHECKING:
    from agentfootprint.tools import AskComponent

__all__ = ["RuleOutcome", "allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """What a rule answered; made by `allow`, `deny` and `ask`."""

    kind: Literal["allow", "deny", "ask"]
    _: KW_ONLY
    value: Value = UNSET
    """What stands in the place of what was judged; `UNSET` where that passes as it is."""
    why: str | None = None
    """The reason; of an `ask` the question."""
    detail: Value = None
    """More for the person who is asked."""
    component: AskComponent | None = None
    """What the question is to be answered with."""


def allow(value: Value = UNSET, why: str | None = None) -> RuleOutcome:
    """Let it pass, or something else in its place.

    Args:
        value: What stands in its place: the arguments of a call, the result of one, or the text of a message. Left
            out, or `None`, it passes as it is.
        why: The reason, for the record; a replacement needs one.

    Raises:
        ConfigError: A replacement came without a reason.
        ValueRefusedError: It can't be recorded.
    """
    if why is not None:
        _text("allow(why=)", why)
    if value is UNSET or value is None:
        return RuleOutcome("allow", why=why)
    if why is None:
        raise ConfigError(
            "allow(why=)", "A rule replaced something and gave no reason.", fix='Say why: allow(value, "masked").'
        )
    return RuleOutcome("allow", value=freeze(value), why=why)


def deny(reason: str) -> RuleOutcome:
    """Refuse it. Of a call, or of its result, the model reads the reason; of a message the run raises it.

    Args:
        reason: Why; never what was refused.

    Raises:
        ConfigError: The reason is blank.
    """
    _text("deny(reason)", reason)
    return RuleOutcome("deny", why=reason)


def ask(question: str, *, detail: Value = None, component: AskComponent | None = None) -> RuleOutcome:
    """Have a person decide whether a call runs; legal before a tool, elsewhere it refuses (ACT-2).

    Args:
        question: What the person reads.
        detail: More for whoever shows the question; any JSON value.
        component: A component of your own screen to answer it with.

    Raises:
        ConfigError: The question is blank.
        ValueRefusedError: The detail can't be recorded.
    """
    _text("ask(question)", question)
    return RuleOutcome("ask", why=question, detail=freeze(detail), component=component)


def _text(what: str, given: object) -> None:
    if not isinstance(given, str) or not given.strip():
        raise ConfigError(what, f"{what} is {'blank' if isinstance(given, str) else 'no text'}.", fix="Give a text.")
