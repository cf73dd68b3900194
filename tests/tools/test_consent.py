"""Tests of agentfootprint.tools.consent."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Tool, ask_human, tool
from agentfootprint.tools import CheckInContext, trips
from agentfootprint.tools.errors import ToolDefinitionError
from agentfootprint.trace import freeze

CONTEXT = CheckInContext(iteration=1, tool_call_id="c1", history=())


async def test_only_exactly_true_trips() -> None:
    for answer in (False, None, 1, "yes", [True]):
        assert await trips(lambda args, ctx, answer=answer: answer, freeze({}), CONTEXT) is False
    assert await trips(lambda args, ctx: True, freeze({}), CONTEXT) is True
    assert await trips("always", freeze({}), CONTEXT) is True


async def test_a_predicate_that_raises_asks() -> None:
    def broken(args: Any, ctx: Any) -> bool:
        raise KeyError("amount")

    assert await trips(broken, freeze({}), CONTEXT) is True


async def test_an_async_predicate_is_awaited() -> None:
    async def large(args: dict[str, Any], ctx: CheckInContext) -> bool:
        return args["amount"] > 100

    assert await trips(large, freeze({"amount": 101}), CONTEXT) is True
    assert await trips(large, freeze({"amount": 100}), CONTEXT) is False


async def test_a_predicate_that_asks_a_person_itself_trips_and_never_answers_in_the_calls_place() -> None:
    def asks(args: dict[str, Any], ctx: CheckInContext) -> bool:
        ask_human("May it?")

    assert await trips(asks, freeze({"amount": 100}), CONTEXT) is True


async def test_a_predicate_gets_arguments_of_its_own() -> None:
    args = freeze({"rows": [1]})

    await trips(lambda given, ctx: given["rows"].append(2), args, CONTEXT)

    assert args == {"rows": [1]}


@pytest.mark.parametrize("check_in", ["sometimes", 5, True])
def test_another_word_is_refused_at_the_definition(check_in: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="check_in"):
        Tool(print, name="t", description="d", input_schema={"type": "object"}, check_in=check_in)


def test_the_decorator_takes_it() -> None:
    @tool(check_in="always")
    def close(user: str) -> str:
        """Close an account. Use it when its owner asks."""
        return user

    assert close.check_in == "always"
    assert close("u7") == "u7"
