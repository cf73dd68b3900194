"""Tests of agentfootprint.providers.anthropic.request."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.llm import CacheMarker, LLMMessage, RequestMessages, ThinkingBlock, ToolCall
from agentfootprint.providers.anthropic.request import BodyOptions, Turns, request_body
from agentfootprint.providers.errors import UnsupportedThinkingError
from agentfootprint.testing import AnthropicWire, Received
from agentfootprint.trace import FrozenList, freeze
from tests.providers.anthropic.desks import ask

OPTIONS = BodyOptions(default_model="claude-sonnet-4-5")
EPHEMERAL = {"type": "ephemeral"}


def body_of(messages: Any = "hi", options: BodyOptions = OPTIONS, **given: Any) -> dict[str, Any]:
    return request_body(ask(messages, **given), options)


def refusal(body: dict[str, Any]) -> str | None:
    headers = {"x-api-key": "k", "anthropic-version": "1"}
    found = AnthropicWire().check(Received(1, "POST", "/v1/messages", headers, b"", body))
    return found and found.message


def assistant(*ids: str, text: str = "", **given: Any) -> LLMMessage:
    return LLMMessage("assistant", text, tool_calls=[ToolCall(one, "look_up", {}) for one in ids], **given)


def result(call_id: str, text: str = "r") -> LLMMessage:
    return LLMMessage("tool", text, tool_call_id=call_id)


USER = LLMMessage("user", "hi")


def test_a_call_and_its_result_carry_one_id_that_no_other_call_of_the_body_has() -> None:
    body = body_of([USER, assistant("a", "a"), result("a", "1"), result("a", "2"), assistant("a"), result("a", "3")])

    blocks = [block for turn in body["messages"][1:] for block in turn["content"]]
    assert [block.get("id") or block["tool_use_id"] for block in blocks] == [
        *("a", "a-dup1", "a", "a-dup1"),
        *("a-dup2", "a-dup2"),
    ]
    assert refusal(body) is None


def test_an_id_of_another_vendor_is_written_so_that_this_one_takes_it() -> None:
    body = body_of([USER, assistant("functions.look_up:0", ""), result("functions.look_up:0"), result("")])

    assert [block["id"] for block in body["messages"][1]["content"]] == ["functions_look_up_0", "call"]
    assert [block["tool_use_id"] for block in body["messages"][2]["content"]] == ["functions_look_up_0", "call"]
    assert refusal(body) is None


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_an_assistant_turn_that_says_nothing_is_left_out_and_blank_text_beside_calls_too(text: str) -> None:
    silent = LLMMessage("assistant", text, thinking_blocks=[ThinkingBlock("thinking", "hm", signature="s")])

    body = body_of([USER, silent, USER, assistant("a", text=text), result("a")])

    assert [turn["role"] for turn in body["messages"]] == ["user", "user", "assistant", "user"]
    assert [block["type"] for block in body["messages"][2]["content"]] == ["tool_use"]
    assert refusal(body) is None


def test_only_its_own_thinking_goes_back_to_the_vendor() -> None:
    blocks = [
        ThinkingBlock("thinking", "of another", provider="openai"),
        ThinkingBlock("thinking", "a summary", summary=True),
        ThinkingBlock("thinking", "its own", signature="s", provider="anthropic"),
    ]

    body = body_of([USER, assistant("a", thinking_blocks=blocks), result("a")])

    assert [block.get("thinking") for block in body["messages"][1]["content"]] == ["its own", None]


def test_a_mark_stands_on_the_block_of_its_message_or_nowhere() -> None:
    messages = [
        LLMMessage("system", "s"),
        USER,
        LLMMessage("assistant", ""),
        assistant("a", "b"),
        result("a"),
        result("b"),
    ]

    def marked(boundary: int) -> list[tuple[int, int]]:
        body = body_of(messages, cache_markers=[CacheMarker("messages", boundary, "short")])
        assert refusal(body) is None
        return [
            (turn, place)
            for turn, message in enumerate(body["messages"])
            for place, block in enumerate(message["content"])
            if isinstance(block, dict) and "cache_control" in block
        ]

    assert [marked(at) for at in range(-1, 7)] == [[], [], [(0, 0)], [], [(1, 1)], [(2, 0)], [(2, 1)], []]


def test_marks_on_what_is_not_there_mark_nothing() -> None:
    markers = [CacheMarker("system", 0, "short"), CacheMarker("tools", 3, "long"), CacheMarker("messages", 0, "short")]

    body = body_of([LLMMessage("user", "")], tools=(), cache_markers=markers)

    assert body == {"model": "claude-sonnet-4-5", "max_tokens": 4096, "messages": [{"role": "user", "content": ""}]}


def test_a_forced_choice_and_one_call_at_a_time_fit_into_one_choice() -> None:
    one_by_one = BodyOptions(default_model="m", parallel_tool_calls=False)

    assert body_of(options=one_by_one, tool_choice="refund")["tool_choice"] == {
        "type": "tool",
        "name": "refund",
        "disable_parallel_tool_use": True,
    }
    assert "tool_choice" not in body_of(options=one_by_one, tools=(), tool_choice="refund")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-haiku-4-5", {"type": "enabled", "budget_tokens": 5000}),
        ("claude-opus-5", {"type": "adaptive", "display": "summarized"}),
    ],
)
def test_a_model_is_asked_to_think_the_way_it_can(model: str, expected: dict[str, Any]) -> None:
    body = body_of(options=BodyOptions(default_model=model), thinking=5000)

    assert (body["thinking"], body["max_tokens"]) == (expected, 6024)
    assert refusal(body) is None


@pytest.mark.parametrize(
    ("model", "given", "reason"),
    [
        ("claude-3-5-haiku-latest", {}, "no-thinking"),
        ("claude-sonnet-4-5", {"temperature": 0.0}, "temperature"),
        ("claude-opus-5", {"temperature": 0.5}, "temperature"),
        ("claude-sonnet-4-5", {"tool_choice": "refund"}, "forced-tool-choice"),
        ("claude-sonnet-4-5", {"thinking": 0}, "budget"),
    ],
)
def test_thinking_that_the_model_would_refuse_is_refused_before_anything_is_sent(
    model: str, given: dict[str, Any], reason: str
) -> None:
    with pytest.raises(UnsupportedThinkingError) as caught:
        body_of(options=BodyOptions(default_model=model), **{"thinking": 2000, **given})

    assert (caught.value.reason, caught.value.model, caught.value.retryable) == (reason, model, False)


def test_the_mode_may_be_told_for_a_name_that_says_nothing() -> None:
    told = BodyOptions(default_model="our-claude", thinking_mode=lambda _: "budget")

    assert body_of(options=told, thinking=2000)["thinking"]["type"] == "enabled"


IDS = st.sampled_from(["a", "b", "x.y", ""])
TURNS = st.lists(
    st.one_of(
        st.just([USER]),
        st.just([LLMMessage("assistant", "")]),
        st.just([LLMMessage("system", "s")]),
        st.lists(IDS, min_size=1, max_size=3).map(lambda ids: [assistant(*ids), *map(result, ids)]),
    ),
    max_size=6,
)
MARKERS = st.lists(st.integers(0, 9).map(lambda at: CacheMarker("messages", at, "short")), max_size=2)


@given(TURNS, MARKERS)
def test_a_history_that_grew_reads_as_if_it_were_new_and_what_was_sent_stays(
    turns: list[list[LLMMessage]], markers: list[CacheMarker]
) -> None:
    known = Turns()
    buffer: list[LLMMessage] = []
    sent: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for turn in [[USER], *turns]:
        buffer += turn
        view = RequestMessages(FrozenList(buffer, len(buffer)))  # one buffer that grows, as the loop's does
        grown = request_body(ask(view, cache_markers=markers), OPTIONS, known)
        assert grown == request_body(ask(list(buffer), cache_markers=markers), OPTIONS)
        sent.append((grown, copy.deepcopy(grown)))

    assert all(body == as_sent for body, as_sent in sent)


def test_another_history_is_not_taken_for_the_one_that_was_known() -> None:
    known = Turns()
    first = RequestMessages(freeze([USER, assistant("a"), result("a")]))
    other = RequestMessages(freeze([LLMMessage("user", "else")]))

    request_body(ask(first), OPTIONS, known)

    assert request_body(ask(other), OPTIONS, known)["messages"] == [{"role": "user", "content": "else"}]
    assert request_body(ask(first), OPTIONS, known) == request_body(ask(first), OPTIONS)
