"""Tests of agentfootprint.trace.filters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.trace import ABSENT, FilterListTooLongError, FilterVerdict, ValueRefusedError, evaluate_filter, thaw


def holds(actual: Any, op: str, threshold: Any) -> bool:
    return evaluate_filter(lambda _: actual, {"k": {op: threshold}}).matched


def judged(where: dict[str, Any], state: dict[str, Any], redacted: str = "") -> FilterVerdict:
    return evaluate_filter(lambda key: state.get(key, ABSENT), where, is_redacted=lambda key: key == redacted)


@pytest.mark.parametrize(
    ("actual", "op", "threshold", "expected"),
    [
        (True, "eq", 1, False),
        (1, "eq", 1.0, True),
        (None, "eq", None, True),
        (ABSENT, "eq", None, False),
        (float("nan"), "eq", 1, False),
        (float("nan"), "lte", 1, False),
        ([1], "eq", [1], False),
        ([1], "ne", [1], True),
        ({"a": 1}, "in", [{"a": 1}], False),
        (1, "in", [True], False),
        (None, "lt", 1, True),
        (True, "gte", 1, True),
        ("10", "gt", 9, True),
        (" 0x10 ", "gte", 16, True),
        ("", "lte", 0, True),
        ("1_0", "gt", 0, False),
        ("nan", "lte", 1, False),
        ("inf", "gt", 1, False),
        ("Infinity", "gt", 1, True),
        (ABSENT, "gte", 0, False),
        ({}, "gte", 0, False),
        ("10", "lt", "9", True),
        ("\U0001f600", "lt", "\ufb01", True),
        ("a", "notIn", ("b", "c"), True),
    ],
)
def test_comparisons_are_those_of_the_wire(actual: Any, op: str, threshold: Any, expected: bool) -> None:
    assert holds(actual, op, threshold) is expected


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False), st.integers(-5, 5))
def test_numbers_are_ordered_as_numbers(actual: float, threshold: int) -> None:
    assert holds(actual, "gt", threshold) == (actual > threshold)
    assert holds(actual, "lte", threshold) == (actual <= threshold)
    assert holds(actual, "eq", threshold) != holds(actual, "ne", threshold)


def test_each_key_is_read_once_and_in_order() -> None:
    read: list[str] = []

    def get(key: str) -> int:
        read.append(key)
        return 5

    evaluate_filter(get, {"b": {"gt": 1, "lt": 9}, "skipped": 5, "a": {"eq": 5}, "toString": {"ne": 1}})

    assert read == ["b", "a"]


@pytest.mark.parametrize("key", ["__proto__", "constructor", "hasOwnProperty", "toString"])
def test_a_key_that_every_object_has_never_matches(key: str) -> None:
    verdict = judged({key: {"ne": 1}, "k": {"eq": 1}}, {"k": 1})

    assert verdict.matched is False
    assert [condition.key for condition in verdict.conditions] == ["k"]


def test_a_threshold_never_tells_a_redacted_value() -> None:
    state = {"ssn": "123-45"}

    verdict = judged({"ssn": {"eq": "123-45", "in": ["999", "123-45"], "ne": "other"}}, state, redacted="ssn")

    assert verdict.matched is True
    assert [thaw(condition.threshold) for condition in verdict.conditions] == [
        "[REDACTED]",
        ["999", "[REDACTED]"],
        "other",
    ]
    assert "123-45" not in repr(verdict)


def test_a_list_too_long_to_be_a_rule_is_refused_by_key() -> None:
    assert holds(5, "in", list(range(1000)))

    with pytest.raises(
        FilterListTooLongError, match=r"'notIn' on 'k' has a list of 1001 values; at most 1000"
    ) as error:
        holds(5, "notIn", list(range(1001)))

    assert (error.value.key, error.value.op, error.value.length) == ("k", "notIn", 1001)


def test_a_threshold_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueRefusedError, match=r"type set can't be recorded"):
        holds(5, "in", {5})


def test_the_evidence_does_not_change_with_the_rule() -> None:
    members = [1, 2]
    verdict = judged({"k": {"in": members}}, {"k": 1})

    members.append(3)

    assert thaw(verdict.conditions[0].threshold) == [1, 2]
