"""Tests of agentfootprint.flow.observers.ring."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from agentfootprint.flow.observers.options import Overflow
from agentfootprint.flow.observers.ring import BoundedRing

POLICIES: tuple[Overflow, ...] = get_args(Overflow)


@given(
    capacity=st.integers(1, 5),
    overflow=st.sampled_from(POLICIES),
    every=st.integers(1, 4),
    pushes=st.lists(st.booleans(), max_size=60),
)
def test_a_ring_does_what_a_list_would(capacity: int, overflow: Overflow, every: int, pushes: list[bool]) -> None:
    ring: BoundedRing[int] = BoundedRing(capacity, overflow, sample_every=every)
    kept: list[int] = []
    arrivals = handed_out = lost = refused = saturated = 0

    for push in pushes:
        if not push:
            saturated = 0 if kept else saturated
            handed_out += bool(kept)
            assert ring.shift() == (kept.pop(0) if kept else None)
            continue
        arrivals += 1
        full = len(kept) == capacity
        saturated = saturated + 1 if full else 0
        takes = not full or overflow == "drop-oldest" or (overflow == "sample" and saturated % every == 0)
        evicted = kept.pop(0) if full and takes else UNSET
        if takes:
            kept.append(arrivals)
        refused += full and overflow == "block"
        lost += full and overflow != "block"

        pushed = ring.push(arrivals)

        assert (pushed.accepted, pushed.evicted) == (takes, evicted)

    assert (len(ring), ring.pushes, ring.delivered, ring.drops, ring.rejections) == (
        len(kept),
        arrivals,
        handed_out,
        lost,
        refused,
    )
    assert arrivals == handed_out + lost + refused + len(kept)


@pytest.mark.parametrize("overflow", POLICIES)
def test_a_ring_never_grows_beyond_its_capacity(overflow: Overflow) -> None:
    ring: BoundedRing[int] = BoundedRing(3, overflow, sample_every=2)

    for item in range(100):
        ring.push(item)

    assert len(ring) == 3


def test_a_ring_that_is_cleared_says_how_many_it_gave_up() -> None:
    ring: BoundedRing[str] = BoundedRing(3)
    ring.push("a")
    ring.push("b")

    assert ring.clear() == 2
    assert ring.shift() is None
