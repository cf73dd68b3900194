"""What holds of every slice of every run: causes lie before effects, and a file tells the same as the live objects."""

from __future__ import annotations

import json
from typing import Any, cast

from hypothesis import given, settings

from agentfootprint.flow import FlowSnapshot
from agentfootprint.trace import (
    CommitBundle,
    Dials,
    flatten_causal_chain,
    keys_read_from_execution_tree,
    keys_read_from_map,
    path_of,
    project_commit_logs,
    project_control_deps,
    project_reads,
    slice_for_key,
    slice_to_json,
)
from tests.flow.properties.charts import KEYS, Drawing, drawings, run_of

FEW = settings(max_examples=30)
FULL = Dials()


@FEW
@given(drawings(nested=True, waits=True))
def test_what_an_edge_says_was_read_had_been_written_before(drawing: Drawing) -> None:
    journal = run_of(drawing, "typed", FULL).run.journal
    reads = project_reads(journal)

    for log in project_commit_logs(journal).values():
        for key in KEYS:
            found = slice_for_key(log, key, keys_read_from_map(reads))
            for node in [] if found.root is None else flatten_causal_chain(found.root):
                end = max(bundle.idx for bundle in log if bundle.runtime_stage_id == node.runtime_stage_id)
                for edge in node.parent_edges:
                    assert edge.key is not None
                    assert edge.key in reads[node.runtime_stage_id]
                    assert wrote(log[:end], edge.parent.runtime_stage_id, path_of(edge.key))


def wrote(log: list[CommitBundle], step: str, path: str) -> bool:
    return any(bundle.runtime_stage_id == step and path in [each.path for each in bundle.trace] for bundle in log)


@FEW
@given(drawings(nested=True, waits=True))
def test_a_snapshot_read_back_from_json_gives_the_slices_of_the_live_run(drawing: Drawing) -> None:
    journal = run_of(drawing, "typed", FULL, initial=True).run.journal
    snapshot = FlowSnapshot(journal)
    live = keys_read_from_execution_tree(cast("dict[str, Any]", snapshot.execution_tree))

    read_back = json.loads(json.dumps(snapshot.to_wire()))

    stored = keys_read_from_execution_tree(read_back["executionTree"])
    for key in KEYS:
        for before in (None, len(snapshot.commit_log) // 2):
            assert slice_to_json(slice_for_key(snapshot.commit_log, key, live, before=before)) == slice_to_json(
                slice_for_key(read_back["commitLog"], key, stored, before=before)
            )
    for path, result in read_back.get("subflowResults", {}).items():
        again = keys_read_from_execution_tree(result["treeContext"]["stageContexts"])
        known = snapshot.subflow_results[path]["treeContext"]
        here = keys_read_from_execution_tree(known["stageContexts"])
        for key in KEYS:
            assert slice_to_json(slice_for_key(known["history"], key, here)) == slice_to_json(
                slice_for_key(result["treeContext"]["history"], key, again)
            )


@FEW
@given(drawings(nested=True, waits=True))
def test_delta_and_full_logs_give_the_same_slices(drawing: Drawing) -> None:
    full = run_of(drawing, "typed", FULL).run.journal
    delta = run_of(drawing, "typed", Dials(values="delta")).run.journal
    logs = project_commit_logs(full), project_commit_logs(delta)

    for mount, log in logs[0].items():
        for key in KEYS:
            one = slice_for_key(log, key, keys_read_from_map(project_reads(full)))
            other = slice_for_key(logs[1][mount], key, keys_read_from_map(project_reads(delta)))
            assert (
                slice_to_json(one)["edges" if one.root else "missing"]
                == slice_to_json(other)["edges" if other.root else "missing"]
            )


@FEW
@given(drawings(waits=True))
def test_whoever_let_a_step_run_is_a_decider_or_selector_that_ran_before_it(drawing: Drawing) -> None:
    journal = run_of(drawing).run.journal
    steps = {step.runtime_stage_id: step for step in journal.executions().values()}
    deps = project_control_deps(journal)

    for name, step in steps.items():
        dep = deps.lookup(name)
        if dep is not None:
            assert steps[dep.decider_id].info.kind in ("decider", "selector")
            assert steps[dep.decider_id].index < step.index


@FEW
@given(drawings(waits=True))
def test_every_step_but_the_first_is_reached_from_the_first_by_its_parents(drawing: Drawing) -> None:
    steps = run_of(drawing).run.journal.executions()

    for step in steps.values():
        walked = step
        while walked.parent >= 0:
            assert walked.parent < walked.index
            walked = steps[walked.parent]
        assert walked.index == 0
