"""Tests of agentfootprint.events.codec."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from agentfootprint.events import (
    CONSUMER_STAGE,
    Carried,
    EvalScore,
    Event,
    EventFormatError,
    IterationEnd,
    MetaMarks,
    Payload,
    RunFacts,
    ToolEnd,
    ToolStart,
    UnknownEvent,
    ValidationArgsInvalid,
    app_event,
    consumer_facts,
    decode_event,
    encode_event,
    event_from_wire,
    event_to_wire,
)
from agentfootprint.trace import FrozenDict, FrozenList, ValueRefusedError, freeze
from tests.events.strategies import json_values, payloads

RUN = RunFacts(run_id="run-1700000000000-1", started_at_ms=1_700_000_000_000, composition_path=("Agent:desk",))
META = {
    "wallClockMs": 1_700_000_000_018,
    "runOffsetMs": 18,
    "runtimeStageId": "tool-calls#22",
    "subflowPath": [],
    "compositionPath": ["Agent:desk"],
    "runId": "run-1700000000000-1",
}
optional_texts = st.none() | st.sampled_from(["", "a"])
facts = st.builds(
    RunFacts,
    run_id=st.just("run-1-1"),
    started_at_ms=st.integers(0, 2**41),
    composition_path=st.lists(st.sampled_from(["Agent:a", "Loop:b"])).map(tuple),
    session_id=optional_texts,
    principal=optional_texts,
)
marks = st.none() | st.builds(
    MetaMarks,
    tool_ordinal=st.none() | st.integers(0, 9),
    carried=st.none() | st.builds(Carried, count=st.integers(0, 9), from_=st.just("a#1")),
)
stages = st.sampled_from(["seed#0", "sf-a/b#3", None])


def stored(event_type: str, payload: Any, **meta: Any) -> dict[str, Any]:
    return {"type": event_type, "payload": payload, "meta": {**META, **meta}}


@given(payloads, stages, st.integers(0, 2**40), facts, marks)
def test_what_is_written_reads_back_as_the_same_event(
    payload: Payload, stage: str | None, dt: int, run: RunFacts, marks: MetaMarks | None
) -> None:
    """EVT-4, for every type."""
    event = Event(payload, stage, dt, run, marks)

    back = decode_event(encode_event(event))

    assert back == event
    assert type(back.payload) is type(payload)
    assert back.source is None
    assert encode_event(back) == encode_event(event)


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1), json_values, st.dictionaries(st.text(), st.none())
)
def test_an_event_of_any_other_type_comes_back_as_it_was(name: str, payload: Any, meta: dict[str, None]) -> None:
    """EVT-5."""
    found = event_to_wire(UnknownEvent(name, payload, {"runId": "r"})) | {"meta": {"runId": "r", "more": len(meta)}}

    event = decode_event(json.dumps(found))

    assert event_to_wire(event) == found
    assert json.loads(encode_event(event)) == found
    assert event.meta.run_id == "r"


def test_the_keys_of_an_event_stand_in_the_order_of_the_wire() -> None:
    event = Event(ToolEnd(tool_call_id="c1", result=freeze({"city": "Paris"}), duration_ms=2), "tool-calls#22", 0, RUN)

    assert encode_event(event) == (
        b'{"type":"agentfootprint.stream.tool_end",'
        b'"payload":{"toolCallId":"c1","result":{"city":"Paris"},"durationMs":2},'
        b'"meta":{"wallClockMs":1700000000000,"runOffsetMs":0,"runtimeStageId":"tool-calls#22","subflowPath":[],'
        b'"compositionPath":["Agent:desk"],"runId":"run-1700000000000-1"}}'
    )


def test_what_is_read_is_frozen() -> None:
    start = event_from_wire(
        stored("agentfootprint.stream.tool_start", {"toolName": "t", "toolCallId": "c", "args": {"a": [1]}})
    )
    end = event_from_wire(
        stored(
            "agentfootprint.agent.iteration_end", {"turnIndex": 0, "iterIndex": 1, "toolCallCount": 0, "history": [{}]}
        )
    )

    assert isinstance(start.payload, ToolStart)
    assert isinstance(start.payload.args, FrozenDict)
    assert isinstance(end.payload, IterationEnd)
    assert isinstance(end.payload.history, FrozenList)


def test_a_key_of_a_newer_version_is_kept_beside_the_typed_payload() -> None:
    """EVT-5: readers still find the class."""
    found = stored(
        "agentfootprint.stream.tool_end", {"toolCallId": "c1", "durationMs": 2, "mood": {"a": 1}}, color="red"
    )

    event = event_from_wire(found)

    assert event.payload == ToolEnd(tool_call_id="c1", duration_ms=2)
    assert event_to_wire(event) == found
    assert event != event_from_wire(stored("agentfootprint.stream.tool_end", {"toolCallId": "c1", "durationMs": 2}))


def test_a_null_where_a_key_should_be_absent_is_written_back_as_null() -> None:
    found = stored(
        "agentfootprint.stream.tool_end", {"toolCallId": "c1", "result": None, "durationMs": 2, "status": None}
    )

    event = event_from_wire(found)

    assert event.payload.result is None
    assert event.payload.status is None
    assert event_to_wire(event) == found


def test_a_key_that_the_writer_left_out_is_unset() -> None:
    found = stored("agentfootprint.stream.tool_start", {"toolName": "weather"})

    event = event_from_wire(found)

    assert isinstance(event.payload, ToolStart)
    assert event.payload.tool_name == "weather"
    assert event.payload.args is UNSET
    assert event_to_wire(event) == found


def test_a_placeholder_or_a_newer_word_stands_where_another_type_is_declared() -> None:
    """BRG-5, BRG-8: a redacted field is its placeholder, in a file as in a live run."""
    args = event_from_wire(
        stored("agentfootprint.stream.tool_start", {"toolName": "t", "toolCallId": "c", "args": "[REDACTED]"})
    )
    word = event_from_wire(
        stored("agentfootprint.agent.route_decided", {"turnIndex": 0, "iterIndex": 1, "chosen": "new-branch"})
    )
    inside = event_from_wire(
        stored(
            "agentfootprint.validation.args_invalid",
            {"toolName": "t", "toolCallId": "c", "iteration": 1, "issues": [{"path": "a"}], "enforced": "[REDACTED]"},
        )
    )

    assert args.payload.args == "[REDACTED]"
    assert word.payload.chosen == "new-branch"
    assert isinstance(inside.payload, ValidationArgsInvalid)
    assert inside.payload.issues[0].path == "a"


@pytest.mark.parametrize("payload", ["[REDACTED]", None, 5, [1], {"toolName": 5, "toolCallId": "c", "args": {}}])
def test_a_payload_of_another_shape_is_kept_as_it_is(payload: Any) -> None:
    """BRG-5."""
    found = stored("agentfootprint.stream.tool_start", payload)

    event = event_from_wire(found)

    assert isinstance(event, UnknownEvent)
    assert event.type == "agentfootprint.stream.tool_start"
    assert event_to_wire(event) == found


def test_a_meta_that_says_little_reads_as_empty_and_is_written_as_it_was() -> None:
    found: dict[str, Any] = {"type": "x", "payload": 5, "meta": {}}

    event = event_from_wire(found)

    assert (event.meta.run_id, event.meta.wall_clock_ms, event.meta.in_run) == ("", 0, False)
    assert event_to_wire(event) == found
    assert event_to_wire(event_from_wire(found | {"meta": {"runId": 7}})) == found | {"meta": {"runId": 7}}


def test_more_keys_beside_the_three_are_kept() -> None:
    found = {**stored("agentfootprint.stream.token", {"iteration": 1, "tokenIndex": 0, "content": ""}), "seq": 4}

    assert event_to_wire(event_from_wire(found)) == found


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b'{"type":"x"}',
        b'{"type":1,"payload":{},"meta":{}}',
        b'{"type":"x","payload":{},"meta":1}',
    ],
)
def test_what_is_no_event_is_refused_without_quoting_it(data: bytes) -> None:
    with pytest.raises(EventFormatError, match=r'keys "type" \(text\), "payload" and "meta"'):
        decode_event(data)


def test_an_event_of_the_application_carries_the_runs_meta() -> None:
    """EVT-6."""
    event = app_event("shop.basket.filled", {"items": (1, 2)}, "tool-calls#22", 18_000_000, RUN)

    assert isinstance(event, UnknownEvent)
    assert event_to_wire(event) == {"type": "shop.basket.filled", "payload": {"items": [1, 2]}, "meta": META}
    assert (event.execution, event.dt, event.facts) == ("tool-calls#22", 18_000_000, RUN)


def test_an_event_of_the_application_under_a_registered_name_is_typed_when_it_is_whole() -> None:
    run = consumer_facts(5)
    score = {"metricId": "m", "value": 1, "target": "run", "targetRef": "r"}

    whole = app_event("agentfootprint.eval.score", score, CONSUMER_STAGE, 0, run)
    partial = app_event("agentfootprint.eval.score", {"value": 1}, CONSUMER_STAGE, 0, run)
    more = app_event("agentfootprint.eval.score", {**score, "mine": 1}, CONSUMER_STAGE, 0, run)

    assert whole.payload == EvalScore(metric_id="m", value=1, target="run", target_ref="r")
    assert isinstance(partial, UnknownEvent)
    assert isinstance(more, UnknownEvent)
    assert more.payload["mine"] == 1


def test_an_event_of_the_application_is_judged_where_it_is_handed_in() -> None:
    """DEC-13."""
    with pytest.raises(ValueRefusedError) as caught:
        app_event("shop.basket.filled", {"total": float("nan")}, CONSUMER_STAGE, 0, RUN)

    assert caught.value.path == ("shop.basket.filled", "total")
