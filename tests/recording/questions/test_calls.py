"""Tests of agentfootprint.recording.questions.calls."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint import Agent, Fact, Limits, Mock
from agentfootprint.llm import LLMMessage, ToolCall, Usage
from agentfootprint.recording import Recording
from agentfootprint.recording.questions.calls import read_message
from tests.recording.runs import agent_recording, planted


def test_the_last_call_of_the_planted_refund_shows_where_the_wrong_fact_stood() -> None:
    recording = Recording.from_wire(planted())

    call = recording.calls[-1]
    piece = next(piece for piece in call.pieces if piece.id == "vip-override-fact")

    assert (call.step, call.iteration, call.index, len(recording.calls)) == ("call-llm#40", 2, 1, 2)
    assert (piece.start, piece.end) == (79, 177)  # printed for people: characters 79-176 of 245
    assert len(call.system_text) == 245
    assert call.system_text[piece.start : piece.end] == piece.text
    assert (piece.source, piece.landed_step, piece.first_iteration) == ("fact", "context#6", 1)
    assert recording.answer == (call.content, "call-llm#40")
    assert call.content.startswith("Refund APPROVED")


def test_a_call_of_the_reference_is_read_whole() -> None:
    first, last = Recording.from_wire(planted()).calls

    assert first.tool_calls == (ToolCall("t1", "lookup_order", {"orderId": "A-1001"}),)
    assert (first.model, first.provider, first.stop_reason) == ("mock-1", "mock", "tool_use")
    assert [tool.name for tool in first.tools] == ["lookup_order"]
    assert (last.usage, last.stop_reason, last.tool_calls) == (Usage(input=87, output=33), "stop", ())
    assert [message.role for message in last.messages] == ["user", "assistant", "tool"]
    assert last.messages[1].tool_calls == first.tool_calls
    assert [message.role for message in first.messages] == ["user"]


def test_a_piece_landed_where_it_has_stood_since_without_a_break() -> None:
    """A rule lets one piece in from iteration 3 on; the others have stood since iteration 1."""
    recording = agent_recording(4)

    found = {
        (call.iteration, piece.id): (piece.landed_step, piece.first_iteration)
        for call in recording.calls
        for piece in call.pieces
    }

    assert found[2, "vip"] == found[4, "vip"] == ("context#6", 1)
    assert found[4, "late"] == found[3, "late"]
    assert found[3, "late"][1] == 3
    assert (2, "late") not in found
    assert found[4, None] == ("context#6", 1)


def test_a_piece_that_left_and_came_back_landed_again() -> None:
    from agentfootprint import Instruction

    recording = agent_recording(
        4, context=[Instruction("odd", "Odd.", when=lambda turn: turn.iteration % 2 == 1), Fact("fact", "A fact.")]
    )

    odd = {call.iteration: piece for call in recording.calls for piece in call.pieces if piece.id == "odd"}

    assert {iteration: piece.first_iteration for iteration, piece in odd.items()} == {1: 1, 3: 3}
    assert recording.calls[3].pieces[-1].first_iteration == 1


def test_spans_count_characters_as_python_does() -> None:
    agent = Agent(Mock("Hi."), system="😀 é", context=[Fact("a", "twice"), Fact("b", "twice")])

    call = agent.run_sync("hello").recording.calls[0]

    assert call.system_text == "😀 é\n\ntwice\n\ntwice"
    assert [(piece.start, piece.end) for piece in call.pieces] == [(0, 3), (5, 10), (12, 17)]


def test_a_wrap_up_call_was_offered_no_tools() -> None:
    recording = agent_recording(9, limits=Limits(iterations=2))

    assert [len(call.tools) for call in recording.calls] == [1, 1, 0]
    assert recording.calls[-1].messages[-1].role == "user"


def test_messages_are_a_view_that_reads_like_a_list() -> None:
    messages = agent_recording(3).calls[-1].messages

    assert len(messages) == 5
    assert messages[-1] is messages[4]
    assert messages[1:3] == [messages[1], messages[2]]
    assert messages == list(messages)
    assert LLMMessage("user", "Should order A-1001 be refunded?") in messages
    assert repr(messages) == repr(list(messages))
    with pytest.raises(IndexError):
        messages[5]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({"role": "user", "content": "hi"}, LLMMessage("user", "hi")),
        ({"role": "narrator", "content": ["a", 1]}, LLMMessage("user", '["a",1]')),
        ({"role": "tool"}, LLMMessage("tool", "")),
        ({"role": "assistant", "content": "x", "toolCalls": 3}, LLMMessage("assistant", "x")),
    ],
)
def test_a_message_in_an_older_form_is_kept_as_its_text(found: dict[str, Any], message: LLMMessage) -> None:
    """NEW-66: a reader does not fail on an older record."""
    assert read_message(found) == message


def test_a_recording_without_the_texts_of_its_pieces_has_no_spans() -> None:
    wire = planted()
    for bundle in wire["snapshot"]["commitLog"]:
        for row in bundle["overwrite"].get("systemPromptInjections", ()):
            row.pop("rawContent")

    call = Recording.from_wire(wire).calls[-1]

    assert {(piece.start, piece.end) for piece in call.pieces} == {(None, None)}
    assert call.pieces[1].text.startswith("Customer Dana Reyes")
