"""The vectors of the area `events`: the vocabulary, the bus, the meta, and every recorded event there and back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import msgspec
import pytest

from agentfootprint.events import (
    DOMAINS,
    EVENT_TYPES,
    Event,
    EventBus,
    MetaMarks,
    Payload,
    RunFacts,
    Subscription,
    UnknownEvent,
    build_event_meta,
    decode_event,
    domain_of,
    encode_event,
)
from agentfootprint.trace import thaw
from tests.vectors.harness import Case, assert_same, load

EVENTS = load("events")
AGENT_LOOP = load("agent-loop")

HAND_MADE = ("audit-bounding", "commentary-keys", "console-line", "live-status", "recording-envelope", "redact-content")
ELSEWHERE = (
    *("agui-ids", "agui-minter", "agui-scope", "agui-streams", "agui-interrupts", "agui-encode"),  # test_events_agui.py
    *("recording-envelope", "recording-file-name"),  # test_events_recording.py
    *("summarize-embeddings", "cost-tick"),  # test_events_{recording,views}.py
    *("audit-bounding", "audit-chain", "audit-verify", "canonical-json"),  # test_events_audit.py
    "cost-accounting",  # test_agent_shaping.py
    "live-state",  # test_events_live.py
    *("live-status", "commentary-keys", "milestones", "step-graph", "run-steps", "redact-content", "event-tail"),
    *("tool-lineage", "thinking-trace", "cache-meter"),  # test_events_views.py
    *("run-streams", "domain-events"),  # test_events_streams.py
    *("console-line", "otel-spans", "xray-segments"),  # test_events_export.py
    "sse-encode",  # test_events_sse.py
)


@pytest.mark.parametrize("case", EVENTS.cases("registry"))
def test_registry(case: Case) -> None:
    """EVT-2: the reference's names in its order, additions after them, no new domain."""
    names, domains = case.expected["types"], case.expected["domains"]

    assert list(EVENT_TYPES[: len(names)]) == names
    assert len(names) == case.expected["count"]
    assert [domain.removeprefix("agentfootprint.") for domain in DOMAINS if domain] == list(
        dict.fromkeys(name.split(".")[1] for name in names)
    )
    assert {domain: sum(domain_of(name) == f"agentfootprint.{domain}" for name in names) for domain in domains} == (
        domains
    )


class Origin(msgspec.Struct):
    runtime_stage_id: str
    subflow_path: Any = None


@pytest.mark.parametrize("case", EVENTS.cases("event-meta"))
def test_event_meta(case: Case) -> None:
    """EVT-7."""
    origin, run = case.input["origin"], case.input["run"]
    marks = MetaMarks(turn_index=run.pop("turnIndex", None), iter_index=run.pop("iterIndex", None))
    facts = msgspec.convert({**run, "startedAtMs": run.pop("runStartMs")}, RunFacts)

    meta = build_event_meta(origin and msgspec.convert(rename(origin), Origin), facts, 5_000_000, marks)

    wire = thaw(meta)
    assert (wire.pop("wallClockMs"), wire.pop("runOffsetMs")) == (facts.started_at_ms + 5, 5)
    assert_same(wire, case.expected)


def rename(origin: Mapping[str, Any]) -> dict[str, Any]:
    return {"runtime_stage_id": origin["runtimeStageId"], "subflow_path": origin.get("subflowPath")}


class Script:
    """Runs a script of `dispatcher.json` and keeps its log."""

    def __init__(self) -> None:
        self.bus = EventBus()
        self.log: list[list[Any]] = []
        self.listeners: dict[str, tuple[str, Callable[[Event[Any]], object], Subscription]] = {}
        self.signals: dict[str, asyncio.Event] = {}

    def run(self, op: str, *args: Any) -> None:
        getattr(self, op.lower())(*args)

    def on(self, pattern: str, id: str, action: list[Any] | None = None, options: Any = None) -> None:
        def listener(event: Event[Any]) -> None:
            self.log.append([id, event.type])
            if action:
                self.run(*action)

        options = options or {}
        signal = self.signals.setdefault(options["signal"], asyncio.Event()) if "signal" in options else None
        subscription = self.bus.on(pattern, listener, once=options.get("once", False), until=signal)
        self.listeners[id] = pattern, listener, subscription

    def throwing(self, pattern: str, id: str) -> None:
        def listener(event: Event[Any]) -> None:
            self.log.append([id, "threw"])
            raise RuntimeError(id)

        self.bus.on(pattern, listener)

    def off(self, id: str) -> None:
        self.listeners[id][2].close()

    def offbyfn(self, id: str) -> None:
        pattern, listener, _ = self.listeners[id]
        self.bus.off(pattern, listener)

    def clear(self) -> None:
        self.bus.clear()

    def abort(self, signal: str) -> None:
        self.signals.setdefault(signal, asyncio.Event()).set()

    def dispatch(self, event_type: str) -> None:
        self.bus.dispatch(UnknownEvent(event_type, {}, {}))

    def count(self, pattern: str | None = None) -> None:
        self.log.append(["count", self.bus.listener_count(pattern)])

    def has(self, event_type: str) -> None:
        self.log.append(["has", self.bus.has_listeners(event_type)])


@pytest.mark.parametrize("case", EVENTS.cases("dispatcher"))
def test_dispatcher(case: Case) -> None:
    """DSP-1 to DSP-7."""
    script = Script()

    for op in case.input:
        script.run(*op)

    assert_same(script.log, case.expected)


def events_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every event that stands anywhere in a vector."""
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        if isinstance(found.get("type"), str) and "payload" in found and isinstance(found.get("meta", {}), dict):
            yield found
        for inner in found.values():
            yield from events_in(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from events_in(inner)


# The topics of these files are others; only the events that stand in them are read here.
ALL = [
    *EVENTS.cases("run-streams", "audit-chain", *HAND_MADE),
    *AGENT_LOOP.cases("scenario-basic"),
]


@pytest.mark.parametrize("case", ALL)
def test_every_event_is_read_into_its_class_and_written_as_it_was(case: Case) -> None:
    """EVT-4, EVT-5: nothing is lost, not even what a vector leaves out."""
    for found in events_in(case.raw):
        event = decode_event(json.dumps(found))

        assert_same(json.loads(encode_event(event)), found)
        if found["type"] in EVENT_TYPES and isinstance(found["payload"], dict):
            assert isinstance(event.payload, Payload)


@pytest.mark.parametrize("case", [*EVENTS.cases("run-streams"), *AGENT_LOOP.cases("scenario-basic")])
def test_a_recorded_payload_is_said_whole_by_its_class(case: Case) -> None:
    """Keys and their order: the class alone gives the reference's payload again, nothing kept beside it."""
    for found in events_in(case.raw):
        event = decode_event(json.dumps(found))

        assert_same(event.payload, found["payload"])
        assert_same(decode_event(encode_event(event)).payload, found["payload"])
        if "wallClockMs" in found["meta"]:
            assert event.source is None


@pytest.mark.parametrize("file", EVENTS.not_built("registry", "event-meta", "dispatcher", *ELSEWHERE))
def test_the_topic_is_built(file: str) -> None:
    pytest.fail(f"{file} is neither covered nor skipped")
