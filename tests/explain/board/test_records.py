"""Tests of agentfootprint.explain.board.records."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.explain.board import RecordPool
from agentfootprint.explain.board.shape import BoardRecord


def message(text: str) -> BoardRecord:
    return {"slot": "messages", "kind": "user", "text": text}


@given(st.lists(st.integers(0, 30), max_size=40))
def test_ranges_hold_the_indices_in_their_order_and_never_touch(indices: list[int]) -> None:
    ranges = RecordPool.ranges(indices)

    assert [index for start, end in ranges for index in range(start, end)] == indices
    assert all(first[1] != second[0] for first, second in pairwise(ranges))


def test_a_list_that_only_grows_is_one_range() -> None:
    pool = RecordPool()

    history = [pool.add(message(f"turn {number}")) for number in range(50)]

    assert pool.ranges(history) == [[0, 50]]


def test_a_record_met_again_keeps_its_index_unless_its_key_is_another() -> None:
    pool = RecordPool()

    first, again = pool.add(message("yes")), pool.add(message("yes"))
    other = pool.add(message("yes"), key="second turn")

    assert (first, again, other) == (0, 0, 1)
    assert len(pool.records) == 2


def test_records_that_differ_in_one_part_are_different() -> None:
    pool = RecordPool()
    variants: list[BoardRecord] = [
        message("a"),
        {**message("a"), "kind": "assistant"},
        {**message("a"), "slot": "tools"},
        {**message("a"), "id": "x"},
        {**message("a"), "source": "x"},
        {**message("a"), "calls": [{"name": "x", "arguments": "{}"}]},
        {**message("a"), "calls": [{"name": "x", "arguments": "{1}"}]},
        {**message("a"), "unknown": "redacted"},
        {**message("a"), "span": [0, 1]},
    ]

    assert [pool.add(record) for record in variants] == list(range(len(variants)))
