"""Tests of agentfootprint.tools.results."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import pathlib
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agentfootprint.errors import ConfigError
from agentfootprint.tools import NO_VALUE, NO_VALUE_TEXT, ToolResult, absent, coverage, result_text
from agentfootprint.tools.errors import ToolTimeoutError
from agentfootprint.tools.results import read_failure, read_result
from agentfootprint.trace import freeze


class Colour(enum.Enum):
    RED = "r"


@dataclasses.dataclass
class Point:
    x: int


@dataclasses.dataclass
class Holder:
    x: object


class Order(BaseModel):
    number: int
    due: dt.date


class Broken(BaseModel):
    def model_dump(self, **_: Any) -> dict[str, Any]:
        raise OSError("SECRET")


class Unprintable(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise RuntimeError("SECRET")


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("", ""),
        ("plain", "plain"),
        ({"tempC": 18.0, "t": "é"}, '{"tempC":18,"t":"é"}'),
        ((1, None, True), "[1,null,true]"),
        (1e21, "1e+21"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (decimal.Decimal("1.50"), "1.50"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (Colour.RED, "r"),
        (Point(1), '{"x":1}'),
        (Order(number=1, due=dt.date(2026, 1, 2)), '{"number":1,"due":"2026-01-02"}'),
        (b"x", '{"$bytes":"eA=="}'),
        (ToolResult(None), "null"),
    ],
)
def test_a_value_becomes_a_text_for_the_model(returned: object, text: str) -> None:
    read = read_result("t", returned)

    assert (read.text, read.is_error) == (text, False)


def test_no_value_is_no_null() -> None:
    nothing, null = read_result("t", None), read_result("t", ToolResult(None))

    assert (nothing.value, nothing.text) == (NO_VALUE, NO_VALUE_TEXT)
    assert (null.value, null.text) == (None, "null")


def test_the_recorded_value_is_frozen() -> None:
    returned: dict[str, list[int]] = {"rows": [1]}

    read = read_result("t", returned)
    returned["rows"].append(2)

    assert read.value == freeze({"rows": [1]})


def cyclic() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


def generator() -> Iterator[int]:
    yield 1


async def coroutine() -> None: ...


def too_deep() -> list[Any]:
    items: list[Any] = []
    for _ in range(100_000):
        items = [items]
    return items


@pytest.mark.parametrize(
    ("returned", "text", "path"),
    [
        ({"a": [{1, 2}]}, "[unserializable: set]", ("a", 0)),
        ({"a": float("nan")}, "[unserializable: float]", ("a",)),
        (float("inf"), "[unserializable: float]", ()),
        ("\ud800", "[unserializable: str]", ()),
        ({1: "a"}, "[unserializable: dict]", ()),
        (generator(), "[unserializable: generator]", ()),
        (ToolResult({"f": print}), "[unserializable: builtin_function_or_method]", ("f",)),
        (Holder({1, 2}), "[unserializable: set]", ("x",)),
        (cyclic(), "[unstringifiable: it contains itself]", (0,)),
        (too_deep(), "[unstringifiable: it is nested too deeply]", ()),
        (Broken(), "[unstringifiable: OSError]", ()),
        ([10**5000], "[unstringifiable: ValueError]", ()),
    ],
)
def test_what_json_cannot_hold_is_described_and_marked(
    returned: object, text: str, path: tuple[str | int, ...], caplog: pytest.LogCaptureFixture
) -> None:
    read = read_result("lookup", returned)

    assert (read.text, read.value, read.is_error) == (text, text, True)
    assert (read.refused_path, read.exception) == (path, None)
    assert "'lookup'" in caplog.text
    assert "SECRET" not in caplog.text


def test_a_coroutine_that_nobody_awaited_is_closed_and_described() -> None:
    read = read_result("t", {"a": coroutine()})

    assert read.text == "[unserializable: coroutine]"


def test_a_status_is_told_and_an_absence_is_no_error() -> None:
    nothing = absent("order", checked=["eu"])

    reads = [
        read_result("t", returned)
        for returned in ({"n": 1}, ToolResult(1, status="partial"), nothing, ToolResult(nothing, status="pending"))
    ]

    assert [(read.status, read.is_error) for read in reads] == [
        (None, False),
        ("partial", False),
        ("absent", False),
        ("pending", False),
    ]


def test_what_a_result_covers_is_read_off_it() -> None:
    read = read_result("t", coverage({"n": 1}, checked=["eu"]))

    assert read.coverage is not None
    assert [declared.kind for declared in read.coverage.declared] == ["ledger"]
    assert read.text.startswith('{"af_coverage":{"checked":[{"what":"eu"}]')


def test_an_unknown_status_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"ToolResult\.status is 'fine'.*Use one of: success"):
        ToolResult(1, status="fine")  # pyright: ignore[reportArgumentType]  that it is refused is the point


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        (ValueError("no such order"), "no such order"),
        (ValueError(), "ValueError"),
        (KeyError("x"), "'x'"),
        (ValueError("a\ud800b"), "a?b"),
        (Unprintable(), "[unstringifiable: RuntimeError]"),
        (ToolTimeoutError("lookup", 3), "The tool 'lookup' did not finish within 3 seconds."),
    ],
)
def test_a_failure_is_told_in_its_own_words(failure: Exception, text: str) -> None:
    read = read_failure(failure)

    assert (read.text, read.value, read.is_error, read.exception) == (text, text, True, failure)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_text_is_used_as_it_is(text: str) -> None:
    assert result_text(text) is text
    assert read_result("t", text).value is text
