"""Tests of agentfootprint.agui.mapping.reasoning."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.agui import AgUiOptions
from agentfootprint.events import Event
from tests.agui.client import Client
from tests.agui.made import CALL, called, event, mapped, names, said, token

FULL = AgUiOptions(timestamps=False, reasoning="full", messages_snapshot="never")
SEALED = AgUiOptions(timestamps=False, reasoning="full", encrypted_reasoning=True, messages_snapshot="always")
OPEN = ["REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT"]
SHUT = ["REASONING_MESSAGE_END", "REASONING_END"]


def thought(index: int, text: str, at: str = CALL) -> Event[Any]:
    return event("stream.thinking_delta", {"iteration": 1, "tokenIndex": index, "content": text}, at)


def read(*blocks: dict[str, Any], at: str = "sf-thinking/normalize#6") -> Event[Any]:
    more = {"blocks": [{"type": "thinking", **block} for block in blocks]} if blocks else {}
    return event("stream.thinking_end", {"iteration": 1, "blockCount": len(blocks), "totalChars": 0, **more}, at)


@pytest.mark.parametrize("after", [token(0, "Hi"), called("c1"), said(""), read({"content": "hm"})])
def test_thinking_is_over_when_something_else_happens(after: Event[Any]) -> None:
    sent = mapped([thought(0, "hm"), after], FULL)

    assert names(sent)[1:6] == [*OPEN, *SHUT]


def test_thinking_that_is_still_open_ends_before_the_rest() -> None:
    sent = mapped([token(0, "Hi"), thought(0, "hm")], FULL)

    assert names(sent)[-4:] == [*SHUT, "TEXT_MESSAGE_END", "RUN_FINISHED"]


def test_thinking_that_was_not_streamed_is_sent_whole() -> None:
    sent = mapped([said("Hi"), read({"content": "one"}, {"content": ""}, {"content": "two"})], FULL)

    assert Client(sent).messages[1] == {
        "id": "r-1/reasoning-message/0/sf-thinking/normalize#6",
        "role": "reasoning",
        "content": "one\n\ntwo",
        "metadata": {"agentfootprint": {"runId": "run-1-1", "runtimeStageId": "sf-thinking/normalize#6"}},
    }


def test_streamed_thinking_is_not_sent_again_and_the_next_reply_is_another_matter() -> None:
    events = [thought(0, "a"), said("Hi"), read({"content": "a"}), said("Ho", "call-llm#9"), read({"content": "b"})]

    sent = mapped(events, FULL)

    assert [message["content"] for message in Client(sent).messages if message["role"] == "reasoning"] == ["a", "b"]


ASKED = event("stream.llm_start", {"iteration": 1, "provider": "p", "model": "m"}, CALL)


@pytest.mark.parametrize(
    ("again", "at"),
    [
        pytest.param([thought(0, "whole")], CALL, id="the-pieces-begin-again"),
        pytest.param([ASKED, thought(0, "whole")], CALL, id="the-model-is-asked-again"),
        pytest.param([ASKED, thought(5, "whole")], CALL, id="the-model-is-asked-again-and-goes-on-counting"),
        pytest.param([thought(5, "whole", "call-llm#9")], "call-llm#9", id="at-another-place"),
    ],
)
def test_an_attempt_that_is_made_again_has_a_message_of_its_own_and_is_sent_once(
    again: list[Event[Any]], at: str
) -> None:
    """AGU-50: never both the pieces and the whole."""
    events = [ASKED, thought(0, "ha"), thought(1, "lf"), *again, said("Hi", at), read({"content": "whole"})]

    sent = mapped(events, FULL)

    shown = [message for message in Client(sent).messages if message["role"] == "reasoning"]
    assert [message["content"] for message in shown] == ["half", "whole"]
    assert shown[1]["metadata"]["agentfootprint"]["runtimeStageId"] == at


def test_no_thinking_leaves_unless_it_is_asked_for() -> None:
    history = [{"role": "assistant", "content": "Hi", "thinkingBlocks": [{"type": "thinking", "content": "SWORDFISH"}]}]
    events = [
        thought(0, "SWORDFISH"),
        token(0, "Hi"),
        said("Hi"),
        read({"content": "SWORDFISH", "signature": "SWORDFISH"}),
        event("agent.iteration_end", {"turnIndex": 0, "iterIndex": 1, "toolCallCount": 0, "history": history}),
    ]
    options = AgUiOptions(raw=True, state="live", messages_snapshot="always", custom=["*"], custom_unsafe=True)

    sent = mapped(events, options, history=())

    assert "SWORDFISH" not in str(sent)
    assert "rawEvent" in str(sent)


def test_signatures_are_sent_only_when_they_are_asked_for() -> None:
    events = [thought(0, "hm"), said("Hi"), read({"content": "hm", "signature": "c2lnbg=="})]

    open_, sealed = mapped(events, FULL), mapped(events, SEALED, history=())

    assert "c2lnbg==" not in str(open_)
    assert [message.get("encryptedValue") for message in Client(sealed).messages] == ["c2lnbg==", None]


def test_thinking_that_the_vendor_hid_has_a_message_for_its_signature() -> None:
    hidden = {"type": "redacted_thinking", "content": "", "signature": "c2lnbg=="}

    sent = mapped([said("Hi"), read(hidden)], SEALED, history=())

    assert names(sent)[4:-2] == ["REASONING_START", "REASONING_MESSAGE_START", *SHUT, "REASONING_ENCRYPTED_VALUE"]


def test_hidden_thinking_shows_the_placeholder() -> None:
    whole = [event("stream.thinking_end", "[REDACTED]", "sf-thinking/normalize#6")]
    streamed = [event("stream.thinking_delta", "[REDACTED]", CALL)]

    assert Client(mapped(whole, FULL)).messages[0]["content"] == "[REDACTED]"
    assert Client(mapped(streamed, FULL)).messages[0]["content"] == "[REDACTED]"


def test_agents_side_by_side_think_apart() -> None:
    sent = mapped(
        [thought(0, "x", "x/call-llm#1"), thought(0, "y", "y/call-llm#2"), token(0, "X", "x/call-llm#1")], FULL
    )

    assert names(sent)[1:9] == [*OPEN, *OPEN, *SHUT]
