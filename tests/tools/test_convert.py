"""Tests of agentfootprint.tools.convert."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import pathlib
import uuid
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field, model_validator

from agentfootprint.tools.convert import bind, bind_scalars
from agentfootprint.tools.signature import Parameters, read_parameters
from agentfootprint.trace import freeze


class Colour(enum.Enum):
    RED = "r"


@dataclasses.dataclass
class Point:
    x: int


class Span(BaseModel):
    start: int
    end: int

    @model_validator(mode="after")
    def ordered(self) -> Span:
        if self.end < self.start:
            raise ValueError(f"{self.start} is after {self.end}")
        return self


def parameters_of(**hints: object) -> Parameters:
    scope: dict[str, Any] = {}
    exec(f"def call({', '.join(hints)}): ...", scope)
    call = scope["call"]
    call.__annotations__ = hints
    return read_parameters(call, "t", {}, {})


def bound(hint: object, value: object) -> Any:
    kwargs, issues = bind(parameters_of(a=hint), freeze({"a": value}))
    assert issues == ()
    return kwargs["a"]


def issues_of(hint: object, value: object) -> list[tuple[str, str, str]]:
    _, issues = bind(parameters_of(a=hint), freeze({"a": value}))
    return [(issue.path, issue.expected, issue.got) for issue in issues]


@pytest.mark.parametrize(
    ("hint", "value", "converted"),
    [
        (dt.date, "2026-01-02", dt.date(2026, 1, 2)),
        (dt.datetime, "2026-01-02T03:04:05", dt.datetime(2026, 1, 2, 3, 4, 5)),  # noqa: DTZ001
        (dt.timedelta, "PT5S", dt.timedelta(seconds=5)),
        (decimal.Decimal, "1.50", decimal.Decimal("1.50")),
        (uuid.UUID, "00000000-0000-0000-0000-000000000001", uuid.UUID(int=1)),
        (pathlib.Path, "a/b", pathlib.Path("a/b")),
        (Colour, "r", Colour.RED),
        (Literal["a", "b"], "b", "b"),
        (set[str], ["a", "a"], {"a"}),
        (tuple[int, str], [1, "x"], (1, "x")),
        (Point, {"x": 3.0}, Point(3)),
        (list[Point], [{"x": 1}], [Point(1)]),
        (Span, {"start": 1, "end": 2}, Span(start=1, end=2)),
        (int | None, None, None),
        (int | str, "3", "3"),
        (dict[str, Any], {"k": [1, {"x": None}]}, {"k": [1, {"x": None}]}),
    ],
)
def test_values_become_what_the_hint_says(hint: object, value: object, converted: object) -> None:
    assert bound(hint, value) == converted
    assert type(bound(hint, value)) is type(converted)


def test_numbers_become_the_kind_of_number_that_was_asked_for() -> None:
    kwargs, issues = bind(parameters_of(whole=int, share=float), freeze({"whole": 3.0, "share": 1}))

    assert (kwargs, issues) == ({"whole": 3, "share": 1.0}, ())
    assert [type(value) for value in kwargs.values()] == [int, float]


def test_a_function_may_change_what_it_gets() -> None:
    args = freeze({"a": {"k": [1]}})

    kwargs, _ = bind(parameters_of(a=dict[str, list[int]]), args)
    kwargs["a"]["k"].append(2)

    assert args == {"a": {"k": [1]}}


@pytest.mark.parametrize(
    ("hint", "value", "issue"),
    [
        (dt.date, "soon", ("a", "date", "string")),
        (dt.datetime, "SECRET", ("a", "date-time", "string")),
        (dt.timedelta, "SECRET", ("a", "duration", "string")),
        (uuid.UUID, "SECRET", ("a", "uuid", "string")),
        (decimal.Decimal, "SECRET", ("a", "decimal number", "string")),
        (int | None, "3", ("a", "integer", "string")),
        (int | str, [], ("a", "integer | string", "array")),
        (Annotated[int, Field(ge=1)], 0, ("a", "at least 1", "number")),
        (Annotated[int, Field(multiple_of=5)], 3, ("a", "a multiple of 5", "number")),
        (Annotated[list[int], Field(min_length=2)], [1], ("a", "at least 2 long", "array")),
        (list[Point], [{"x": 1}, {}], ("a[1].x", "required", "missing")),
        (tuple[int, str], [1], ("a[1]", "required", "missing")),
        (dict[str, list[int]], {"k": [1, "SECRET"]}, ("a.k[1]", "integer", "string")),
        (Colour, "SECRET", ("a", "'r'", "string")),
        (Span, {"start": 2, "end": 1}, ("a", "a value its check accepts (value_error)", "object")),
    ],
)
def test_what_does_not_convert_is_told_by_field_and_type(
    hint: object, value: object, issue: tuple[str, str, str]
) -> None:
    assert issues_of(hint, value) == [issue]


def test_a_check_of_the_users_that_breaks_is_an_issue() -> None:
    def check(value: int) -> int:
        raise KeyError("SECRET")

    found = issues_of(Annotated[int, AfterValidator(check)], 3)

    assert found == [("a", "a value its check accepts (KeyError)", "number")]


def test_what_does_not_convert_stays_plain() -> None:
    kwargs, _ = bind(parameters_of(a=dt.date, b=str), freeze({"a": ["x"], "b": 3, "c": "unknown"}))

    assert kwargs == {"a": ["x"], "b": 3}


def test_no_more_than_ten_issues_are_told() -> None:
    assert len(issues_of(list[int], ["x"] * 50)) == 10


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ({"n": 3, "s": "x"}, {"n": 3, "s": "x"}),
        ({"n": 3.0, "s": "x"}, {"n": 3, "s": "x"}),
        ({"n": True, "s": "x"}, None),
        ({"n": 3.5, "s": "x"}, None),
        ({"n": 3}, None),
        ({"n": 3, "s": "x", "t": 1}, None),
    ],
)
def test_scalars_that_fit_need_no_further_check(args: dict[str, Any], kwargs: dict[str, Any] | None) -> None:
    assert bind_scalars(parameters_of(n=int, s=str), freeze(args)) == kwargs
