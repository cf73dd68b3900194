"""Tests of agentfootprint.observe.export.attaching."""

from __future__ import annotations

import gc
import logging
import threading
from typing import Any

import pytest

from agentfootprint import Agent, Mock, tool
from agentfootprint.errors import ConfigError
from agentfootprint.events import Event, EventBus
from agentfootprint.llm import LLMResponse, ToolCall
from agentfootprint.observe import ExportOptions, Tier, attach_exporter
from tests.observe.export.hearing import Heard, another, listen


def dispatch(bus: EventBus, runs: int = 1) -> None:
    for number in range(1, runs + 1):
        for event in another(number):
            bus.dispatch(event)


@pytest.mark.parametrize(
    ("tier", "types"),
    [
        ("minimal", ["agent.turn_start", "agent.turn_end"]),
        ("standard", ["agent.turn_start", "shop.filled", "agent.turn_end"]),
        ("firehose", ["agent.turn_start", "stream.token", "shop.filled", "agent.turn_end"]),
    ],
)
def test_a_tier_says_which_events_pass(tier: Tier, types: list[str]) -> None:
    """SNK-2."""
    bus, heard = EventBus(), Heard()

    attach_exporter(listen(bus), heard, ExportOptions(tier=tier))
    dispatch(bus)

    assert heard.types == types


def test_the_minimal_tier_costs_other_events_nothing() -> None:
    """DSP-8."""
    bus = EventBus()

    attach_exporter(listen(bus), Heard(), ExportOptions(tier="minimal"))

    assert not bus.has_listeners("agentfootprint.stream.token")
    assert bus.has_listeners("agentfootprint.error.fatal")


def test_an_exporter_may_ask_for_a_tier_of_its_own_and_options_win() -> None:
    class Loud(Heard):
        default_tier = "firehose"

    bus, own, told = EventBus(), Loud(), Loud()

    attach_exporter(listen(bus), own)
    attach_exporter(listen(bus), told, ExportOptions())
    dispatch(bus)

    assert "stream.token" in own.types
    assert "stream.token" not in told.types


def test_an_exporter_hears_only_the_types_it_wants() -> None:
    class Ends(Heard):
        relevant_types = ("agentfootprint.agent.turn_end", "agentfootprint.stream.token")

    bus, heard = EventBus(), Ends()

    attach_exporter(listen(bus), heard)
    dispatch(bus)

    assert heard.types == ["agent.turn_end"]  # the tier is asked first
    assert not bus.has_listeners("agentfootprint.agent.turn_start")


def test_what_an_exporter_finds_wrong_with_itself_is_said_when_it_is_attached() -> None:
    """SNK-1."""

    class Broken(Heard):
        def validate(self) -> None:
            raise ValueError("no endpoint")

    bus = EventBus()

    with pytest.raises(ValueError, match=r"no endpoint"):
        attach_exporter(listen(bus), Broken())

    assert bus.listener_count() == 0


def test_a_type_that_does_not_exist_leaves_nothing_attached() -> None:
    class Wrong(Heard):
        relevant_types = ("agentfootprint.agent.turn_end", "agentfootprint.agent.turn_over")

    agent = Agent(Mock())

    with pytest.raises(ConfigError, match=r"turn_over"):
        attach_exporter(agent.on, Wrong())

    assert agent.bus.listener_count() == 0


def test_a_run_is_exported_whole_or_not_at_all() -> None:
    """Trap 23."""
    bus, heard = EventBus(), Heard()

    attach_exporter(listen(bus), heard, ExportOptions(sample_rate=0.5))
    dispatch(bus, runs=400)

    by_run: dict[str, int] = {}
    for event in heard.events:
        by_run[event.meta.run_id] = by_run.get(event.meta.run_id, 0) + 1
    assert set(by_run.values()) == {3}
    assert 120 < len(by_run) < 280


@pytest.mark.parametrize(("rate", "runs"), [(0.0, 0), (1.0, 20)])
def test_nothing_and_everything_are_shares_too(rate: float, runs: int) -> None:
    bus, heard = EventBus(), Heard()

    attach_exporter(listen(bus), heard, ExportOptions(sample_rate=rate))
    dispatch(bus, runs=20)

    assert len({event.meta.run_id for event in heard.events}) == runs


async def test_an_exporter_that_raises_changes_nothing_in_the_run(caplog: pytest.LogCaptureFixture) -> None:
    """SNK-3: reported the 1st, 2nd, 4th, 8th time."""
    agent, beside = Agent(Mock(["Hello."])), Heard()
    broken = attach_exporter(agent.on, Heard("broken", fails=lambda _: True))
    attach_exporter(agent.on, beside)

    with caplog.at_level(logging.ERROR, logger="agentfootprint.observe"):
        result = await agent.run("Hi")

    assert result.output == "Hello."
    assert broken.failures == len(beside.events) > 8
    reports = [record.message for record in caplog.records]
    assert len(reports) == broken.failures.bit_length()
    assert "'broken'" in reports[0]
    assert agent.bus.listener_errors == 0


def test_an_exporter_that_wants_to_know_of_its_failures_is_told_instead_of_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Told(Heard):
        def on_error(self, error: Exception, event: Event[Any] | None) -> None:
            assert event is not None
            told.append(f"{type(error).__name__} {event.type}")

    told: list[str] = []
    bus = EventBus()

    attach_exporter(listen(bus), Told(fails=lambda event: event.type.endswith("turn_end")))
    dispatch(bus)

    assert told == ["RuntimeError agentfootprint.agent.turn_end"]
    assert not caplog.records


async def test_closing_never_stops_an_exporter() -> None:
    """SNK-4."""
    bus, heard = EventBus(), Heard()

    with attach_exporter(listen(bus), heard) as subscription:
        dispatch(bus)
    dispatch(bus)
    subscription.close()

    assert len(heard.events) == 3
    assert heard.stopped == 0
    assert bus.listener_count() == 0


async def test_an_exporter_in_use_elsewhere_is_not_stopped_and_one_is_stopped_once() -> None:
    """SNK-4, trap 12."""
    bus, heard = EventBus(), Heard()
    one, two = attach_exporter(listen(bus), heard), attach_exporter(listen(bus), heard)

    await one.stop()
    dispatch(bus)
    still = len(heard.events), heard.stopped
    await two.stop()
    await two.stop()
    await one.stop()

    assert still == (3, 0)
    assert heard.stopped == 1


async def test_an_exporter_that_can_not_be_referred_to_weakly_is_counted_too() -> None:
    class Small:
        __slots__ = ("stopped",)
        name = "small"

        def __init__(self) -> None:
            self.stopped = 0

        def export(self, event: Event[Any]) -> None: ...

        async def stop(self) -> None:
            self.stopped += 1

    bus, small = EventBus(), Small()
    one, two = attach_exporter(listen(bus), small), attach_exporter(listen(bus), small)

    await one.stop()
    still = small.stopped
    await two.stop()

    assert (still, small.stopped) == (0, 1)


@pytest.mark.usefixtures("quick_collections")
async def test_a_new_exporter_in_the_place_of_an_old_one_is_stopped_as_well() -> None:
    bus = EventBus()
    stopped = 0

    for _ in range(20):  # one takes the memory of another
        heard = Heard()
        await attach_exporter(listen(bus), heard).stop()
        stopped += heard.stopped
        del heard
        gc.collect()

    assert stopped == 20


async def test_what_flush_and_stop_raise_is_counted_and_swallowed(caplog: pytest.LogCaptureFixture) -> None:
    class Stuck(Heard):
        async def flush(self) -> None:
            raise OSError("disk full")

        async def stop(self) -> None:
            raise OSError("disk full")

    subscription = attach_exporter(listen(EventBus()), Stuck("stuck"))

    await subscription.flush()
    await subscription.stop()

    assert subscription.failures == 3
    assert "stopped or flushed" in caplog.text


@pytest.mark.parametrize("detach", [False, True])
async def test_the_end_of_a_run_flushes_without_delaying_it(detach: bool) -> None:
    """SNK-6."""
    agent, heard = Agent(Mock(["Hello."])), Heard()
    attach_exporter(agent.on, heard, ExportOptions(flush_on="run-end", detach=detach))

    await agent.run("Hi")
    await agent.drain_observers()

    assert heard.flushed == 1
    assert "agent.turn_end" in heard.types


async def test_a_failure_flushes_as_well() -> None:
    """SNK-6."""
    agent, heard = Agent(Mock([ConnectionError("socket hang up")])), Heard()
    attach_exporter(agent.on, heard, ExportOptions(flush_on="run-end"))

    with pytest.raises(Exception):  # noqa: B017, PT011  whatever the loop makes of it
        await agent.run("Hi")
    await agent.drain_observers()

    assert heard.flushed == 1


async def test_a_detached_exporter_works_in_a_thread_of_its_own_in_order() -> None:
    """SNK-5."""
    bus, threads = EventBus(), set[int]()
    heard = Heard(fails=lambda _: bool(threads.add(threading.get_ident())))
    subscription = attach_exporter(listen(bus), heard, ExportOptions(detach=True))

    dispatch(bus, runs=100)
    await subscription.flush()

    assert heard.types == ["agent.turn_start", "shop.filled", "agent.turn_end"] * 100
    assert threading.get_ident() not in threads
    assert len(threads) == 1
    assert heard.flushed == 1
    await subscription.stop()


async def test_a_detached_exporter_that_hangs_neither_delays_nor_grows_and_says_what_was_dropped() -> None:
    gate = threading.Event()
    heard = Heard(fails=lambda _: not gate.wait(60))
    bus = EventBus()
    subscription = attach_exporter(listen(bus), heard, ExportOptions(detach=True))

    dispatch(bus, runs=3_500)
    gate.set()
    await subscription.flush()

    assert subscription.dropped >= 10_500 - 10_000 - 1
    assert len(heard.events) + subscription.dropped == 10_500
    assert heard.events[-1].meta.run_id == "run-1700000000000-3500"
    await subscription.stop()


async def test_what_comes_after_a_detached_exporter_was_stopped_is_not_heard() -> None:
    bus, heard = EventBus(), Heard()
    subscription = attach_exporter(listen(bus), heard, ExportOptions(detach=True))

    dispatch(bus)
    await subscription.stop()
    dispatch(bus)

    assert len(heard.events) == 3
    assert heard.stopped == 1


async def test_the_wire_form_has_what_every_iteration_carries_over() -> None:
    """LIN-19."""

    @tool
    def look(city: str) -> str:
        """Look."""
        return city

    agent = Agent(
        Mock([LLMResponse("", tool_calls=[ToolCall("c1", "look", {"city": "Paris"})]), "Done."]), tools=[look]
    )
    native, wire = Heard(), Heard()
    attach_exporter(agent.on, native)
    attach_exporter(agent.on, wire, ExportOptions(form="wire"))

    await agent.run("Hi")

    assert wire.types.count("context.injected") > native.types.count("context.injected")


async def test_closing_the_agent_flushes_and_stops_what_is_attached_to_it() -> None:
    """As `Agent.attach` keeps it: a subscription has the `flush` and `stop` that closing asks for."""
    agent, heard = Agent(Mock(["Hello."])), Heard()
    agent.attached.append(attach_exporter(agent.on, heard))

    async with agent:
        await agent.run("Hi")

    assert (heard.flushed, heard.stopped) == (2, 1)  # once for the closing, once before it is stopped
