"""Tests of agentfootprint.agent.pausing.settling."""

from __future__ import annotations

from agentfootprint.agent.pausing.settling import not_dispatched_text, settled_message
from agentfootprint.llm import CallRef, NotDispatched, ToolCall


def test_the_sentence_follows_from_names_and_ids_alone() -> None:
    anchor = CallRef("c2", "ask")

    text = not_dispatched_text("refund", anchor)

    assert text == not_dispatched_text("refund", CallRef("c2", "ask"))
    assert "refund" in text
    assert "'c2'" in text
    assert "paused" in text
    assert text.count(".") == 1, "one sentence, and no advice"


def test_every_cause_has_a_sentence_of_its_own() -> None:
    anchor = CallRef("c2", "ask")
    texts = [
        not_dispatched_text("t", anchor, cause) for cause in (None, "halt", "abandoned", "history", "stopped", "cut")
    ]

    assert len(set(texts)) == len(texts)
    assert all(
        not_dispatched_text("t", None, cause) for cause in (None, "halt", "abandoned", "history", "stopped", "?")
    )


def test_a_settled_message_carries_its_mark() -> None:
    mark = NotDispatched(halted_call=CallRef("c1", "a"), cause="halt")

    message = settled_message(ToolCall("c2", "b", {"secret": 1}), mark)

    assert (message.role, message.tool_call_id, message.tool_name) == ("tool", "c2", "b")
    assert message.not_dispatched is mark
    assert "secret" not in message.content
