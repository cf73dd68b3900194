"""Tests of agentfootprint.tools.arguments."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.tools import refused_args_text, validate_args
from agentfootprint.trace import freeze

TEXT = st.text(max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
WORDS = ("type", "enum", "required", "properties", "items", "additionalProperties", "pattern", "minLength", "format")


def issues_of(args: object, schema: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(issue.path, issue.expected, issue.got) for issue in validate_args(args, schema)]


@pytest.mark.parametrize(
    ("value", "kind", "fits"),
    [
        (True, "integer", False),
        (True, "number", False),
        (3.0, "integer", True),
        (3.5, "integer", False),
        (3, "number", True),
        ("3", "integer", False),
        (None, "null", True),
        ([], "array", True),
        ({}, "array", False),
        ("x", "array", False),
    ],
)
def test_types_are_those_of_json(value: object, kind: str, *, fits: bool) -> None:
    found = issues_of({"a": value}, {"properties": {"a": {"type": kind}}})

    assert (not found) is fits


@pytest.mark.parametrize(("value", "fits"), [(1, True), (1.0, True), ("1", False), (True, False), (None, False)])
def test_an_enum_does_not_mix_types(value: object, *, fits: bool) -> None:
    found = issues_of({"a": value}, {"properties": {"a": {"enum": [1, 2]}}})

    assert (not found) is fits


def test_a_key_with_null_is_not_missing() -> None:
    assert issues_of({"a": None}, {"required": ["a"]}) == []


def test_issues_come_in_order_and_no_more_than_ten() -> None:
    schema = {
        "required": ["missing"],
        "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "integer"}}},
        "additionalProperties": False,
    }

    few = issues_of({"z": 1, "b": [1, "x"], "a": 2}, schema)
    many = issues_of({"b": ["x"] * 50, "z": 1}, schema)

    assert few == [
        ("missing", "required", "missing"),
        ("a", "string", "number"),
        ("b[1]", "integer", "string"),
        ("z", "no additional properties", "number"),
    ]
    assert len(many) == 10


def test_frozen_arguments_are_read_like_plain_ones() -> None:
    schema = {"properties": {"rows": {"type": "array", "items": {"type": "object", "required": ["id"]}}}}

    found = issues_of(freeze({"rows": [{"id": 1}, {}]}), schema)

    assert found == [("rows[1].id", "required", "missing")]


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        (r"^\d+$", "123", True),
        (r"^\d+$", "٣", False),
        (r"^[\w.]+$", "ab_1.c", True),
        (r"^\W$", "a", False),
        (r"^[^\D]$", "5", True),
        (r"^a$", "a\n", False),
        (r"(?=.*x)a", "a x", True),
        (r"(?=.*x)a$", "x a\n", False),
        (r"[$]", "$", True),
    ],
)
def test_a_pattern_means_what_it_means_in_javascript(pattern: str, text: str, *, fits: bool) -> None:
    found = issues_of({"a": text}, {"properties": {"a": {"pattern": pattern}}})

    assert (not found) is fits


def test_a_pattern_that_backtracks_elsewhere_takes_linear_time() -> None:
    found = issues_of({"a": "a" * 50_000}, {"properties": {"a": {"type": "string", "pattern": "^(a+)+$x"}}})

    assert len(found) == 1


def test_a_pattern_that_is_none_is_told_once_and_not_checked(caplog: pytest.LogCaptureFixture) -> None:
    schema = {"properties": {"a": {"pattern": "told-once("}}}

    with caplog.at_level(logging.WARNING):
        found = [issues_of({"a": text}, schema) for text in ("x", "y")]

    assert found == [[], []]
    assert [record.getMessage() for record in caplog.records if "told-once(" in record.getMessage()] == [
        "The pattern 'told-once(' of a tool's schema is no regular expression and is not checked."
    ]


def test_lengths_count_characters() -> None:
    schema = {"properties": {"a": {"minLength": 2, "maxLength": 3}}}

    found = [issues_of({"a": text}, schema) for text in ("😀", "😀😀😀", "abcd")]

    assert found == [[("a", "at least 2 characters", "string")], [], [("a", "at most 3 characters", "string")]]


def test_the_hint_of_a_text_is_its_description() -> None:
    schema = {"properties": {"a": {"pattern": "^A-", "description": "An order number."}}}

    (issue,) = validate_args({"a": "x"}, schema)

    assert issue.hint == "An order number."
    assert "(An order number.)" in refused_args_text("find", [issue])


def test_the_models_text_names_tool_and_fields_and_never_a_value() -> None:
    schema = {"required": ["city"], "properties": {"unit": {"enum": ["c", "f"]}, "days": {"type": "integer"}}}

    text = refused_args_text("weather", validate_args({"unit": "SECRET", "days": "SECRET"}, schema))

    assert text.splitlines() == [
        "The call of weather was not run: its arguments do not fit.",
        "- city: expected required, got missing",
        '- unit: expected one of "c", "f", got string',
        "- days: expected integer, got string",
        "Correct the arguments and call weather again.",
    ]


@given(JSON, st.dictionaries(st.sampled_from(WORDS), JSON, max_size=5))
def test_a_strange_schema_never_raises_and_never_tells_a_value(args: object, schema: dict[str, Any]) -> None:
    nested = {"properties": {"a": schema}, **schema}

    found = validate_args({"a": args}, nested)

    assert len(found) <= 10
    assert all(issue.got in json.dumps(["null boolean number string object array missing"]) for issue in found)
