"""Tests of agentfootprint.tools.idempotency."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.tools import DispatchedCalls, idempotency_key
from agentfootprint.trace import freeze

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
CALL = st.tuples(TEXT, TEXT, st.dictionaries(TEXT, st.integers(0, 2) | TEXT, max_size=2), st.integers(1, 2))


def test_a_key_is_32_hex_digits_and_stays_over_releases() -> None:
    key = idempotency_key("run-1", "pay", {"to": "Dana", "usd": 480.0}, 1)

    assert key == idempotency_key("run-1", "pay", freeze({"usd": 480, "to": "Dana"}), 1)
    assert re.fullmatch(r"[0-9a-f]{32}", key)
    assert key == "dce2afae6bfb243032636c643cd1cb4c"


@given(CALL, CALL)
def test_two_calls_have_one_key_only_when_they_are_one_call(
    a: tuple[str, str, dict[str, object], int], b: tuple[str, str, dict[str, object], int]
) -> None:
    same = a[:2] == b[:2] and a[3] == b[3] and json.dumps(a[2], sort_keys=True) == json.dumps(b[2], sort_keys=True)

    assert (idempotency_key(*a) == idempotency_key(*b)) is same


def test_equal_calls_of_a_turn_are_told_apart_by_their_order() -> None:
    calls = DispatchedCalls()

    places = [calls.add(tool, freeze({"usd": usd})) for tool, usd in [("pay", 1), ("ask", 1), ("pay", 2), ("pay", 1)]]

    assert [calls.occurrence(place) for place in reversed(places)] == [2, 1, 1, 1]


def test_counts_go_on_from_a_checkpoint_and_hold_no_arguments() -> None:
    before = DispatchedCalls()
    before.add("pay", freeze({"to": "SECRET"}))
    stored = json.loads(json.dumps(before.counts()))

    after = DispatchedCalls(stored)
    place = after.add("pay", freeze({"to": "SECRET"}))

    assert "SECRET" not in json.dumps(stored)
    assert after.occurrence(place) == 2


def test_the_counts_of_the_first_dispatches_leave_out_the_later_ones() -> None:
    earlier = DispatchedCalls()
    earlier.add("pay", freeze({"usd": 1}))
    calls = DispatchedCalls(earlier.counts())
    for tool in ("pay", "ask", "pay"):
        calls.add(tool, freeze({"usd": 1}))

    counts = [sorted(calls.counts(before).values()) for before in range(len(calls) + 1)]

    assert counts == [[1], [2], [1, 2], [1, 3]]
    assert calls.counts() == calls.counts(3)
    assert sorted(calls.counts(1).values()) == [2]
