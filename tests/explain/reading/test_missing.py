"""Tests of agentfootprint.explain.reading.missing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.explain import Unit, find_dropped_context

units = st.lists(st.builds(Unit, st.sampled_from(["a", "b", "__proto__", "constructor"]), st.text(max_size=3)))


@given(units, units)
def test_what_was_there_and_not_sent_is_listed_once_in_order(available: list[Unit], sent: list[Unit]) -> None:
    found = find_dropped_context(available, sent)

    names = list(dict.fromkeys(unit.id for unit in available))
    assert [unit.id for unit in found.dropped] == [name for name in names if name not in {unit.id for unit in sent}]
    assert all(unit is next(it for it in available if it.id == unit.id) for unit in found.dropped)
    assert (found.available_count, found.any_dropped) == (len(names), bool(found.dropped))
