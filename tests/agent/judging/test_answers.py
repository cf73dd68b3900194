"""Tests of agentfootprint.agent.judging.answers."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from agentfootprint import Agent, Limits, LLMMessage, Mock, Output, tool
from agentfootprint.agent import is_schema_check_message
from agentfootprint.agent.judging.answers import judge_answer
from agentfootprint.agent.options import Output as OutputOptions
from agentfootprint.agent.output import OutputContract
from agentfootprint.events import Event
from agentfootprint.llm import LLMResponse


class Refund(BaseModel):
    approved: bool


GOOD = '{"approved": true}'


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it first."""
    return order_id


def test_a_turn_that_a_limit_cut_is_judged_and_not_asked_again() -> None:
    fragment = LLMResponse("a fragment", tool_calls=Mock.call("lookup", order_id="A").tool_calls)
    agent = Agent(
        Mock([fragment]), tools=[lookup], output=Output(Refund, retries=3), limits=Limits(iterations=1, wrap_up=False)
    )
    types: list[str] = []
    agent.on("*", lambda event: types.append(event.type.removeprefix("agentfootprint.")))
    result = agent.run_sync("Refund?")

    assert (result.ended_because, result.text) == ("budget", "a fragment")
    assert result.contract_unmet is not None
    assert result.contract_unmet.attempts == 1
    assert types.index("agent.output_contract_unmet") < types.index("agent.route_decided")
    assert types.index("agent.route_decided") < types.index("cost.limit_hit")


def test_a_reply_that_the_token_limit_cut_is_said_to_be_cut() -> None:
    cut = LLMResponse('{"approved"', stop_reason="max_tokens")
    result = Agent(Mock([cut, GOOD]), output=Output(Refund, retries=1)).run_sync("Refund?")

    assert result.output.approved is True
    assert "the reply was cut off by the token limit; " in result.messages[2].content


def test_the_messages_of_a_retry_are_told_by_their_prefix() -> None:
    messages = Agent(Mock(["no", GOOD]), output=Output(Refund, retries=1)).run_sync("Refund?").messages

    assert [is_schema_check_message(message) for message in messages] == [False, False, True, False]
    assert not is_schema_check_message(LLMMessage("assistant", messages[2].content))


class Step:
    """A step that keeps what is written, for a judgement without a run."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}

    def __setitem__(self, key: str, value: Any) -> None:
        self.state[key] = value

    def get(self, key: str, default: Any = None) -> Any:
        return self.state.get(key, default)


class Scope:
    """What a judgement looks at."""

    def __init__(self) -> None:
        self.attempts = 0
        self.response = None
        self.ended_because = "answer"
        self.facts = type("Facts", (), {"run_id": "run-1-1"})
        self.has_output = False
        self.told: list[Any] = []

    def emit(self, where: object, payload: Event[Any]) -> None:
        self.told.append(payload)


@pytest.mark.parametrize(("raw", "verdict", "broken_by"), [(GOOD, "misses", "shout"), ("no", "again", None)])
def test_an_answer_that_a_rule_broke_is_never_asked_again_and_the_rule_is_named(
    raw: str, verdict: str, broken_by: str | None
) -> None:
    step, scope = Step(), Scope()
    contract = OutputContract(OutputOptions(Refund, retries=2))

    found = judge_answer(step, scope, contract, 1, raw.upper(), raw=raw, changed_by="shout")  # type: ignore[arg-type]

    assert found == verdict
    if broken_by is not None:
        assert step.state["outputAttempts"][0]["brokenBy"] == broken_by
        assert step.state["outputContractUnmet"]["brokenBy"] == broken_by
        assert (scope.told[0].broken_by, scope.ended_because) == (broken_by, "output_unmet")


def test_a_fence_is_taken_off_only_where_that_was_asked_for() -> None:
    fenced = f"```json\n{GOOD}\n```\n"

    assert Agent(Mock(fenced), output=Output(Refund, lenient=True)).run_sync("?").output.approved is True
    assert Agent(Mock(fenced), output=Output(Refund)).run_sync("?").output_or_none is None
    two = fenced + fenced
    assert Agent(Mock(two), output=Output(Refund, lenient=True)).run_sync("?").output_or_none is None
