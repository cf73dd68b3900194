"""Tests of agentfootprint.testing.anthropic_rules."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from agentfootprint.testing import AnthropicWire, Received

HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
TOOL = {"name": "look_up", "description": "d", "input_schema": {"type": "object"}}
CALL: dict[str, Any] = {"type": "tool_use", "id": "c1", "name": "look_up", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "shipped"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
GOOD: dict[str, Any] = {
    "model": "claude",
    "max_tokens": 9_000,
    "system": "Be short.",
    "tools": [TOOL],
    "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [THOUGHT, {"type": "text", "text": "Looking."}, CALL]},
        {"role": "user", "content": [RESULT]},
        {"role": "user", "content": "and?"},
    ],
}


def said_to(body: Any, *, headers: dict[str, str] | None = None, path: str = "/v1/messages", **wire: Any) -> Any:
    given = HEADERS if headers is None else headers
    return AnthropicWire(**wire).check(Received(1, "POST", path, given, b"", body))


def changed(**changes: Any) -> dict[str, Any]:
    return copy.deepcopy(GOOD) | changes


def with_turns(*turns: Any) -> dict[str, Any]:
    return changed(messages=[{"role": role, "content": content} for role, content in turns])


MARK = {"cache_control": {"type": "ephemeral"}}


@pytest.mark.parametrize(
    "body",
    [
        GOOD,
        changed(system=[{"type": "text", "text": "Be short.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]),
        changed(tool_choice={"type": "tool", "name": "look_up", "disable_parallel_tool_use": True}),
        changed(thinking={"type": "enabled", "budget_tokens": 2_000}, temperature=1),
        changed(thinking={"type": "adaptive", "display": "summarized"}, stream=True, stop_sequences=["END"]),
        with_turns(("user", "a"), ("user", "b"), ("assistant", "c"), ("assistant", "d"), ("user", "e")),
        with_turns(("user", "a"), ("assistant", [CALL]), ("user", [RESULT | {"content": ""}])),
    ],
)
def test_what_the_vendor_takes_is_taken(body: dict[str, Any]) -> None:
    assert said_to(body) is None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (changed(colour="red"), "colour: Extra inputs"),
        (changed(model=""), "model"),
        (changed(max_tokens=None), "max_tokens"),
        (changed(max_tokens=0), "max_tokens"),
        (changed(temperature=1.5), "temperature"),
        (changed(stream=1), "stream"),
        (changed(stop_sequences=[" "]), "stop_sequences"),
        (changed(system=7), "system"),
        (changed(system=[{"type": "text", "text": " "}]), "system.0"),
        (changed(system=["text"]), "system.0"),
        (changed(tools={}), "tools"),
        (changed(tools=["t"]), "tools.0"),
        (changed(tools=[TOOL | {"name": "a.b"}]), "tools.0.name"),
        (changed(tools=[TOOL | {"description": None}]), "tools.0.description"),
        (changed(tools=[TOOL | {"input_schema": {}}]), "tools.0.input_schema"),
        (changed(tools=[TOOL | {"parameters": {}}]), "tools.0.parameters"),
        (changed(tools=[TOOL, TOOL]), "unique"),
        (changed(tools=[], tool_choice={"type": "auto"}), "tool_choice"),
        (changed(tool_choice="auto"), "tool_choice"),
        (changed(tool_choice={"type": "must"}), "tool_choice.type"),
        (changed(tool_choice={"type": "tool", "name": "refund"}), "refund"),
        (changed(tool_choice={"type": "auto", "name_of": "x"}), "name_of"),
        (changed(messages=[]), "at least one message"),
        (changed(messages=["hi"]), "messages.0"),
        (changed(messages=[{"role": "user", "content": "a", "name": "b"}]), "messages.0.name"),
        (with_turns(("system", "s")), 'role "system"'),
        (with_turns(("tool", "s")), 'role "tool"'),
        (with_turns(("user", "")), "non-empty"),
        (with_turns(("user", None)), "non-empty"),
        (with_turns(("user", [])), "non-empty"),
        (with_turns(("user", "  ")), "text"),
        (with_turns(("user", [CALL])), "expected tags of the role user"),
        (with_turns(("assistant", "a"), ("user", "b")), "first message"),
        (with_turns(("user", "a"), ("assistant", "b ")), "trailing whitespace"),
        (with_turns(("user", "a"), ("assistant", [CALL])), "without `tool_result`"),
        (with_turns(("user", "a"), ("assistant", [CALL]), ("user", "b")), "without `tool_result`"),
        (with_turns(("user", "a"), ("assistant", [CALL]), ("user", "b"), ("user", [RESULT])), "must come first"),
        (with_turns(("user", [RESULT])), "unexpected `tool_use_id`"),
        (with_turns(("user", "a"), ("assistant", [CALL]), ("user", [RESULT, RESULT])), "single result"),
        (with_turns(("user", "a"), ("assistant", [CALL, CALL]), ("user", [RESULT])), "unique"),
        (with_turns(("user", "a"), ("assistant", [CALL | {"id": "a.b"}])), "tool_use.id"),
        (with_turns(("user", "a"), ("assistant", [CALL | {"input": "{}"}])), "tool_use.input"),
        (with_turns(("user", "a"), ("assistant", [CALL]), ("user", [RESULT | {"content": 7}])), "tool_result.content"),
        (with_turns(("user", "a"), ("assistant", [{"type": "thinking", "thinking": "x"}])), "thinking.signature"),
        (with_turns(("user", "a"), ("assistant", [{"type": "redacted_thinking", "signature": "x"}])), "redacted"),
        (with_turns(("user", "a"), ("assistant", [CALL, THOUGHT]), ("user", [RESULT])), "come first"),
        (changed(thinking={"type": "enabled", "budget_tokens": 100}), "budget_tokens"),
        (changed(thinking={"type": "enabled", "budget_tokens": 9_000}), "max_tokens"),
        (changed(thinking={"type": "on"}), "thinking.type"),
        (changed(thinking={"type": "adaptive"}, temperature=0), "temperature"),
        (
            changed(thinking={"type": "enabled", "budget_tokens": 2_000}, tool_choice={"type": "any"}),
            "tool_choice forces",
        ),
        (
            with_turns(("user", "a"), ("assistant", [CALL]), ("user", [RESULT]))
            | {"thinking": {"type": "enabled", "budget_tokens": 2_000}},
            "Expected `thinking`",
        ),
        (changed(tools=[TOOL | {"cache_control": {"type": "for ever"}}]), "cache_control"),
        (with_turns(("user", [{"type": "text", "text": "a"} | MARK] * 5)), "maximum of 4"),
    ],
)
def test_what_the_vendor_refuses_is_refused_naming_the_place(body: dict[str, Any], words: str) -> None:
    refusal = said_to(body)

    assert refusal is not None
    assert refusal.status == 400
    assert words in refusal.message


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"path": "/v1/complete"}, 404),
        ({"headers": {"anthropic-version": "1"}}, 401),
        ({"headers": {"authorization": "Bearer other", "anthropic-version": "1"}, "key": "k"}, 401),
        ({"headers": {"x-api-key": "k"}}, 400),
        ({"body": None}, 400),
        ({"body": []}, 400),
        ({"models": frozenset(("other",))}, 404),
    ],
)
def test_the_door_is_guarded_too(given: dict[str, Any], status: int) -> None:
    body = given.pop("body", GOOD)

    assert said_to(body, **given).status == status


def test_a_key_may_come_either_way_and_a_query_changes_nothing() -> None:
    bearer = {"authorization": "Bearer k", "anthropic-version": "1"}

    assert said_to(GOOD, headers=bearer, path="/v1/messages?beta=true", key="k") is None
