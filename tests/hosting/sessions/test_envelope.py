"""Tests of agentfootprint.hosting.sessions.envelope."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint import Agent, Mock
from agentfootprint.hosting import (
    CONVERSATION,
    FLOWCHART,
    Envelope,
    InvalidEnvelopeError,
    UnknownEnvelopeFormatError,
    UnreadableEnvelopeError,
    check_envelope,
    envelope_owner,
    envelope_transcript,
    read_conversation,
    read_paused,
)
from agentfootprint.hosting.sessions.envelope import decode_envelope, encode_envelope
from agentfootprint.identity import Identity

DATA: dict[str, Any] = {
    "version": 1,
    "runId": "run-1",
    "history": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}],
    "lastCompletedIteration": 1,
    "originalInput": {"message": "hi"},
    "checkpointedAt": 5,
}
PAUSED: dict[str, Any] = {
    "checkpoint": {"pausedStageId": "tool-calls", "sharedState": {}, "subflowPath": []},
    "conversation": {**DATA, "identity": {"conversationId": "c", "principal": "alice"}},
    "pending": {"pauseData": {"q": 1}},
}


def envelope(data: Any = DATA, **changes: Any) -> Envelope:
    fields: dict[str, Any] = {"format": CONVERSATION, "data": data, "saved_at": 7, **changes}
    return Envelope(**fields)


async def test_a_run_that_was_stored_goes_on_from_what_is_read() -> None:
    agent = Agent(Mock("Noted."))
    identity = Identity(conversation_id="c", principal="alice", tenant="acme")
    first = await agent.run("My order is 4411.", identity=identity)
    assert first.checkpoint is not None
    stored = encode_envelope(Envelope.now(CONVERSATION, first.checkpoint.to_wire()))

    read = decode_envelope(stored)
    second = await agent.run("Which one?", continue_from=read_conversation(read))

    assert second.checkpoint is not None
    assert [message.content for message in second.checkpoint.history] == [
        *("My order is 4411.", "Noted."),
        *("Which one?", "Noted."),
    ]
    assert envelope_owner(read) == "%/acme/alice"


def test_keys_of_other_writers_survive_and_the_version_is_not_stored() -> None:
    data = {**DATA, "agui": {"threadId": "t", "messageIds": ["m-1"]}, "later": [1, {"a": None}]}

    read = decode_envelope(encode_envelope(envelope(data, version=9)), version=3)

    assert read.to_wire() == {"format": CONVERSATION, "data": data, "savedAt": 7}
    assert read.version == 3


def test_the_data_is_a_copy_that_nobody_changes() -> None:
    data = {**DATA, "agui": {"ids": ["a"]}}
    kept = envelope(data)

    data["agui"]["ids"].append("b")
    kept.to_wire()["data"]["agui"]["ids"].append("c")

    assert kept.to_wire()["data"]["agui"]["ids"] == ["a"]


def test_what_was_said_stays_out_of_the_repr() -> None:
    assert repr(envelope({**DATA, "secret": "marker"})) == (
        "Envelope(format='conversation-v1', saved_at=7, version=None)"
    )


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"format": None}, "format"),
        ({"saved_at": "now"}, "savedAt"),
        ({"saved_at": True}, "savedAt"),
        ({"saved_at": -1}, "savedAt"),
        ({"data": []}, "data"),
        ({"data": {"x": float("nan")}}, "data"),
        ({"data": {"x": {1, 2}}}, "data"),
        ({"data": {"x": "\ud800"}}, "data"),
    ],
)
def test_what_is_no_envelope_is_not_made(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidEnvelopeError) as caught:
        envelope(**changes)

    assert caught.value.field == field
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({**DATA, "version": 2}, "data.version"),
        ({**DATA, "version": True}, "data.version"),
        ({**DATA, "runId": 1}, "data.runId"),
        ({**DATA, "history": "hi"}, "data.history"),
        ({**DATA, "history": [{"role": "user", "content": "hi"}, 7]}, "data.history[1].role"),
        ({**DATA, "history": [{"content": "hi"}]}, "data.history[0].role"),
    ],
)
def test_a_conversation_that_is_none_is_named_by_its_field(data: Any, field: str) -> None:
    with pytest.raises(InvalidEnvelopeError) as caught:
        check_envelope(envelope(data))

    assert caught.value.field == field


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({**PAUSED, "checkpoint": None}, "data.checkpoint"),
        ({**PAUSED, "checkpoint": {**PAUSED["checkpoint"], "pausedStageId": None}}, "data.checkpoint.pausedStageId"),
        ({**PAUSED, "checkpoint": {**PAUSED["checkpoint"], "sharedState": []}}, "data.checkpoint.sharedState"),
        ({**PAUSED, "checkpoint": {**PAUSED["checkpoint"], "subflowPath": "a/b"}}, "data.checkpoint.subflowPath"),
        ({**PAUSED, "pending": None}, "data.pending"),
        ({**PAUSED, "conversation": None}, "data.conversation"),
    ],
)
def test_a_pause_that_is_none_is_named_by_its_field(data: Any, field: str) -> None:
    with pytest.raises(InvalidEnvelopeError) as caught:
        check_envelope(envelope(data, format=FLOWCHART))

    assert caught.value.field == field


def test_a_reader_of_one_format_points_at_the_reader_of_the_other() -> None:
    with pytest.raises(InvalidEnvelopeError, match=r"'flowchart-v1', not 'conversation-v1'.*read_paused"):
        read_conversation(envelope(PAUSED, format=FLOWCHART))
    with pytest.raises(InvalidEnvelopeError, match=r"'conversation-v1', not 'flowchart-v1'.*read_conversation"):
        read_paused(envelope())


def test_a_paused_session_gives_its_three_parts() -> None:
    read = read_paused(envelope({**PAUSED, "agui": 1}, format=FLOWCHART))

    assert read.checkpoint == PAUSED["checkpoint"]
    assert read.pending == PAUSED["pending"]
    assert read.conversation.message == "hi"


def test_a_message_that_can_not_be_read_is_named_by_its_place_and_not_quoted() -> None:
    broken = envelope({**DATA, "history": [{"role": "user", "content": {"secret": "marker"}}]})

    with pytest.raises(InvalidEnvelopeError) as caught:
        read_conversation(broken)

    assert caught.value.field.startswith("data.history[0]")
    assert "marker" not in str(caught.value)


@pytest.mark.parametrize("stored", ["", "not json", "[1]", "null", "7", '"text"', "[" * 100_000, b"{}", None, 3.5])
def test_unreadable_text_is_not_absent(stored: object) -> None:
    with pytest.raises(UnreadableEnvelopeError) as caught:
        decode_envelope(stored, session_id="s-1")

    assert caught.value.session_id == "s-1"
    assert len(caught.value.stored_preview) <= 64
    assert caught.value.__cause__ is None


def test_numbers_that_json_can_not_hold_are_refused_in_stored_data() -> None:
    text = encode_envelope(envelope()).replace('"checkpointedAt":5', '"checkpointedAt":NaN')

    with pytest.raises(InvalidEnvelopeError, match="JSON throughout"):
        decode_envelope(text)


def test_an_unknown_format_says_which_are_known() -> None:
    with pytest.raises(UnknownEnvelopeFormatError, match=r"'conversation-v2'.*conversation-v1, flowchart-v1") as caught:
        check_envelope({"format": "conversation-v2", "savedAt": 1, "data": DATA})

    assert caught.value.found == "conversation-v2"


def test_a_time_that_another_implementation_wrote_as_a_float_is_read() -> None:
    assert check_envelope({"format": CONVERSATION, "savedAt": 7.0, "data": DATA}).saved_at == 7


def test_the_transcript_holds_no_tool_leg_and_no_system_text() -> None:
    history: list[dict[str, Any]] = [
        {"role": "system", "content": "secret"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "toolCalls": [{"id": "1", "name": "t", "args": {}}]},
        {"role": "tool", "content": "secret", "toolCallId": "1"},
        {"role": "assistant", "content": "hello"},
    ]

    assert list(envelope_transcript(envelope({**DATA, "history": history}))) == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(extra=st.dictionaries(st.text(), JSON, max_size=3))
def test_encoding_and_decoding_gives_back_every_json_value(extra: dict[str, Any]) -> None:
    data = {**extra, **DATA}

    assert decode_envelope(encode_envelope(envelope(data))).to_wire()["data"] == data


@given(stored=JSON)
def test_projections_never_raise_and_readers_raise_nothing_of_their_own(stored: Any) -> None:
    envelope_owner(stored)
    envelope_transcript(stored)

    with pytest.raises((UnreadableEnvelopeError, UnknownEnvelopeFormatError, InvalidEnvelopeError)):
        check_envelope(stored)


@given(data=JSON, form=st.sampled_from([CONVERSATION, FLOWCHART]), identity=JSON)
def test_projections_survive_any_data(data: Any, form: str, identity: Any) -> None:
    stored = {"format": form, "savedAt": 1, "data": data}
    envelope_owner(stored)
    envelope_transcript(stored)

    owner = envelope_owner({"format": CONVERSATION, "savedAt": 1, "data": {"identity": identity}})

    assert owner is None or owner


def test_a_number_too_long_to_be_written_is_named_by_its_place_and_not_quoted() -> None:
    with pytest.raises(InvalidEnvelopeError, match="'data' is not JSON that can be written") as caught:
        encode_envelope(envelope({**DATA, "n": 10**5000}))

    assert caught.value.__cause__ is None
