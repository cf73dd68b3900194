"""Tests of agentfootprint.agui.mapping.moments."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from agentfootprint.agui.mapping.moments import Moment, clean, hidden, json_text, label, told, when, whole
from agentfootprint.events import Event, MetaMarks, RunFacts, Token, UnknownEvent
from tests.agui.made import event, token

RUN = RunFacts(run_id="run-1-1", started_at_ms=1_000)


class Stage:
    runtime_stage_id = "x/sf-llm-call/call-llm#7"
    subflow_path = None


def test_a_live_event_is_read_without_building_its_meta() -> None:
    live = Event(Token(iteration=1, token_index=0, content="x"), Stage(), 2_000_000, RUN, MetaMarks(tool_ordinal=3))

    moment = Moment(live, {})

    assert (moment.address, moment.scope, moment.ordinal) == ("x/sf-llm-call/call-llm#7", "x", 3)
    assert moment.place(iteration=1, status=None, stopReason=UNSET) == {
        "agentfootprint": {"runId": "run-1-1", "runtimeStageId": "x/sf-llm-call/call-llm#7", "iteration": 1}
    }
    assert when(live) == 1_002
    assert live._meta is None  # pyright: ignore[reportPrivateUsage]  that nothing was built is not to be seen otherwise


def test_a_read_event_says_the_same_of_itself() -> None:
    moment = Moment(event("stream.tool_end", {}, "y/tool-calls#2", ordinal=1), {})

    assert (moment.address, moment.scope, moment.ordinal) == ("y/tool-calls#2", "y", 1)
    assert when(moment.event) == 1_700_000_000_000


@pytest.mark.parametrize("clock", [0, -5, 2**60, "[REDACTED]", 1.5])
def test_a_time_that_is_none_is_left_out(clock: Any) -> None:
    assert when(event("x", {}, wallClockMs=clock)) is None


def test_a_field_is_read_from_a_record_an_object_or_not_at_all() -> None:
    assert told(token(3, "x").payload, "token_index") == 3
    assert told({"tokenIndex": 3, "as": "x"}, "token_index") == 3
    assert told({"as": "x"}, "as_") == "x"
    assert told("[REDACTED]", "content") is UNSET
    assert told(None, "content") is UNSET


def test_a_placeholder_stands_for_the_whole_payload() -> None:
    assert hidden("[GONE]") == "[GONE]"
    assert hidden({}) is None
    assert label({"name": 3}, "name") is None
    assert label("[GONE]", "name") == "[GONE]"
    assert whole({"n": True}, "n") is None


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), (None, "null"), (UNSET, "null"), (True, "true"), ({"a": [1.0, "é"]}, '{"a":[1,"é"]}')],
)
def test_a_value_is_shown_as_text_or_compact_json(value: object, text: str) -> None:
    assert json_text(value) == text


def test_halves_of_characters_are_replaced_and_whole_ones_kept() -> None:
    assert clean("a\ud800b") == "a\ufffdb"
    assert clean("\U0001f600é") == "\U0001f600é"


def test_an_event_of_an_application_is_read_too() -> None:
    moment = Moment(UnknownEvent("shop.filled", {"n": 1}, {"runId": "run-1-1"}), {})

    assert moment.address == "unknown#0"
    assert moment.ordinal is None
