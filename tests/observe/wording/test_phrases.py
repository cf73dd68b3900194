"""Tests of agentfootprint.observe.wording.phrases."""

from __future__ import annotations

from agentfootprint.observe import StatusPhrases
from tests.observe.made import desk, event, tool_end, tool_start


def test_a_run_is_told_in_short_phrases() -> None:
    said: list[str] = []
    agent = desk()

    with StatusPhrases(said.append).attach(agent):
        agent.run_sync("Weather?")

    assert said == [
        *("Reading the question", "Thinking (step 1)", "Going to use tools", "Calling weather", "weather is done"),
        *("Thinking (step 2)", "Writing the answer", "Done"),
    ]


def test_what_a_tool_reports_and_how_it_ends_is_told_by_its_name() -> None:
    said: list[str] = []
    phrases = StatusPhrases(said.append)

    phrases.hear(tool_start("c1", "dig"))
    for payload in ({"message": " half way "}, {"done": 1}):
        progress = {"toolCallId": "c1", "toolName": "dig", "iteration": 1, "payload": payload}
        phrases.hear(event("stream.tool_progress", progress))
    phrases.hear(event("stream.tool_end", {"toolCallId": "c1", "result": "no", "error": True, "durationMs": 1}))

    assert said == ["Calling dig", "dig: half way", "dig: working", "dig failed"]


def test_a_call_that_was_never_dispatched_is_not_told() -> None:
    said: list[str] = []
    phrases = StatusPhrases(said.append)

    phrases.hear(tool_start("c1", "dig", not_dispatched={"cause": "halt"}))
    phrases.hear(tool_end("c1", not_dispatched={"cause": "halt"}))

    assert said == []
