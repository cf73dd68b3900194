"""Tests of agentfootprint.agui.interrupts.payloads."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.agui.interrupts.payloads import check_payload
from agentfootprint.trace import freeze

FORM = {
    "type": "object",
    "properties": {
        "size": {"type": "string", "enum": ["S", "M"]},
        "count": {"type": "integer"},
        "price": {"type": "number"},
        "rush": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "nothing": {"type": "null"},
    },
    "required": ["size"],
}


@pytest.mark.parametrize(
    "payload",
    [
        {"size": "S"},
        {"size": "S", "count": 10**400, "price": -(10**400)},
        {"size": "M", "count": 3.0, "price": 1, "rush": False, "tags": ["a"], "nothing": None, "more": object},
    ],
)
def test_what_fits(payload: Any) -> None:
    assert check_payload(FORM, payload) is None
    assert check_payload(freeze(FORM), payload) is None


@pytest.mark.parametrize(
    ("payload", "fault"),
    [
        ("S", ("payload", "is no object")),
        (None, ("payload", "is no object")),
        ({}, ("payload.size", "is missing")),
        ({"size": "XL"}, ("payload.size", "is none of its choices")),
        ({"size": 1}, ("payload.size", "is no string")),
        ({"size": "S", "count": 1.5}, ("payload.count", "is no integer")),
        ({"size": "S", "count": True}, ("payload.count", "is no integer")),
        ({"size": "S", "price": float("nan")}, ("payload.price", "is no number")),
        ({"size": "S", "rush": "yes"}, ("payload.rush", "is no boolean")),
        ({"size": "S", "tags": ["a", 1]}, ("payload.tags[1]", "is no string")),
        ({"size": "S", "tags": {}}, ("payload.tags", "is no array")),
        ({"size": "S", "nothing": 0}, ("payload.nothing", "is no null")),
    ],
)
def test_what_does_not_fit_is_named_by_its_path(payload: Any, fault: tuple[str, str]) -> None:
    assert check_payload(FORM, payload) == fault


def test_a_schema_deeper_than_any_question_ends() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"a": schema}
    value: dict[str, Any] = {}
    value["a"] = value

    assert check_payload(schema, value) is None
