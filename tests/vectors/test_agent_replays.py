"""Tests of `vectors/agent-loop`: every run of a scenario replays from its own recording, event for event."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import Agent, Recording, RunResult
from agentfootprint.agent import Paused
from tests.vectors.harness import Case, load
from tests.vectors.scenarios import Scenario, unbuilt

LOOP = load("agent-loop")
SCENARIOS = tuple(file for file in LOOP.files if file.startswith("scenario-"))


class Kept(Scenario):
    """A scenario that keeps what each of its runs recorded, and how often a tool or the model was asked."""

    def __init__(self, case: Case) -> None:
        self.runs: list[tuple[Agent[Any, Any], Recording, Paused | None]] = []
        super().__init__(case)

    async def _take(self, step: Mapping[str, Any], last: RunResult[str] | None) -> RunResult[str]:
        paused = last.paused if step["op"] == "resume" and last is not None else None
        before = self._handle
        try:
            result = await super()._take(step, last)
        except Exception:
            if self._handle is not None and self._handle is not before:
                self.runs.append((self.agent, self._handle.recording, None))
            raise
        self.runs.append((self.agent, result.recording, paused))
        return result

    @property
    def work(self) -> tuple[int, int]:
        """How many requests and dispatches there were."""
        return len(self.provider.requests), len(self.dispatches)


@pytest.mark.parametrize("case", LOOP.cases(*SCENARIOS))
async def test_a_scenario_replays_as_it_was_recorded(case: Case, tmp_path: Path) -> None:
    needs = unbuilt(case)
    if needs is not None:
        pytest.skip(f"{case.file}: needs {needs}")
    scenario = Kept(case)
    await scenario.run()
    work = scenario.work

    for number, (agent, recording, paused) in enumerate(scenario.runs):
        native = Recording.load(recording.save(tmp_path / f"{number}.jsonl"))
        wire = Recording.load(recording.save(tmp_path / f"{number}.json", form="wire"))
        for kept in (recording, native, wire):
            replay = await agent.replay(kept, paused=paused)
            assert replay.difference is None, str(replay)

    assert scenario.work == work
