"""Tests of agentfootprint.agent.grouping on `vectors/agent-loop`: grouped, every run is the same but for addresses."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, cast

import pytest

from agentfootprint import Recording
from tests.vectors.harness import Case, load
from tests.vectors.scenarios import Normaliser, unbuilt
from tests.vectors.test_agent_replays import Kept

LOOP = load("agent-loop")
SCENARIOS = tuple(file for file in LOOP.files if file.startswith("scenario-"))
ADDRESSES = frozenset(
    {"runtimeStageId", "subflowPath", "reactMode", "chartFingerprint", "stages", "subflowResults", "executionTree"}
    | {"executionCount", "visitCounts"}
)
"""What says where a step stands."""


@pytest.mark.parametrize("case", LOOP.cases(*SCENARIOS))
async def test_a_grouped_run_says_does_and_answers_what_the_dynamic_one_does(case: Case, tmp_path: Path) -> None:
    if case.input.get("agent", {}).get("reactMode", "dynamic") != "dynamic" or unbuilt(case) is not None:
        pytest.skip("another mode")
    plain, grouped = Kept(case), Kept(in_mode(case))

    outcomes = await plain.run(), await grouped.run()

    for one, other in (
        outcomes,
        (plain.events, grouped.events),
        (plain.provider.requests, grouped.provider.requests),
        (plain.dispatches, grouped.dispatches),
    ):
        assert bare(Normaliser()(other)) == bare(Normaliser()(one))
    for number, (one, other) in enumerate(zip(plain.runs, grouped.runs, strict=True)):
        assert_answers_alike(one[1], other[1])
        native = Recording.load(other[1].save(tmp_path / f"{number}.jsonl"))
        wire = Recording.load(other[1].save(tmp_path / f"{number}.json", form="wire"))
        for kept in (other[1], native, wire):
            if kept is not wire or other[2] is None:  # the wire form has no state that a resumed run began with
                assert_answers_alike(other[1], kept)
            assert (await grouped.runs[number][0].replay(kept, paused=other[2])).difference is None


def in_mode(case: Case) -> Case:
    given = case.input
    agent = {**given.get("agent", {}), "reactMode": "dynamic-grouped"}
    return dataclasses.replace(case, raw={**case.raw, "input": {**given, "agent": agent}})


def bare(value: Any) -> Any:
    """Without the addresses of steps."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: bare(item) for key, item in fields.items() if key not in ADDRESSES}
    return [bare(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def assert_answers_alike(one: Recording, other: Recording) -> None:
    assert len(one.calls) == len(other.calls)
    for call, again in zip(one.calls, other.calls, strict=True):
        assert again.system_text == call.system_text
        assert list(again.messages) == list(call.messages)
        assert [(c.id, c.name, c.args) for c in again.tool_calls] == [(c.id, c.name, c.args) for c in call.tool_calls]
        assert [(p.id, p.start, p.end, p.first_iteration) for p in again.pieces] == [
            (p.id, p.start, p.end, p.first_iteration) for p in call.pieces
        ]
    assert [use.result for use in one.tool_uses] == [use.result for use in other.tool_uses]
