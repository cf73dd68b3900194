"""Tests of agentfootprint.trace.text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.trace import (
    Record,
    ValueRefusedError,
    compact_json,
    deep_equal,
    fnv1a,
    freeze,
    truncate_utf16,
    utf16_length,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


class Order(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    order_id: str
    note: str | None = None


@pytest.mark.parametrize(("text", "units"), [("", 0), ("abc", 3), ("é", 1), ("😀", 2), ("a😀b", 4)])
def test_characters_are_counted_as_utf16_units(text: str, units: int) -> None:
    assert utf16_length(text) == units


@given(TEXT)
def test_a_count_is_that_of_the_utf16_encoding(text: str) -> None:
    assert utf16_length(text) == len(text.encode("utf-16-le")) // 2


@given(TEXT, st.integers(1, 12))
def test_a_cut_text_fits_begins_as_the_whole_and_says_that_it_was_cut(text: str, limit: int) -> None:
    cut = truncate_utf16(text, limit)

    if utf16_length(text) <= limit:
        assert cut is text
    else:
        assert utf16_length(cut) <= limit
        assert cut.endswith("…")
        assert text.startswith(cut[:-1])
        assert utf16_length(cut) >= limit - 1


def test_a_character_is_never_halved() -> None:
    cut = truncate_utf16("ab😀cd", 4)

    assert cut == "ab…"


def test_a_hash_of_ascii_and_of_other_text_counts_the_same_units() -> None:
    hashed = [fnv1a("user:0:hi"), fnv1a("é"), fnv1a("")]

    assert hashed == ["e9eeac99", "6c0b6c44", "811c9dc5"]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (3.0, "3"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (-2.5, "-2.5"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1.5e300, "1.5e+300"),
        (1e-7, "1e-7"),
        (0.000001, "0.000001"),
        (-1.5e-10, "-1.5e-10"),
        (5e-324, "5e-324"),
        (3502127550899921.5, "3502127550899921.5"),
        (123456789012345680000.0, "123456789012345680000"),
        (2**60, "1152921504606846976"),
        (True, "true"),
    ],
)
def test_numbers_have_the_form_that_javascript_gives_them(number: float, text: str) -> None:
    assert compact_json(number) == text


@given(JSON)
def test_compact_json_reads_back_as_the_same_value(value: object) -> None:
    text = compact_json(freeze(value))

    assert deep_equal(json.loads(text, parse_int=float), value)  # as JavaScript reads numbers
    assert text == compact_json(value)


@given(st.dictionaries(TEXT, JSON, max_size=6))
def test_sorted_keys_make_equal_values_equal_texts(value: dict[str, object]) -> None:
    other = dict(reversed(value.items()))

    assert compact_json(value, sort_keys=True) == compact_json(other, sort_keys=True)


def test_keys_are_sorted_as_utf16_sorts_them() -> None:
    text = compact_json({"\uffff": 1, "😀": 2, "a": 3}, sort_keys=True)

    assert list(json.loads(text)) == ["a", "😀", "\uffff"]


def test_a_record_is_written_as_its_wire_form() -> None:
    text = compact_json(freeze([Order("A-1"), Order("A-2", "late")]))

    assert text == '[{"orderId":"A-1"},{"orderId":"A-2","note":"late"}]'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"x"])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(ValueRefusedError):
        compact_json([value])
