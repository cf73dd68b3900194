"""Tests of agentfootprint.agui.mapping.texts."""

from __future__ import annotations

import dataclasses
import tracemalloc

from agentfootprint.agui import AgUiOptions
from agentfootprint.agui.mapping.mapper import Mapper
from agentfootprint.agui.mapping.outcomes import Cancelled, Failed, Succeeded
from agentfootprint.events import Event, RunFacts, Token
from tests.agui.client import Client, wire_of
from tests.agui.made import BARE, FINAL, called, event, iteration, mapped, names, of, said, settled, token, turn_end

AUTO = AgUiOptions(timestamps=False)
ASKED = event("agent.turn_start", {"turnIndex": 0, "userPrompt": "Hi"})
START, CONTENT, END = "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"


def shown(sent: list[dict[str, object]]) -> list[tuple[object, object]]:
    return [(message["id"], message.get("content")) for message in Client(sent).messages]


def test_empty_pieces_and_replies_without_text_are_not_sent() -> None:
    sent = mapped([token(0, ""), said("")])

    assert names(sent) == ["RUN_STARTED", "RUN_FINISHED"]


def test_a_reply_that_was_not_streamed_is_sent_whole() -> None:
    sent = mapped([said("Hello.")])

    assert [each.get("delta") for each in of(sent, START, CONTENT, END)] == [None, "Hello.", None]


def test_a_retried_attempt_ends_its_message_and_begins_another() -> None:
    sent = mapped([token(0, "Hel"), token(1, "lo"), token(0, "Good "), token(1, "day"), said("Good day")])

    assert [each["messageId"][-12:] for each in of(sent, START)] == ["0/call-llm#1", "1/call-llm#1"]
    assert shown(sent) == [("r-1/message/0/call-llm#1", "Hello"), ("r-1/message/1/call-llm#1", "Good day")]


def test_a_piece_from_another_address_of_the_scope_ends_the_message_before() -> None:
    sent = mapped([token(0, "Hel"), token(0, "Good day", "call-llm#9"), said("Good day", "call-llm#9")])

    assert names(of(sent, START, END)) == [START, END, START, END]


def test_what_is_streamed_again_leaves_the_snapshot_and_so_the_client() -> None:
    events = [ASKED, token(0, "Hel"), token(0, "Good day"), said("Good day"), turn_end("Good day")]

    sent = mapped(events, AUTO)

    assert shown(sent) == [("r-1/history/0/seed#0", "Hi"), ("r-1/message/1/call-llm#1", "Good day")]


def test_a_restart_drops_what_was_streamed() -> None:
    restarted = event("stream.restarted", {"reason": "cut"}, "call-llm#1")
    events = [ASKED, token(0, "Hel"), restarted, token(1, "Good day"), said("Good day"), turn_end("Good day")]

    sent = mapped(events, AUTO)

    assert shown(sent)[1:] == [("r-1/message/1/call-llm#1", "Good day")]


def test_two_replies_of_one_execution_leave_only_the_last_one() -> None:
    asked = event("stream.llm_start", {"iteration": 1, "provider": "p", "model": "m"}, "call-llm#1")
    events = [ASKED, asked, said("Bad."), asked, said("Good."), turn_end("Good.")]

    sent = mapped(events, AUTO)

    assert shown(sent)[1:] == [("r-1/message/1/call-llm#1", "Good.")]


def test_scopes_that_stream_side_by_side_do_not_end_one_another() -> None:
    x, y = "x/sf-llm-call/call-llm#1", "y/sf-llm-call/call-llm#2"

    sent = mapped([token(0, "X", x), token(0, "Y", y), token(1, "x", x), said("Xx", x), said("Y", y)])

    assert names(of(sent, START, CONTENT, END)) == [START, CONTENT, START, CONTENT, CONTENT, END, END]
    assert shown(sent) == [(f"r-1/message/0/{x}", "Xx"), (f"r-1/message/0/{y}", "Y")]


def test_no_snapshot_is_due_when_what_was_streamed_is_what_was_committed() -> None:
    sent = mapped([ASKED, token(0, "He"), token(1, "llo"), said("Hello"), turn_end("Hello")], AUTO)

    assert "MESSAGES_SNAPSHOT" not in names(sent)


def test_another_answer_than_was_streamed_comes_under_the_same_id() -> None:
    sent = mapped([ASKED, token(0, "Secret"), said("Secret"), turn_end("Withheld")], AUTO)

    assert shown(sent)[1:] == [("r-1/message/0/call-llm#1", "Withheld")]
    assert sent[-1]["result"] == "Withheld"


def test_a_reply_that_is_not_what_was_streamed_is_corrected_too() -> None:
    sent = mapped([ASKED, token(0, "ab"), said("ba"), turn_end("ba")], AUTO)

    assert shown(sent)[1:] == [("r-1/message/0/call-llm#1", "ba")]


def test_a_rejected_draft_is_not_in_the_snapshot() -> None:
    again = event("agent.route_decided", {"turnIndex": 0, "iterIndex": 1, "chosen": "output-retry"}, "sf-route#2")
    events = [ASKED, said("{"), again, said("{}", "call-llm#5"), turn_end("{}")]

    sent = mapped(events, AUTO)

    assert shown(sent)[1:] == [("r-1/message/0/call-llm#5", "{}")]


def test_an_answer_that_no_model_gave_is_shown_at_the_place_of_its_turn() -> None:
    sent = mapped([ASKED, turn_end("Canned.")], AUTO)

    assert shown(sent)[1:] == [(f"r-1/message/0/{FINAL}", "Canned.")]


def test_an_answer_that_is_withheld_takes_what_was_streamed_away() -> None:
    sent = mapped([ASKED, token(0, "Secret"), said("Secret"), turn_end("", denied=True)], AUTO)

    assert shown(sent)[1:] == []


def test_a_failed_run_takes_back_what_was_tried_again_or_denied_and_leaves_the_rest() -> None:
    retried = [ASKED, said("Whole"), token(0, "Hel", "call-llm#5"), token(0, "Good", "call-llm#5")]
    denied = [ASKED, token(0, "Secret"), said("Secret"), turn_end("", denied=True)]

    assert shown(mapped(retried, AUTO, Failed()))[1:] == [("r-1/message/0/call-llm#1", "Whole")]
    assert shown(mapped(denied, AUTO, Failed()))[1:] == []
    assert shown(mapped([ASKED, token(0, "Hel")], AUTO, Failed())) == [("r-1/message/0/call-llm#1", "Hel")]
    assert shown(mapped(retried, AUTO, Cancelled()))[-1] == ("r-1/message/1/call-llm#5", "Good")


def test_a_piece_that_comes_after_its_reply_ends_with_the_iteration() -> None:
    events = [ASKED, iteration("start", 1), said(""), token(0, "Fine."), iteration("end", 1, FINAL), turn_end("Fine.")]

    sent = mapped(events, AUTO)

    assert names(sent)[2:6] == [START, CONTENT, END, "STEP_FINISHED"]
    assert shown(sent) == [("r-1/message/0/call-llm#1", "Fine.")]


def test_another_answer_than_the_late_pieces_is_corrected_too() -> None:
    events = [ASKED, iteration("start", 1), said(""), token(0, "Fine."), iteration("end", 1, FINAL), turn_end("Other.")]

    assert shown(mapped(events, AUTO))[1:] == [("r-1/message/0/call-llm#1", "Other.")]


def test_a_rejected_draft_that_has_calls_stays_since_they_stand_under_it() -> None:
    again = event("agent.route_decided", {"turnIndex": 0, "iterIndex": 1, "chosen": "evidence-recheck"}, "sf-route#2")
    events = [ASKED, said("Let me", calls=1), called("c1"), settled("c1"), again, turn_end("Let me")]

    sent = mapped(events, dataclasses.replace(AUTO, messages_snapshot="always"))

    assert shown(sent)[1] == ("r-1/message/0/call-llm#1", "Let me")


def test_what_is_open_at_the_end_of_a_run_ends_before_it() -> None:
    sent = mapped([iteration("start", 1), token(0, "Hel")])

    assert names(sent)[-3:] == [END, "STEP_FINISHED", "RUN_FINISHED"]


def test_hidden_replies_show_the_placeholder() -> None:
    hidden = [event(f"stream.{kind}", "[REDACTED]", "call-llm#1") for kind in ("token", "token", "llm_end")]

    sent = mapped(hidden)

    assert [each["delta"] for each in of(sent, CONTENT)] == ["[REDACTED]", "[REDACTED]"]


def test_the_caller_is_told_the_real_text_and_the_record_is_shown_when_that_is_wanted() -> None:
    events = [ASKED, token(0, "[REDACTED]"), said("[REDACTED]"), turn_end("[REDACTED]")]
    real = [None, "Hello", "Hello", None]

    def sent(options: AgUiOptions) -> list[dict[str, object]]:
        mapper = Mapper("t-1", "r-1", options)
        parts = [mapper.begin(), *(mapper.map(each, text=text) for each, text in zip(events, real, strict=True))]
        return wire_of([*(one for part in parts for one in part), *mapper.end(Succeeded(text="Hello"))])

    caller, record = sent(AUTO), sent(dataclasses.replace(AUTO, text="record"))

    assert "[REDACTED]" not in str(caller)
    assert caller[-1]["result"] == "Hello"
    assert "Hello" not in str(record)
    assert record[-1]["result"] == "[REDACTED]"


def test_the_answer_of_a_composition_is_added_when_nobody_said_it() -> None:
    x, y = "x/sf-llm-call/call-llm#1", "y/sf-llm-call/call-llm#2"
    left = event("composition.exit", {"kind": "Parallel", "id": "fan", "status": "ok", "durationMs": 0}, "merge#9")
    events = [said("X", x), said("Y", y), left]

    merged = mapped(events, AUTO, Succeeded(text="X+Y"), history=())
    passed = mapped(events, AUTO, Succeeded(text="Y"), history=())

    assert shown(merged)[2:] == [("r-1/message/0/merge#9", "X+Y")]
    assert "MESSAGES_SNAPSHOT" not in names(passed)
    assert merged[-1]["result"] == "X+Y"


def test_the_answer_of_a_single_call_replaces_what_was_said() -> None:
    sent = mapped([said("Draft", "sf-llm-call/call-llm#7")], AUTO, Succeeded(text="Final"), history=())

    assert shown(sent) == [("r-1/message/0/sf-llm-call/call-llm#7", "Final")]


def test_a_long_answer_costs_no_memory_that_grows_with_it() -> None:
    run = RunFacts(run_id="run-1-1", started_at_ms=1)
    mapper = Mapper("t-1", "r-1", AgUiOptions(reasoning="full", state="live"), history=())
    mapper.begin()

    def grown(first: int, last: int) -> int:
        before = tracemalloc.get_traced_memory()[0]
        for n in range(first, last):
            piece = Token(iteration=1, token_index=n, content=f"word {n}")
            assert len(mapper.map(Event(piece, "call-llm#1", n, run))) >= 1
        return tracemalloc.get_traced_memory()[0] - before

    tracemalloc.start()
    try:
        grown(0, 10)
        kept = grown(10, 20_000)
    finally:
        tracemalloc.stop()

    assert kept < 4_000


def test_half_a_character_is_replaced_and_not_fatal() -> None:
    mapper = Mapper("t-1", "r-1", BARE)
    mapper.begin()

    content = mapper.map(token(0, "x"), text="\ud83d!")[1]

    assert wire_of([content])[0]["delta"] == "\ufffd!"
