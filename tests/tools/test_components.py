"""Tests of agentfootprint.tools.components."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Tool
from agentfootprint.agent import AskComponent, InvalidAskComponentError
from agentfootprint.tools import ToolRules, check_component


def test_a_component_writes_what_it_has() -> None:
    assert AskComponent("panel").to_wire() == {"componentId": "panel"}
    assert AskComponent("panel", props={"tone": "serious"}, props_ref="art_1").to_wire() == {
        "componentId": "panel",
        "props": {"tone": "serious"},
        "propsRef": "art_1",
    }


def test_what_it_is_shown_with_is_frozen() -> None:
    props: dict[str, Any] = {"rows": [1]}
    component = AskComponent("panel", props=props)

    props["rows"].append(2)

    assert component.props == {"rows": [1]}


@pytest.mark.parametrize(
    "given",
    [
        {"component_id": " "},
        {"component_id": 5},
        {"component_id": "a", "props": [1]},
        {"component_id": "a", "props_ref": ""},
    ],
)
def test_a_shape_that_cannot_be_used_is_refused_where_it_is_made(given: Any) -> None:
    with pytest.raises(InvalidAskComponentError) as refused:
        AskComponent(**given)

    assert (refused.value.code, refused.value.reason) == ("ERR_INVALID_ASK_COMPONENT", "shape")


def test_props_that_cannot_be_recorded_are_refused() -> None:
    with pytest.raises(InvalidAskComponentError):
        AskComponent("a", props={"x": object()})


def test_the_object_on_the_wire_is_taken_too_and_the_door_is_named() -> None:
    assert check_component({"componentId": "a", "props": None}, "ask") == AskComponent("a")
    with pytest.raises(InvalidAskComponentError) as refused:
        ToolRules(component={"componentId": ""})  # type: ignore[arg-type]
    assert refused.value.door == "check_in"


def test_a_tool_that_asks_for_no_approval_needs_no_component() -> None:
    rules = ToolRules(component=AskComponent("panel"))

    with pytest.raises(Exception, match="approval that it never asks for"):
        Tool(print, name="t", description="d", input_schema={"type": "object"}, rules=rules)
    assert Tool(print, name="t", description="d", input_schema={"type": "object"}, rules=rules, check_in="always").rules
