"""Where in a history do the turns of its users begin?

A turn begins with what a person said. Messages that the library wrote in the user's name begin none: context that was
said, the wrap-up, corrections of an answer (AGT-147).
"""

from __future__ import annotations

from collections.abc import Sequence

from agentfootprint.agent.texts import SCHEMA_CHECK_FRAME_PREFIX, WRAP_UP_INSTRUCTION
from agentfootprint.llm import LLMMessage
from agentfootprint.trace import FrozenList

__all__ = ["is_said_by_user", "turn_number", "turn_start", "turn_starts"]


def is_said_by_user(message: LLMMessage) -> bool:
    """Whether a person said this, as far as the message tells."""
    return (
        message.role == "user"
        and message.injected_by is None
        and message.content != WRAP_UP_INSTRUCTION
        and not message.content.startswith(SCHEMA_CHECK_FRAME_PREFIX)
    )


def turn_starts(history: Sequence[LLMMessage] | FrozenList) -> list[int]:
    """The places of the messages that begin turns, in order."""
    return [place for place, message in enumerate(history) if is_said_by_user(message)]


def turn_start(history: Sequence[LLMMessage] | FrozenList, said: str) -> int:
    """The place of the message that began the last turn; 0 when it is not there.

    Args:
        history: The messages.
        said: What the user said in that turn.
    """
    for place in range(len(history) - 1, -1, -1):
        message: LLMMessage = history[place]
        if message.content == said and is_said_by_user(message):
            return place
    return 0


def turn_number(history: Sequence[LLMMessage] | FrozenList) -> int:
    """The number of the turn that a seeded history begins, from 1 (AGT-18)."""
    return max(1, sum(message.role == "user" for message in history))
