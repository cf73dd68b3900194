"""Tests of agentfootprint.tools.asking."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentfootprint import ask_human
from agentfootprint.errors import ConfigError
from agentfootprint.tools import PersonAsked, asked_in
from agentfootprint.trace import ValueRefusedError


def asked(*args: Any, **more: Any) -> PersonAsked:
    with pytest.raises(PersonAsked) as raised:
        ask_human(*args, **more)
    return raised.value


def test_a_question_with_its_reason_and_data_is_one_object() -> None:
    data = asked("Refund 480?", reason="high amount", data={"order": "A-1"}).data

    assert data == {"question": "Refund 480?", "reason": "high amount", "order": "A-1"}
    assert asked("Really?").data == {"question": "Really?"}


def test_what_catches_exceptions_does_not_catch_a_question() -> None:
    assert not issubclass(PersonAsked, Exception)


@pytest.mark.parametrize("question", ["", "  ", None, 5])
def test_a_question_needs_a_text(question: Any) -> None:
    with pytest.raises(ConfigError, match="question"):
        ask_human(question)


@pytest.mark.parametrize("key", ["checkIn", "ask", "authorization", "awaitingInput", "toolName", "question"])
def test_a_tool_cannot_make_its_question_look_like_a_consent_gate(key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        ask_human("Really?", data={key: {"tool": "x"}})


@pytest.mark.parametrize("data", [[1], "text"])
def test_the_data_of_a_question_is_an_object(data: Any) -> None:
    with pytest.raises(ConfigError, match="data"):
        ask_human("Really?", data=data)


def test_data_that_cannot_be_recorded_is_refused_where_it_is_given() -> None:
    with pytest.raises(ValueRefusedError):
        ask_human("Really?", data={"x": object()})


def test_a_reason_is_a_text() -> None:
    with pytest.raises(ConfigError, match="reason"):
        ask_human("Really?", reason=5)  # type: ignore[arg-type]


def test_a_question_is_found_in_a_group_of_tasks_but_not_beside_a_failure() -> None:
    question = PersonAsked({"question": "?"})

    assert asked_in(question) is question
    assert asked_in(BaseExceptionGroup("g", [BaseExceptionGroup("h", [question])])) is question
    assert asked_in(BaseExceptionGroup("g", [question, RuntimeError("x")])) is None
    assert asked_in(asyncio.CancelledError()) is None
