"""Tests of agentfootprint.tools.signature."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import functools
import sys
import typing
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from agentfootprint.tools import ToolContext, ToolDefinitionError
from agentfootprint.tools.signature import function_of, injected_parameter, read_parameters
from agentfootprint.trace import thaw

if TYPE_CHECKING:
    from decimal import Decimal


class Colour(enum.Enum):
    RED = "r"
    GREEN = "g"


@dataclasses.dataclass
class Point:
    x: int
    title: str = "origin"


class Tree(BaseModel):
    """A node."""

    title: str
    children: list[Tree] = []


class Opaque:
    pass


def schema_of(call: Callable[..., object], **texts: str) -> Any:
    return thaw(read_parameters(call, "t", texts, {}).schema)


def test_scalars_need_a_hint_and_nothing_else() -> None:
    def f(city: str, days: int = 3, *, share: float, deep: bool = False) -> None: ...

    schema = schema_of(f, city="Where.")

    assert schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where."},
            "days": {"type": "integer", "default": 3},
            "share": {"type": "number"},
            "deep": {"type": "boolean", "default": False},
        },
        "required": ["city", "share"],
        "additionalProperties": False,
    }


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def f() -> None: ...

    assert schema_of(f) == {"type": "object", "properties": {}}


def test_rich_types_become_plain_json_schema() -> None:
    def f(
        colour: Colour,
        day: dt.date,
        unit: Literal["c", "f"],
        points: list[Point],
        note: str | None = None,
        limit: Annotated[int, Field(ge=1, description="At most so many.")] = 5,
    ) -> None: ...

    properties = schema_of(f, limit="Not this text.")["properties"]

    assert properties == {
        "colour": {"type": "string", "enum": ["r", "g"]},
        "day": {"type": "string", "format": "date"},
        "unit": {"type": "string", "enum": ["c", "f"]},
        "points": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "title": {"type": "string", "default": "origin"}},
                "required": ["x"],
            },
        },
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "limit": {"type": "integer", "minimum": 1, "default": 5, "description": "At most so many."},
    }


def test_only_a_recursive_type_keeps_a_reference() -> None:
    def f(tree: Tree) -> None: ...

    schema = schema_of(f)

    assert schema["properties"]["tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    assert set(schema["$defs"]) == {"Tree"}
    assert schema["properties"]["tree"]["description"] == "A node."


def test_two_types_of_one_name_stay_two() -> None:
    one = dataclasses.make_dataclass("Same", [("a", int)])
    two = dataclasses.make_dataclass("Same", [("b", str)])

    def f(first: object, second: object) -> None: ...

    f.__annotations__ = {"first": one, "second": two}
    properties = schema_of(f)["properties"]

    assert list(properties["first"]["properties"]) == ["a"]
    assert list(properties["second"]["properties"]) == ["b"]


def test_a_default_that_json_cannot_hold_is_left_out() -> None:
    def f(names: set[str] = {"a"}) -> None: ...  # noqa: B006  the default is the point

    schema = schema_of(f)

    assert "default" not in schema["properties"]["names"]
    assert "required" not in schema


@pytest.mark.parametrize("hint", ["ToolContext", "ToolContext[dict[str, str]]", "ToolContext | None"])
def test_a_context_is_injected_and_never_shown(hint: str) -> None:
    def f(city: str, where: object = None) -> None: ...

    f.__annotations__ = {"city": "str", "where": hint}
    parameters = read_parameters(f, "t", {}, {})

    assert parameters.injected == "where"
    assert list(parameters.schema["properties"]) == ["city"]


def test_hints_may_name_local_types() -> None:
    class Local(BaseModel):
        a: int

    def f(local: Local) -> None: ...

    parameters = read_parameters(f, "t", {}, locals())

    assert parameters.schema["properties"]["local"]["required"][0] == "a"


def no_hint(city: str, days: int) -> None: ...
def method(self: object, city: str) -> None: ...
def unmarked(ctx: object) -> None: ...
def stars(*cities: str) -> None: ...
def doubles(**cities: str) -> None: ...
def positional(city: str, /) -> None: ...
def opaque(thing: Opaque) -> None: ...
def nested(things: list[Opaque]) -> None: ...
def function(callback: Callable[[int], int]) -> None: ...
def lazy(things: Iterator[int]) -> None: ...
def unknown(price: Decimal) -> None: ...
def field(city: str = Field(default="Oslo")) -> None: ...
def twice(a: ToolContext, b: ToolContext) -> None: ...


for untyped, name in [(no_hint, "days"), (method, "self"), (unmarked, "ctx")]:
    del untyped.__annotations__[name]


@pytest.mark.parametrize(
    ("call", "parameter", "fix"),
    [
        (no_hint, "days", r"Give it the type"),
        (method, "self", r"tool\(thing\.method\)"),
        (unmarked, "ctx", r"Annotate it as ToolContext"),
        (stars, "cities", r"Name each parameter"),
        (doubles, "cities", r"Name each parameter"),
        (positional, "city", r"Leave the / out"),
        (opaque, "thing", r"Use str, int"),
        (nested, "things", r"Use str, int"),
        (function, "callback", r"Use str, int"),
        (lazy, "things", r"Use str, int"),
        (unknown, "price", r"not only under TYPE_CHECKING"),
        (field, "city", r"Annotated\[<type>, Field\(\.\.\.\)\]"),
        (twice, "b", r"Keep one"),
    ],
)
def test_what_cannot_be_offered_is_refused_by_name(call: Callable[..., object], parameter: str, fix: str) -> None:
    with pytest.raises(ToolDefinitionError, match=fix) as caught:
        read_parameters(call, "lookup", {}, {})

    assert (caught.value.tool, caught.value.parameter) == ("lookup", parameter)
    assert "'lookup'" in caught.value.problem
    assert parameter in caught.value.problem


def test_a_typed_dict_that_says_too_little_names_the_one_that_does() -> None:
    class Order(typing.TypedDict):
        number: int

    def pay(order: list[Order]) -> None: ...

    if sys.version_info >= (3, 12):
        assert read_parameters(pay, "pay", {}, locals()).required == ("order",)
        return
    with pytest.raises(ToolDefinitionError, match=r"Import TypedDict from typing_extensions") as caught:
        read_parameters(pay, "pay", {}, locals())

    assert "Please use `typing_extensions.TypedDict`" in caught.value.problem


def test_a_refused_hint_says_why() -> None:
    with pytest.raises(ToolDefinitionError, match=r"\(Unable to generate pydantic-core schema for [^)]*Opaque'>\)\."):
        read_parameters(opaque, "lookup", {}, {})


def test_a_builtin_without_a_signature_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match=r"can't be read.*Wrap it"):
        read_parameters(min, "min", {}, {})


def test_the_function_behind_a_wrapper_is_found() -> None:
    class Shop:
        def find(self, order: str) -> None: ...

        def __call__(self, order: str) -> None: ...

    @functools.wraps(Shop.find)
    def wrapper(*args: Any) -> None: ...

    found = [function_of(call) for call in (functools.partial(Shop().find, "x"), Shop().find, wrapper, Shop())]

    assert found == [Shop.find, Shop.find, Shop.find, Shop.__call__]


def test_a_context_is_found_in_a_function_with_a_schema_of_its_own() -> None:
    def with_context(query: object, where: ToolContext[int]) -> None: ...
    def without(query: str, **rest: object) -> None: ...

    with_context.__annotations__["query"] = "NobodyKnows"
    found = [injected_parameter(with_context), injected_parameter(without), injected_parameter(min)]

    assert found == ["where", None, None]
