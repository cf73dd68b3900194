"""Tests of agentfootprint.recording.native.references."""

from __future__ import annotations

from typing import Any

from agentfootprint.llm import LLMMessage
from agentfootprint.recording import MessageRows
from agentfootprint.recording.native.references import ValueWriter
from agentfootprint.trace import FrozenDict, FrozenList, freeze

LONG = "a text that is long enough to be worth a reference to it"


def test_a_value_is_written_once_and_then_referred_to() -> None:
    writer, value = ValueWriter(), freeze({"a": [1, {"b": LONG}]})

    assert writer.write(value, (7, 0)) == {"a": [1, {"b": LONG}]}
    assert writer.write(value, (8, 0)) == {"$at": (7, 0)}
    assert writer.write(freeze([value["a"][1]]), (9, 0)) == [{"$at": (7, 0, "a", 1)}]
    assert writer.write(value["a"][1]["b"], (9, 1)) == {"$at": (7, 0, "a", 1, "b")}


def test_equal_values_of_different_identity_are_written_again() -> None:
    """01b trap 2: nothing is ever the same because it is equal."""
    writer = ValueWriter()

    assert writer.write(freeze({"n": 1}), (1, 0)) == {"n": 1}
    assert writer.write(freeze({"n": True}), (2, 0)) == {"n": True}
    assert writer.write(freeze({"n": 1.0}), (3, 0)) == {"n": 1.0}


def test_an_object_that_looks_like_a_reference_is_marked() -> None:
    """01b trap 3."""
    writer = ValueWriter()

    found = [
        writer.write(freeze(value), (n, 0))
        for n, value in enumerate([{"$at": [1, 2]}, {"$lit": {"x": 1}}, {"$fn": "f", "of": 1}, {"$at": 1, "b": 2}])
    ]

    assert found == [
        {"$lit": {"$at": [1, 2]}},
        {"$lit": {"$lit": {"x": 1}}},
        {"$lit": {"$fn": "f", "of": 1}},
        {"$at": 1, "b": 2},
    ]


def test_a_value_never_refers_into_itself() -> None:
    writer, part = ValueWriter(), freeze({"text": LONG})

    assert writer.write(freeze([part, part]), (1, 0)) == [{"text": LONG}, {"text": LONG}]
    assert writer.write(part, (1, 1)) == {"$at": (1, 0, 1)}, "its own row, but another value of it"


def test_short_texts_numbers_and_empty_containers_are_not_worth_a_reference() -> None:
    writer = ValueWriter()
    values: list[Any] = [FrozenList([], 0), FrozenDict({}), "short", 1, None]

    for row in (1, 2):
        assert [writer.write(value, (row, n)) for n, value in enumerate(values)] == [[], {}, "short", 1, None]


def test_a_list_that_grew_is_the_old_one_and_what_was_added() -> None:
    writer, old = ValueWriter(), freeze([{"n": 1}])
    new = old.append(freeze({"n": 2}))
    writer.write(old, (1, 0))

    assert writer.write(new, (2, 0)) == {"$cat": [{"of": (1, 0)}, [{"n": 2}]]}
    assert writer.write(new[:1], (3, 0)) == {"$cat": [{"of": (2, 0), "cut": (0, 1)}]}


def test_a_list_that_was_cut_is_the_ranges_that_were_kept() -> None:
    writer, old = ValueWriter(), freeze([{"n": n} for n in range(9)])
    writer.write(old, (1, 0))
    kept = FrozenList([old[0], freeze({"cut": True}), *old[5:]], 6)

    assert writer.write_cut(kept, old, (2, 0)) == {
        "$cat": [{"of": (1, 0), "cut": (0, 1)}, [{"cut": True}], {"of": (1, 0), "cut": (5, 9)}]
    }
    assert writer.write(kept[1], (3, 0)) == {"$at": (2, 0, 1)}


def test_a_list_that_shares_nothing_with_the_one_before_is_written_out() -> None:
    writer, old = ValueWriter(), freeze([{"n": 1}])
    writer.write(old, (1, 0))

    assert writer.write_cut(freeze([1, 2]), old, (2, 0)) == [1, 2]
    assert writer.write_cut(FrozenList([], 0), old, (3, 0)) == []


def test_the_rows_of_a_window_are_written_as_what_they_are_derived_from() -> None:
    writer, window = ValueWriter(), freeze([LLMMessage("user", "hi")])
    writer.write(window, (1, 0))
    rows = MessageRows(window)

    assert writer.write(rows, (2, 0)) == {"$fn": "message-rows/1", "of": {"$at": (1, 0)}}
    assert writer.write(rows, (3, 0)) == {"$at": (2, 0)}


def test_what_fell_out_of_the_table_is_written_again_and_what_the_state_holds_is_not() -> None:
    writer, forgotten, held = ValueWriter(), freeze({"n": 1}), freeze({"n": 2})
    writer.write(forgotten, (1, 0))
    writer.write(held, (1, 1))
    writer.pin("key", held, (1, 1))
    for n in range(2 * 4096 + 1):
        writer.write(freeze({"n": n}), (2, n))

    assert writer.write(forgotten, (3, 0)) == {"n": 1}
    assert writer.write(held, (3, 1)) == {"$at": (1, 1)}


def test_messages_of_one_text_are_two_elements_and_one_stored_text() -> None:
    """01b trap 1."""
    writer = ValueWriter()
    window = freeze([LLMMessage("user", LONG), LLMMessage("user", LONG)])

    writer.write(window[:1], (1, 0))

    assert writer.write(window.tail(1), (2, 0)) == [{"role": "user", "content": {"$at": (1, 0, 0, "content")}}]
