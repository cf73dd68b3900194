"""Tests of agentfootprint.explain.reading.snippets."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.explain.reading.snippets import snippet_units
from agentfootprint.trace import freeze

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(anything)
def test_any_value_falls_into_numbered_pieces_and_never_raises(value: Any) -> None:
    units = snippet_units(value, max=5, max_length=20)

    assert [unit.id for unit in units] == [f"data-{i + 1}" for i in range(len(units))]
    assert len(units) <= 5
    assert all(0 < len(unit.text) <= 20 for unit in units)


def test_a_value_that_contains_itself_ends() -> None:
    value: dict[str, Any] = {"name": "loop"}
    value["again"] = [value]

    assert [unit.text for unit in snippet_units(value)] == ["name: loop"]


def test_recorded_values_fall_alike() -> None:
    value = {"rows": [{"id": "d1", "price": 10}], "note": "One. Two."}

    assert snippet_units(freeze(value)) == snippet_units(value)


def test_what_can_not_be_cited_is_passed_over() -> None:
    assert snippet_units([None, True, object(), b"bytes", len]) == []


def test_no_room_for_text_leaves_the_ellipsis() -> None:
    assert [unit.text for unit in snippet_units("word", max_length=1)] == ["…"]
