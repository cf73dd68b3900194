"""Tests of agentfootprint.agent.replaying.comparing."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.agent.replaying.comparing import first_difference
from agentfootprint.events import Event, LLMEnd, RunFacts, Token, TokenCounts, ToolStart, app_event
from agentfootprint.trace import freeze

RUN = RunFacts(run_id="run-1", started_at_ms=0)
LATER = RunFacts(run_id="run-1", started_at_ms=9_000)


def token(text: str, dt: int = 0, facts: RunFacts = RUN, step: str = "call-llm#3") -> Event[Any]:
    return Event(Token(iteration=1, token_index=0, content=text), step, dt, facts)


def start(**args: object) -> Event[Any]:
    return Event(ToolStart(tool_name="look", tool_call_id="c1", args=freeze(args)), "tool-calls#9", 0, RUN)


def end(duration: int) -> Event[Any]:
    counts = TokenCounts(input=1, output=1)
    payload = LLMEnd(iteration=1, content="", tool_call_count=0, usage=counts, stop_reason="stop", duration_ms=duration)
    return Event(payload, "call-llm#3", 0, RUN)


def test_clocks_are_no_difference() -> None:
    assert first_difference([token("a"), end(3)], [token("a", 5_000_000, LATER), end(70)]) is None


@pytest.mark.parametrize(
    ("was", "now", "path"),
    [
        (token("a"), token("b"), "payload.content"),
        (token("a"), token("a", step="call-llm#4"), "meta.runtimeStageId"),
        (start(city="Oslo"), start(city="Rome"), "payload.args.city"),
        (start(days=[1, 2]), start(days=[1, 3]), "payload.args.days[1]"),
        (start(days=[1]), start(days=[1, 3]), "payload.args.days[1]"),
        (start(a=1), start(b=1), "payload.args.a"),
        (start(a=1), token("a"), "type"),
        (
            app_event("shop.seen", {"waitMs": 1}, "tool-calls#9", 0, RUN),
            app_event("shop.seen", {"waitMs": 2}, "tool-calls#9", 0, RUN),
            "payload.waitMs",
        ),
    ],
)
def test_the_first_key_that_differs_is_named_and_no_value_shown(was: Event[Any], now: Event[Any], path: str) -> None:
    found = first_difference([token("x"), was], [token("x"), now])

    assert found is not None
    assert (found.kind, found.index, found.type, found.path) == ("differs", 1, was.type, path)
    assert found.replayed_type == now.type
    assert "Oslo" not in str(found)
    assert "Rome" not in str(found)


def test_an_event_that_is_missing_and_one_more_are_told_apart() -> None:
    missing = first_difference([token("x"), start()], [token("x")])
    more = first_difference([token("x")], [token("x"), start()])

    assert str(missing) == "event 1, agentfootprint.stream.tool_start in tool-calls#9, is missing from the replay"
    assert str(more) == "event 1, agentfootprint.stream.tool_start in tool-calls#9, is not in the recording"
