"""Tests that the published slicer of the reference accepts our snapshots, and answers as we do."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.flow import FlowResult
from agentfootprint.trace import (
    array_provenance,
    format_slice,
    format_timeline,
    forward_slice_for_key,
    forward_slice_to_json,
    key_timeline,
    keys_read_from_execution_tree,
    slice_for_key,
    slice_to_json,
    thaw,
)
from tests.node.charts import RUNS


@pytest.fixture(scope="session")
def slicer(node: str, packages: Path) -> list[str]:
    """The command that slices with the published package."""
    return [node, str(packages / "slice.cjs")]


def asked_of_the_reference(slicer: list[str], questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    lines = "\n".join(json.dumps(question) for question in questions)
    done = subprocess.run(slicer, input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def scopes_of(snapshot: dict[str, Any]) -> list[dict[str, Any]]:
    """The snapshot itself, and each execution of a mount as a scope of its own (FLOW-SLC-1)."""
    inner = [each["treeContext"] for path, each in snapshot.get("subflowResults", {}).items() if "#" in path]
    return [snapshot, *({"commitLog": each["history"], "executionTree": each["stageContexts"]} for each in inner)]


def asked_of_us(snapshot: dict[str, Any], key: str, before: int | None) -> dict[str, Any]:
    log, reads = snapshot["commitLog"], keys_read_from_execution_tree(snapshot["executionTree"])
    found = slice_for_key(log, key, reads, before=before)
    return {
        "backward": slice_to_json(found),
        "backwardText": format_slice(found),
        "forward": forward_slice_to_json(forward_slice_for_key(log, key, reads, before=before)),
        "timelineText": format_timeline(key_timeline(log, key, reads, before=before)),
        "provenance": thaw(array_provenance(log, key)),
    }


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_run_gets_the_same_answers(name: str, slicer: list[str]) -> None:
    run, keys = RUNS[name]
    result: FlowResult = run()
    snapshot = json.loads(json.dumps(result.snapshot().to_wire()))
    questions: list[dict[str, Any]] = []
    for scope in scopes_of(snapshot):
        for key in keys:
            asked = {"snapshot": scope, "key": key}
            questions += [asked, asked | {"before": len(scope["commitLog"]) // 2}]

    theirs = asked_of_the_reference(slicer, questions)

    ours = [
        json.loads(json.dumps(asked_of_us(asked["snapshot"], asked["key"], asked.get("before")))) for asked in questions
    ]
    assert ours == theirs
    assert any("nodes" in answer["backward"] for answer in ours)
