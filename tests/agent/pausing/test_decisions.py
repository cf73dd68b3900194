"""Tests of agentfootprint.agent.pausing.decisions."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Decision, approve, decline
from agentfootprint.agent import DecisionValue
from agentfootprint.agent.pausing.decisions import read_decision, shape_of
from agentfootprint.errors import ConfigError
from agentfootprint.trace import freeze


def test_a_decision_writes_what_it_says() -> None:
    value = DecisionValue(kind="rows", value=[1, 2], from_="art_1", coverage={"seen": 2, "total": 9})

    wire = approve(by="dana", note="ok", value=value, args={"amount": 5}).to_wire()

    assert wire.pop("at") > 0
    assert wire == {
        "approved": True,
        "by": "dana",
        "note": "ok",
        "value": {"kind": "rows", "value": [1, 2], "from": "art_1", "coverage": {"seen": 2, "total": 9}},
        "args": {"amount": 5},
    }
    assert "note" not in decline(by="").to_wire()


@pytest.mark.parametrize(
    "given",
    [
        {"approved": 1, "by": "x"},
        {"approved": True, "by": None},
        {"approved": True, "by": "x", "note": 5},
        {"approved": True, "by": "x", "args": [1]},
        {"approved": False, "by": "x", "args": {"a": 1}},
        {"approved": True, "by": "x", "value": {"kind": "k"}},
    ],
)
def test_what_is_no_decision_is_refused_where_it_is_made(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Decision(**given)


def test_an_object_reads_like_the_decision_it_is() -> None:
    read = read_decision(freeze({"approved": True, "by": "a", "note": 5, "at": True, "args": {"x": 1}, "more": 1}))

    assert (read.approved, read.by, read.note, read.at, read.args) == (True, "a", None, None, {"x": 1})
    assert read_decision(freeze({"approved": False, "by": "a", "args": {"x": 1}})).args is None


def test_shapes_are_words() -> None:
    given = [None, True, 1.5, "t", [1], (1,), {"a": 1}, object()]

    assert [shape_of(each) for each in given] == [
        "null",
        "a boolean",
        "a number",
        "a string",
        "an array",
        "an array",
        "an object that is not a decision",
        "a object",
    ]
