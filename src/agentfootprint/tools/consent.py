"""What is a tool's check-in predicate given, and when does it trip?

It fails toward asking: what raises trips, and nothing but exactly `True` lets a person be asked (AGT-84).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agentfootprint.tools.asking import PersonAsked
from agentfootprint.trace import FrozenDict, thaw

if TYPE_CHECKING:
    from agentfootprint.llm import LLMMessage

__all__ = ["CheckInContext", "CheckInPredicate", "trips"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckInContext:
    """What a check-in predicate may look at beside the arguments."""

    iteration: int
    """From 1."""
    tool_call_id: str
    """As the provider gave it; not unique."""
    history: Sequence[LLMMessage]
    """The window, with the system prompt as a message in front."""
    deps: Any = None
    """The caller's own object."""


CheckInPredicate: TypeAlias = "Callable[[dict[str, Any], CheckInContext], object]"
"""Whether a call needs approval: from its arguments, as JSON of its own, and where it stands; may be async."""


async def trips(check_in: Literal["always"] | CheckInPredicate, args: FrozenDict, context: CheckInContext) -> bool:
    """Whether a call must be approved by a person.

    Args:
        check_in: As the tool declares it.
        args: The arguments, after every rule that may change them.
        context: Where the call stands.
    """
    if not callable(check_in):
        return True
    try:
        answer = check_in(thaw(args), context)
        return (await answer if inspect.isawaitable(answer) else answer) is True
    except (Exception, PersonAsked):  # noqa: BLE001  the user's predicate; a gate that can't judge asks
        return True
