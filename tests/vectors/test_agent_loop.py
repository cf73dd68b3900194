"""Tests of `vectors/agent-loop`: whole runs of an agent on a scripted provider."""

from __future__ import annotations

from typing import Any

import pytest

from tests.vectors.harness import Case, assert_same, load
from tests.vectors.scenarios import Markers, Normaliser, Scenario, unbuilt

LOOP = load("agent-loop")
SCENARIOS = tuple(file for file in LOOP.files if file.startswith("scenario-"))
ELSEWHERE = ("extract-sequence", "fnv1a", "repeated-call-key", "result-text", "truncate-80")


@pytest.mark.parametrize("case", LOOP.cases(*SCENARIOS))
async def test_a_scenario_runs_as_recorded(case: Case) -> None:
    needs = unbuilt(case)
    if needs is not None:
        pytest.skip(f"{case.file}: needs {needs}")
    scenario = Scenario(case)

    outcomes = await scenario.run()

    normal, markers, expected = Normaliser(), Markers(), case.expected
    events = [_comparable(normal(event)) for event in scenario.events]
    wanted = [_comparable(event) for event in expected["events"]]
    assert [event["type"] for event in events] == [event["type"] for event in wanted]
    for event, want in zip(events, wanted, strict=True):
        assert_same(event, markers.fill(want, event))
    _same_steps([normal(outcome) for outcome in outcomes], expected["steps"], markers)
    requests = [
        _request(request, want) for request, want in zip(scenario.provider.requests, expected["requests"], strict=True)
    ]
    for request, want in zip(requests, expected["requests"], strict=True):
        assert_same(normal(request), markers.fill(want, normal(request)))
    assert_same(scenario.dispatches, expected["toolDispatches"])


def _comparable(event: dict[str, Any]) -> dict[str, Any]:
    """Rows of `integrity.disposition` that a vector lists; further checks are ours (NEW-34)."""
    return event


def _same_steps(outcomes: list[dict[str, Any]], wanted: list[dict[str, Any]], markers: Markers) -> None:
    for outcome, want in zip(outcomes, wanted, strict=True):
        if want["op"] == "state":
            state = outcome["value"]
            listed = {key: state.get(key, "(absent)") for key in want["value"]}
            assert_same(listed, markers.fill(want["value"], listed))
        elif "error" in want:
            named = {key: outcome["error"][key] for key in want["error"]}
            assert_same(named, markers.fill(want["error"], named))
        else:
            assert_same(outcome, markers.fill(want, outcome))


def _request(request: dict[str, Any], want: dict[str, Any]) -> dict[str, Any]:
    """Tools as the vector lists them: their names, or whole schemas."""
    tools = request.get("tools", [])
    if "tools" in want and all(isinstance(tool, str) for tool in want["tools"]):
        tools = [tool["name"] for tool in tools]
    return {**request, "tools": tools} if "tools" in want else request


@pytest.mark.parametrize("file", LOOP.not_built(*SCENARIOS, *ELSEWHERE))
def test_a_file_whose_topic_is_not_built(file: str) -> None:
    pytest.fail(f"{file} is covered elsewhere or skipped by name")
