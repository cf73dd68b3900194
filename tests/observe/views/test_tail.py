"""Tests of agentfootprint.observe.views.tail."""

from __future__ import annotations

import math

import pytest

from agentfootprint.observe import Tail


@pytest.mark.parametrize("given", [math.nan, math.inf, 0, 0.5])
def test_what_can_not_be_a_number_of_events_is_ten_thousand(given: float) -> None:
    tail = Tail[int](given)

    for value in range(10_001):
        tail.push(value)

    assert (tail.event_count, tail.dropped_events) == (10_000, 1)
