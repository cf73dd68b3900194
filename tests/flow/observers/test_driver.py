"""Tests of agentfootprint.flow.observers.driver."""

from __future__ import annotations

from collections.abc import Callable

from agentfootprint.flow.observers.driver import FlushDriver


class Items:
    """Items that take a millisecond each, on an event loop that turns when it is told to."""

    def __init__(self, depth: int, *, more: int = 0) -> None:
        self.left = depth
        self.more = more
        self.now = 0.0
        self.turns: list[Callable[[], object]] = []
        self.closed = False

    def __len__(self) -> int:
        return self.left

    def deliver_next(self) -> None:
        self.left -= 1
        self.now += 1
        if self.more:
            self.more -= 1
            self.left += 1

    def schedule(self, flush: Callable[[], object]) -> Items | None:
        if self.closed:
            return None
        self.turns.append(flush)
        return self

    def cancel(self) -> None:
        self.turns.clear()


def test_arming_twice_schedules_once() -> None:
    items = Items(1)
    driver = FlushDriver(2, lambda: items.now)

    assert driver.arm(items)
    assert driver.arm(items)

    assert len(items.turns) == 1


def test_a_flush_leaves_what_comes_meanwhile_to_the_next() -> None:
    items = Items(2, more=1)
    driver = FlushDriver(10, lambda: items.now)

    flushed = driver.flush(items)

    assert (flushed.processed, flushed.budget_exhausted, flushed.rearmed) == (2, False, True)
    assert len(items) == 1


def test_a_flush_without_a_budget_goes_on_and_arms_nothing() -> None:
    items = Items(5, more=1)
    driver = FlushDriver(2, lambda: items.now)

    flushed = driver.flush(items, within_budget=False)

    assert (flushed.processed, flushed.budget_exhausted, flushed.rearmed) == (5, False, False)
    assert not driver.armed


def test_what_is_disarmed_does_not_come() -> None:
    items = Items(1)
    driver = FlushDriver(2, lambda: items.now)
    driver.arm(items)

    driver.disarm()

    assert not items.turns
    assert not driver.armed


def test_nothing_is_armed_where_nothing_can_be_scheduled() -> None:
    items = Items(1)
    items.closed = True
    driver = FlushDriver(2, lambda: items.now)

    assert not driver.arm(items)
    assert not driver.armed


def test_the_percentile_looks_at_the_last_128_flushes() -> None:
    items = Items(0)
    driver = FlushDriver(1000, lambda: items.now)
    assert driver.p95_flush_ms == 0

    for depth in [50] * 100 + [1] * 128:
        items.left = depth
        driver.flush(items)

    assert driver.flushes == 228
    assert driver.p95_flush_ms == 1
