"""Tests of agentfootprint.agui.mapping.calls."""

from __future__ import annotations

import gc
from collections import deque
from typing import Any

import msgspec
import pytest

from agentfootprint.agui import AgUiOptions
from agentfootprint.agui.mapping.calls import OpenCall
from agentfootprint.agui.mapping.mapper import Mapper
from agentfootprint.trace import thaw
from tests.agui.client import Client, wire_of
from tests.agui.made import BARE, called, event, mapped, of, said, settled

START, ARGS, RESULT = "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_RESULT"
PAUSE = event("pause.request", {"reason": "?", "questionPayload": {"toolCallId": "c1"}}, "tool-calls#paused")
RESUME = event("pause.resume", {"resumeInput": {}, "pausedDurationMs": 0}, "tool-calls#resumed")


def own(sent: dict[str, Any]) -> dict[str, Any]:
    return sent["metadata"]["agentfootprint"]


def test_calls_of_a_reply_without_text_stand_together_under_its_reserved_id() -> None:
    sent = mapped([said("", calls=2), called("c1"), called("c2"), settled("c1"), settled("c2")])

    assert {each["parentMessageId"] for each in of(sent, START)} == {"r-1/message/0/call-llm#1"}
    message, *results = Client(sent).messages
    assert [call["id"] for call in message["toolCalls"]] == [f"r-1/tool-call/{n}/tool-calls#2" for n in (0, 1)]
    assert [each["id"] for each in results] == [f"r-1/tool-result/{n}/tool-calls#2" for n in (0, 1)]


def test_results_in_another_order_find_their_calls_by_place_though_ids_repeat() -> None:
    events = [
        *(called("c1", ordinal=n, args={"n": n}) for n in range(3)),
        *(settled("c1", ordinal=n, result=n) for n in (2, 0, 1)),
    ]

    sent = mapped(events)

    assert [(each["toolCallId"], each["content"]) for each in of(sent, RESULT)] == [
        (f"r-1/tool-call/{n}/tool-calls#2", str(n)) for n in (2, 0, 1)
    ]


def test_without_places_equal_ids_are_answered_in_their_order() -> None:
    sent = mapped([called("c1"), called("c1"), settled("c1", result="a"), settled("c1", result="b")])

    assert [(each["toolCallId"][4:15], each["content"]) for each in of(sent, RESULT)] == [
        ("tool-call/0", "a"),
        ("tool-call/1", "b"),
    ]


def test_equal_ids_of_branches_are_told_apart_by_their_addresses() -> None:
    x, y = "x/tool-calls#2", "y/tool-calls#3"

    sent = mapped([called("c1", at=x), called("c1", at=y), settled("c1", y, result=1), settled("c1", x, result=2)])

    assert [each["toolCallId"] for each in of(sent, RESULT)] == [f"r-1/tool-call/0/{y}", f"r-1/tool-call/0/{x}"]


def test_a_result_without_its_call_is_counted_and_not_sent() -> None:
    mapper = Mapper("t-1", "r-1", BARE)

    sent = mapped([settled("c1"), called("c1"), settled("c1"), settled("c1"), settled("c2", "x#1")], mapper=mapper)

    assert len(of(sent, RESULT)) == 1
    assert mapper.unpaired_results == 3
    assert mapper.open_calls == ()


@pytest.mark.parametrize(
    ("payload", "content"),
    [
        ({"result": "as it is"}, "as it is"),
        ({"result": {"b": 1.0, "a": "é"}}, '{"b":1,"a":"é"}'),
        ({"result": None}, "null"),
        ({}, "null"),
        ({"result": "[REDACTED]"}, "[REDACTED]"),
        ({"result": {"secret": 1}, "modelResult": {"kept": 2}}, '{"kept":2}'),
        ({"result": {"secret": 1}, "modelResult": None}, "null"),
    ],
)
def test_the_result_is_what_the_model_read(payload: dict[str, Any], content: str) -> None:
    sent = mapped([called("c1"), settled("c1", **payload)])

    assert of(sent, RESULT)[0]["content"] == content


@pytest.mark.parametrize(
    ("args", "delta"), [({}, "{}"), ({"a": [1, "x"]}, '{"a":[1,"x"]}'), ("[REDACTED]", '"[REDACTED]"')]
)
def test_arguments_are_sent_whole_as_compact_json(args: Any, delta: str) -> None:
    assert of(mapped([called("c1", args=args)]), ARGS)[0]["delta"] == delta


def test_a_call_that_is_hidden_whole_shows_the_placeholder_everywhere() -> None:
    hidden = "[REDACTED]"

    sent = mapped([event(f"stream.tool_{edge}", hidden, "tool-calls#2") for edge in ("start", "end")])

    start, args, result = of(sent, START, ARGS, RESULT)
    assert (start["toolCallName"], own(start)["toolCallId"], args["delta"]) == (hidden, hidden, f'"{hidden}"')
    assert (result["content"], own(result)["toolCallId"]) == (hidden, hidden)


def test_a_failed_call_says_so_and_a_status_is_passed_on() -> None:
    sent = mapped([called("c1"), settled("c1", result="offline", error=True, status="failure")])

    assert own(of(sent, RESULT)[0]) == {
        "runId": "run-1-1",
        "runtimeStageId": "tool-calls#2",
        "toolCallId": "c1",
        "error": True,
        "status": "failure",
    }


def test_a_resumed_run_answers_the_first_runs_call_and_settles_the_rest_of_the_batch() -> None:
    mark = {"pausedCall": {"toolCallId": "c1", "toolName": "weather"}}
    first = Mapper("t-1", "r-1", BARE)
    paused = mapped([said("", calls=2), called("c1", ordinal=0), PAUSE], mapper=first)
    events = [
        RESUME,
        settled("c1", "tool-calls#3", ordinal=0, result="yes"),
        called("c1", at="tool-calls#3", ordinal=1, notDispatched=mark),
        settled("c1", "tool-calls#3", ordinal=1, result="Not run.", notDispatched=mark),
    ]

    resumed = mapped(
        events, mapper=Mapper("t-1", "r-2", BARE, open_calls=first.open_calls, message_ids=first.message_ids)
    )

    answer, start, result = of(resumed, RESULT, START)
    assert (answer["toolCallId"], answer["messageId"]) == (
        "r-1/tool-call/0/tool-calls#2",
        "r-2/tool-result/0/tool-calls#3",
    )
    assert start["parentMessageId"] == "r-1/message/0/call-llm#1"
    assert (own(start)["notDispatched"], own(result)["notDispatched"], "error" in own(result)) == (mark, mark, False)
    ids = [message["id"] for message in Client([*paused, *resumed]).messages]
    assert len(ids) == len(set(ids)) == 3


def test_a_recording_of_both_legs_pairs_over_the_pause() -> None:
    sent = mapped([called("c1"), PAUSE, RESUME, settled("c1", "tool-calls#3", result="yes")])

    assert of(sent, RESULT)[0]["toolCallId"] == "r-1/tool-call/0/tool-calls#2"
    assert sent[-1]["outcome"] == {"type": "success"}


def test_hidden_ids_are_paired_over_a_pause_by_their_place() -> None:
    waiting = [
        OpenCall(id=f"r-1/tool-call/{n}/t#2", provider_id="[REDACTED]", n=n, address="t#2", tool_name="t", ordinal=n)
        for n in (0, 1)
    ]

    sent = mapped([RESUME, *(settled("c", "t#3", ordinal=n, result=n) for n in (1, 0))], open_calls=waiting)

    assert [(each["toolCallId"][4:15], each["content"]) for each in of(sent, RESULT)] == [
        ("tool-call/1", "1"),
        ("tool-call/0", "0"),
    ]


def test_results_of_calls_made_before_and_here_never_share_an_id() -> None:
    waiting = [OpenCall(id=f"r-0/{n}", provider_id=f"w{n}", n=n, address="t#1", tool_name="t") for n in range(3)]
    events = [
        called("c0", at="t#2"),
        settled("w0", "t#2"),
        called("c1", at="t#2"),
        settled("w1", "t#2"),
        *(settled(each, "t#2") for each in ("c1", "w2", "c0")),
        called("c2", at="t#2"),
        settled("c2", "t#2"),
    ]

    sent = mapped(events, open_calls=waiting)

    ids = [each["messageId"] for each in of(sent, RESULT)]
    assert len(set(ids)) == len(ids) == 6


@pytest.mark.parametrize("ordinals", [(None, None), (0, 1)])
def test_a_long_run_keeps_nothing_of_a_call_that_is_settled(ordinals: tuple[int | None, int | None]) -> None:
    mapper = Mapper("t-1", "r-1", BARE)
    mapper.begin()

    def queues_after(first: int, last: int) -> int:
        for n in range(first, last):
            for each in ordinals:
                mapper.map(called("c1", at=f"tool-calls#{n}", ordinal=each))
            for each in reversed(ordinals):
                mapper.map(settled("c1", f"tool-calls#{n}", ordinal=each))
        gc.collect()
        return sum(isinstance(each, deque) for each in gc.get_objects())

    before = queues_after(0, 1)

    assert queues_after(1, 50) <= before


def test_an_open_call_is_kept_as_plain_json() -> None:
    mapper = Mapper("t-1", "r-1", AgUiOptions())
    mapper.begin()
    mapper.map(called("c1", ordinal=0))

    (call,) = mapper.open_calls

    assert thaw(call) == {
        "id": "r-1/tool-call/0/tool-calls#2",
        "providerId": "c1",
        "n": 0,
        "address": "tool-calls#2",
        "toolName": "weather",
        "ordinal": 0,
    }
    assert msgspec.json.decode(msgspec.json.encode(call), type=OpenCall) == call


def test_a_result_of_another_place_answers_no_call_of_the_same_id() -> None:
    mapper = Mapper("t-1", "r-1", BARE)

    sent = mapped([called("c1", ordinal=0), settled("c1", ordinal=1)], mapper=mapper)

    assert (of(sent, RESULT), mapper.unpaired_results) == ([], 1)


def test_a_call_does_not_join_the_reply_before_its_own() -> None:
    asked = event("stream.llm_start", {"iteration": 2, "provider": "p", "model": "m"}, "call-llm#9")

    sent = mapped([said("One"), asked, called("c1", at="tool-calls#10")])

    assert "parentMessageId" not in of(sent, START)[0]


def test_a_call_without_a_proposing_message_stands_alone() -> None:
    sent = mapped([called("c1")])

    assert "parentMessageId" not in of(sent, START)[0]
    assert Client(sent).messages[0]["id"] == "r-1/tool-call/0/tool-calls#2"


def test_the_messages_of_the_mapper_are_what_the_client_holds() -> None:
    mapper = Mapper("t-1", "r-1", BARE, history=())

    sent = mapped(
        [said("Let me see", calls=1), called("c1"), settled("c1", result=1), said("One.", "x#9")], mapper=mapper
    )

    assert wire_of(mapper.messages) == Client(sent).messages
