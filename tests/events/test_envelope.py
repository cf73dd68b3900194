"""Tests of agentfootprint.events.envelope."""

from __future__ import annotations

import gc
import pickle
import sys
from typing import Any

import pytest

from agentfootprint.events import Event, EventMeta, RunFacts, Token, ToolEnd, UnknownEvent, event_to_wire
from agentfootprint.trace import FrozenDict, ValueRefusedError

RUN = RunFacts(run_id="run-1700000000000-1", started_at_ms=1_700_000_000_000, composition_path=("Agent:desk",))
TOKEN = Token(iteration=1, token_index=0, content="Hi")


class Stage:
    """An execution that counts how often it is asked where it is."""

    def __init__(self) -> None:
        self.asked = 0
        self.subflow_path = ("sf-llm",)

    @property
    def runtime_stage_id(self) -> str:
        self.asked += 1
        return "sf-llm/call-llm#18"


def test_the_meta_is_worked_out_once_and_not_before_it_is_read() -> None:
    stage = Stage()
    event = Event(TOKEN, stage, 18_000_000, RUN)

    before = stage.asked
    first, second = event.meta, event.meta

    assert before == 0
    assert stage.asked == 1
    assert first is second
    assert first.runtime_stage_id == "sf-llm/call-llm#18"


def test_an_event_keeps_what_it_was_made_of() -> None:
    stage = Stage()

    event = Event(TOKEN, stage, 5, RUN)

    assert event.type == "agentfootprint.stream.token"
    assert event.payload is TOKEN
    assert event.execution is stage
    assert event.dt == 5
    assert event.facts is RUN
    assert event.source is None


def test_making_an_event_leaves_nothing_for_the_collector() -> None:
    events = [Event(Token(iteration=1, token_index=n, content="x"), "call-llm#18", n, RUN) for n in range(100)]

    assert not any(gc.is_tracked(event) or gc.is_tracked(event.payload) for event in events)
    assert not any(gc.is_tracked(event.meta) for event in events)


def test_an_event_costs_two_allocations() -> None:
    sys.getallocatedblocks()
    kept: list[Any] = [None] * 100
    before = sys.getallocatedblocks()

    for n in range(100):
        kept[n] = Event(Token(iteration=1, token_index=2, content="x"), "call-llm#18", 7, RUN)

    assert sys.getallocatedblocks() - before <= 2 * 100 + 10


def test_an_event_can_not_be_changed() -> None:
    event: Any = Event(TOKEN, "call-llm#18", 0, RUN)

    with pytest.raises(AttributeError):
        event.payload = ToolEnd(tool_call_id="c", duration_ms=0)
    with pytest.raises(TypeError):
        hash(event)


def test_events_are_equal_when_they_say_the_same() -> None:
    made = Event(TOKEN, "call-llm#18", 7_000_000, RUN)
    later = Event(TOKEN, "call-llm#18", 8_000_000, RUN)

    assert made == Event(Token(iteration=1, token_index=0, content="Hi"), "call-llm#18", 7_500_000, RUN)
    assert made != later
    assert made != UnknownEvent(made.type, event_to_wire(made)["payload"], {})
    assert made != "an event"


def test_an_event_prints_type_payload_and_meta() -> None:
    text = repr(Event(TOKEN, "call-llm#18", 0, RUN))

    assert text.startswith("Event(type='agentfootprint.stream.token', payload=Token(iteration=1")
    assert "meta=EventMeta(" in text


def test_an_event_survives_pickle() -> None:
    typed = Event(TOKEN, "call-llm#18", 7_000_000, RUN)
    unknown = UnknownEvent("shop.basket.filled", {"items": [1, 2]}, {"runId": "r", "more": 1})

    assert pickle.loads(pickle.dumps(typed)) == typed
    assert pickle.loads(pickle.dumps(unknown)) == unknown


def test_an_unknown_event_is_an_event_with_a_frozen_payload() -> None:
    event = UnknownEvent("shop.basket.filled", {"items": [1, 2]}, {"runId": "run-1-1", "wallClockMs": 5})

    assert isinstance(event, Event)
    assert event.type == "shop.basket.filled"
    assert isinstance(event.payload, FrozenDict)
    assert event.meta.run_id == "run-1-1"
    assert not gc.is_tracked(event)
    assert repr(event).startswith("UnknownEvent(type='shop.basket.filled', payload={'items': [1, 2]}")


def test_an_unknown_event_keeps_a_meta_that_says_more() -> None:
    event = UnknownEvent("x", "[REDACTED]", {"runId": "r", "color": "red"})

    assert isinstance(event.meta, EventMeta)
    assert event.meta.runtime_stage_id == "unknown#0"
    assert event_to_wire(event) == {"type": "x", "payload": "[REDACTED]", "meta": {"runId": "r", "color": "red"}}


def test_a_value_that_json_can_not_hold_is_refused_with_the_type_and_its_place() -> None:
    with pytest.raises(
        ValueRefusedError, match=r"type set can't be recorded \(at shop\.basket\.items\[1\]\)"
    ) as caught:
        UnknownEvent("shop.basket", {"items": [1, {2}]}, {})

    assert caught.value.path == ("shop.basket", "items", 1)


def test_the_names_a_class_uses_itself_are_plain_event_types() -> None:
    """DSP-10."""
    assert UnknownEvent("__class__", {"__proto__": 1}, {}).type == "__class__"
