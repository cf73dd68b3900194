"""What a foreign log says, whatever wrote it: who said what, in which order, and which of it is the answer.

Texts are kept word for word. Nothing here knows a format, and nothing here judges: what somebody noted about the
mistake is carried along and read by nobody (06b:WW-2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

__all__ = ["FINAL_ANSWER", "QUESTION", "Conversation", "Speaker", "Turn", "stage_ids"]

Speaker: TypeAlias = Literal["agent", "person", "program"]

QUESTION: Final = "question"
"""Stage of the step that holds the task; also the id of the task as a source."""
FINAL_ANSWER: Final = "final-answer"
"""Stage of an answer that nobody in the log signed."""
_NOT_PLAIN: Final = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the log."""

    agent: str
    """Who said it; agents, people and programs alike."""
    text: str
    speaker: Speaker = "agent"
    """Only an agent's message counts as a model call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A log of several agents that worked on one task."""

    question: str | None
    """The task; `None` when the log does not say it."""
    turns: tuple[Turn, ...]
    """The messages in the order of the log; turn 1 is the first."""
    asked_by_turn: bool = False
    """Whether the first message is the task itself, so that it is not there twice."""
    answered_by: int | None
    """Position in `turns` of the message under question; `None` when the answer stands apart, after the last one."""
    answer: str
    """The text under question: what that message says, or what stands apart."""
    signed_off: str = ""
    """The whole text of an answer that stands apart, as the log has it."""
    system_prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    """System text by agent, as far as the log has it."""
    annotation: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What people noted about the run: kept, never read."""
    notes: tuple[str, ...] = ()
    """How the answer was found, and other things a reader must know; one sentence each."""

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents, in order of their first message."""
        return tuple(dict.fromkeys(turn.agent for turn in self.turns if turn.speaker == "agent"))


def stage_ids(names: Iterable[str]) -> dict[str, str]:
    """A stage id for each name: lower case, words joined by `-`, and never the same for two names.

    Args:
        names: Any texts; a repeated one counts once.

    Returns:
        Name to id, in order of first appearance. Ids hold letters and digits of any script and `-`.

    Example:
        >>> stage_ids(["Excel_Expert", "excel expert", "?"])
        {'Excel_Expert': 'excel-expert', 'excel expert': 'excel-expert-2', '?': 'agent'}
    """
    taken = {QUESTION, FINAL_ANSWER}
    ids: dict[str, str] = {}
    for name in names:
        if name in ids:
            continue
        plain = _NOT_PLAIN.sub("-", name.casefold()).strip("-") or "agent"
        candidate, number = plain, 1
        while candidate in taken:
            number += 1
            candidate = f"{plain}-{number}"
        taken.add(candidate)
        ids[name] = candidate
    return ids
