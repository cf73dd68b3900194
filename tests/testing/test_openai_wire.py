"""Tests of agentfootprint.testing.openai_wire: what it refuses, each refusal against a request that passes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentfootprint.testing import Call, Failure, OpenAIWire, Received, Reply

CALL: dict[str, Any] = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "look_up", "description": "Look.", "parameters": {"type": "object"}},
}
GOOD: dict[str, Any] = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "ok", "tool_call_id": "c"},
    ],
    "tools": [TOOL],
    "tool_choice": {"type": "function", "function": {"name": "look_up"}},
}


def received(body: Any = GOOD, *, path: str = "/v1/chat/completions", key: str = "k", method: str = "POST") -> Received:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return Received(1, method, path, headers, json.dumps(body).encode(), body)


def with_messages(*messages: dict[str, Any]) -> dict[str, Any]:
    return {**GOOD, "messages": list(messages)}


def test_what_the_adapter_sends_passes() -> None:
    assert OpenAIWire().check(received()) is None
    assert OpenAIWire(key="k", models=frozenset(("gpt-4o",))).check(received()) is None


USER, ANSWER = GOOD["messages"][1], GOOD["messages"][3]
REFUSED: dict[str, dict[str, Any]] = {
    "Unrecognized request argument": {**GOOD, "system_prompt": "x"},
    "model parameter": {**GOOD, "model": ""},
    "empty array": {**GOOD, "messages": []},
    "'stop'": {**GOOD, "stop": []},
    "'tools'": {**GOOD, "tools": []},
    "only allowed when 'stream'": {**GOOD, "stream_options": {}},
    "only allowed when 'tools'": {key: value for key, value in GOOD.items() if key != "tools"},
    "names no tool": {**GOOD, "tool_choice": {"type": "function", "function": {"name": "other"}}},
    "'temperature'": {**GOOD, "temperature": 3},
    "not supported with this model": {**GOOD, "model": "o3", "max_tokens": 5},
    "does not support this value": {**GOOD, "model": "gpt-5", "temperature": 0},
    "pattern": {**GOOD, "tools": [{**TOOL, "function": {**TOOL["function"], "name": "a b"}}]},
    "used twice": {**GOOD, "tools": [TOOL, TOOL]},
    "additionalProperties": {
        **GOOD,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "x", "strict": True, "schema": {"type": "object"}},
        },
    },
    "Supported values": with_messages({"role": "robot", "content": "x"}),
    "expected a string, got null": with_messages({"role": "user", "content": None}),
    "expected a string": with_messages(USER, {"role": "assistant", "content": None}),
    "Unknown parameter": with_messages({**USER, "injectedBy": {}}),
    "did not have response messages": with_messages(USER, GOOD["messages"][2]),
    "preceding message": with_messages(USER, ANSWER),
    "answers no call": with_messages(USER, GOOD["messages"][2], ANSWER, ANSWER),
    "Duplicate": with_messages(USER, {"role": "assistant", "content": None, "tool_calls": [CALL, CALL]}, ANSWER),
    "tool_call_id": with_messages(USER, GOOD["messages"][2], {"role": "tool", "content": "ok", "tool_call_id": ""}),
    "JSON text of an object": with_messages(
        USER,
        {"role": "assistant", "tool_calls": [{**CALL, "function": {"name": "look_up", "arguments": "{"}}]},
        ANSWER,
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_the_vendor_refuses_is_refused(words: str) -> None:
    refusal = OpenAIWire().check(received(REFUSED[words]))

    assert refusal is not None
    assert refusal.status == 400
    assert words in refusal.message


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (received(key=""), 401),
        (received(key="other"), 401),
        (received(path="/chat/completions"), 404),
        (received(method="GET"), 405),
        (received({**GOOD, "model": "gpt-99"}), 404),
        (received(None), 400),
    ],
)
def test_the_door_is_kept(request_: Received, status: int) -> None:
    refusal = OpenAIWire(key="k", models=frozenset(("gpt-4o",))).check(request_)

    assert refusal is not None
    assert refusal.status == status


def test_a_compatible_server_knows_the_older_words_only() -> None:
    wire = OpenAIWire(is_compatible=True, knows_usage=False)
    good = {**GOOD, "messages": [USER]}

    assert wire.check(received(good)) is None
    refused: list[dict[str, Any]] = [
        {**good, "max_completion_tokens": 5},
        {**good, "stream": True, "stream_options": {}},
        GOOD,
        with_messages({"role": "developer", "content": "x"}),
    ]
    for bad in refused:
        assert wire.check(received(bad)) is not None


def test_a_reply_reads_the_same_whole_and_in_frames() -> None:
    wire = OpenAIWire()
    reply = Reply("Hello there", calls=[Call("look_up", {"id": 7})], usage={"prompt_tokens": 3})
    asked = received({**GOOD, "stream": True, "stream_options": {"include_usage": True}})

    whole = json.loads(wire.whole(reply, asked))
    *frames, end = wire.frames(reply, asked)
    chunks = [json.loads(frame.removeprefix(b"data: ")) for frame in frames]

    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
    assert "".join(delta.get("content") or "" for delta in deltas) == whole["choices"][0]["message"]["content"]
    assert chunks[-1]["usage"] == whole["usage"] == {"prompt_tokens": 3}
    assert end == b"data: [DONE]\n\n"
    assert json.loads(wire.failure(Failure(401)))["error"]["code"] == "invalid_api_key"
