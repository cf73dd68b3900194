"""Tests of agentfootprint.tools.declare."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from agentfootprint.errors import ConfigError
from agentfootprint.tools import Tool, ToolContext, ToolDefinitionError, ToolRules, tool

QUERY = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


def find(q: str) -> str:
    """Find something."""
    return q.upper()


def test_a_function_becomes_a_tool_and_still_is_one() -> None:
    @tool
    def lookup(order_id: str, days: int = 3) -> str:
        """Find one order.

        Args:
            order_id: Its number.
        """
        return f"{order_id} within {days}"

    assert lookup("A-1", days=5) == "A-1 within 5"
    assert (lookup.name, lookup.description) == ("lookup", "Find one order.")
    assert lookup.input_schema["properties"]["order_id"] == {"type": "string", "description": "Its number."}
    assert str(inspect.signature(lookup)) == "(order_id: 'str', days: 'int' = 3) -> 'str'"


async def test_an_async_function_is_awaited_when_called() -> None:
    @tool(name="look_up", description="Look one up.", timeout=3, rules=ToolRules(repeated_when="arguments"))
    async def lookup(order_id: str) -> str:
        return order_id

    assert await lookup("A-1") == "A-1"
    assert (lookup.name, lookup.description, lookup.timeout) == ("look_up", "Look one up.", 3)
    assert lookup.rules == ToolRules(repeated_when="arguments")


def test_hints_may_name_types_of_the_function_around() -> None:
    class Order(BaseModel):
        number: int

    @tool
    def pay(order: Order) -> str:
        """Pay."""
        return str(order.number)

    @tool(name="pay_later")
    def later(order: Order) -> str:
        """Pay later."""
        return str(order.number)

    assert pay.input_schema == later.input_schema
    assert "number" in pay.input_schema["properties"]["order"]["properties"]


def test_methods_partials_and_callable_objects_become_tools() -> None:
    class Shop:
        """Answers."""

        def find(self, order_id: str) -> str:
            """Find one."""
            return order_id

        async def __call__(self, order_id: str) -> str:
            """Ask."""
            return order_id

    class Desk:
        """Greets."""

        def __call__(self) -> None: ...

    made: list[Tool[..., Any]] = [
        tool(Shop().find),
        tool(name="ask")(Shop()),
        tool(name="find_a", description="Find A.")(functools.partial(Shop().find, order_id="A")),
        tool(Shop()),
        tool(Desk()),
        tool(functools.partial(functools.partial(find), "A")),
        tool(functools.partial(Desk())),
    ]

    assert [each.name for each in made] == ["find", "ask", "find_a", "Shop", "Desk", "find", "Desk"]
    assert [each.description for each in made] == [
        "Find one.",
        "Ask.",
        "Find A.",
        "Ask.",
        "Greets.",
        "Find something.",
        "Greets.",
    ]
    assert [each.binding.is_async for each in made] == [False, True, False, True, False, False, False]


def test_what_a_partial_gives_is_neither_shown_to_the_model_nor_its_to_choose() -> None:
    def pay(amount: int, tenant: str) -> str:
        """Pay."""
        return f"{tenant} {amount}"

    made = tool(functools.partial(pay, tenant="acme"))

    assert made.input_schema == {
        "type": "object",
        "properties": {"amount": {"type": "integer"}},
        "required": ["amount"],
        "additionalProperties": False,
    }
    assert made(amount=3) == "acme 3"


def pages(q: str) -> Iterator[str]:
    """Find page by page."""
    yield q


async def pages_later(q: str) -> AsyncIterator[str]:
    """Find page by page."""
    yield q


class Pages:
    def __call__(self, q: str) -> Iterator[str]:
        """Find page by page."""
        yield q


@pytest.mark.parametrize("given", [pages, pages_later, Pages(), functools.partial(pages, "x")])
def test_a_generator_function_is_refused_with_a_way_out(given: Any) -> None:
    refused = r"is a generator function.*Return a list"

    with pytest.raises(ToolDefinitionError, match=refused):
        tool(given)
    with pytest.raises(ToolDefinitionError, match=refused):
        Tool(given, name="pages", description="Find.", input_schema=QUERY)


def test_a_function_that_makes_a_list_of_a_generator_is_a_tool() -> None:
    @functools.wraps(pages)
    def listed(q: str) -> list[str]:
        return list(pages(q))

    assert tool(listed)(q="a") == ["a"]


def test_a_tool_with_a_schema_of_its_own_keeps_it_frozen() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    made = Tool(find, name="find", description="Find.", input_schema=schema)

    schema["type"] = "changed"

    assert made.input_schema == {"type": "object", "properties": {"q": {"type": "string"}}}
    assert made(q="x") == "X"


def test_an_empty_schema_is_an_object_without_properties() -> None:
    made = Tool(find, name="find", description="Find.", input_schema={})

    assert made.input_schema == {"type": "object", "properties": {}}


def test_a_tool_is_its_own_and_never_changes() -> None:
    one, two = tool(find), tool(find)

    assert one != two
    assert len({one, two, one}) == 2
    with pytest.raises(AttributeError):
        one.name = "other"  # pyright: ignore[reportAttributeAccessIssue]  that it can't be set is the point


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": " "}, r"has no name"),
        ({"description": ""}, r"'find' has no description.*Say what it does"),
        ({"input_schema": "x"}, r"input_schema of the tool 'find' is a str"),
        ({"input_schema": {"type": "string"}}, r"has the type 'string'"),
        ({"input_schema": {"default": {1, 2}}}, r"is no JSON: A value of type set"),
        ({"execute": "x"}, r"'find' has no function"),
        ({"timeout": 0}, r"'find' has a timeout of 0"),
        ({"timeout": True}, r"timeout of True"),
        ({"timeout": float("nan")}, r"timeout of nan"),
    ],
)
def test_a_tool_that_cannot_work_is_refused(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"execute": find, "name": "find", "description": "Find.", "input_schema": QUERY, **options}

    with pytest.raises(ToolDefinitionError, match=message) as caught:
        Tool(given.pop("execute"), **given)

    assert isinstance(caught.value, ConfigError)
    assert caught.value.fix


def test_a_function_without_a_docstring_is_refused() -> None:
    def silent(q: str) -> str:
        return q

    with pytest.raises(ToolDefinitionError, match=r"'silent' has no description.*Give it a docstring"):
        tool(silent)


def test_a_function_without_a_name_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match=r"has no name.*@tool\(name="):
        tool(description="Find.")(lambda: "x")


@pytest.mark.parametrize("wrong", ["lookup", 3, tool(find)])
def test_what_is_no_function_is_refused(wrong: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"@tool stands over a \w+\..*Put it over a function"):
        tool(wrong)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match=r"repeated_when is 'never'"):
        ToolRules(repeated_when="never")  # pyright: ignore[reportArgumentType]  that it is refused is the point


def test_a_context_is_not_in_the_schema() -> None:
    @tool
    def lookup(order_id: str, ctx: ToolContext[dict[str, str]]) -> str:
        """Find one order."""
        return ctx.deps[order_id]

    assert list(lookup.input_schema["properties"]) == ["order_id"]
    assert lookup("A-1", ToolContext({"A-1": "shipped"})) == "shipped"


def test_pydantic_is_loaded_only_for_rich_hints() -> None:
    program = """
import sys
from agentfootprint.tools import tool
@tool
def lookup(order_id: str) -> str:
    "Find."
    return order_id
assert "pydantic" not in sys.modules
@tool
def pay(orders: list[str]) -> str:
    "Pay."
    return ""
assert "pydantic" in sys.modules
"""

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_call_may_touch_is_declared_once_each() -> None:
    made = tool(capabilities=["user_data", "external_net", "user_data"])(find)

    assert made.capabilities == ("user_data", "external_net")
    assert tool(find).capabilities is None


@pytest.mark.parametrize("wrong", [["root"], "user_data", 3])
def test_an_unknown_capability_is_refused(wrong: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="memory_read, memory_write, external_net, user_data"):
        tool(capabilities=wrong)(find)
