"""Tests of agentfootprint.events.bus."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading
import weakref
from typing import Any

import pytest

from agentfootprint.events import (
    DrainResult,
    Event,
    EventBus,
    EventPatternError,
    ListenerError,
    RunFacts,
    Subscription,
    Token,
    UnknownEvent,
)

RUN = RunFacts(run_id="run-1-1", started_at_ms=0)
TOKEN = "agentfootprint.stream.token"
EVENT: Event[Any] = Event(Token(iteration=1, token_index=0, content="Hi"), "call-llm#1", 0, RUN)


def of(event_type: str) -> Event[Any]:
    return UnknownEvent(event_type, {}, {})


@pytest.mark.parametrize(
    "pattern", ["", "**", "agentfootprint.*", "agentfootprint.nope.*", "stream.*", "*.token", "a*"]
)
def test_a_pattern_that_nothing_can_match_is_refused_with_the_three_forms(pattern: str) -> None:
    with pytest.raises(
        EventPatternError, match=r"'agentfootprint\.<domain>\.\*' or '\*'; the domains are .*stream"
    ) as caught:
        EventBus().on(pattern, print)

    assert caught.value.pattern == pattern
    assert repr(pattern) in str(caught.value)


def test_what_can_not_be_called_is_no_listener() -> None:
    not_a_function: Any = "print"

    with pytest.raises(ListenerError, match=r"listener for '\*' is of type str"):
        EventBus().on("*", not_a_function)


def test_a_name_of_the_application_can_be_listened_to() -> None:
    bus, heard = EventBus(), list[Event[Any]]()
    bus.on("shop.basket.filled", heard.append)
    bus.on("__class__", heard.append)

    for name in ("shop.basket.filled", "__class__", "shop.basket.emptied"):
        bus.dispatch(of(name))

    assert [event.type for event in heard] == ["shop.basket.filled", "__class__"]


def test_the_event_itself_is_handed_on() -> None:
    bus, heard = EventBus(), list[Event[Any]]()
    bus.on("*", heard.append)

    bus.dispatch(EVENT)

    assert heard[0] is EVENT


def test_a_listener_under_several_patterns_hears_an_event_once_for_each() -> None:
    bus, heard = EventBus(), list[Event[Any]]()
    for pattern in ("*", TOKEN, "agentfootprint.stream.*", TOKEN):
        bus.on(pattern, heard.append)

    bus.dispatch(EVENT)

    assert len(heard) == 4


def test_who_is_removed_while_an_event_is_handed_out_still_gets_it_in_this_pattern_only() -> None:
    """DSP-3."""
    bus, heard = EventBus(), list[str]()

    def remove(_event: Event[Any]) -> None:
        same.close()
        later.close()

    bus.on(TOKEN, remove)
    same = bus.on(TOKEN, lambda _: heard.append("same"))
    later = bus.on("*", lambda _: heard.append("later"))

    bus.dispatch(EVENT)
    bus.dispatch(EVENT)

    assert heard == ["same"]


def test_who_is_added_while_an_event_is_handed_out_gets_it_in_a_later_pattern_only() -> None:
    """DSP-3."""
    bus, heard = EventBus(), list[str]()

    def add(_event: Event[Any]) -> None:
        bus.on(TOKEN, lambda _: heard.append("same"), once=True)
        bus.on("*", lambda _: heard.append("later"), once=True)

    bus.on(TOKEN, add, once=True)

    bus.dispatch(EVENT)

    assert heard == ["later"]


def test_an_event_inside_an_event_comes_first() -> None:
    """DSP-3: depth first."""
    bus, heard = EventBus(), list[str]()
    bus.on("outer", lambda _: bus.dispatch(of("inner")))
    bus.on("inner", lambda _: heard.append("inner"))
    bus.on("outer", lambda _: heard.append("outer"))

    bus.dispatch(of("outer"))

    assert heard == ["inner", "outer"]


def test_once_is_once_even_for_an_event_inside_the_event() -> None:
    """DSP-6."""
    bus, heard = EventBus(), list[Event[Any]]()
    bus.on(TOKEN, lambda _: bus.dispatch(EVENT), once=True)
    subscription = bus.on(TOKEN, heard.append, once=True)

    bus.dispatch(EVENT)

    assert len(heard) == 1
    assert not subscription.active


def test_closing_is_idempotent_and_spares_a_later_registration() -> None:
    """DSP-6."""
    bus, heard = EventBus(), list[Event[Any]]()
    first = bus.on(TOKEN, heard.append)
    first.close()
    second = bus.on(TOKEN, heard.append)

    first.close()
    bus.off("*", heard.append)
    bus.dispatch(EVENT)

    assert len(heard) == 1
    assert (first.active, second.active, second.pattern) == (False, True, TOKEN)


def test_off_removes_every_registration_of_a_method_under_its_pattern() -> None:
    bus, heard = EventBus(), list[Event[Any]]()
    bus.on(TOKEN, heard.append)
    bus.on(TOKEN, heard.append)
    bus.on("*", heard.append)

    bus.off(TOKEN, heard.append)

    assert (bus.listener_count(TOKEN), bus.listener_count()) == (0, 1)


def test_a_subscription_ends_with_its_block() -> None:
    bus = EventBus()

    with bus.on("*", print) as subscription:
        assert bus.has_listeners("anything")

    assert not bus.has_listeners("anything")
    assert not subscription.active


def test_a_subscription_of_something_else_closes_that_once() -> None:
    closed: list[str] = []

    with Subscription.of(lambda: closed.append("recorder")) as subscription:
        before = subscription.active
    subscription.close()

    assert closed == ["recorder"]
    assert (before, subscription.active, subscription.pattern) == (True, False, "*")


def test_a_signal_ends_a_subscription_from_any_thread_and_before_it_began() -> None:
    bus, heard, over = EventBus(), list[Event[Any]](), threading.Event()
    bus.on("*", heard.append, until=over)
    bus.dispatch(EVENT)

    over.set()
    late = bus.on("*", heard.append, until=over)
    bus.dispatch(EVENT)

    assert len(heard) == 1
    assert not late.active
    assert bus.listener_count() == 0
    assert not bus.has_listeners(TOKEN)


def test_a_signal_set_by_a_listener_keeps_the_event_from_later_patterns() -> None:
    bus, heard, over = EventBus(), list[Event[Any]](), asyncio.Event()
    bus.on(TOKEN, lambda _: over.set())
    bus.on("*", heard.append, until=over)

    bus.dispatch(EVENT)

    assert heard == []


def test_a_raising_listener_is_counted_always_and_logged_the_first_time(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DSP-4."""
    monkeypatch.delenv("AGENTFOOTPRINT_DEV", raising=False)
    bus, heard = EventBus(), list[Event[Any]]()

    def broken(_event: Event[Any]) -> None:
        raise RuntimeError("mine")

    bus.on(TOKEN, broken)
    bus.on(TOKEN, heard.append)
    bus.on("*", broken)

    for _ in range(3):
        bus.dispatch(EVENT)

    assert len(heard) == 3
    assert bus.listener_errors == 6
    records = [record for record in caplog.records if record.name == "agentfootprint.events"]
    assert [record.levelno for record in records] == [logging.ERROR] * 2
    assert TOKEN in records[0].getMessage()


def test_in_development_every_failure_is_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DSP-4."""
    monkeypatch.setenv("AGENTFOOTPRINT_DEV", "1")
    bus = EventBus()
    bus.on(TOKEN, lambda _: 1 / 0)

    for _ in range(3):
        bus.dispatch(EVENT)

    assert len(caplog.records) == 3


async def test_an_asynchronous_listener_is_awaited_when_drained_not_in_place() -> None:
    """DSP-5."""
    bus, heard = EventBus(), list[str]()

    async def listener(event: Event[Any]) -> None:
        await asyncio.sleep(0)
        heard.append(event.type)

    bus.on("*", listener)

    bus.dispatch(EVENT)
    bus.dispatch(EVENT)
    before = list(heard)
    result = await bus.drain()

    assert before == []
    assert heard == [TOKEN, TOKEN]
    assert result == DrainResult(done=2)
    assert await bus.drain() == DrainResult()


async def test_a_failure_of_an_asynchronous_listener_is_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    bus = EventBus()

    async def broken(_event: Event[Any]) -> None:
        raise RuntimeError("mine")

    bus.on("*", broken)

    bus.dispatch(EVENT)
    result = await bus.drain()

    assert result == DrainResult(failed=1)
    assert bus.listener_errors == 1
    assert len(caplog.records) == 1


async def test_draining_stops_waiting_when_the_time_is_up() -> None:
    bus, go = EventBus(), asyncio.Event()

    async def slow(_event: Event[Any]) -> None:
        await go.wait()

    bus.on("*", slow)
    bus.dispatch(EVENT)

    early = await bus.drain(timeout=0.0)
    go.set()
    late = await bus.drain()

    assert early == DrainResult(pending=1)
    assert late == DrainResult(done=1)


def test_work_of_an_event_dispatched_without_a_loop_is_done_in_the_next_one() -> None:
    """DSP-5."""
    bus, heard = EventBus(), list[str]()

    async def listener(event: Event[Any]) -> None:
        heard.append(event.type)

    bus.on("*", listener)
    bus.dispatch(EVENT)

    result = asyncio.run(bus.drain())

    assert heard == [TOKEN]
    assert result == DrainResult(done=1)


def test_in_development_an_asynchronous_listener_is_pointed_out_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTFOOTPRINT_DEV", "1")
    bus = EventBus()

    async def listener(_event: Event[Any]) -> None: ...

    bus.on("*", listener)
    bus.dispatch(EVENT)
    bus.dispatch(EVENT)
    asyncio.run(bus.drain())

    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_subscribing_and_closing_leaves_nothing_behind() -> None:
    """DSP-7."""
    bus, over = EventBus(), threading.Event()

    def cycle(times: int) -> None:
        for n in range(times):
            bus.on("*" if n % 2 else TOKEN, print, until=over if n % 3 else None).close()
            bus.dispatch(EVENT)

    cycle(10)
    gc.collect()
    before = sys.getallocatedblocks()
    cycle(10_000)
    gc.collect()

    assert sys.getallocatedblocks() - before < 50
    assert bus.listener_count() == 0


def test_a_closed_subscription_keeps_no_signal_and_a_bus_no_listener() -> None:
    class Listener:
        def __call__(self, event: Event[Any]) -> None: ...

    bus, listener = EventBus(), Listener()
    gone = weakref.ref(listener)
    bus.on("*", listener).close()

    del listener
    gc.collect()

    assert gone() is None


def test_a_type_that_nobody_listens_to_costs_no_allocation() -> None:
    """DSP-8."""
    bus = EventBus()
    bus.on("agentfootprint.agent.*", print)
    bus.has_listeners(TOKEN)
    before = sys.getallocatedblocks()

    for _ in range(1000):
        if bus.has_listeners(TOKEN):
            pytest.fail("nobody listens")

    assert sys.getallocatedblocks() - before < 10


def test_made_up_names_do_not_pile_up() -> None:
    bus = EventBus()
    bus.on("*", lambda _: None)
    for n in range(2000):
        bus.has_listeners(f"shop.{n}")
    gc.collect()
    before = sys.getallocatedblocks()

    for n in range(2000, 12_000):
        bus.has_listeners(f"shop.{n}")
    gc.collect()

    assert sys.getallocatedblocks() - before < 8192


def test_events_of_one_run_keep_their_order_among_those_of_others() -> None:
    """DSP-9."""
    bus, heard = EventBus(), list[Event[Any]]()
    bus.on("agentfootprint.stream.*", heard.append)
    runs = [RunFacts(run_id=f"run-1-{n}", started_at_ms=0) for n in range(20)]

    for index in range(5):
        for run in runs:
            bus.dispatch(Event(Token(iteration=1, token_index=index, content=""), "a#1", 0, run))

    for run in runs:
        assert [event.payload.token_index for event in heard if event.facts is run] == [0, 1, 2, 3, 4]
