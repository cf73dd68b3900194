"""Tests of agentfootprint.agui.mapping.snapshot."""

from __future__ import annotations

from typing import Any

from ag_ui import core

from agentfootprint.agui import AgUiOptions
from agentfootprint.agui.mapping.mapper import Mapper
from agentfootprint.events import Event
from tests.agui.client import Client, wire_of
from tests.agui.made import called, event, mapped, names, of, said, settled, turn_end

ALWAYS = AgUiOptions(timestamps=False, messages_snapshot="always")
PROMPT = event("agent.turn_start", {"turnIndex": 0, "userPrompt": "Hi"})


def asked(messages: int) -> Event[Any]:
    payload = {"iteration": 1, "provider": "p", "model": "m", "systemPromptChars": 0, "toolsCount": 0}
    return event("stream.llm_start", {**payload, "messagesCount": messages}, "call-llm#1")


def test_what_the_thread_had_before_stands_first_under_its_own_ids() -> None:
    history = [core.UserMessage(id="u1", content="One"), core.AssistantMessage(id="a1", content="Two")]

    sent = mapped([PROMPT, said("Three"), turn_end("Three")], ALWAYS, history=history)

    (snapshot,) = of(sent, "MESSAGES_SNAPSHOT")
    assert [(each["id"], each["content"]) for each in snapshot["messages"]] == [
        *(("u1", "One"), ("a1", "Two")),
        ("r-1/message/0/call-llm#1", "Three"),
    ]


def test_a_call_under_an_earlier_message_joins_it_and_leaves_the_given_one_alone() -> None:
    earlier = core.AssistantMessage(id="a1", content="Let me")
    mapper = Mapper("t-1", "r-1", ALWAYS, history=[earlier], message_ids={"": "a1"})

    sent = mapped([called("c1"), settled("c1", result=1)], mapper=mapper)

    (snapshot,) = of(sent, "MESSAGES_SNAPSHOT")
    assert [call["id"] for call in snapshot["messages"][0]["toolCalls"]] == ["r-1/tool-call/0/tool-calls#2"]
    assert earlier.tool_calls is None


def test_a_snapshot_is_never_partial() -> None:
    later_turn = [PROMPT, asked(3), said("Hi"), turn_end("Other")]
    resumed = [said("Hi"), turn_end("Other")]

    assert "MESSAGES_SNAPSHOT" not in names(mapped(later_turn, ALWAYS))
    assert "MESSAGES_SNAPSHOT" not in names(mapped(resumed, ALWAYS))
    assert "MESSAGES_SNAPSHOT" in names(mapped([PROMPT, asked(1), *resumed], ALWAYS))
    assert "MESSAGES_SNAPSHOT" in names(mapped(later_turn, ALWAYS, history=()))


def test_later_calls_of_the_first_turn_have_more_messages_and_nothing_is_missing() -> None:
    events = [PROMPT, asked(1), said("", calls=1), called("c1"), settled("c1"), asked(3), said("Done", "call-llm#9")]

    assert "MESSAGES_SNAPSHOT" in names(mapped(events, ALWAYS))


def test_a_reply_that_only_reserved_its_id_is_no_message() -> None:
    mapper = Mapper("t-1", "r-1", ALWAYS, history=())

    sent = mapped([said("", calls=1)], mapper=mapper)

    assert Client(sent).messages == []
    assert mapper.message_ids == {"": "r-1/message/0/call-llm#1"}


def test_a_snapshot_leaves_the_client_with_what_it_had_seen() -> None:
    events = [PROMPT, said("Let me", calls=2), called("c1"), settled("c1", result=1), called("c2"), said("x", "x#9")]

    sent = mapped(events, ALWAYS)

    seen = Client([each for each in sent if each["type"] != "MESSAGES_SNAPSHOT"]).messages
    assert Client(sent).messages[1:] == seen


def test_messages_may_be_written_as_they_are() -> None:
    mapper = Mapper("t-1", "r-1", history=[core.UserMessage(id="u1", content="One")])

    assert wire_of(mapper.messages) == [{"id": "u1", "role": "user", "content": "One"}]
