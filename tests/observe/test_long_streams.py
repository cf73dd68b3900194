"""Tests of all that watches a long answer: 50,000 tokens take no more room than the bounds and the text itself."""

from __future__ import annotations

import gc
import logging
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agentfootprint.events import (
    Event,
    EventBus,
    LLMStart,
    RunFacts,
    Subscription,
    Token,
    TurnStart,
)
from agentfootprint.observe import (
    AuditExporter,
    CheckInLog,
    ConsoleExporter,
    EventTail,
    LiveState,
    OtelExporter,
    RouteLog,
    StatusLine,
    ThinkingTrace,
    ToolLineage,
)
from agentfootprint.observe.aws import XRayExporter
from agentfootprint.recording import record_run
from tests.observe.aws.refusing import Client
from tests.observe.otel.tracing import Tracing

pytestmark = pytest.mark.usefixtures("quick_collections")

TOKENS, CAP = 50_000, 10_000
FACTS = RunFacts(run_id="run-1700000000000-1", started_at_ms=1_700_000_000_000, composition_path=("Agent:desk",))
ROOM = 1_500_000
"""Bytes that may be held more after 50,000 tokens than after 15,000, the text of 35,000 among them."""
CALL = "call-llm#18"


def begin() -> Iterator[Event[Any]]:
    yield Event(TurnStart(turn_index=0, user_prompt="?"), "seed#0", 0, FACTS)
    start = LLMStart(iteration=1, provider="mock", model="m", system_prompt_chars=0, messages_count=1, tools_count=0)
    yield Event(start, CALL, 1, FACTS)


def tokens(first: int, last: int) -> Iterator[Event[Any]]:
    for index in range(first, last):
        yield Event(Token(iteration=1, token_index=index, content=f" {index}"), CALL, index * 1_000_000, FACTS)


class Runner:
    """Something whose events are listened to."""

    def __init__(self) -> None:
        self.bus = EventBus()

    def on(self, pattern: str, listener: Callable[[Event[Any]], object], *, form: str = "native") -> Subscription:
        del form
        return self.bus.on(pattern, listener)


def grown(hear: Callable[[Event[Any]], object]) -> int:
    """How many bytes more are held after 50,000 tokens than after 15,000."""
    for event in (*begin(), *tokens(0, CAP + 5_000)):
        hear(event)
    gc.collect()
    tracemalloc.start()
    try:
        for event in tokens(CAP + 5_000, TOKENS):
            hear(event)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_a_recorder_holds_its_bound_and_counts_what_went() -> None:
    """REC-2, REC-8. What replaces an event in the bounded tail is new, so up to the bound is counted as held."""
    runner = Runner()
    recorder = record_run(runner)

    held = grown(runner.bus.dispatch)

    assert recorder.event_count == CAP
    assert recorder.dropped_events == TOKENS + 2 - CAP
    assert list(recorder.recording().events)[-1].payload.content == f" {TOKENS - 1}"
    assert held < 8_000_000  # 10,000 events; a whole stream would be 28,000,000


def test_ten_thousand_events_take_less_than_forty_megabytes() -> None:
    """REC-8."""
    tail = EventTail()
    tracemalloc.start()
    try:
        for event in (*begin(), *tokens(0, TOKENS)):
            tail.hear(event)
        assert tracemalloc.get_traced_memory()[0] < 40_000_000
    finally:
        tracemalloc.stop()
    assert tail.tail.event_count == CAP


def watchers() -> dict[str, Callable[[Event[Any]], object]]:
    quiet = logging.getLogger("tests.quiet")
    quiet.setLevel(logging.CRITICAL)
    return {
        "live": LiveState().hear,
        "console": ConsoleExporter(logger=quiet).export,
        "audit": AuditExporter().export,
        "otel": OtelExporter("shop", tracer=Tracing().tracer).export,
        "otel-content": OtelExporter("shop", tracer=Tracing().tracer, capture_content=True).export,
        "xray": XRayExporter("shop", client=Client()).export,
        "status": StatusLine(lambda _: None).hear,
        "thinking": ThinkingTrace().hear,
        "check-ins": CheckInLog().hear,
        "routes": RouteLog().hear,
        "lineage": ToolLineage().hear,
    }


@pytest.mark.parametrize(
    "name",
    [
        *("live", "console", "audit", "otel", "otel-content", "xray", "status", "thinking", "check-ins"),
        *("routes", "lineage"),
    ],
)
def test_who_watches_holds_no_more_than_the_text(name: str) -> None:
    watch = watchers()[name]

    held = grown(watch)

    assert held < ROOM


def test_the_text_so_far_is_whole() -> None:
    live = LiveState()

    for event in (*begin(), *tokens(0, 5_000)):
        live.hear(event)
        if live.tokens == 2_500:
            assert live.partial_text.endswith(" 2499")

    assert live.tokens == 5_000
    assert live.partial_text == "".join(f" {index}" for index in range(5_000))
