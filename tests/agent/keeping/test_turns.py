"""Tests of agentfootprint.agent.keeping.turns."""

from __future__ import annotations

from agentfootprint import LLMMessage
from agentfootprint.agent import SCHEMA_CHECK_FRAME_PREFIX, WRAP_UP_INSTRUCTION
from agentfootprint.agent.keeping.turns import turn_number, turn_start, turn_starts
from agentfootprint.llm import InjectedBy

HISTORY = [
    LLMMessage("user", "a"),
    LLMMessage("user", "Said by a fact.", injected_by=InjectedBy("f", "fact", 1)),
    LLMMessage("assistant", "no json"),
    LLMMessage("user", f"{SCHEMA_CHECK_FRAME_PREFIX}: again]"),
    LLMMessage("user", WRAP_UP_INSTRUCTION),
    LLMMessage("assistant", "b"),
    LLMMessage("user", "a"),
]


def test_a_turn_begins_with_what_a_person_said() -> None:
    assert turn_starts(HISTORY) == [0, 6]
    assert (turn_start(HISTORY, "a"), turn_start(HISTORY[:6], "a"), turn_start(HISTORY, "?")) == (6, 0, 0)


def test_the_number_of_a_turn_never_falls_back() -> None:
    assert [turn_number(HISTORY[:length]) for length in (0, 1, 2, 7)] == [1, 1, 2, 5]
