"""Tests of agentfootprint.recording.feed."""

from __future__ import annotations

from typing import Any

from agentfootprint.events import Event, LLMStart, Token, event_to_wire
from agentfootprint.recording.feed import EventFeed, join_tokens
from tests.recording.runs import FACTS, agent_recording, journal_of, planted

INJECTED = "agentfootprint.context.injected"
COMPOSED = "agentfootprint.context.slot_composed"


def test_the_wire_form_repeats_every_row_in_every_pass_before_its_slot_is_closed() -> None:
    recording = agent_recording(3)
    events = recording.feed("wire").take()

    slots: dict[str, list[int]] = {}
    rows = 0
    for event in events:
        if event.type == INJECTED:
            rows += 1
        elif event.type == COMPOSED:
            slots.setdefault(event.payload.slot, []).append(rows)
            rows = 0
            assert event.meta.carried is None

    assert slots == {"system-prompt": [3, 3, 4], "messages": [1, 3, 5], "tools": [1, 1, 1]}


def test_the_order_of_events_is_that_of_the_reference() -> None:
    """EVT-20: the same run, but for the tokens of the reply."""
    wire = agent_recording(2).to_wire()["events"]
    skip = ("stream.token", "context.injected")

    assert [event["type"] for event in wire if not event["type"].endswith(skip)] == [
        event["type"] for event in planted()["events"] if not event["type"].endswith(skip)
    ]
    assert [event["meta"]["runtimeStageId"] for event in wire if not event["type"].endswith(skip)] == [
        event["meta"]["runtimeStageId"] for event in planted()["events"] if not event["type"].endswith(skip)
    ]


def test_native_events_are_the_wire_s_with_the_carried_ones_left_out() -> None:
    """01b LIN-21."""
    recording = agent_recording(3)
    native = [event_to_wire(event) for event in recording.events]
    wire = [event_to_wire(event) for event in recording.feed("wire").take()]
    seen: set[str] = set()
    expected: list[dict[str, Any]] = []
    for event in wire:
        key = f"{event['payload'].get('slot')}:{event['payload'].get('contentHash')}"
        if event["type"] != INJECTED or key not in seen:
            expected.append(event)
        seen.add(key)
    for event in native:
        event["meta"].pop("carried", None)

    assert native == expected


def test_the_history_of_an_ended_iteration_is_a_list_on_the_wire() -> None:
    ends = [event for event in agent_recording(3).to_wire()["events"] if event["type"].endswith("iteration_end")]

    assert [len(end["payload"].get("history", ())) for end in ends] == [3, 5, 0]
    assert ends[0]["payload"]["history"][0] == {"role": "user", "content": "Should order A-1001 be refunded?"}


def test_a_feed_goes_on_where_it_stopped() -> None:
    recording = agent_recording(3)
    journal = journal_of(recording)
    rows, journal.rows[:] = list(journal.rows), []
    feed = EventFeed(journal, recording.feed().facts)

    taken: list[Event[Any]] = []
    for row in rows:
        journal.rows.append(row)
        assert feed.is_behind()
        taken += feed.take()

    assert not feed.is_behind()
    assert taken == list(recording.events)


def token(index: int, text: str, where: str = "call-llm#1") -> Event[Any]:
    return Event(Token(iteration=1, token_index=index, content=text), where, index, FACTS)


def test_neighbouring_tokens_of_one_call_are_joined_and_nothing_else_is() -> None:
    start = Event(
        LLMStart(iteration=1, provider="p", model="m", system_prompt_chars=0, messages_count=1, tools_count=0), "s#1"
    )
    other = token(0, "x", "call-llm#2")

    joined = join_tokens(
        [start, token(0, "a"), token(1, "b"), start, token(2, "c"), other, token(3, "d"), token(4, "e")]
    )

    assert [(event.payload.content if isinstance(event.payload, Token) else None) for event in joined] == [
        None, "ab", None, "c", "x", "de",
    ]  # fmt: skip
    assert joined[1].payload.token_index == 0
    assert joined[-1].payload.token_index == 3
    assert joined[3] == token(2, "c")
