"""Tests of agentfootprint.recording.native.held."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.recording.native.held import Place, SpilledRows, hold


def filled(count: int, base: int) -> tuple[SpilledRows, list[int]]:
    """Rows of which the first `base` are in the file only; and how often that was read."""
    reads: list[int] = []

    def read_back() -> Sequence[int]:
        reads.append(1)
        return range(base)

    rows = SpilledRows(read_back)
    for number in range(count):
        rows.append(number)
    rows.cut(base)
    return rows, reads


@given(st.integers(0, 30), st.data())
def test_rows_are_read_as_a_list_wherever_they_are(count: int, data: st.DataObject) -> None:
    base = data.draw(st.integers(0, count))
    rows, _ = filled(count, base)
    first, last = data.draw(st.integers(-40, 40)), data.draw(st.integers(-40, 40))

    assert len(rows) == count
    assert [*rows] == [*range(count)]
    assert [*reversed(rows)] == [*reversed(range(count))]
    assert rows[first:last] == [*range(count)][first:last]
    assert rows[:] == [*range(count)]
    for place in range(-count, count):
        assert rows[place] == range(count)[place]


def test_only_what_is_in_the_file_is_read_from_it() -> None:
    rows, reads = filled(10, 4)

    assert [rows[place] for place in range(4, 10)] == [4, 5, 6, 7, 8, 9]
    assert rows[-1] == 9
    assert not reads
    assert rows[3] == 3
    assert reads


@pytest.mark.parametrize("place", [10, 11, -11])
def test_a_place_that_is_none_is_refused(place: int) -> None:
    rows, _ = filled(10, 4)

    with pytest.raises(IndexError):
        rows[place]


def test_rows_that_were_lost_with_a_file_are_nothing() -> None:
    rows = SpilledRows(lambda: [0, 1])
    for number in range(6):
        rows.append(number)
    rows.cut(4)

    assert [*rows] == [0, 1, None, None, 4, 5]
    assert rows[2] is None


def test_rows_go_on_while_they_are_read() -> None:
    rows, _ = filled(3, 2)
    found: list[int] = []

    for row in rows:
        found.append(row)
        if row < 5:
            rows.append(row + 10)

    assert found[:3] == [0, 1, 2]
    assert found[3:6] == [10, 11, 12]


def test_what_a_reader_has_not_come_to_is_needed() -> None:
    rows, _ = filled(100, 0)
    slow, quick = hold(rows), hold(rows)
    slow.position, quick.position = 20, 90

    assert rows.needed(80) == 20
    del slow
    assert rows.needed(80) == 80


def test_a_reader_of_events_that_is_far_behind_holds_so_much_and_no_more() -> None:
    class Reader:
        position = 5

    rows, _ = filled(100, 0)
    reader = Reader()
    rows.hold(reader)

    assert rows.needed(80, most=30) == 50
    assert rows.needed(80, most=1000) == 5


def test_a_row_in_the_file_is_what_it_is() -> None:
    rows, _ = filled(10, 4)

    rows[5] = 50
    rows[1] = 10

    assert rows[5] == 50
    assert rows[1] == 1


@pytest.mark.parametrize("make", [list, lambda: SpilledRows(list)])
def test_a_place_begins_at_the_first_row_of_any_sequence(make: Callable[[], Sequence[int]]) -> None:
    place = hold(make())

    assert isinstance(place, Place)
    assert place.position == 0
