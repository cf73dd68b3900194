"""Tests of agentfootprint.flow.out.schema."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from agentfootprint.errors import MissingExtraError
from agentfootprint.flow import Chart, ChartBuildError, Flow, InputValidationError
from tests.flow.charts import raw


class Person(BaseModel):
    name: str
    age: int = 18


PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "age": {"type": "integer", "minimum": 0},
        "kind": {"enum": ["private", "firm"]},
        "version": {"const": 3},
        "tags": {"type": "array", "uniqueItems": True, "items": {"type": ["string", "null"]}},
    },
    "required": ["name"],
    "additionalProperties": False,
}


def flow(**sides: Any) -> Flow:
    chart = Chart.of("Desk", raw("s", lambda h: dict(h.args.items())))
    chart.contract(**sides)
    return chart.build()


def issues(schema: Any, given: Any) -> list[dict[str, object]]:
    with pytest.raises(InputValidationError) as refused:
        flow(input=schema).run_sync(given)
    return [issue.to_wire() for issue in refused.value.issues]


def test_what_a_pydantic_model_makes_of_the_input_replaces_it() -> None:
    assert flow(input=Person).run_sync({"name": "Dana", "other": 1}).value == {"name": "Dana", "age": 18}


def test_a_pydantic_model_tells_place_and_rule_and_no_value() -> None:
    assert issues(Person, {"age": "secret"}) == [
        {"path": ["name"], "message": "Field required", "code": "missing"},
        {
            "path": ["age"],
            "message": "Input should be a valid integer, unable to parse string as an integer",
            "code": "int_parsing",
            "received": "str",
        },
    ]


def test_a_type_adapter_will_do() -> None:
    adapter = TypeAdapter(dict[str, int])

    assert flow(input=adapter).run_sync({"a": "1"}).value == {"a": 1}
    assert issues(adapter, {"a": "x"})[0]["path"] == ["a"]
    assert flow(input=adapter).to_mcp_tool()["inputSchema"]["type"] == "object"


def test_a_json_schema_is_kept_whole() -> None:
    assert flow(input=PERSON).run_sync({"name": "Dana", "kind": "firm"}).value == {"name": "Dana", "kind": "firm"}


@pytest.mark.parametrize(
    ("given", "path", "message", "code"),
    [
        ({}, [], "'name' is a required property", "required"),
        ({"name": 5}, ["name"], "must be string, not int", "type"),
        ({"name": "x"}, ["name"], "breaks the rule minLength 2", "minLength"),
        ({"name": "Dana", "age": -1}, ["age"], "breaks the rule minimum 0", "minimum"),
        ({"name": "Dana", "kind": "secret"}, ["kind"], "must be one of 'private', 'firm'", "enum"),
        ({"name": "Dana", "version": 4}, ["version"], "must be 3", "const"),
        ({"name": "Dana", "tags": ["a", 1]}, ["tags", 1], "must be string or null, not int", "type"),
        ({"name": "Dana", "tags": ["a", "a"]}, ["tags"], "breaks the rule uniqueItems True", "uniqueItems"),
        (
            {"name": "Dana", "x": 1},
            [],
            "Additional properties are not allowed ('x' was unexpected)",
            "additionalProperties",
        ),
    ],
)  # fmt: skip
def test_a_json_schema_tells_place_and_rule_and_no_value(given: Any, path: Any, message: str, code: str) -> None:
    (issue,) = issues(PERSON, given)

    assert (issue["path"], issue["message"], issue["code"]) == (path, message, code)


def test_a_json_schema_that_is_none_is_refused_where_it_is_wrong() -> None:
    with pytest.raises(ChartBuildError, match=r"input schema of chart 'Desk' is no valid JSON Schema, at type"):
        flow(input={"type": "objekt"})


def test_without_the_package_a_json_schema_is_refused_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "jsonschema"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jsonschema", None)

    with pytest.raises(MissingExtraError, match=r"agentfootprint\[jsonschema\]"):
        flow(input=PERSON)


class Even:
    """A validator of somebody's own."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    def validate(self, value: Any) -> Any:
        if value.get("n", 0) % 2:
            raise ValueError("n is odd")
        return self.answer


@pytest.mark.parametrize(("answer", "value"), [(None, {"n": 2}), (True, {"n": 2}), ({"n": 4}, {"n": 4})])
def test_an_object_that_validates_may_replace_the_input(answer: Any, value: Any) -> None:
    assert flow(input=Even(answer)).run_sync({"n": 2}).value == value


def test_an_object_that_validates_is_quoted_when_it_raises() -> None:
    assert issues(Even(), {"n": 1}) == [{"path": [], "message": "n is odd", "code": "ValueError"}]
    assert issues(Even(False), {"n": 2}) == [{"path": [], "message": "is not accepted"}]


def test_an_object_that_validates_may_have_a_json_schema() -> None:
    own = Even()

    assert flow(input=own).to_mcp_tool()["inputSchema"] == {"type": "object"}
    vars(own)["json_schema"] = {"type": "object", "required": ["n"]}
    assert flow(input=own).to_mcp_tool()["inputSchema"] == {"type": "object", "required": ["n"]}


def test_what_validates_nothing_is_no_schema() -> None:
    with pytest.raises(ChartBuildError, match=r"output schema of chart 'Desk' is a int, which validates nothing"):
        flow(output=3)


def test_a_validator_that_breaks_is_no_refusal() -> None:
    class Broken(BaseModel):
        @classmethod
        def model_validate(cls, *args: Any, **kwargs: Any) -> Any:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        flow(input=Broken).run_sync({})
