"""Tests of agentfootprint.tools.offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agentfootprint.tools import (
    Tool,
    ToolDefinitionError,
    ToolListContext,
    ToolProvider,
    assert_valid_tool_name,
    collect_tools,
    static_tools,
    tool,
    tool_schema,
)
from agentfootprint.trace import thaw


def find(q: str) -> str:
    """Find something."""
    return q


def ask(q: str) -> str:
    """Ask somebody."""
    return q


class Source:
    def list(self, ctx: ToolListContext) -> Sequence[Tool[..., Any]]:
        return [tool(find)] if ctx.iteration == 1 else []


def test_a_list_is_sorted_into_tools_and_sources() -> None:
    source, made = Source(), tool(find)

    tools, providers = collect_tools([made, source, ask])

    assert tools[0] is made
    assert [each.name for each in tools] == ["find", "ask"]
    assert providers == (source,)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([tool(find), tool(find)], r"duplicate tool name 'find'.*Rename one"),
        ([tool(find), find], r"duplicate tool name 'find'"),
        ([tool(find), "ask"], r"tools\[1\] is no tool \(str\).*Put @tool over"),
        ([Source], r"tools\[0\] is no tool \(Source\)"),
        ([[tool(find)]], r"tools\[0\] is no tool \(list\)"),
        ([lambda: "x"], r"has no name"),
    ],
)
def test_what_cannot_be_offered_is_refused(items: list[Any], message: str) -> None:
    with pytest.raises(ToolDefinitionError, match=message):
        collect_tools(items)


def test_a_static_source_always_offers_the_tools_it_was_given() -> None:
    given: list[Any] = [tool(find)]

    source = static_tools(given)
    given.clear()

    offered = source.list(ToolListContext(iteration=9))

    assert isinstance(source, ToolProvider)
    assert isinstance(offered, Sequence)
    assert [each.name for each in offered] == ["find"]


def test_a_static_source_holds_no_other_source() -> None:
    with pytest.raises(ToolDefinitionError, match=r"given a source of tools"):
        static_tools([Source()])


def test_a_model_sees_name_description_and_schema_alone() -> None:
    made = tool(timeout=3)(find)

    schema = tool_schema(made)

    assert thaw(schema) == {
        "name": "find",
        "description": "Find something.",
        "inputSchema": {
            "type": "object",
            "properties": {"q": {"type": "string"}},
            "required": ["q"],
            "additionalProperties": False,
        },
    }


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (3, r"is a int, not a text"),
        ("", r"is empty"),
        ("x" * 65, r"has 65 characters"),
        ("find order", r"has characters that some vendors refuse"),
        ("find\n", r"has characters that some vendors refuse"),
    ],
)
def test_a_name_that_vendors_refuse_is_told(name: object, message: str) -> None:
    with pytest.raises(ToolDefinitionError, match=message):
        assert_valid_tool_name(name)


def test_a_name_that_vendors_take_passes() -> None:
    assert_valid_tool_name("Find_order-2" + "x" * 52)
