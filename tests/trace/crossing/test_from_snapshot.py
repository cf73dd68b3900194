"""Tests of agentfootprint.trace.crossing.from_snapshot."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings

from agentfootprint.trace import ABSENT, RunQuestions, flatten_causal_chain
from tests.flow.random_charts import RandomChart, Shape, charts, drive
from tests.vectors.harness import DEFAULT_ROOT

relaxed = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PLAIN = Shape(asks=False, raises=False, forks=False, mounts=1)


def steps(asked: RunQuestions, key: str) -> list[str]:
    root = asked.why(key).root
    return [] if root is None else [node.runtime_stage_id for node in flatten_causal_chain(root)]


@relaxed
@given(charts(PLAIN))
def test_a_stored_run_with_its_structure_gives_the_steps_of_the_live_one(drawn: RandomChart) -> None:
    result = drive(drawn.flow.executor()).result
    assert result is not None
    stored = json.loads(json.dumps(result.snapshot().to_wire()))

    asked = RunQuestions.of_snapshot(stored, drawn.flow.to_spec())

    details = [step.detail for step in result.journal.executions().values() if step.detail is not None]
    all_stored = not any(value is ABSENT for detail in details for value in detail.read_values.values())
    for key in ("n0", "n1", "l0"):
        found, live = set(steps(asked, key)), set(steps(RunQuestions.of_journal(result.journal), key))
        assert found <= live
        assert found == live or not all_stored  # JSON can't hold the read of an absent key (FLOW-MEM-44)


def test_runs_of_the_reference_can_be_asked_across_their_mounts() -> None:
    for case in json.loads((DEFAULT_ROOT / "flow" / "run_subflow.json").read_text())["cases"]:
        expected: dict[str, Any] = case["expected"]
        if "commitLog" not in expected:
            continue
        asked = RunQuestions.of_snapshot(expected)
        for bundle in expected["commitLog"]:
            for entry in bundle["trace"]:
                assert asked.why(entry["path"].split("\x1f")).root is not None


def test_a_mount_whose_log_was_not_kept_is_an_end_of_the_slice() -> None:
    snapshot = {
        "executionTree": {
            "id": "sf",
            "runtimeStageId": "sf#0",
            "name": "Sf",
            "subflowId": "sf",
            "next": {"id": "end", "runtimeStageId": "end#2", "name": "End", "stageReads": {"r": 1}},
        },
        "commitLog": [
            {
                "idx": 0,
                "stage": "Sf",
                "stageId": "sf",
                "runtimeStageId": "sf#0",
                "trace": [{"path": "r", "verb": "set"}],
                "overwrite": {"r": 1},
                "updates": {},
                "redactedPaths": [],
            },
            {
                "idx": 1,
                "stage": "End",
                "stageId": "end",
                "runtimeStageId": "end#2",
                "trace": [{"path": "out", "verb": "set"}],
                "overwrite": {"out": 1},
                "updates": {},
                "redactedPaths": [],
            },
        ],
    }

    found = RunQuestions.of_snapshot(snapshot).why("out")

    assert found.root is not None
    assert [node.runtime_stage_id for node in flatten_causal_chain(found.root)] == ["end#2", "sf#0"]
    assert [note.code for note in found.notes] == ["boundary-not-recorded"]
