"""Tests of agentfootprint.trace.stores."""

from __future__ import annotations

import pytest

from agentfootprint.trace import CommitRange, CommitRangeIndex, EntryRange, KeyedStore, RangeToken, SequenceStore


def total(so_far: int, value: int) -> int:
    return so_far + value


def test_a_keyed_store_keeps_the_last_value_of_a_step_in_order_of_first_write() -> None:
    store = KeyedStore[int]()
    for step, value in (("a#0", 1), ("b#1", 2), ("a#0", 3)):
        store.set(step, value)

    assert store.items() == [("a#0", 3), ("b#1", 2)]
    assert (store.keys(), store.values(), len(store)) == (["a#0", "b#1"], [3, 2], 2)
    assert (store.get("a#0"), store.get("c#2"), "b#1" in store) == (3, None, True)


def test_a_keyed_store_folds_what_is_visible() -> None:
    store = KeyedStore[int]()
    for i in range(4):
        store.set(f"s#{i}", i)

    assert store.aggregate(total, 0) == 6
    assert store.accumulate(total, 0, keys={"s#1", "s#3"}) == 4
    assert store.filter_by_keys({"s#2"}) == [2]
    assert store.map(lambda value, step: f"{step}={value}")["s#1"] == "s#1=1"


def test_a_keyed_store_forgets() -> None:
    store = KeyedStore[None]()
    store.set("a#0", None)

    assert (store.delete("a#0"), store.delete("a#0")) == (True, False)
    store.set("a#0", None)
    store.clear()
    assert len(store) == 0


@pytest.mark.parametrize(
    ("ids", "visible", "shown"),
    [
        (["a", None, "b"], {"a", "b"}, [0, 1, 2]),
        (["a", None, "b"], {"a"}, [0]),
        (["a", None, "b", None, "c"], {"a", "c"}, [0, 4]),
        ([None, "a", None], {"a"}, [1]),
        (["a"], set[str](), []),
    ],
)
def test_a_marker_shows_only_between_two_visible_entries(
    ids: list[str | None], visible: set[str], shown: list[int]
) -> None:
    store = SequenceStore[int]()
    for i, step in enumerate(ids):
        store.push(i, step)

    assert store.entries_up_to(visible) == shown


def test_a_sequence_knows_the_entries_of_a_step() -> None:
    store = SequenceStore[str]()
    for entry, step in (("x", "a#0"), ("y", "b#1"), ("z", "a#0")):
        store.push(entry, step)

    assert store.entries_for_step("a#0") == ["x", "z"]
    assert store.entry_ranges() == {"a#0": EntryRange(0, 3), "b#1": EntryRange(1, 2)}
    assert store.accumulate(lambda so_far, entries: so_far + len(entries), 0) == 3
    assert (list(store), store.entries(), store.key_count) == (["x", "y", "z"], ["x", "y", "z"], 2)
    store.clear()
    assert (len(store), store.entry_ranges()) == (0, {})


def test_spans_are_found_outermost_first() -> None:
    index = CommitRangeIndex()
    inner = index.open("inner", 2)
    outer = index.open("outer", 2)
    index.close(inner, 3)
    index.close(outer, 5)

    assert index.enclosing(2) == [CommitRange("outer", 2, 5), CommitRange("inner", 2, 3)]
    assert index.enclosing(4) == [CommitRange("outer", 2, 5)]
    assert index.overlapping(6, 9) == []


def test_a_span_is_closed_once_and_by_its_own_token() -> None:
    index, other = CommitRangeIndex(), CommitRangeIndex()
    token = index.open("turn", 0)

    index.close(other.open("turn", 0), 1)
    index.close(RangeToken(), 1)
    index.close(token, 4)
    index.close(token, 9)

    assert index.enclosing(4) == [CommitRange("turn", 0, 4)]
    assert index.enclosing(5) == []
