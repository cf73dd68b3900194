"""Tests of agentfootprint.testing.ollama_wire: what it refuses, each refusal against a request that passes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentfootprint.testing import Call, OllamaWire, Received, Reply

CALL: dict[str, Any] = {"function": {"name": "look_up", "arguments": {}}}
USER = {"role": "user", "content": "hi"}
ASKS: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": [CALL]}
ANSWER = {"role": "tool", "content": "ok", "tool_name": "look_up"}
GOOD: dict[str, Any] = {
    "model": "qwen3",
    "messages": [USER, ASKS, ANSWER],
    "stream": False,
    "think": "high",
    "options": {"num_predict": 9},
    "tools": [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}],
}


def received(body: Any = GOOD, *, path: str = "/api/chat", method: str = "POST", **headers: str) -> Received:
    return Received(1, method, path, headers, json.dumps(body).encode(), body)


def test_what_the_adapter_sends_passes() -> None:
    assert OllamaWire().check(received()) is None


REFUSED: dict[str, dict[str, Any]] = {
    "unknown field 'tool_choice'": {**GOOD, "tool_choice": "look_up"},
    "model is required": {**GOOD, "model": ""},
    "messages is required": {**GOOD, "messages": []},
    "think": {**GOOD, "think": 2_000},
    "options": {**GOOD, "options": {"max_tokens": 9}},
    "invalid tool": {**GOOD, "tools": [{"type": "function"}]},
    "invalid role": {**GOOD, "messages": [{"role": "developer", "content": "x"}]},
    "content is no string": {**GOOD, "messages": [{"role": "user", "content": None}]},
    "cannot unmarshal": {
        **GOOD,
        "messages": [USER, {**ASKS, "tool_calls": [{"function": {"name": "x", "arguments": "{}"}}]}, ANSWER],
    },
    "have no answer": {**GOOD, "messages": [USER, ASKS]},
    "answers no call": {**GOOD, "messages": [USER, ANSWER]},
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_wrong_is_refused(words: str) -> None:
    refusal = OllamaWire().check(received(REFUSED[words]))

    assert refusal is not None
    assert words in refusal.message


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (received(path="/v1/chat/completions"), 404),
        (received(method="GET"), 405),
        (received(None), 400),
        (received(authorization="Bearer k"), 400),
        (received({**GOOD, "model": "other"}), 404),
    ],
)
def test_the_door_is_kept(request_: Received, status: int) -> None:
    refusal = OllamaWire(models=frozenset(("qwen3",))).check(request_)

    assert refusal is not None
    assert refusal.status == status


def test_what_is_pulled_is_listed_and_a_reply_ends_with_the_frame_that_says_so() -> None:
    wire = OllamaWire(models=frozenset(("qwen3",)))
    frames = wire.frames(Reply("Hello", calls=[Call("look_up")]), received())

    assert wire.aside(received(path="/api/tags", method="GET")) == {"models": [{"name": "qwen3", "model": "qwen3"}]}
    assert [json.loads(frame)["done"] for frame in frames] == [False, False, True]
