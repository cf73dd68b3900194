"""A minimal importer of spans, and what it must find of a run; for spans from wherever they come."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from agentfootprint import RunResult
from agentfootprint.trace import thaw

__all__ = ["Found", "assert_same_as_run", "read"]

Found: TypeAlias = tuple[list[dict[str, Any]], list[tuple[str, Any, Any]]]


def read(spans: Sequence[tuple[dict[str, Any], int]]) -> Found:
    """The messages of the conversation, and the tool calls with arguments and results.

    Args:
        spans: The attributes and the start of each.
    """

    def attributes(operation: str) -> list[dict[str, Any]]:
        found = [span for span in spans if span[0].get("gen_ai.operation.name") == operation]
        return [each for each, _ in sorted(found, key=lambda span: span[1])]

    def said(message: dict[str, Any]) -> dict[str, Any]:
        parts: list[dict[str, Any]] = message["parts"]
        texts = [part["content"] for part in parts if part["type"] == "text"]
        answers = [part for part in parts if part["type"] == "tool_call_response"]
        read: dict[str, Any] = {
            "role": message["role"],
            "content": "".join(texts) or "".join(p["response"] for p in answers),
        }
        calls = [{"id": p["id"], "name": p["name"], "args": p["arguments"]} for p in parts if p["type"] == "tool_call"]
        return {**read, **({"calls": calls} if calls else {}), **({"id": answers[0]["id"]} if answers else {})}

    last = attributes("chat")[-1]
    messages = [*json.loads(last["gen_ai.input.messages"]), *json.loads(last["gen_ai.output.messages"])]
    tools = [
        (
            each["gen_ai.tool.name"],
            json.loads(each["gen_ai.tool.call.arguments"]),
            json.loads(each["gen_ai.tool.call.result"]),
        )
        for each in attributes("execute_tool")
        if "gen_ai.tool.call.arguments" in each
    ]
    return [said(each) for each in messages], tools


def assert_same_as_run(found: Found, result: RunResult[Any]) -> None:
    """That what was read is what the run had."""
    messages, calls = found
    history = [cast("dict[str, Any]", thaw(each)) for each in result.messages]
    assert messages == [
        {
            "role": each["role"],
            "content": each["content"],
            **({"calls": each["toolCalls"]} if each.get("toolCalls") else {}),
            **({"id": each["toolCallId"]} if each["role"] == "tool" else {}),
        }
        for each in history
    ]
    done = [(each.name, thaw(each.args), thaw(each.result)) for each in result.tool_calls if each.ok]
    assert calls == done
    assert done
