"""Tests of agentfootprint.agui.verifying.shapes."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.agui.verifying.shapes import shape_fault

RUN = {"threadId": "t", "runId": "r"}


@pytest.mark.parametrize(
    "event",
    [
        {"type": "CUSTOM", "name": "n", "value": None},
        {"type": "STATE_SNAPSHOT", "snapshot": {"a": None}},
        {"type": "RUN_FINISHED", **RUN, "result": {"a": None}},
        {"type": "STATE_DELTA", "delta": [{"op": "replace", "path": "/a", "value": None}]},
    ],
)
def test_null_as_a_value_is_no_fault(event: dict[str, Any]) -> None:
    assert shape_fault(event) is None


@pytest.mark.parametrize(
    ("event", "where"),
    [
        ({"type": "RUN_STARTED", **RUN, "parentRunId": None}, "parentRunId"),
        ({"type": "RUN_ERROR", "message": "m", "code": None}, "code"),
        (
            {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "a", "role": "assistant", "content": None}]},
            "messages.0.content",
        ),
        (
            {
                "type": "RUN_FINISHED",
                **RUN,
                "outcome": {"type": "interrupt", "interrupts": [{"id": "i", "reason": "r", "message": None}]},
            },
            "outcome.interrupts.0.message",
        ),
    ],
)
def test_an_optional_member_that_is_null_is_named(event: dict[str, Any], where: str) -> None:
    assert shape_fault(event) == ("null", f"has null at {where}, where it should be left out")


def test_a_member_of_another_type_is_named_and_not_quoted() -> None:
    rule, problem = shape_fault({"type": "RUN_ERROR", "message": ["swordfish"]}) or ("", "")

    assert rule == "shape"
    assert "message" in problem
    assert "swordfish" not in problem
