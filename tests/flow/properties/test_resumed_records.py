"""What holds of the record of a run that paused and went on, in the same executor or in another one each time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfootprint.trace import (
    Execution,
    Journal,
    deep_equal,
    materialise,
    project_commit_logs,
    project_state,
    project_tree,
)
from tests.flow.random_charts import RandomChart, Shape, charts, drive

PAUSING = charts(Shape(asks_in_branches=True))


def journals_of(drawn: RandomChart, *, moved: bool) -> tuple[Journal, ...]:
    flow = drawn.flow
    driven = drive(flow.executor(), fresh=flow.executor) if moved else drive(flow.executor())
    return tuple(driven.journals)


@settings(max_examples=40)
@given(PAUSING, st.booleans())
def test_executions_are_counted_on_over_all_resumes(drawn: RandomChart, moved: bool) -> None:
    counted: list[int] = []

    for journal in journals_of(drawn, moved=moved):
        indices = sorted(journal.executions())
        assert indices == list(range(journal.first_index, journal.first_index + len(indices)))
        counted.extend(indices)

    assert counted == list(range(len(counted)))


@settings(max_examples=40)
@given(PAUSING, st.booleans())
def test_each_record_replays_to_its_states_from_what_it_was_given(drawn: RandomChart, moved: bool) -> None:
    for journal in journals_of(drawn, moved=moved):
        given_states: dict[int, dict[str, Any]] = {-1: journal.base_state, **journal.base_states}
        for mount, log in project_commit_logs(journal).items():
            assert [bundle.idx for bundle in log] == list(range(len(log)))
            base = dict(given_states.get(mount, {}))
            assert deep_equal(materialise(log, len(log), base), project_state(journal, mount))


@settings(max_examples=40)
@given(PAUSING, st.booleans())
def test_trees_and_logs_name_the_same_steps_in_every_record(drawn: RandomChart, moved: bool) -> None:
    for journal in journals_of(drawn, moved=moved):
        steps = journal.executions().values()
        logs = project_commit_logs(journal)
        for mount in (-1, *(step.index for step in steps if step.info.kind == "mount")):
            begun = {step.runtime_stage_id for step in steps if step.mount == mount}
            committed = {bundle.runtime_stage_id for bundle in logs.get(mount, []) if bundle.runtime_stage_id}
            assert ids_of(project_tree(journal, mount)) == begun
            assert committed <= begun
            assert {each for each in begun - committed if not is_open(journal, each)} == set()


def ids_of(tree: dict[str, Any] | None) -> set[str]:
    found: set[str] = set()
    todo = [] if tree is None else [tree]
    while todo:
        node = todo.pop()
        found.add(node["runtimeStageId"])
        todo.extend(node.get("children", []))
        if "next" in node:
            todo.append(node["next"])
    return found


def is_open(journal: Journal, step: str) -> bool:
    """Whether a step had begun and never ended: a mount in which the run paused."""
    return sum(1 for row in journal.rows if isinstance(row, Execution) and row.runtime_stage_id == step) == 1


@pytest.mark.parametrize("moved", [False, True])
def test_without_pauses_there_is_one_record(moved: bool) -> None:
    @settings(max_examples=10)
    @given(charts(Shape(asks=False)))
    def check(drawn: RandomChart) -> None:
        assert len(journals_of(drawn, moved=moved)) == 1

    check()
