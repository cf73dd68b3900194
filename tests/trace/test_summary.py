"""Tests of agentfootprint.trace.summary."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.trace import (
    ABSENT,
    Record,
    freeze,
    payload_summary,
    read_marker,
    summarize_value,
    thaw,
    utf16_length,
    write_marker,
)
from tests.trace.logs import values


class Ticket(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    ticket_id: str
    note: str | None = None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (ABSENT, "undefined"),
        (True, "true"),
        (1.0, "1"),
        (1e21, "1e+21"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (freeze([{"a": 1}]), "(1 item)"),
        (Ticket("t1"), "{ticketId}"),
        ({"k": 1} | {str(i): i for i in range(9)}, "{k, 0, 1, 2, ... (10 keys)}"),
    ],
)
def test_no_word_of_python_gets_into_a_summary(value: Any, told: str) -> None:
    assert summarize_value(value) == told


@given(st.text(), st.integers(3, 20))
def test_a_text_is_cut_by_utf16_units_and_never_inside_a_character(text: str, longest: int) -> None:
    told = summarize_value(text, longest)

    assert utf16_length(told) <= longest + 2
    assert told[1:-1] == text or (told.endswith('..."') and text.startswith(told[1:-4]))


@given(values)
def test_frozen_and_plain_values_are_told_alike(value: Any) -> None:
    frozen = freeze(value)

    assert summarize_value(frozen) == summarize_value(value)
    for make in (read_marker, write_marker, payload_summary):
        assert thaw(make(frozen)) == thaw(make(value))


def test_an_absent_value_has_a_marker_of_its_own() -> None:
    assert thaw(read_marker(ABSENT)) == {"__readSummary": True, "type": "undefined"}


def test_a_wide_payload_says_what_it_leaves_out() -> None:
    summary = thaw(payload_summary(list(range(20))))

    assert summary["size"] == 20
    assert len(summary["items"]) == 16
    assert summary["truncated"] is True


def test_a_payload_summary_has_at_most_128_nodes() -> None:
    summary = thaw(payload_summary([[[0] * 16] * 16] * 16))

    def nodes(node: dict[str, Any]) -> int:
        return 1 + sum(nodes(item) for item in node.get("items", ()))

    assert nodes(summary) == 128


def test_a_payload_that_contains_itself_is_described() -> None:
    loop: list[Any] = []
    loop.append(loop)

    assert thaw(payload_summary(loop))["items"] == [{"type": "array", "size": 1, "circular": True}]
