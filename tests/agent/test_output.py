"""Tests of agentfootprint.agent.output."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from pydantic import BaseModel, field_validator
from typing_extensions import TypedDict

from agentfootprint import Agent, ConfigError, Fact, Limits, Mock, Output, OutputSchemaError, Steering, tool
from agentfootprint.agent import SCHEMA_CHECK_FRAME_PREFIX, DeadlineExceededError, RunCancelledError
from agentfootprint.llm import LLMRequest
from agentfootprint.trace import thaw


class Refund(BaseModel):
    approved: bool
    reason: str


@dataclass
class Point:
    x: int
    y: int = 0


class Row(TypedDict):
    name: str


class Picky(BaseModel):
    n: int

    @field_validator("n")
    @classmethod
    def even(cls, n: int) -> int:
        if n < 0:
            raise LookupError("no such number")
        if n % 2:
            raise ValueError("odd")
        return n


def answered(output: Any, *answers: str, **options: Any) -> Any:
    return Agent(Mock([*answers]), output=output, **options).run_sync("Go.")


@pytest.mark.parametrize(
    ("output", "text", "value"),
    [
        (Refund, '{"approved": true, "reason": "ok"}', Refund(approved=True, reason="ok")),
        (Refund, ' \n{"approved":true,"reason":"ok"}\n', Refund(approved=True, reason="ok")),
        (Point, '{"x": 1}', Point(1)),
        (Row, '{"name": "Ann"}', {"name": "Ann"}),
        (list[Point], '[{"x": 1, "y": 2}]', [Point(1, 2)]),
        (list[int], "[]", []),
        (dict, '{"a": {"b": null}}', {"a": {"b": None}}),
        (int, "3", 3),
        (bool, "true", True),
        (float, "1e3", 1000.0),
        (int | str, '"3"', "3"),
        (int | None, "null", None),
        (Literal["yes", "no"], '"no"', "no"),
        (str, "plain words", "plain words"),
        (None, '{"not": "read"}', '{"not": "read"}'),
    ],
    ids=repr,
)
def test_an_answer_that_fits_is_a_value_of_the_type(output: Any, text: str, value: Any) -> None:
    result = answered(output, text)

    assert (result.output, result.output_or_none, result.text) == (value, value, text)
    assert type(result.output) is type(value)
    assert (result.output_source, result.ended_because, result.contract_unmet) == ("model", "answer", None)


@pytest.mark.parametrize(
    ("output", "text", "stage", "path"),
    [
        (Refund, "", "json-parse", None),
        (Refund, "APPROVED", "json-parse", None),
        (Refund, '```json\n{"approved": true, "reason": "ok"}\n```', "json-parse", None),
        (Refund, '{"approved": true, "reason": "ok"} Hope that helps!', "json-parse", None),
        (Refund, '{"approved": true, "reason": "cut o', "json-parse", None),
        (Refund, '{"approved": "perhaps", "reason": "ok"}', "schema-validate", "approved"),
        (list[Point], '[{"x": 1}, {"y": 2}]', "schema-validate", "1.x"),
        (dict, "[1]", "schema-validate", None),
        (int, "3.5", "schema-validate", None),
        (float, "NaN", "json-parse", None),
        (dict, '{"a": -Infinity}', "json-parse", None),
        (dict, '{"a": "\\ud800"}', "schema-validate", None),
        (list, "[" * 100_000, "json-parse", None),
        (Picky, '{"n": 1}', "schema-validate", "n"),
        (Picky, '{"n": -1}', "schema-validate", None),
    ],
    ids=lambda part: part[:40] if isinstance(part, str) else "",
)
def test_an_answer_that_misses_is_told_by_stage_and_field_and_never_raised(
    output: Any, text: str, stage: str, path: str | None
) -> None:
    result = answered(output, text)

    unmet = result.contract_unmet
    assert (unmet.stage, unmet.path, unmet.attempts, unmet.retries_spent) == (stage, path, 1, 0)
    assert (result.text, result.ended_because) == (text, "output_unmet")
    assert (result.output_or_none, result.output_source) == (None, None)
    with pytest.raises(OutputSchemaError, match=r"after 1 attempt\.") as caught:
        _ = result.output
    assert (caught.value.raw_output, caught.value.stage, caught.value.path) == (text, stage, path)
    assert unmet.error


def test_a_null_that_was_asked_for_is_told_from_no_value() -> None:
    assert answered(int | None, "null").output_source == "model"
    assert answered(int | None, "none").output_source is None


@pytest.mark.parametrize(
    "output", [object(), 5, "Nowhere", asyncio.Lock, Callable], ids=["object", "int", "str", "class", "alias"]
)
def test_a_type_without_a_schema_is_refused_where_the_agent_is_made(output: Any) -> None:
    with pytest.raises(ConfigError, match=r"No schema can be made") as caught:
        Agent(Mock("x"), output=output)

    assert caught.value.option == "output"


def test_the_shape_stands_last_in_the_system_prompt() -> None:
    agent = Agent(Mock('{"x": 1}'), system="Base.", context=[Fact("a", "A fact.")], output=Point)

    text = agent.run_sync("Go.").recording.calls[0].system_text or ""

    start, _, schema = text.rpartition("\n")
    assert start.startswith("Base.\n\nA fact.\n\nAnswer with JSON only")
    assert "code fences" in start
    assert schema.startswith('{"properties":{"x":{"title":"X","type":"integer"}')


def test_a_piece_of_the_users_may_not_take_the_id_of_the_shape() -> None:
    with pytest.raises(ConfigError, match=r"id 'output-schema'"):
        Agent(Mock("x"), context=[Steering("output-schema", "Mine.")], output=int)


def test_a_fenced_answer_is_mended_by_asking_again() -> None:
    fenced = "```json\n3\n```"
    result = answered(Output(int, retries=1), fenced, "3")

    assert (result.output, result.iterations, result.ended_because) == (3, 2, "answer")
    assert [m.role for m in result.messages] == ["user", "assistant", "user", "assistant"]
    assert result.messages[1].content == fenced
    correction = result.messages[2].content
    assert correction.startswith(f"{SCHEMA_CHECK_FRAME_PREFIX}: attempt 1 of 2")
    assert correction.endswith("]\n\nExpecting value: line 1 column 1 (char 0)")


def test_every_judgement_is_a_row_of_the_state() -> None:
    state = answered(Output(Refund, retries=2), "no", '{"reason": "x"}', "no").recording.snapshot["sharedState"]

    rows = [(r["attempt"], r["iteration"], r["outcome"], r["stage"]) for r in thaw(state["outputAttempts"])]
    assert rows == [
        (1, 1, "retried", "json-parse"),
        (2, 2, "retried", "schema-validate"),
        (3, 3, "exhausted", "json-parse"),
    ]
    assert thaw(state["outputContractUnmet"])["fallbackConfigured"] is False


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {order_id}: shipped."


def test_all_retries_are_taken_even_after_the_limit_and_a_wrap_up_without_tools() -> None:
    offered: list[bool] = []

    def model(request: LLMRequest) -> Any:
        offered.append(request.tools is not None)
        return Mock.call("lookup", order_id="A-1") if request.tools else "no"

    agent = Agent(Mock(model), tools=[lookup], output=Output(int, retries=10), limits=Limits(iterations=1))

    result = agent.run_sync("Go.")

    assert offered == [True] + [False] * 11
    assert (result.iterations, result.ended_because) == (12, "budget")
    assert result.contract_unmet is not None
    assert (result.contract_unmet.attempts, result.contract_unmet.retries_spent) == (11, 10)


def test_calls_beside_a_text_are_run_and_the_text_is_not_judged() -> None:
    call = Mock.call("lookup", order_id="A-1")
    script = [type(call)("not json", tool_calls=call.tool_calls, stop_reason="tool_use"), "3"]

    result = Agent(Mock(script), tools=[lookup], output=int).run_sync("Go.")

    assert (result.output, len(result.tool_calls)) == (3, 1)


@pytest.mark.parametrize(
    "error",
    [
        OutputSchemaError("no", "schema-validate", "a.b", 2),
        RunCancelledError("run-1", "changed my mind"),
        DeadlineExceededError("run-1", 0.5),
    ],
    ids=lambda error: type(error).__name__,
)
def test_the_errors_of_a_run_survive_copies_and_processes(error: Any) -> None:
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(twin) is type(error)
        assert (str(twin), vars(twin)) == (str(error), vars(error))
