"""Tests of agentfootprint.agent.shaping.schemas."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, ConfigError, Mock, Output
from agentfootprint.agent import Schema


class OddError(ValueError):
    def __init__(self, path: object) -> None:
        super().__init__("it must be even")
        self.path = path


def even(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError("no number")
    if value % 2:
        raise OddError(["row", 1])
    return value


def run(schema: Schema[Any], *replies: str, retries: int = 0) -> Any:
    return Agent(Mock(list(replies)), output=Output(schema, retries=retries)).run_sync("A number?")


def test_a_function_reads_the_json_value_of_the_answer() -> None:
    assert run(Schema(even), "4").output == 4
    assert run(Schema(lambda value: value["n"]), '{"n": "x"}').output == "x"


def test_what_the_function_raises_is_said_to_the_model_and_where() -> None:
    result = run(Schema(even), "3", "4", retries=1)

    assert result.output == 4
    assert result.messages[2].content.endswith("\n\nit must be even")
    assert result.recording.snapshot["sharedState"]["outputAttempts"][0]["path"] == "row.1"


@pytest.mark.parametrize(("path", "told"), [("a.b", "a.b"), ("", None), ([], None), (7, None), (b"x", None)])
def test_a_path_is_a_text_or_its_steps(path: object, told: str | None) -> None:
    def refuse(value: object) -> object:
        raise OddError(path)

    unmet = run(Schema(refuse), "3").contract_unmet

    assert (unmet.stage, unmet.error, unmet.path) == ("schema-validate", "it must be even", told)


def test_its_schema_and_description_are_said_in_the_prompt() -> None:
    asked: list[str] = []

    def model(request: Any) -> str:
        asked.append(request.system_prompt)
        return "4"

    Agent(Mock(model), output=Output(Schema(even, json_schema={"type": "integer"}, description="Even."))).run_sync("?")
    Agent(Mock(model), output=Output(Schema(even))).run_sync("?")

    assert asked[0].startswith("Answer with JSON only: one value that fits this JSON Schema,")
    assert asked[0].endswith(' Even.\n{"type":"integer"}')
    assert "JSON Schema" not in asked[1]


def test_what_could_never_read_an_answer_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Schema\.parse is a int"):
        Schema(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"Schema\.json_schema is a str"):
        Schema(even, json_schema="{}")  # type: ignore[arg-type]
