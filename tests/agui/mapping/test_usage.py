"""Tests of agentfootprint.agui.mapping.usage."""

from __future__ import annotations

from typing import Any

from agentfootprint.events import Event
from tests.agui.made import event, mapped, said


def asked(provider: str, model: str = "m", at: str = "call-llm#1") -> Event[Any]:
    payload = {"iteration": 1, "provider": provider, "model": model, "systemPromptChars": 0}
    return event("stream.llm_start", {**payload, "messagesCount": 1, "toolsCount": 0}, at)


def usage(*events: Event[Any]) -> Any:
    return mapped(events)[-1].get("usage")


def test_no_usage_is_said_when_no_call_returned() -> None:
    assert usage(asked("p")) is None


def test_parts_that_a_vendor_counts_in_are_not_added_again() -> None:
    counts: dict[str, Any] = {"input": 100, "output": 20, "cacheRead": 80, "thinking": 5}
    flags: dict[str, Any] = {"inputIncludesCache": True, "outputIncludesThinking": True}
    told = {"cachedInputTokens": 80, "reasoningTokens": 5}

    apart = usage(asked("p"), said("x", **counts))
    flagged = usage(asked("p"), said("x", **counts, **flags))
    by_name = usage(asked("openai"), said("x", **counts))

    assert apart == [
        {"provider": "p", "model": "m", "inputTokens": 180, "outputTokens": 25, "totalTokens": 205, **told}
    ]
    assert flagged == [
        {"provider": "p", "model": "m", "inputTokens": 100, "outputTokens": 20, "totalTokens": 120, **told}
    ]
    assert by_name == [{**flagged[0], "provider": "openai"}]


def test_models_have_an_entry_each_and_calls_side_by_side_are_told_apart() -> None:
    x, y = "x/call-llm#1", "y/call-llm#2"

    rows = usage(asked("p", "a", x), asked("p", "b", y), said("Y", y, input=5), said("X", x, input=7))

    assert [(row["model"], row["inputTokens"]) for row in rows] == [("b", 5), ("a", 7)]


def test_a_call_of_unknown_usage_is_left_out_and_its_entry_claims_no_total() -> None:
    unknown = said("x", usageReported=False)

    (row,) = usage(asked("p"), said("x"), asked("p"), unknown)
    (alone,) = usage(asked("p"), unknown)

    assert row == {"provider": "p", "model": "m", "inputTokens": 1, "outputTokens": 2}
    assert alone == {"provider": "p", "model": "m"}


def test_hidden_counts_are_not_known() -> None:
    hidden = event("stream.llm_end", "[REDACTED]", "call-llm#1")

    assert usage(asked("p"), hidden) == [{"provider": "p", "model": "m"}]
    assert usage(hidden) is None


def test_a_failed_run_says_what_it_spent() -> None:
    failed = event("error.fatal", {"error": "It failed.", "stage": "__root__", "scope": "run"}, "__root__#0")

    assert usage(asked("p"), said("x"), failed) == [
        {"provider": "p", "model": "m", "inputTokens": 1, "outputTokens": 2, "totalTokens": 3}
    ]
