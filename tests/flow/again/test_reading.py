"""Tests of agentfootprint.flow.again.reading."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.flow import CheckpointError
from agentfootprint.flow.again.reading import count_at, frozen_at, list_at, object_at, objects_at, text_at, texts_at
from agentfootprint.trace import FrozenDict, freeze

READERS: list[tuple[Callable[..., Any], list[Any], list[Any]]] = [
    (text_at, [None, "x"], ["", 1, [], {}]),
    (count_at, [0, 5], [None, -1, True, 1.0, "1"]),
    (list_at, [None, [], [1], freeze([1])], ["text", {}, 1]),
    (texts_at, [[], ["a"], ("a",)], [None, "text", [1], [None]]),
    (object_at, [{}, {"a": 1}, freeze({"a": 1})], [None, [], "text", 1, {"a": math.nan}, {1: 2}]),
    (objects_at, [{}, {"a": {}}], [None, [], {"a": 1}, {"a": None}]),
    (frozen_at, [None, 1, [1], {}], [math.nan, {1}, {"a": {"b": [math.inf]}}]),
]


@pytest.mark.parametrize(("read", "good", "given"), READERS)
def test_a_member_is_read_or_refused_by_its_name(read: Callable[..., Any], good: list[Any], given: list[Any]) -> None:
    for value in good:
        read({"key": value}, "key")
    for value in given:
        with pytest.raises(CheckpointError, match=r"'key") as refused:
            read({"key": value}, "key")
        assert refused.value.field.startswith("key")


def test_the_way_to_a_member_is_named() -> None:
    with pytest.raises(CheckpointError, match=r"'frames\[2\]\.key' is not an object") as refused:
        object_at({"key": 1}, "key", "frames[2].")

    assert refused.value.field == "frames[2].key"


def test_what_is_read_is_the_readers_own() -> None:
    given: dict[str, Any] = {"key": {"list": [1]}}

    read = object_at(given, "key")
    given["key"]["list"].append(2)

    assert isinstance(read, FrozenDict)
    assert list(read["list"]) == [1]


def test_nesting_without_end_is_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(CheckpointError, match=r"'key'"):
        frozen_at({"key": deep}, "key")
