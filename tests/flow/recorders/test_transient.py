"""Tests of agentfootprint.flow.recorders.transient."""

from __future__ import annotations

import contextlib

import pytest

from agentfootprint.flow import BoundaryStateStore, FlowDevWarning


def grown(value: int) -> int:
    return value + 1


def test_what_begins_is_kept_until_it_ends() -> None:
    store = BoundaryStateStore[int]()

    store.start("a", 1)
    store.start("b", 5)
    store.update("a", grown)

    assert store.all() == {"a": 2, "b": 5}
    assert store.has_active
    assert store.get("b") == 5
    assert store.stop("a") == 2
    assert store.stop("a") is None
    assert store.all() == {"b": 5}


def test_an_update_without_a_start_is_dropped_and_said_at_the_first_tenth_and_hundredth(dev_mode: None) -> None:
    store = BoundaryStateStore[int]()

    for number in range(1, 121):
        with pytest.warns(FlowDevWarning) if number in {1, 10, 100} else contextlib.nullcontext():
            assert not store.update(f"k{number}", grown)

    assert store.dropped == 120
    assert not store.has_active


def test_a_second_start_overwrites_and_is_said(dev_mode: None) -> None:
    store = BoundaryStateStore[int]()
    store.start("a", 1)

    with pytest.warns(FlowDevWarning, match="'a' was started again"):
        store.start("a", 2)

    assert store.get("a") == 2


def test_what_is_left_over_is_said_by_its_first_ten_keys(dev_mode: None) -> None:
    store = BoundaryStateStore[int]()
    for number in range(12):
        store.start(f"k{number}", number)

    with pytest.warns(FlowDevWarning, match=r"12 states.*k0, k1.*k9\.$"):
        store.clear()

    assert not store.has_active


def test_out_of_dev_mode_nothing_is_said() -> None:
    store = BoundaryStateStore[int]()

    store.start("a", 1)
    store.start("a", 1)
    store.update("b", grown)
    store.clear()

    assert store.dropped == 0
