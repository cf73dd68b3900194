"""Tests of agentfootprint.agent.redacting: what the library quotes under names of its own follows its source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agentfootprint import Agent, Mock, Output, RecordOptions, approve, tool
from agentfootprint.flow import RedactionPolicy
from agentfootprint.llm import LLMResponse, ToolCall
from tests.agent.redacting.views import watched

MARK = "mark-card"


class Paid(BaseModel):
    """What the model must answer."""

    card: int


@tool
def charge(card: str) -> dict[str, Any]:
    """Charge a card. Use it when one is named."""
    return {"card": card, "ok": True}


@tool(check_in="always")
def refund(card: str, why: str) -> dict[str, Any]:
    """Refund to a card. Use it when asked."""
    return {"card": card, "why": why}


@tool
def count(card: int) -> str:
    """Count a card. Use it when asked."""
    return f"counted {card > 0}"


def calling(name: str, *, times: int = 1, **more: str) -> list[LLMResponse]:
    calls = [ToolCall(f"c{n}", name, {"card": MARK, **more}) for n in range(times)]
    return [LLMResponse("", tool_calls=calls)]


def shop(script: list[Any], **options: Any) -> Agent[Any, Any]:
    return Agent(Mock([*script, "Done."], cursor="history"), tools=[charge, refund, count], **options)


def in_evidence(**options: Any) -> Agent[Any, Any]:
    return shop([*calling("charge"), *calling("refund", why="x")], **options)


def before_a_note(**options: Any) -> Agent[Any, Any]:
    return shop(calling("charge", times=3), **options)


def in_a_refusal(**options: Any) -> Agent[Any, Any]:
    return shop(calling("count"), **options)


def in_an_answer(**options: Any) -> Agent[Any, Any]:
    answers = [f' {{"card": "{MARK}"}}', '{"card": 3}']
    return Agent(Mock(answers, cursor="run"), output=Output(Paid, retries=2), **options)


@pytest.mark.parametrize("make", [in_evidence, before_a_note, in_a_refusal, in_an_answer])
async def test_a_named_argument_is_in_no_view_however_it_is_quoted(
    make: Callable[..., Agent[Any, Any]], tmp_path: Path
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()

    plain = await watched(make(), "Go.", before, answer=approve(by="dana"))
    covered = await watched(
        make(record=RecordOptions(redaction=RedactionPolicy(keys=["card"]))), "Go.", after, answer=approve(by="dana")
    )

    assert plain.showing(MARK)
    assert covered.showing(MARK) == []
    assert covered.types == plain.types
    assert [result.messages for result in covered.results] == [result.messages for result in plain.results]
