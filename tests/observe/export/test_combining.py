"""Tests of agentfootprint.observe.export.combining."""

from __future__ import annotations

import logging

import pytest

from agentfootprint.events import EventBus
from agentfootprint.observe import attach_exporter, combine_exporters
from tests.observe.export.hearing import Heard, another, listen


def test_each_part_hears_what_happens_and_none_spoils_it_for_another(caplog: pytest.LogCaptureFixture) -> None:
    """SNK-7."""
    bus, left, right = EventBus(), Heard("left"), Heard("right")
    broken = Heard("broken", fails=lambda _: True)
    combined = combine_exporters(left, broken, right)

    with caplog.at_level(logging.ERROR, logger="agentfootprint.observe"):
        subscription = attach_exporter(listen(bus), combined)
        for event in another():
            bus.dispatch(event)

    assert left.types == right.types == ["agent.turn_start", "shop.filled", "agent.turn_end"]
    assert subscription.failures == 0
    assert [record.message.split("'")[1] for record in caplog.records] == ["broken", "broken"]  # the 1st and 2nd of 3
    assert combined.name == "left+broken+right"


def test_parts_that_want_few_types_hear_only_those() -> None:
    class Ends(Heard):
        relevant_types = ("agentfootprint.agent.turn_end",)

    class Starts(Heard):
        relevant_types = ("agentfootprint.agent.turn_start",)

    bus, ends, starts, all_ = EventBus(), Ends(), Starts(), Heard()

    attach_exporter(listen(bus), combine_exporters(ends, starts))
    narrow = bus.has_listeners("agentfootprint.error.fatal")
    attach_exporter(listen(bus), combine_exporters(ends, all_))
    for event in another():
        bus.dispatch(event)

    assert not narrow
    assert ends.types == ["agent.turn_end", "agent.turn_end"]
    assert starts.types == ["agent.turn_start"]
    assert len(all_.events) == 3


def test_the_widest_tier_that_a_part_asks_for_holds() -> None:
    class Loud(Heard):
        default_tier = "firehose"

    bus, loud, quiet = EventBus(), Loud(), Heard()

    attach_exporter(listen(bus), combine_exporters(quiet, loud))
    for event in another():
        bus.dispatch(event)

    assert "stream.token" in loud.types


def test_a_part_that_can_not_work_is_refused_at_once() -> None:
    class Broken(Heard):
        def validate(self) -> None:
            raise ValueError("no endpoint")

    with pytest.raises(ValueError, match=r"no endpoint"):
        attach_exporter(listen(EventBus()), combine_exporters(Heard(), Broken()))


async def test_all_are_flushed_and_stopped_but_one_in_use_elsewhere_goes_on() -> None:
    class Stuck(Heard):
        async def flush(self) -> None:
            raise OSError("disk full")

    bus, left, shared, stuck = EventBus(), Heard(), Heard(), Stuck()
    elsewhere = attach_exporter(listen(bus), shared)
    subscription = attach_exporter(listen(bus), combine_exporters(left, stuck, shared))

    await subscription.stop()
    before = left.flushed, left.stopped, shared.flushed, shared.stopped, stuck.stopped
    await elsewhere.stop()

    assert before == (1, 1, 1, 0, 1)
    assert shared.stopped == 1


async def test_none_at_all_is_an_exporter_that_does_nothing() -> None:
    bus = EventBus()

    subscription = attach_exporter(listen(bus), combine_exporters())
    await subscription.stop()

    assert bus.listener_count() == 0
